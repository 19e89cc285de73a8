use quarry_model::message::Profile;
use quarry_model::{DocumentCode, RowKind};

use super::*;

fn profile(format: Format) -> Profile {
    Profile { format, claimed_format: None, encoding: None, category: String::new(), routing_category: "generic".into(), pdf: None }
}

fn read_as(format: Format, bytes: &[u8]) -> Result<Parsed, DocumentFailure> {
    JsonParser.parse(&Source { bytes, file_name: "a.json", profile: &profile(format) }, &Limits::default())
}

fn read(text: &str) -> Parsed {
    read_as(Format::Json, text.as_bytes()).unwrap()
}

fn told(parsed: &Parsed) -> Vec<(Option<&str>, String)> {
    let title = |row: &quarry_model::Row| row.section.map(|s| parsed.headings[s].title.as_str());
    let said = |row: &quarry_model::Row| match &row.table {
        None => row.content.clone(),
        Some(table) => {
            table.rows.iter().map(|r| r.iter().map(|c| c.text.as_str()).collect::<Vec<_>>().join("|")).collect::<Vec<_>>().join("/")
        }
    };
    parsed.rows.iter().map(|row| (title(row), said(row))).collect()
}

#[test]
fn objects_are_sections_and_scalars_are_lines() {
    let parsed = read(r#"{"title":"Pump","power":{"unit":"kW","max":1.50},"tags":["a","b"],"empty":{},"n":null,"on":true}"#);
    assert_eq!(parsed.title.as_deref(), Some("Pump"));
    let lines: Vec<_> = ["title: Pump", "tags: a, b", "empty", "n: null", "on: true"].map(|l| (None, l.to_owned())).to_vec();
    assert_eq!(told(&parsed)[..5], lines);
    assert_eq!(told(&parsed)[5..], [(Some("power"), "unit: kW".to_owned()), (Some("power"), "max: 1.50".to_owned())]);
    assert!(parsed.rows[1].tight && !parsed.rows[0].tight);
}

#[test]
fn arrays_of_objects_are_tables_with_the_union_of_their_keys() {
    let parsed = read(r#"{"pumps":[{"id":1,"at":{"x":1,"y":2}},{"id":2,"note":"leaks","tags":["a","b"]}]}"#);
    assert_eq!(told(&parsed), [(Some("pumps"), "id|at.x|at.y|note|tags/1|1|2||/2|||leaks|a, b".to_owned())]);
    assert_eq!(parsed.rows[0].table.as_ref().unwrap().header_rows, 1);
    let matrix = read("[[1,2],[3,4]]");
    assert_eq!((matrix.rows[0].kind, told(&matrix)[0].1.as_str()), (RowKind::Table, "1|2/3|4"));
}

#[test]
fn records_of_prose_are_sections_of_their_own() {
    let long = "word ".repeat(200);
    let parsed = read(&format!(r#"[{{"title":"One","body":"{long}"}},{{"body":"{long}"}}]"#));
    assert_eq!(parsed.headings.iter().map(|h| h.title.as_str()).collect::<Vec<_>>(), ["One", "2"]);
    assert!(told(&parsed)[1].1.starts_with("body: word word"));
}

#[test]
fn numbers_stay_as_written_and_strings_are_decoded() {
    let huge = "123456789012345678901234567890.10";
    let parsed = read(&format!(r#"{{"n":{huge},"e":1E400,"s":"a\u00e9\n\"b\"","half":"\ud800"}}"#));
    let said: Vec<String> = told(&parsed).into_iter().map(|(_, line)| line).collect();
    assert_eq!(said[..3], [format!("n: {huge}"), "e: 1E400".into(), "s: aé\n\"b\"".into()]);
}

#[test]
fn wide_encodings_and_marks_are_read() {
    let text = r#"{"ключ":"значение"}"#;
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [b"\xef\xbb\xbf", text.as_bytes()].concat();
    for bytes in [wide, marked] {
        assert_eq!(told(&read_as(Format::Json, &bytes).unwrap())[0].1, "ключ: значение");
    }
}

#[test]
fn lines_that_are_broken_are_kept_and_named() {
    let parsed = read_as(Format::Jsonl, b"{\"a\":1}\n\n{\"a\":2,\"b\":\"x\"}\n{\"a\":\n{\"a\":3}\n").unwrap();
    assert_eq!(told(&parsed), [(None, "a|b/1|/2|x/3|".to_owned()), (None, "{\"a\":".to_owned())]);
    assert_eq!(parsed.warnings[0].message, "1 line(s) are not JSON and were kept as text: 4");
    assert!(parsed.partial);
}

#[test]
fn several_values_are_an_array_and_damage_is_named() {
    assert_eq!(told(&read("{\"a\":1}\n{\n\"a\":2}")), [(None, "a/1/2".to_owned())]);
    let failure = read_as(Format::Json, b"{\"a\": [1, 2").unwrap_err();
    assert_eq!(failure.code, DocumentCode::Corrupt);
    assert!(failure.detail.contains("line 1"), "{}", failure.detail);
    assert_eq!(read_as(Format::Json, b"   ").unwrap_err().code, DocumentCode::Empty);
}

#[test]
fn depth_and_size_are_bounded() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(read_as(Format::Json, deep.as_bytes()).unwrap_err().code, DocumentCode::TooDeep);
    let few = Limits { workbook_cells: 3, ..Limits::default() };
    let source = Source { bytes: b"[1,2,3,4]", file_name: "a.json", profile: &profile(Format::Json) };
    assert_eq!(JsonParser.parse(&source, &few).unwrap_err().code, DocumentCode::TooLarge);
}

#[test]
fn a_large_array_is_several_tables_and_no_row_is_lost() {
    let rows: Vec<String> = (0..50).map(|n| format!("{{\"n\":{n},\"m\":{n}}}")).collect();
    let text = format!("[{}]", rows.join(","));
    let limits = Limits { table_cells: 40, ..Limits::default() };
    let source = Source { bytes: text.as_bytes(), file_name: "a.json", profile: &profile(Format::Json) };
    let parsed = JsonParser.parse(&source, &limits).unwrap();
    let kept: usize = parsed.rows.iter().filter_map(|row| row.table.as_ref()).map(|table| table.rows.len() - 1).sum();
    assert_eq!((kept, parsed.warnings.len()), (50, 0));
}
