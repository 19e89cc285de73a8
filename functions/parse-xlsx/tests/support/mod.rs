//! Builds workbooks in code, and reads them.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]

pub mod biff;
pub mod xlsb;

use std::io::{Cursor, Write as _};

use quarry_document::grid::to_html;
use quarry_document::{Parser, Source};
use quarry_model::message::Profile;
use quarry_model::{DocumentFailure, Format, Limits, Parsed, Row, RowKind};
use quarry_parse_xlsx::XlsxParser;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Reads bytes as a format.
pub fn parse_as(format: Format, bytes: &[u8], limits: &Limits) -> Result<Parsed, DocumentFailure> {
    let profile = Profile {
        format,
        claimed_format: None,
        encoding: None,
        category: String::new(),
        routing_category: "generic".to_owned(),
        pdf: None,
    };
    XlsxParser.parse(&Source { bytes, file_name: "book", profile: &profile }, limits)
}

/// Reads bytes that must be readable.
pub fn read(format: Format, bytes: &[u8]) -> Parsed {
    parse_as(format, bytes, &Limits::default()).expect("a readable workbook")
}

/// What a row says: a text as it is, a table as lines of `a | b`, headers in brackets, spans as `text^columns_rows`.
pub fn told(row: &Row) -> String {
    let Some(table) = row.grid() else {
        return if row.kind == RowKind::Image { format!("image: {}", row.content) } else { row.content.clone() };
    };
    let mut out = if table.caption.is_empty() { String::new() } else { format!("{}:\n", table.caption) };
    for (index, cells) in table.rows.iter().enumerate() {
        let cell = |cell: &quarry_model::Cell| {
            let span = if cell.colspan > 1 || cell.rowspan > 1 { format!("^{}_{}", cell.colspan, cell.rowspan) } else { String::new() };
            format!("{}{span}", cell.text.replace('\n', "/"))
        };
        let line = cells.iter().map(cell).collect::<Vec<_>>().join(" | ");
        out.push_str(&if (index as u32) < table.header_rows { format!("[{line}]\n") } else { format!("{line}\n") });
    }
    out.trim_end_matches('\n').to_owned()
}

/// What all rows say.
pub fn all(parsed: &Parsed) -> Vec<String> {
    parsed.rows.iter().map(told).collect()
}

/// Everything a document says, in one piece.
pub fn words(parsed: &Parsed) -> String {
    parsed.rows.iter().map(|row| row.grid().map_or_else(|| row.content.clone(), |table| to_html(&table))).collect::<Vec<_>>().join("\n")
}

/// A zip of these parts, the same bytes every time.
pub fn zip_of(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        let method = if *name == "mimetype" { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        let options = SimpleFileOptions::default().compression_method(method).last_modified_time(DateTime::default());
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// An XLSX package under construction: the sheets' own parts written out, the rest made.
#[derive(Clone, Default)]
pub struct Xlsx {
    sheets: Vec<(String, String, Vec<u8>)>,
    relationships: Vec<String>,
    parts: Vec<(String, Vec<u8>)>,
    strings: String,
    styles: String,
    properties: String,
}

impl Xlsx {
    pub fn new() -> Self {
        Self::default()
    }

    /// A sheet with this inside `sheetData`.
    pub fn sheet(self, name: &str, rows: &str) -> Self {
        self.sheet_with(name, "", rows, "")
    }

    /// A sheet with attributes of its entry, rows, and what follows them.
    pub fn sheet_with(self, name: &str, attributes: &str, rows: &str, after: &str) -> Self {
        let part = format!(
            "<worksheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\" \
             xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"><sheetData>{rows}</sheetData>{after}</worksheet>"
        );
        self.raw_sheet(name, attributes, part)
    }

    /// A sheet whose part is exactly this.
    pub fn raw_sheet(mut self, name: &str, attributes: &str, part: impl Into<Vec<u8>>) -> Self {
        self.sheets.push((name.to_owned(), attributes.to_owned(), part.into()));
        self
    }

    /// `<si>` elements.
    pub fn strings(mut self, items: &str) -> Self {
        self.strings = items.to_owned();
        self
    }

    /// Format codes: style `n` shows the `n`th of them.
    pub fn styles(mut self, codes: &[&str]) -> Self {
        let formats: String = codes
            .iter()
            .enumerate()
            .map(|(n, code)| format!("<numFmt numFmtId=\"{}\" formatCode=\"{}\"/>", n + 164, code.replace('"', "&quot;")))
            .collect();
        let styles: String = (0..codes.len()).map(|n| format!("<xf numFmtId=\"{}\" fontId=\"0\"/>", n + 164)).collect();
        self.styles = format!("<numFmts>{formats}</numFmts><fonts><font/></fonts><cellXfs>{styles}</cellXfs>");
        self
    }

    /// Attributes of `workbookPr`.
    pub fn properties(mut self, attributes: &str) -> Self {
        self.properties = attributes.to_owned();
        self
    }

    /// Another part.
    pub fn part(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.parts.push((name.to_owned(), bytes.into()));
        self
    }

    pub fn bytes(&self) -> Vec<u8> {
        const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
        const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
        let relationships = |inner: &str| {
            format!("<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">{inner}</Relationships>")
        };
        let (mut list, mut targets) = (String::new(), String::new());
        for (n, (name, attributes, _)) in self.sheets.iter().enumerate() {
            list.push_str(&format!("<sheet name=\"{name}\" sheetId=\"{n}\" r:id=\"s{n}\" {attributes}/>"));
            targets.push_str(&format!("<Relationship Id=\"s{n}\" Type=\"{OFFICE}/worksheet\" Target=\"worksheets/sheet{n}.xml\"/>"));
        }
        targets.push_str(&format!("<Relationship Id=\"t\" Type=\"{OFFICE}/sharedStrings\" Target=\"sharedStrings.xml\"/>"));
        targets.push_str(&format!("<Relationship Id=\"y\" Type=\"{OFFICE}/styles\" Target=\"styles.xml\"/>"));
        let mut parts: Vec<(String, Vec<u8>)> = vec![
            ("[Content_Types].xml".to_owned(), b"<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>".to_vec()),
            (
                "_rels/.rels".to_owned(),
                relationships(&format!("<Relationship Id=\"m\" Type=\"{OFFICE}/officeDocument\" Target=\"xl/workbook.xml\"/>"))
                    .into_bytes(),
            ),
            (
                "xl/workbook.xml".to_owned(),
                format!(
                    "<workbook xmlns=\"{MAIN}\" xmlns:r=\"{OFFICE}\"><workbookPr {}/><sheets>{list}</sheets></workbook>",
                    self.properties
                )
                .into_bytes(),
            ),
            ("xl/_rels/workbook.xml.rels".to_owned(), relationships(&targets).into_bytes()),
            ("xl/sharedStrings.xml".to_owned(), format!("<sst xmlns=\"{MAIN}\">{}</sst>", self.strings).into_bytes()),
            ("xl/styles.xml".to_owned(), format!("<styleSheet xmlns=\"{MAIN}\">{}</styleSheet>", self.styles).into_bytes()),
        ];
        for (n, (_, _, part)) in self.sheets.iter().enumerate() {
            parts.push((format!("xl/worksheets/sheet{n}.xml"), part.clone()));
        }
        parts.extend(self.parts.iter().cloned());
        let parts: Vec<(&str, &[u8])> = parts.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
        zip_of(&parts)
    }

    pub fn read(&self) -> Parsed {
        read(Format::Xlsx, &self.bytes())
    }
}

/// A cell with a number, a text, or anything else that a type says.
pub fn n(place: &str, value: impl std::fmt::Display) -> String {
    format!("<c r=\"{place}\"><v>{value}</v></c>")
}

pub fn t(place: &str, text: &str) -> String {
    format!("<c r=\"{place}\" t=\"inlineStr\"><is><t>{text}</t></is></c>")
}

/// An ODS package with this as its spreadsheet, and these automatic styles.
pub fn ods(styles: &str, tables: &str) -> Vec<u8> {
    ods_with(styles, tables, &[])
}

pub fn ods_with(styles: &str, tables: &str, more: &[(&str, &[u8])]) -> Vec<u8> {
    let content = format!(
        "<office:document-content xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" \
         xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\" xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\" \
         xmlns:style=\"urn:oasis:names:tc:opendocument:xmlns:style:1.0\" xmlns:fo=\"urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0\" \
         xmlns:draw=\"urn:oasis:names:tc:opendocument:xmlns:drawing:1.0\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" \
         xmlns:svg=\"urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\">\
         <office:automatic-styles>{styles}</office:automatic-styles><office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"
    );
    let mut parts: Vec<(&str, &[u8])> =
        vec![("mimetype", b"application/vnd.oasis.opendocument.spreadsheet"), ("content.xml", content.as_bytes())];
    parts.extend(more);
    zip_of(&parts)
}
