//! What is made of PDFs: every document is built here, so that each test says what stands on its pages.

mod support;

use bytes::Bytes;
use quarry_document::{Parser, RevisionFolder, RevisionRequest, Source, parse_to_folder};
use quarry_model::message::Profile;
use quarry_model::{ChunkType, DocumentId, Format, Limits, Parsed, RowKind, Timestamp};
use quarry_parse_pdf::PdfParser;
use quarry_ports::Clock;
use support::{Sheet, document};

struct OneMoment;

impl Clock for OneMoment {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000)
    }
}

fn profile() -> Profile {
    Profile {
        format: Format::Pdf,
        claimed_format: None,
        encoding: None,
        category: "test".into(),
        routing_category: "generic".into(),
        pdf: None,
    }
}

fn parsed(bytes: &[u8]) -> Parsed {
    let profile = profile();
    let source = Source { bytes, file_name: "a.pdf", profile: &profile };
    PdfParser::default().parse(&source, &Limits::default()).expect("a readable document")
}

fn folder(bytes: &[u8]) -> RevisionFolder {
    let request = RevisionRequest {
        job_id: None,
        data_id: None,
        document_id: DocumentId::from_random([0; 6]),
        file_name: "a.pdf".into(),
        profile: profile(),
        parsing_params: serde_json::Map::new(),
    };
    parse_to_folder(&PdfParser::default(), &Bytes::copy_from_slice(bytes), &request, &Limits::default(), &OneMoment)
        .expect("a readable document")
}

const PROSE: [&str; 8] = [
    "The pump stands on a plate of cast iron and is bolted to the floor, so that it",
    "neither moves nor hums when the motor starts under load. The plate is levelled",
    "with shims of brass before the bolts are tightened, for a plate that is not level",
    "wears the bearing on one side. After a week the bolts are tightened again, since",
    "the shims settle under the weight of the motor and of the pipe that hangs from it.",
    "Oil is changed after the first hundred hours and then once in every thousand hours",
    "of running, or once a year when the pump runs seldom. The old oil is kept in cans",
    "that are closed and marked, and handed to a firm which is allowed to take it away.",
];

/// A report of four pages: running title, page numbers, a paragraph over a page's end, a table over another.
fn report() -> Vec<u8> {
    let furniture = |sheet: Sheet, page: usize| {
        sheet.text(72.0, 40.0, 8.0, "Northern Waterworks - internal").text(300.0, 760.0, 8.0, &format!("Page {page} of 4"))
    };
    let row = |sheet: Sheet, y: f32, cells: [&str; 3]| {
        [72.0, 220.0, 400.0].iter().zip(cells).fold(sheet, |sheet, (x, text)| sheet.text(*x, y, 10.0, text))
    };
    let first = furniture(Sheet::default(), 1)
        .bold(72.0, 100.0, 16.0, "1 The pump")
        .lines(72.0, 130.0, &PROSE)
        .bold(72.0, 260.0, 16.0, "2 The oil")
        .lines(72.0, 290.0, &PROSE)
        .lines(72.0, 640.0, &["The valve is opened slowly, a quarter turn at a time, until the gauge reads two", "bars and the sound of"]);
    let second = furniture(Sheet::default(), 2)
        .lines(
            72.0,
            80.0,
            &["rushing water has stopped. Then it is locked in its place with the pin that hangs", "beside it on a chain of steel."],
        )
        .lines(72.0, 130.0, &PROSE)
        .bold(72.0, 560.0, 16.0, "3 The parts");
    let second = row(second, 600.0, ["Part", "Material", "Price"]).rule(72.0, 500.0, 604.0);
    let second = row(second, 620.0, ["Plate", "Iron", "120"]);
    let second = row(second, 640.0, ["Shim", "Brass", "3"]).rule(72.0, 500.0, 646.0);
    let second = row(second, 660.0, ["Bolt", "Steel", "5"]).rule(72.0, 500.0, 668.0);
    let third = furniture(Sheet::default(), 3).lines(72.0, 80.0, &PROSE);
    let fourth = furniture(Sheet::default(), 4).lines(72.0, 80.0, &PROSE);
    document(vec![first, second, third, fourth], &[])
}

/// Two columns whose lines are level with each other.
fn columns() -> Vec<u8> {
    let left = [
        "Water is pumped from the",
        "lower basin to the upper",
        "one during the night when",
        "power is cheap, and runs",
        "down through the turbine",
        "by day. The pump is also",
        "the turbine, turned round",
    ];
    let right = [
        "The upper basin is lined",
        "with clay that is rolled",
        "in four layers, each one",
        "a hand thick. It must not",
        "dry out, or it cracks and",
        "the water seeps away into",
        "the gravel under the hill",
    ];
    let sheet = Sheet::default().bold(72.0, 80.0, 16.0, "Basins");
    document(vec![sheet.lines(72.0, 120.0, &left).lines(320.0, 120.0, &right)], &[])
}

#[test]
fn a_paragraph_over_a_page_is_whole_sentences_each_on_its_page() {
    let parsed = parsed(&report());
    let at = parsed.rows.iter().position(|row| row.content.starts_with("The valve")).expect("the paragraph");
    let (before, after) = (&parsed.rows[at], &parsed.rows[at + 1]);
    assert_eq!(before.pages, [1, 2]);
    assert!(before.content.trim_end().ends_with("rushing water has stopped."), "{}", before.content);
    assert!(after.continues && after.pages == [2] && after.content.starts_with("Then it is locked"), "{after:?}");
    let folder = folder(&report());
    let chunks = &folder.chunks.chunks;
    assert!(
        chunks
            .iter()
            .all(|chunk| chunk.kind == ChunkType::Table || chunk.metadata.page_nums.len() < 2 || chunk.content.contains("The valve"))
    );
    let markdown = String::from_utf8_lossy(folder.file("full.md").expect("full.md")).into_owned();
    assert!(markdown.contains("water has stopped. Then it is locked"), "one paragraph to a reader");
}

#[test]
fn running_titles_are_said_once_and_page_numbers_not_at_all() {
    let parsed = parsed(&report());
    let said: Vec<&str> = parsed.rows.iter().map(|row| row.content.as_str()).filter(|text| text.contains("Waterworks")).collect();
    assert_eq!(said, ["Northern Waterworks - internal"]);
    assert!(parsed.rows.iter().all(|row| !row.content.contains("of 4")));
}

#[test]
fn a_header_over_the_first_rule_is_a_row_of_the_table_and_no_heading() {
    let parsed = parsed(&report());
    let titles: Vec<&str> = parsed.headings.iter().map(|heading| heading.title.as_str()).collect();
    assert_eq!(titles, ["1 The pump", "2 The oil", "3 The parts"]);
    let tables: Vec<_> = parsed.rows.iter().filter_map(|row| row.table.as_ref()).collect();
    assert_eq!(tables.len(), 1);
    let texts: Vec<Vec<&str>> = tables[0].rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect();
    assert_eq!(texts, [["Part", "Material", "Price"], ["Plate", "Iron", "120"], ["Shim", "Brass", "3"], ["Bolt", "Steel", "5"]]);
}

#[test]
fn columns_of_text_are_read_one_after_the_other_and_are_no_table() {
    let parsed = parsed(&columns());
    assert!(parsed.rows.iter().all(|row| row.kind == RowKind::Text));
    let text: String = parsed.rows.iter().map(|row| row.content.replace('\n', " ") + " ").collect();
    let (left, right) = (text.find("lower basin").expect("left"), text.find("lined with clay").expect("right"));
    assert!(left < right, "{text}");
}

#[test]
fn a_section_that_the_outline_leaves_out_is_known_by_how_it_is_set() {
    let sheet = |title: &str| Sheet::default().bold(72.0, 100.0, 16.0, title).lines(72.0, 130.0, &PROSE);
    let bytes = document(
        vec![sheet("Sources"), sheet("Flow"), sheet("Losses"), sheet("References")],
        &[("Sources", 0), ("Flow", 1), ("Losses", 2)],
    );
    let found: Vec<(String, u32)> = parsed(&bytes).headings.into_iter().map(|heading| (heading.title, heading.level)).collect();
    let wanted = ["Sources", "Flow", "Losses", "References"].map(|title| (title.to_owned(), 1));
    assert_eq!(found, wanted);
}

#[test]
fn a_contents_page_has_no_headings() {
    let entry = |sheet: Sheet, n: usize, title: &str| {
        let y = 100.0 + 20.0 * n as f32;
        sheet.bold(72.0, y, 11.0, title).bold(500.0, y, 11.0, &(n + 2).to_string())
    };
    let titles = ["Sources", "Flow", "Losses", "Pipes", "Basins", "Turbines"];
    let contents = titles.iter().enumerate().fold(Sheet::default(), |sheet, (n, title)| entry(sheet, n, title));
    let mut sheets = vec![contents];
    sheets.extend(titles.iter().map(|title| Sheet::default().bold(72.0, 100.0, 16.0, title).lines(72.0, 130.0, &PROSE)));
    let parsed = parsed(&document(sheets, &[]));
    let pages: Vec<Option<u32>> = parsed.headings.iter().map(|heading| heading.page).collect();
    assert_eq!(pages, (2..8).map(Some).collect::<Vec<_>>());
    assert!(parsed.rows.iter().all(|row| row.table.is_none()), "nor is it a table");
}

/// The letters and digits that stand inside the boxes of a chunk, in the order in which they are drawn.
fn cited(bytes: &[u8], boxes: &[quarry_model::PageBox]) -> String {
    let pdf = quarry_pdf::Pdf::open(bytes.to_vec(), &Limits::default()).expect("a readable document");
    let mut out = String::new();
    pdf.read(|number, page, fonts| {
        for line in quarry_pdf::lines_of(&page, fonts) {
            for word in &line.words {
                let (x, y) = (f32::midpoint(word.rect.x0, word.rect.x1), f32::midpoint(word.rect.y0, word.rect.y1));
                if boxes.iter().any(|b| b.page as usize == number && x >= b.x0 && x <= b.x1 && y >= b.y0 && y <= b.y1) {
                    out.extend(word.text.chars().filter(|c| c.is_alphanumeric()));
                }
            }
        }
        true
    });
    out
}

#[test]
fn every_chunk_is_found_where_it_cites() {
    let card = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/pdf/card/input.pdf")).expect("the golden document");
    for bytes in [report(), columns(), card] {
        for chunk in folder(&bytes).chunks.chunks {
            if chunk.kind == ChunkType::Image {
                continue;
            }
            let metadata = &chunk.metadata;
            assert!(metadata.boxes.iter().all(|b| metadata.page_nums.contains(&b.page)), "boxes on cited pages: {}", chunk.content);
            let mut markup = false;
            let plain: String = chunk
                .content
                .lines()
                .filter(|line| !line.starts_with("[images/") && !line.starts_with("[tables/"))
                .flat_map(|line| line.chars().chain(['\n']))
                .map(|c| match c {
                    '<' if chunk.kind == ChunkType::Table => {
                        markup = true;
                        ' '
                    }
                    '>' if markup => {
                        markup = false;
                        ' '
                    }
                    _ if markup => ' ',
                    c => c,
                })
                .collect();
            let there = cited(&bytes, &metadata.boxes);
            for word in plain.split_whitespace() {
                let bare: String = word.chars().filter(|c| c.is_alphanumeric()).collect();
                assert!(there.contains(&bare), "{word:?} of {:?} is not inside its boxes: {there}", chunk.content);
            }
        }
    }
}

#[test]
fn two_runs_are_byte_identical() {
    for bytes in [report(), columns()] {
        let (one, two) = (folder(&bytes), folder(&bytes));
        assert!(one.files.iter().map(|f| (&f.name, &f.bytes)).eq(two.files.iter().map(|f| (&f.name, &f.bytes))));
    }
}
