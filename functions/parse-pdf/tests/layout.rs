//! What stands on a page: columns, grids and headings in unusual settings, and pages that take too long.

mod support;

use std::time::Duration;

use quarry_document::{Parser, Source};
use quarry_model::message::Profile;
use quarry_model::{DocumentCode, Format, Limits, Parsed, RowKind};
use quarry_parse_pdf::PdfParser;
use support::{Sheet, document};

fn parsed_by(parser: &PdfParser, bytes: &[u8]) -> Parsed {
    let profile = Profile {
        format: Format::Pdf,
        claimed_format: None,
        encoding: None,
        category: "test".into(),
        routing_category: "generic".into(),
        pdf: None,
    };
    let source = Source { bytes, file_name: "a.pdf", profile: &profile };
    parser.parse(&source, &Limits::default()).expect("a readable document")
}

fn parsed(bytes: &[u8]) -> Parsed {
    parsed_by(&PdfParser::default(), bytes)
}

fn headings(bytes: &[u8]) -> Vec<(String, u32)> {
    parsed(bytes).headings.into_iter().map(|heading| (heading.title, heading.level)).collect()
}

const PROSE: [&str; 3] = [
    "The pump stands on a plate of cast iron and is bolted to the floor, so that it",
    "neither moves nor hums when the motor starts under load. The plate is levelled",
    "with shims of brass before the bolts are tightened, and again after a week.",
];

#[test]
fn two_ragged_columns_are_no_table() {
    let left = [
        "Water is pumped from the lower",
        "basin to the upper one at",
        "night when power is",
        "cheap, and runs down through",
        "it by day.",
    ];
    let right = [
        "The basin is lined with",
        "clay that is rolled in four layers",
        "and must not dry out, or",
        "it cracks and the water",
        "seeps away into the gravel.",
    ];
    for rows in 3..=5 {
        let sheet = Sheet::default().lines(72.0, 120.0, &left[..rows]).lines(320.0, 120.0, &right[..rows]);
        let parsed = parsed(&document(vec![sheet], &[]));
        assert!(parsed.rows.iter().all(|row| row.kind == RowKind::Text), "{rows} rows: {:?}", parsed.rows);
    }
}

#[test]
fn a_grid_in_a_cell_is_a_table_of_that_cell() {
    let outer = Sheet::default().grid(&[72.0, 200.0, 400.0], &[100.0, 130.0, 200.0]);
    let sheet = outer
        .grid(&[220.0, 290.0, 380.0], &[145.0, 165.0, 185.0])
        .text(80.0, 120.0, 10.0, "Part")
        .text(210.0, 120.0, 10.0, "Sizes")
        .text(80.0, 160.0, 10.0, "Bolt")
        .text(230.0, 160.0, 10.0, "M8")
        .text(300.0, 160.0, 10.0, "40 mm")
        .text(230.0, 180.0, 10.0, "M10")
        .text(300.0, 180.0, 10.0, "60 mm");
    let parsed = parsed(&document(vec![sheet], &[]));
    let tables: Vec<_> = parsed.rows.iter().filter_map(|row| row.table.as_ref()).collect();
    let [table] = tables.as_slice() else { panic!("one table, not {}", tables.len()) };
    let texts: Vec<Vec<&str>> = table.rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect();
    assert_eq!(texts, [["Part", "Sizes"], ["Bolt", ""]]);
    let inner: Vec<Vec<&str>> =
        table.rows[1][1].tables[0].rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect();
    assert_eq!(inner, [["M8", "40 mm"], ["M10", "60 mm"]]);
}

#[test]
fn items_set_as_headings_stand_below_the_headings_the_outline_names() {
    let sheet = |title: &str| Sheet::default().bold(72.0, 120.0, 12.0, title).lines(72.0, 145.0, &PROSE);
    let modes = sheet("Modes")
        .bold(98.0, 200.0, 12.0, "1. Loaded from a file")
        .lines(98.0, 225.0, &PROSE)
        .bold(98.0, 285.0, 12.0, "2. Said from within the shell:")
        .lines(98.0, 310.0, &PROSE);
    let bytes = document(vec![sheet("Sources"), modes, sheet("Losses")], &[("Sources", 0), ("Modes", 1), ("Losses", 2)]);
    let wanted = [("Sources", 1), ("Modes", 1), ("1. Loaded from a file", 2), ("2. Said from within the shell:", 2), ("Losses", 1)];
    assert_eq!(headings(&bytes), wanted.map(|(title, level)| (title.to_owned(), level)));
}

#[test]
fn a_heading_may_be_a_long_question_or_have_a_smaller_number() {
    let question = [
        "1.2 I run the testing branch at the moment: what happens when the next",
        "release is made, will I go on with the testing branch as before, or does my",
        "machine turn to the new stable release on the day on which it comes out, and",
        "is there anything that I have to do?",
    ];
    let asked =
        question.iter().enumerate().fold(Sheet::default(), |sheet, (i, line)| sheet.bold(72.0, 100.0 + 17.0 * i as f32, 14.0, line));
    let sheet =
        asked.lines(72.0, 190.0, &PROSE).text(72.0, 270.0, 8.6, "1.2.3").text(96.0, 270.0, 10.0, "The branches").lines(72.0, 294.0, &PROSE);
    let titles: Vec<String> = headings(&document(vec![sheet], &[])).into_iter().map(|(title, _)| title).collect();
    assert_eq!(titles, [question.join(" "), "1.2.3 The branches".to_owned()]);
}

#[test]
fn a_page_that_takes_too_long_is_named_and_the_document_is_partial() {
    let bytes = document(vec![Sheet::default().lines(72.0, 120.0, &PROSE)], &[]);
    let whole = parsed(&bytes);
    assert!(!whole.partial && whole.warnings.is_empty());
    let cut = parsed_by(&PdfParser::default().with_page_time(Duration::ZERO), &bytes);
    assert!(cut.partial);
    assert!(cut.warnings.iter().any(|warning| warning.code == DocumentCode::TimedOut && warning.page == Some(1)), "{:?}", cut.warnings);
}

#[test]
fn a_footnote_is_read_after_the_paragraph_that_carries_its_mark() {
    let first = Sheet::default()
        .text(72.0, 120.0, 10.0, "The source gives oil")
        .text(160.5, 116.0, 6.5, "1")
        .text(168.5, 120.0, 10.0, "by day and by night, and is never closed.")
        .lines(
            72.0,
            300.0,
            &["The shims are kept in a tin that stands on the shelf beside the door of the room", "and are counted whenever the"],
        )
        .text(72.0, 690.5, 5.5, "1")
        .text(78.0, 694.0, 8.0, "Cast at the works in the old town, and tested there.");
    let second = Sheet::default().lines(72.0, 120.0, &["tin is opened, so that none is lost on the floor.", "Lost shims are paid for."]);
    let parsed = parsed(&document(vec![first, second], &[]));
    let texts: Vec<&str> = parsed.rows.iter().map(|row| row.content.trim()).collect();
    let at = |start: &str| texts.iter().position(|text| text.starts_with(start)).unwrap_or_else(|| panic!("{start}: {texts:?}"));
    assert_eq!(at("1 Cast at"), at("The source") + 1, "{texts:?}");
    assert!(texts[at("The source")].contains("gives oil1 by day"), "{texts:?}");
    let after = at("The shims are") + 1;
    assert!(parsed.rows[after].continues && parsed.rows[after].pages == [2], "the paragraph is whole again: {texts:?}");
}

#[test]
fn an_exponent_is_no_further_digit() {
    let sheet = Sheet::default().text(72.0, 120.0, 10.0, "The source gives 10").text(160.5, 116.0, 6.5, "43").text(
        168.5,
        120.0,
        10.0,
        "erg in a second.",
    );
    let parsed = parsed(&document(vec![sheet], &[]));
    let text: String = parsed.rows.iter().map(|row| row.content.as_str()).collect();
    assert!(text.contains("10 43"), "{text}");
}

#[test]
fn a_numbered_title_set_as_its_text_is_a_heading() {
    let sheet =
        Sheet::default().lines(72.0, 120.0, &PROSE).text(72.0, 180.0, 10.0, "5.7.1.2 Names of the parts").lines(72.0, 193.0, &PROSE);
    let titles: Vec<String> = headings(&document(vec![sheet], &[])).into_iter().map(|(title, _)| title).collect();
    assert_eq!(titles, ["5.7.1.2 Names of the parts"]);
}

#[test]
fn a_chapter_s_label_is_no_title_of_its_own() {
    let text: Vec<&str> = PROSE.iter().chain(&PROSE).copied().collect();
    let chapter = |number: usize, title: &str| {
        Sheet::default().bold(72.0, 120.0, 24.0, &format!("Chapter {number}")).bold(72.0, 160.0, 28.0, title).lines(72.0, 200.0, &text)
    };
    let bytes = document(vec![chapter(1, "Sources"), chapter(2, "Losses")], &[]);
    let wanted = [("Chapter 1 Sources", 1), ("Chapter 2 Losses", 1)];
    assert_eq!(headings(&bytes), wanted.map(|(title, level)| (title.to_owned(), level)));
}
