//! The golden workbooks are built here, so that nobody has to trust a binary; and no value of them is lost.

mod support;

use std::path::Path;

use quarry_document::{RevisionRequest, parse_to_folder};
use quarry_model::message::Profile;
use quarry_model::{ChunkFile, ChunkType, DocumentId, Format, Limits};
use quarry_parse_xlsx::XlsxParser;
use quarry_ports::SystemClock;
use support::{Xlsx, biff, n, ods, t, xlsb};

/// A picture of one pixel.
const PIXEL: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1f,
    0x15, 0xc4, 0x89, 0, 0, 0, 0x0d, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0xf0, 0x1f, 0, 5, 0, 1, 0xff, 0x89, 0x99,
    0x3d, 0x1d, 0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
];

/// Pumps of a waterworks: a title, a header of two rows, dates, money, a merge, a second table, a form, a long table, a
/// picture, a comment, a hidden sheet.
fn xlsx() -> Vec<u8> {
    // Style 0 is that of all cells that name none.
    let styled = |place: &str, style: usize, value: f64| format!("<c r=\"{place}\" s=\"{}\"><v>{value}</v></c>", style + 1);
    let stations = [
        t("A1", "Pumping stations"),
        [t("A3", "Station"), t("B3", "Capacity"), t("D3", "Checked")].concat(),
        [t("B4", "planned"), t("C4", "reached")].concat(),
        [t("A5", "Oberau"), n("B5", 1200), styled("C5", 0, 0.975), styled("D5", 1, 45_306.0)].concat(),
        [t("A6", "Unterau"), n("B6", 800), styled("C6", 0, 1.0), styled("D6", 1, 45_337.0)].concat(),
        [t("A7", "Zell &lt;old&gt;"), "<c r=\"B7\" t=\"e\"><v>#N/A</v></c>".to_owned(), styled("C7", 0, 0.0)].concat(),
        [t("F3", "Part"), t("G3", "Price")].concat(),
        [t("F4", "Seal"), styled("G4", 2, 1234.5)].concat(),
        [t("F5", "Valve"), styled("G5", 2, 89.9)].concat(),
    ]
    .concat();
    let merges =
        "<mergeCells><mergeCell ref=\"A3:A4\"/><mergeCell ref=\"B3:C3\"/><mergeCell ref=\"D3:D4\"/></mergeCells><drawing r:id=\"d\"/>";
    let readings: String = t("A1", "Hour")
        + &t("B1", "Level")
        + &(2..=300).map(|row| n(&format!("A{row}"), row - 2) + &styled(&format!("B{row}"), 3, f64::from(row) * 1.25)).collect::<String>();
    let relationships = "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"d\" Type=\"x/drawing\" Target=\"../drawings/d.xml\"/><Relationship Id=\"c\" Type=\"x/comments\" Target=\"../comments1.xml\"/></Relationships>";
    let drawing = "<xdr:wsDr xmlns:xdr=\"http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing\" xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\" xmlns:r=\"http://schemas.openxmlformats.org/officeDocument/2006/relationships\"><xdr:oneCellAnchor><xdr:from><xdr:col>0</xdr:col><xdr:row>9</xdr:row></xdr:from><xdr:pic><xdr:nvPicPr><xdr:cNvPr id=\"2\" name=\"p\" descr=\"Map of the stations\"/></xdr:nvPicPr><xdr:blipFill><a:blip r:embed=\"i\"/></xdr:blipFill></xdr:pic></xdr:oneCellAnchor></xdr:wsDr>";
    let comments = "<comments xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><authors><author>Ann</author></authors><commentList><comment ref=\"B7\" authorId=\"0\"><text><t>The meter is broken.</t></text></comment></commentList></comments>";
    Xlsx::new()
        .styles(&["General", "0.0%", "d mmm yyyy", "[$€-407] #,##0.00", "0.00\" m\""])
        .sheet_with("Stations", "", &stations, merges)
        .sheet("Readings", &readings)
        .sheet_with("Codes", "state=\"hidden\"", &(t("A1", "gate") + &n("B1", 4711)), "")
        .part("xl/worksheets/_rels/sheet0.xml.rels", relationships)
        .part("xl/drawings/d.xml", drawing)
        .part("xl/drawings/_rels/d.xml.rels", "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\"><Relationship Id=\"i\" Type=\"x/image\" Target=\"../media/i.png\"/></Relationships>")
        .part("xl/media/i.png", PIXEL)
        .part("xl/comments1.xml", comments)
        .bytes()
}

fn xls() -> Vec<u8> {
    let globals =
        [biff::styles(&[0, 14, 10, 4]), biff::shared_texts(&["Straße", "Länge", "Geprüft", "Anteil", "Hauptweg", "Am Ufer"])].concat();
    let sheet = [
        biff::shared(0, 0, 0),
        biff::shared(0, 1, 1),
        biff::shared(0, 2, 2),
        biff::shared(0, 3, 3),
        biff::shared(1, 0, 4),
        biff::number(1, 1, 3, 1250.5),
        biff::number(1, 2, 1, 45_306.0),
        biff::number(1, 3, 2, 0.625),
        biff::shared(2, 0, 5),
        biff::rk(2, 1, 3, (840 << 2) | 2),
        biff::number(2, 2, 1, 45_337.0),
        biff::number(2, 3, 2, 0.375),
        biff::formula_text(3, 0, "Summe"),
        biff::number(3, 1, 3, 2090.5),
        biff::error(3, 3, 0x2a),
    ]
    .concat();
    biff::compound(
        "/Workbook",
        &biff::stream(&globals, &[("Wege", 0, sheet), ("Notiz", 0, biff::label(0, 0, "Die Wege werden jährlich geprüft."))]),
    )
}

fn xlsb() -> Vec<u8> {
    let rows = [
        xlsb::row(0, false),
        xlsb::cell(7, 0, 0, &0_u32.to_le_bytes()),
        xlsb::cell(7, 1, 0, &1_u32.to_le_bytes()),
        xlsb::cell(7, 2, 0, &2_u32.to_le_bytes()),
        xlsb::row(1, false),
        xlsb::cell(7, 0, 0, &3_u32.to_le_bytes()),
        xlsb::cell(5, 1, 1, &0.18_f64.to_le_bytes()),
        xlsb::cell(2, 2, 2, &((45_306_u32 << 2) | 2).to_le_bytes()),
        xlsb::row(2, false),
        xlsb::cell(7, 0, 0, &4_u32.to_le_bytes()),
        xlsb::cell(5, 1, 1, &0.07_f64.to_le_bytes()),
        xlsb::cell(4, 2, 0, &[1]),
    ]
    .concat();
    xlsb::workbook(&rows, &["Grain", "Moisture", "Sampled", "Wheat", "Barley"], &[0, 9, 14])
}

fn open_document() -> Vec<u8> {
    let cell = |kind: &str, value: &str, shown: &str| {
        format!("<table:table-cell office:value-type=\"{kind}\" {value}><text:p>{shown}</text:p></table:table-cell>")
    };
    let words = |said: &str| cell("string", "", said);
    let table = format!(
        "<table:table table:name=\"Récoltes\"><table:table-row>{}{}{}</table:table-row><table:table-row>{}{}{}</table:table-row><table:table-row>{}{}{}</table:table-row></table:table>",
        words("Parcelle"),
        words("Date"),
        words("Rendement"),
        words("Les Hauts"),
        cell("date", "office:date-value=\"2024-07-14\"", "14/07/2024"),
        cell("float", "office:value=\"62.4\"", "62,4 q"),
        words("La Combe"),
        cell("date", "office:date-value=\"2024-07-16\"", "16/07/2024"),
        cell("float", "office:value=\"58.1\"", "58,1 q"),
    );
    ods("", &table)
}

#[test]
fn the_golden_inputs_are_what_the_builders_build() {
    for (place, built) in [
        ("xlsx/stations/input.xlsx", xlsx()),
        ("xls/wege/input.xls", xls()),
        ("xlsb/grain/input.xlsb", xlsb()),
        ("ods/recoltes/input.ods", open_document()),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(place);
        if std::env::var("QUARRY_GOLDEN").is_ok_and(|value| value == "write") {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &built).unwrap();
        }
        assert!(std::fs::read(&path).unwrap_or_default() == built, "QUARRY_GOLDEN=write writes {}", path.display());
    }
}

fn chunks(format: Format, bytes: Vec<u8>) -> ChunkFile {
    let request = RevisionRequest {
        job_id: None,
        data_id: None,
        document_id: DocumentId::from_random([0; 6]),
        file_name: "book".to_owned(),
        profile: Profile {
            format,
            claimed_format: None,
            encoding: None,
            category: String::new(),
            routing_category: "generic".to_owned(),
            pdf: None,
        },
        parsing_params: serde_json::Map::new(),
    };
    let folder = parse_to_folder(&XlsxParser, &bytes::Bytes::from(bytes), &request, &Limits::default(), &SystemClock).unwrap();
    let file = folder.files.iter().find(|file| file.name == "chunks.json").unwrap();
    serde_json::from_slice(&file.bytes).unwrap()
}

#[test]
fn every_value_is_in_a_chunk_with_its_headers() {
    let chunks = chunks(Format::Xlsx, xlsx());
    let contents: Vec<&str> = chunks.chunks.iter().map(|chunk| chunk.content.as_str()).collect();
    for row in 2..=300 {
        let (hour, level) = (row - 2, format!("{:.2} m", f64::from(row) * 1.25));
        let line = format!("<tr><td>{hour}</td><td>{level}</td></tr>");
        let held: Vec<&&str> = contents.iter().filter(|content| content.contains(&line)).collect();
        assert_eq!(held.len(), 1, "{line}");
        assert!(held[0].contains("<th>Hour</th><th>Level</th>"), "{}", held[0]);
    }
    for (value, headers) in [
        ("<td>97.5%</td><td>15 Jan 2024</td>", "<th>planned</th><th>reached</th>"),
        ("<td>Zell &lt;old&gt;</td><td>#N/A</td>", "<th rowspan=\"2\">Station</th>"),
        ("<td>€ 1,234.50</td>", "<th>Part</th><th>Price</th>"),
    ] {
        assert!(contents.iter().any(|content| content.contains(value) && content.contains(headers)), "{value}: {contents:?}");
    }
    assert!(contents.iter().any(|content| content.contains("B7 (Ann): The meter is broken.")));
    let hidden: Vec<&str> = chunks.chunks.iter().filter(|chunk| chunk.metadata.hidden).map(|chunk| chunk.content.as_str()).collect();
    assert!(hidden.len() == 1 && hidden[0].contains("4711"), "{hidden:?}");
    assert_eq!(chunks.chunks.iter().filter(|chunk| chunk.kind == ChunkType::Image).count(), 1);
}

#[test]
fn a_wide_row_that_is_cut_names_its_row_in_each_part() {
    let cells: String = (0..600)
        .map(|column| {
            let name = quarry_column(column);
            t(&format!("{name}1"), &format!("measure {column}"))
                + &if column == 0 { t(&format!("{name}2"), "Oberau") } else { n(&format!("{name}2"), 7000 + column) }
        })
        .collect();
    let chunks = chunks(Format::Xlsx, Xlsx::new().sheet("S", &cells).bytes());
    for column in 1..600 {
        let value = format!("<td>{}</td>", 7000 + column);
        let chunk = chunks.chunks.iter().find(|chunk| chunk.content.contains(&value)).unwrap_or_else(|| panic!("{value}"));
        assert!(chunk.content.contains(&format!("<th>measure {column}</th>")), "{}", chunk.content);
        assert!(chunk.content.contains("Oberau"), "{}", chunk.content);
    }
}

fn quarry_column(column: u32) -> String {
    let letter = |n: u32| char::from(b'A' + u8::try_from(n).unwrap());
    if column < 26 { letter(column).to_string() } else { format!("{}{}", letter(column / 26 - 1), letter(column % 26)) }
}
