use quarry_model::message::Profile;
use quarry_model::{Format, RowKind};

use super::*;

fn read(text: &str) -> Result<Parsed, DocumentFailure> {
    let profile = Profile {
        format: Format::Fragment,
        claimed_format: None,
        encoding: None,
        category: String::new(),
        routing_category: "generic".into(),
        pdf: None,
    };
    FragmentParser.parse(&Source { bytes: text.as_bytes(), file_name: "note.fragment", profile: &profile }, &Limits::default())
}

#[test]
fn text_is_paragraphs() {
    let parsed = read(r#"{"title":"Log","text":"One\ntwo.\n\nThree."}"#).unwrap();
    assert_eq!(parsed.title.as_deref(), Some("Log"));
    assert_eq!(parsed.rows.iter().map(|row| row.content.as_str()).collect::<Vec<_>>(), ["One\ntwo.", "Three."]);
    assert_eq!(read("\"just text\"").unwrap().rows[0].content, "just text");
}

#[test]
fn chunks_keep_sections_pages_and_metadata() {
    let parsed = read(
        r#"[{"content":"a","section":["Part","One"],"page_nums":[2]},
            {"content":"b","section":"Part","metadata":{"author":"Ada","tags":["x","y"],"tokens":["b"],"hidden":true}},
            {"content":"<table><tr><td>1</td><td>2</td></tr></table>","type":"table","path":"f.pdf/Part/Two/table-3.html"},
            {"content":"A pump","type":"image"}, "c"]"#,
    )
    .unwrap();
    let titles: Vec<(u32, &str)> = parsed.headings.iter().map(|h| (h.level, h.title.as_str())).collect();
    assert_eq!(titles, [(1, "Part"), (2, "One"), (2, "Two")]);
    let rows: Vec<_> = parsed.rows.iter().map(|row| (row.kind, row.section, row.content.as_str(), row.hidden)).collect();
    assert_eq!(rows[0], (RowKind::Text, Some(1), "a", false));
    assert_eq!(rows[1], (RowKind::Text, Some(0), "b", true));
    assert_eq!(rows[2], (RowKind::Text, Some(0), "author: Ada\ntags: x, y", true));
    assert_eq!(rows[3], (RowKind::Table, Some(2), "", false));
    assert_eq!(rows[4..], [(RowKind::Image, None, "A pump", false), (RowKind::Text, None, "c", false)]);
    assert_eq!((parsed.rows[0].pages.as_slice(), parsed.page_count), (&[2][..], Some(2)));
}

#[test]
fn a_chunk_list_of_ours_can_be_posted_again() {
    let parsed = read(
        r#"{"schema_version":1,"chunks":[{"chunk_id":"x","type":"text","ordinal":0,"content":"See\n[images/image-1.png]\nthere.",
            "path":"r.pdf/2 Operations","metadata":{"length":3,"page_nums":[7],"connect_to":[{"ref":"[images/image-1.png]"}]}}]}"#,
    )
    .unwrap();
    assert_eq!((parsed.rows[0].content.as_str(), parsed.headings[0].title.as_str()), ("See\nthere.", "2 Operations"));
    assert_eq!(parsed.rows.len(), 1);
}

#[test]
fn what_is_wrong_is_named() {
    let failure = |text: &str| read(text).unwrap_err();
    assert!(failure(r#"[{"content":"a"},{"text":"b"}]"#).detail.starts_with("chunks[1]: unknown field `text`"));
    assert!(failure(r#"{"txt":"b"}"#).detail.contains("unknown field `txt`"));
    assert_eq!(failure(r#"{"text":"  "}"#).code, DocumentCode::Empty);
    assert_eq!(failure("[1").code, DocumentCode::Corrupt);
}
