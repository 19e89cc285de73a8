//! Texts built here.

use std::io::{Cursor, Write as _};

use quarry_model::{DocumentCode, Limits, Parsed};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::read;

const NAMES: &str = "xmlns:office=\"urn:oasis:names:tc:opendocument:xmlns:office:1.0\" xmlns:text=\"urn:oasis:names:tc:opendocument:xmlns:text:1.0\" \
    xmlns:table=\"urn:oasis:names:tc:opendocument:xmlns:table:1.0\" xmlns:draw=\"urn:oasis:names:tc:opendocument:xmlns:drawing:1.0\" \
    xmlns:style=\"urn:oasis:names:tc:opendocument:xmlns:style:1.0\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"";

fn zip(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).expect("an entry");
        writer.write_all(bytes).expect("bytes");
    }
    writer.finish().expect("an archive").into_inner()
}

fn content(styles: &str, body: &str) -> String {
    format!(
        "<office:document-content {NAMES}><office:automatic-styles>{styles}</office:automatic-styles><office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
}

fn odt(styles: &str, body: &str) -> Vec<u8> {
    zip(&[("content.xml", content(styles, body).as_bytes())])
}

fn parse(styles: &str, body: &str) -> Parsed {
    read(&odt(styles, body), &Limits::default()).expect("a text")
}

fn texts(parsed: &Parsed) -> Vec<&str> {
    parsed.rows.iter().map(|row| row.content.as_str()).collect()
}

fn code(bytes: &[u8]) -> DocumentCode {
    read(bytes, &Limits::default()).unwrap_err().code
}

#[test]
fn spans_and_covered_cells_keep_their_columns() {
    let cell = |attributes: &str, text: &str| format!("<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>");
    let covered = "<table:covered-table-cell/>";
    let body = format!(
        "<table:table><table:table-header-rows><table:table-row>{}{covered}{}</table:table-row></table:table-header-rows><table:table-row>{}{}{}</table:table-row><table:table-row>{covered}{}{}</table:table-row></table:table>",
        cell("table:number-columns-spanned=\"2\"", "a"),
        cell("", "b"),
        cell("table:number-rows-spanned=\"2\"", "c"),
        cell("", "d"),
        cell("", "e"),
        cell("", "f"),
        cell("", "g"),
    );
    let parsed = parse("", &body);
    let table = parsed.rows[0].table.as_ref().expect("a table");
    let shape: Vec<Vec<(&str, u32, u32)>> =
        table.rows.iter().map(|row| row.iter().map(|cell| (cell.text.as_str(), cell.rowspan, cell.colspan)).collect()).collect();
    assert_eq!(shape, [vec![("a", 1, 2), ("b", 1, 1)], vec![("c", 2, 1), ("d", 1, 1), ("e", 1, 1)], vec![("f", 1, 1), ("g", 1, 1)]]);
    assert_eq!(table.header_rows, 1);
}

#[test]
fn lists_count_as_they_say() {
    let styles = "<text:list-style style:name=\"L\"><text:list-level-style-number text:level=\"1\" style:num-format=\"i\" style:num-prefix=\"(\" style:num-suffix=\")\" text:start-value=\"3\"/><text:list-level-style-number text:level=\"2\" style:num-format=\"1\" text:display-levels=\"2\"/></text:list-style>";
    let parsed = parse(
        styles,
        "<text:list xml:id=\"one\" text:style-name=\"L\"><text:list-item><text:p>a</text:p><text:list><text:list-item><text:p>b</text:p></text:list-item></text:list></text:list-item><text:list-item text:start-value=\"9\"><text:p>c</text:p></text:list-item></text:list>\
         <text:list text:style-name=\"L\"><text:list-item><text:p>d</text:p></text:list-item></text:list>\
         <text:list text:continue-list=\"one\" text:style-name=\"L\"><text:list-item><text:p>e</text:p></text:list-item></text:list>",
    );
    assert_eq!(texts(&parsed), ["(iii) a", "  iii.1 b", "(ix) c", "(iii) d", "(x) e"]);
}

#[test]
fn white_space_is_folded_and_elements_are_kept() {
    let parsed = parse("", "<text:p>  a \n b<text:s text:c=\"3\"/>c<text:tab/>d<text:line-break/>e <text:span> f</text:span></text:p>");
    assert_eq!(texts(&parsed), ["a b   c\td\ne f"]);
}

#[test]
fn a_protected_document_is_encrypted() {
    let manifest = b"<m:manifest xmlns:m=\"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0\"><m:file-entry m:full-path=\"content.xml\"><m:encryption-data/></m:file-entry></m:manifest>";
    assert_eq!(code(&zip(&[("META-INF/manifest.xml", manifest), ("content.xml", b"\x01\x02")])), DocumentCode::Encrypted);
}

#[test]
fn hostile_texts_end_with_a_code() {
    assert_eq!(code(&zip(&[("other.xml", b"<a/>")])), DocumentCode::Corrupt);
    assert_eq!(code(&odt("", &"<text:span>".repeat(20_000))), DocumentCode::TooDeep);
    assert_eq!(code(&odt("", &format!("<text:p>{}</text:p>", " ".repeat(200 << 20)))), DocumentCode::Bomb);
    let parsed = parse(
        "",
        "<table:table><table:table-row table:number-rows-repeated=\"1000000\"><table:table-cell table:number-columns-repeated=\"1000000\" table:number-columns-spanned=\"4000000000\"><text:p>x</text:p></table:table-cell></table:table-row></table:table><text:p>a<text:s text:c=\"4000000000\"/>b</text:p>",
    );
    assert!(parsed.rows.len() == 2 && parsed.rows[1].content.len() < 2_000);
    let parsed = parse(
        "",
        "<text:p>a<draw:frame><draw:image xlink:href=\"../../etc/passwd\"/></draw:frame><draw:frame><draw:object xlink:href=\"./Object 1\"/></draw:frame></text:p>",
    );
    assert!(parsed.partial && parsed.assets.is_empty());
    let styles = "<style:style style:name=\"A\" style:family=\"paragraph\" style:parent-style-name=\"B\"/><style:style style:name=\"B\" style:family=\"paragraph\" style:parent-style-name=\"A\"/>";
    assert_eq!(texts(&parse(styles, "<text:p text:style-name=\"A\">round</text:p>")), ["round"]);
}

#[test]
fn an_object_that_holds_itself_ends() {
    let inner = content("", "<text:p>in<draw:frame><draw:object xlink:href=\"./Object 1\"/></draw:frame></text:p>");
    let parsed = read(&zip(&[("content.xml", inner.as_bytes()), ("Object 1/content.xml", inner.as_bytes())]), &Limits::default());
    assert!(texts(&parsed.expect("a text")).len() < 10);
}

#[test]
fn cuts_and_flips_never_panic() {
    let whole = odt(
        "",
        "<text:h>A</text:h><table:table><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row></table:table>",
    );
    for end in 0..whole.len() {
        let _ = read(&whole[..end], &Limits::default());
    }
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 0x11;
        let _ = read(&changed, &Limits::default());
    }
}
