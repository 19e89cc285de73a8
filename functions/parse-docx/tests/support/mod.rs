//! Builds DOCX files in code, and reads them.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]
#![allow(clippy::format_collect, clippy::needless_raw_string_hashes, reason = "parts are written as they look in a file")]

pub mod rich;

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use quarry_document::{Parser, Source};
use quarry_model::message::Profile;
use quarry_model::{DocumentFailure, Format, Limits, Parsed, Row, RowKind};
use quarry_parse_docx::DocxParser;
use zip::write::SimpleFileOptions;
use zip::{DateTime, ZipWriter};

/// Declarations that every part of the tests carries.
pub const NAMESPACES: &str = concat!(
    r#"xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" "#,
    r#"xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" "#,
    r#"xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" "#,
    r#"xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" "#,
    r#"xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture" "#,
    r#"xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" "#,
    r#"xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" "#,
    r#"xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" "#,
    r#"xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" "#,
    r#"xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" "#,
    r#"xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office""#
);
const RELATIONSHIPS: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// A picture of one pixel.
pub const PIXEL: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1f,
    0x15, 0xc4, 0x89, 0, 0, 0, 0x0d, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0xf0, 0x1f, 0, 5, 0, 1, 0xff, 0x89, 0x99,
    0x3d, 0x1d, 0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
];

/// A document under construction.
#[derive(Clone, Default)]
pub struct Docx {
    body: String,
    parts: Vec<(String, Vec<u8>)>,
    relationships: String,
    raw_document: Option<Vec<u8>>,
}

impl Docx {
    /// A document with this inside its body.
    pub fn new(body: impl Into<String>) -> Self {
        Self { body: body.into(), ..Self::default() }
    }

    /// A document whose main part is exactly this.
    pub fn raw(document: impl Into<String>) -> Self {
        Self { raw_document: Some(document.into().into_bytes()), ..Self::default() }
    }

    /// Adds a part that the main part is related to, under an id.
    pub fn related(mut self, id: &str, kind: &str, name: &str, content: impl AsRef<[u8]>) -> Self {
        let _ = write!(self.relationships, r#"<Relationship Id="{id}" Type="{OFFICE}/{kind}" Target="{name}"/>"#);
        self.parts.push((format!("word/{name}"), content.as_ref().to_vec()));
        self
    }

    /// Adds a relationship to something outside, or to nothing.
    pub fn relationship(mut self, id: &str, kind: &str, target: &str, mode: &str) -> Self {
        let _ = write!(self.relationships, r#"<Relationship Id="{id}" Type="{OFFICE}/{kind}" Target="{target}" TargetMode="{mode}"/>"#);
        self
    }

    /// Adds a part under its full name.
    pub fn part(mut self, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.parts.push((name.to_owned(), content.as_ref().to_vec()));
        self
    }

    /// Styles: the elements inside `w:styles`.
    pub fn styles(self, styles: &str) -> Self {
        self.related("rIdS", "styles", "styles.xml", format!("<w:styles {NAMESPACES}>{styles}</w:styles>"))
    }

    /// Headings 1 to 3, Title, Caption and contents styles, as Word writes them.
    pub fn usual_styles(self) -> Self {
        let mut styles = r#"<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>"#.to_owned();
        for level in 1..=3 {
            let _ = write!(
                styles,
                r#"<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/><w:basedOn w:val="Normal"/>
                <w:pPr><w:outlineLvl w:val="{}"/></w:pPr></w:style><w:style w:type="paragraph" w:styleId="TOC{level}"><w:name w:val="toc {level}"/></w:style>"#,
                level - 1
            );
        }
        for (id, name) in [("Title", "Title"), ("Caption", "caption"), ("TOCHeading", "TOC Heading")] {
            let _ = write!(styles, r#"<w:style w:type="paragraph" w:styleId="{id}"><w:name w:val="{name}"/></w:style>"#);
        }
        self.styles(&styles)
    }

    /// Numbering: the elements inside `w:numbering`.
    pub fn numbering(self, numbering: &str) -> Self {
        self.related("rIdN", "numbering", "numbering.xml", format!("<w:numbering {NAMESPACES}>{numbering}</w:numbering>"))
    }

    /// The main part.
    pub fn document(&self) -> String {
        format!(r#"<?xml version="1.0"?><w:document {NAMESPACES}><w:body>{}</w:body></w:document>"#, self.body)
    }

    /// The same document with other bytes as its main part.
    pub fn with_document(mut self, bytes: Vec<u8>) -> Self {
        self.raw_document = Some(bytes);
        self
    }

    /// Names and texts of all parts written in XML.
    pub fn xml_parts(&self) -> Vec<(String, String)> {
        let others = self.parts.iter().filter(|(name, _)| name.rsplit('.').next() == Some("xml"));
        let others = others.map(|(name, bytes)| (name.clone(), String::from_utf8(bytes.clone()).expect("UTF-8")));
        std::iter::once(("word/document.xml".to_owned(), self.document())).chain(others).collect()
    }

    /// The file; the same every time.
    pub fn bytes(&self) -> Vec<u8> {
        let document = self.raw_document.clone().unwrap_or_else(|| self.document().into_bytes());
        let root = format!(
            r#"<Relationships xmlns="{RELATIONSHIPS}"><Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>"#
        );
        let own = format!(r#"<Relationships xmlns="{RELATIONSHIPS}">{}</Relationships>"#, self.relationships);
        let mut parts: Vec<(&str, &[u8])> = vec![
            ("[Content_Types].xml", b"<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\"/>"),
            ("_rels/.rels", root.as_bytes()),
            ("word/document.xml", document.as_slice()),
            ("word/_rels/document.xml.rels", own.as_bytes()),
        ];
        parts.extend(self.parts.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())));
        zip_of(&parts)
    }

    /// What the parser reads.
    pub fn read(&self) -> Parsed {
        parse(&self.bytes()).expect("a readable document")
    }
}

/// A ZIP archive with fixed times.
pub fn zip_of(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().last_modified_time(DateTime::default());
    for (name, bytes) in parts {
        writer.start_file(*name, options).expect("a part");
        writer.write_all(bytes).expect("its bytes");
    }
    writer.finish().expect("an archive").into_inner()
}

/// Reads bytes with the default limits.
pub fn parse(bytes: &[u8]) -> Result<Parsed, DocumentFailure> {
    parse_with(bytes, &Limits::default())
}

/// Reads bytes.
pub fn parse_with(bytes: &[u8], limits: &Limits) -> Result<Parsed, DocumentFailure> {
    let profile = Profile {
        format: Format::Docx,
        claimed_format: None,
        encoding: None,
        category: String::new(),
        routing_category: "generic".to_owned(),
        pdf: None,
    };
    DocxParser.parse(&Source { bytes, file_name: "test.docx", profile: &profile }, limits)
}

/// A paragraph with one run.
pub fn p(text: &str) -> String {
    format!("<w:p><w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r></w:p>")
}

/// A paragraph with properties.
pub fn pp(properties: &str, text: &str) -> String {
    format!("<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r></w:p>")
}

/// A paragraph of a style.
pub fn styled(style: &str, text: &str) -> String {
    pp(&format!("<w:pStyle w:val=\"{style}\"/>"), text)
}

/// A paragraph of a list.
pub fn listed(list: i64, level: i64, text: &str) -> String {
    pp(&format!("<w:numPr><w:ilvl w:val=\"{level}\"/><w:numId w:val=\"{list}\"/></w:numPr>"), text)
}

/// A table of cells; each cell is its properties and its text.
pub fn table(rows: &[&[(&str, &str)]]) -> String {
    let rows: String = rows
        .iter()
        .map(|row| {
            let cells: String =
                row.iter().map(|(properties, text)| format!("<w:tc><w:tcPr>{properties}</w:tcPr>{}</w:tc>", p(text))).collect();
            format!("<w:tr>{cells}</w:tr>")
        })
        .collect();
    format!("<w:tbl><w:tblPr/>{rows}</w:tbl>")
}

/// An inline picture of a relationship.
pub fn picture(id: &str, alt: &str) -> String {
    format!(
        r#"<w:drawing><wp:inline><wp:docPr id="1" name="Picture 1" descr="{alt}"/><a:graphic><a:graphicData><pic:pic><pic:nvPicPr><pic:cNvPr id="0" name=""/></pic:nvPicPr>
        <pic:blipFill><a:blip r:embed="{id}"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing>"#
    )
}

/// A complex field: instruction and result.
pub fn field(instruction: &str, result: &str) -> String {
    format!(
        r#"<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText xml:space="preserve"> {instruction} </w:instrText></w:r>
        <w:r><w:fldChar w:fldCharType="separate"/></w:r>{result}<w:r><w:fldChar w:fldCharType="end"/></w:r>"#
    )
}

/// A run of text.
pub fn run(text: &str) -> String {
    format!("<w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r>")
}

/// The contents of all text rows.
pub fn texts(parsed: &Parsed) -> Vec<&str> {
    parsed.rows.iter().filter(|row| row.kind == RowKind::Text).map(|row| row.content.as_str()).collect()
}

/// Titles and levels of all headings.
pub fn headings(parsed: &Parsed) -> Vec<(u32, &str)> {
    parsed.headings.iter().map(|heading| (heading.level, heading.title.as_str())).collect()
}

/// All table rows as HTML.
pub fn tables(parsed: &Parsed) -> Vec<String> {
    parsed.rows.iter().filter_map(|row| row.table.as_ref()).map(quarry_document::grid::to_html).collect()
}

/// All image rows.
pub fn images(parsed: &Parsed) -> Vec<&Row> {
    parsed.rows.iter().filter(|row| row.kind == RowKind::Image).collect()
}
