use std::time::{Duration, Instant};

use proptest::prelude::*;
use quarry_model::{Asset, Cell, Evidence, Heading, RowRef, Table};

use super::*;

fn heading(title: &str, level: u32) -> Heading {
    Heading { title: title.into(), number: None, level, page: None, evidence: Evidence::Markup }
}

fn table(cells: &[&[&str]]) -> Table {
    Table { rows: cells.iter().map(|row| row.iter().map(|c| Cell::new(*c)).collect()).collect(), header_rows: 1, ..Table::default() }
}

/// Rows → chunks as the folder builder does it; every asset is a picture that cannot be decoded.
fn write(rows: &[Row], headings: &[Heading], limits: &Limits) -> Vec<Chunk> {
    let tree = SectionTree::build(headings, rows, "a.md", limits);
    let count = rows.iter().filter_map(|row| row.asset).max().map_or(0, |last| last + 1);
    let assets = (0..count).map(|n| Asset { bytes: n.to_string().into_bytes(), original_name: String::new() }).collect();
    let pictures = Pictures::store(assets, rows, limits);
    chunks(rows, &tree, &pictures, &[], limits).chunks.into_iter().map(|draft| draft.chunk).collect()
}

fn small() -> Limits {
    Limits { chunk_tokens: 60, chunk_target_tokens: 25, chunk_tail_tokens: 6, ..Limits::default() }
}

fn contents(chunks: &[Chunk]) -> Vec<&str> {
    chunks.iter().map(|chunk| chunk.content.as_str()).collect()
}

#[test]
fn a_host_comes_before_its_assets_and_links_go_both_ways() {
    let mut host = Row::text(Some(0), "Capacity grew in 2025. It will grow again.");
    host.refs.push(RowRef { row: 1, at: 22 });
    let rows = [host, Row::image(Some(0), 0, "Ramp"), Row::table(Some(0), table(&[&["a"], &["1"]])), Row::text(Some(0), "End.")];
    let chunks = write(&rows, &[heading("2 Operations", 1)], &Limits::default());
    assert_eq!(chunks[0].content, "Capacity grew in 2025.\n[images/image-1.bin]\nIt will grow again.\n[tables/table-2.html]");
    assert_eq!(chunks.iter().map(|c| c.ordinal).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(chunks[3].content, "End.");
    assert_eq!(chunks[0].path, "a.md/2 Operations");
    assert_eq!(chunks[1].path, "a.md/2 Operations/image-1.bin");
    assert_eq!(chunks[2].path, "a.md/2 Operations/table-2.html");
    let links = &chunks[0].metadata.connect_to;
    assert_eq!(links.len(), 2);
    for link in links {
        let position = link.position.unwrap();
        let there: String =
            chunks[0].content.chars().skip(position.start as usize).take((position.end - position.start) as usize).collect();
        assert_eq!(Some(there), link.reference);
        let back = &chunks[link.target_ordinal as usize].metadata.connect_to;
        assert_eq!((back.len(), back[0].relation, &back[0].target), (1, Relation::Related, &chunks[0].chunk_id));
    }
    assert_eq!(chunks[0].chunk_id, ChunkId::text("Capacity grew in 2025. It will grow again."));
}

#[test]
fn positions_count_code_points() {
    let mut host = Row::text(None, "Größe 👩‍👩‍👧 – naïve: ");
    host.refs.push(RowRef { row: 1, at: host.content.chars().count() });
    let chunks = write(&[host, Row::image(None, 0, "x")], &[], &Limits::default());
    let position = chunks[0].metadata.connect_to[0].position.unwrap();
    let all: Vec<char> = chunks[0].content.chars().collect();
    assert_eq!(all[position.start as usize..position.end as usize].iter().collect::<String>(), "[images/image-1.bin]");
    assert_eq!(position.end as usize, all.len());
    assert_eq!(chunks[0].metadata.length as usize, all.len());
}

#[test]
fn sections_are_never_crossed_and_hidden_text_is_not_mixed() {
    let mut secret = Row::text(Some(0), "hidden");
    secret.hidden = true;
    let rows = [Row::text(None, "before"), Row::text(Some(0), "a"), secret, Row::text(Some(0), "b"), Row::text(Some(1), "c")];
    let chunks = write(&rows, &[heading("A", 1), heading("B", 2)], &Limits::default());
    assert_eq!(contents(&chunks), ["before", "a\n\nb", "hidden", "c"]);
    assert_eq!(chunks.iter().map(|c| c.metadata.hidden).collect::<Vec<_>>(), [false, false, true, false]);
    assert_eq!(chunks[0].path, "a.md/a");
    assert_eq!(chunks[3].path, "a.md/A/B");
}

#[test]
fn paragraphs_are_packed_near_the_target_and_a_short_tail_joins() {
    let paragraph = "one two three four five six seven eight nine ten.";
    let mut rows: Vec<Row> = (0..6).map(|_| Row::text(None, paragraph)).collect();
    rows.push(Row::text(None, "The end."));
    let chunks = write(&rows, &[], &small());
    let sizes: Vec<usize> = chunks.iter().map(|c| c.content.matches("ten.").count()).collect();
    assert_eq!(sizes, [2, 2, 2]);
    assert!(chunks[2].content.ends_with("ten.\n\nThe end."));
}

#[test]
fn a_large_paragraph_is_cut_at_sentences_and_a_large_sentence_at_words() {
    let sentences = (0..12).map(|n| format!("Sentence number {n} has these eight words. ")).collect::<Vec<_>>().concat();
    let chunks = write(&[Row::text(None, sentences.as_str())], &[], &small());
    assert!(chunks.len() > 2);
    assert!(chunks.iter().all(|c| c.content.starts_with("Sentence") && c.content.ends_with("words.")), "{:?}", contents(&chunks));
    let endless = "word ".repeat(500);
    let chunks = write(&[Row::text(None, endless.as_str())], &[], &small());
    assert!(chunks.iter().all(|c| c.metadata.token_count <= 60 && c.content.ends_with("word")));
    assert_eq!(chunks.iter().map(|c| c.content.matches("word").count()).sum::<usize>(), 500);
}

#[test]
fn lines_of_one_block_stay_together() {
    let mut second = Row::text(None, "- two");
    second.tight = true;
    let chunks = write(&[Row::text(None, "- one"), second, Row::text(None, "    code")], &[], &Limits::default());
    assert_eq!(contents(&chunks), ["- one\n- two\n\n    code"]);
}

#[test]
fn what_stands_between_paragraphs_is_read_between_them() {
    let cells: &[&[&str]] = &[&["a", "b"]];
    let rows = [
        Row::table(Some(0), table(cells)),
        Row::text(Some(0), "One."),
        Row::table(Some(0), table(cells)),
        Row::image(Some(0), 0, "p"),
        Row::text(Some(0), "Two."),
        Row::text(Some(0), "Three."),
    ];
    let chunks = write(&rows, &[heading("A", 1)], &Limits::default());
    let order: Vec<(ChunkType, &str)> = chunks.iter().map(|c| (c.kind, c.content.lines().next().unwrap_or_default())).collect();
    let (text, table, image) = (ChunkType::Text, (ChunkType::Table, "<table>"), (ChunkType::Image, "p"));
    assert_eq!(order, [table, (text, "One."), table, image, (text, "Two.")]);
    assert_eq!(chunks[1].metadata.connect_to.len(), 2, "what follows a text belongs to it");
    assert_eq!(chunks[4].content, "Two.\n\nThree.");
}

#[test]
fn assets_without_text_stand_alone_under_their_nearest_heading() {
    let rows = [Row::image(Some(0), 0, ""), Row::image(Some(0), 1, "Pump, front view"), Row::image(None, 2, "")];
    let chunks = write(&rows, &[heading("Figures", 1)], &Limits::default());
    assert_eq!(contents(&chunks), ["Figures", "Pump, front view", "a"]);
    assert!(chunks.iter().all(|c| c.metadata.connect_to.is_empty() && c.kind == ChunkType::Image));
}

#[test]
fn a_picture_without_a_file_is_a_chunk_without_a_mark() {
    let named = |said: &str| Row { asset: None, ..Row::image(Some(0), 0, said) };
    let mut host = Row::text(Some(0), "Before.");
    host.refs.push(RowRef { row: 1, at: 7 });
    let rows = [host, named("map (http://e.org/m.png)"), Row::text(Some(0), "After."), named("map (http://e.org/m.png)")];
    let chunks = write(&rows, &[heading("Maps", 1)], &Limits::default());
    assert_eq!(contents(&chunks), ["Before.\n\nAfter.", "map (http://e.org/m.png)", "map (http://e.org/m.png)"]);
    assert!(chunks.iter().all(|chunk| chunk.metadata.file_path.is_none() && chunk.metadata.connect_to.is_empty()));
    assert_ne!(chunks[1].chunk_id, chunks[2].chunk_id);
    assert!(chunks[1].path.ends_with("/Maps/image-1"), "{}", chunks[1].path);
}

#[test]
fn a_repeated_picture_keeps_its_file_and_gets_an_identity_of_its_own() {
    let rows = [Row::image(Some(0), 0, "one"), Row::image(Some(1), 0, "two")];
    let chunks = write(&rows, &[heading("A", 1), heading("B", 1)], &Limits::default());
    assert_eq!(chunks[0].metadata.file_path, chunks[1].metadata.file_path);
    assert_ne!(chunks[0].chunk_id, chunks[1].chunk_id);
    let tables = [Row::table(None, table(&[&["a"], &["b"]])), Row::table(None, table(&[&["a"], &["b"]]))];
    let chunks = write(&tables, &[], &Limits::default());
    assert_ne!(chunks[0].chunk_id, chunks[1].chunk_id);
    assert_ne!(chunks[0].metadata.file_path, chunks[1].metadata.file_path);
}

#[test]
fn a_picture_shown_again_is_described_as_it_was() {
    let mut rows = [Row::image(Some(0), 0, ""), Row::image(Some(1), 0, "The pump"), Row::image(Some(1), 0, "The pump, again")];
    rows[0].pages = vec![1];
    let chunks = write(&rows, &[heading("A", 1), heading("B", 1)], &Limits::default());
    assert_eq!(contents(&chunks), ["The pump", "The pump", "The pump, again"]);
}

#[test]
fn a_large_table_is_windows_of_one_file() {
    let mut big = table(&[&["Name", "Value"]]);
    big.rows.extend((0..200).map(|n| vec![Cell::new(format!("row {n}")), Cell::new(n.to_string())]));
    let rows = [Row::text(None, "Before."), Row::table(None, big), Row::text(None, "After.")];
    let chunks = write(&rows, &[], &Limits { chunk_tokens: 300, ..Limits::default() });
    let windows: Vec<&Chunk> = chunks.iter().filter(|c| c.kind == ChunkType::Table).collect();
    assert!(windows.len() > 5);
    assert!(windows.iter().all(|w| w.metadata.file_path.as_deref() == Some("tables/table-1.html")));
    assert!(windows.iter().all(|w| w.content.contains("<th>Name</th>") && w.metadata.token_count <= 300));
    assert!(windows.iter().all(|w| w.metadata.connect_to.len() == 1));
    let mut next = 1;
    for window in &windows {
        let [first, last, of] = window.metadata.rows.unwrap();
        assert_eq!((first, of), (next, 200));
        next = last + 1;
    }
    assert_eq!(next, 201);
    assert_eq!(chunks[0].content, "Before.\n[tables/table-1.html]");
    assert_eq!(chunks.last().unwrap().content, "After.");
    assert_eq!(chunks[0].metadata.connect_to.len(), 1);
}

#[test]
fn more_marks_than_a_chunk_holds_do_not_break_it() {
    let mut host = Row::text(Some(0), "Icons.");
    host.refs = (0..300).map(|n| RowRef { row: n + 1, at: 6 }).collect();
    let mut rows = vec![host];
    rows.extend((0..300).map(|n| Row::image(Some(0), n, "")));
    let chunks = write(&rows, &[heading("Icons", 1)], &Limits::default());
    assert_eq!(chunks.iter().filter(|c| c.kind == ChunkType::Image).count(), 300);
    assert!(chunks.iter().all(|c| c.metadata.token_count <= 1_200));
}

#[test]
fn references_that_lead_nowhere_are_ignored() {
    let mut host = Row::text(None, "x");
    host.refs = vec![RowRef { row: 99, at: 0 }, RowRef { row: 0, at: 7 }, RowRef { row: 1, at: 900 }, RowRef { row: 1, at: 0 }];
    let chunks = write(&[host, Row::image(None, 0, "p")], &[], &Limits::default());
    assert_eq!(contents(&chunks), ["x\n[images/image-1.bin]", "p"]);
}

#[test]
fn a_long_single_line_takes_linear_time() {
    let time = |size: usize| {
        let line = "abcdefghij klmnop, ".repeat(size / 19);
        let start = Instant::now();
        let chunks = write(&[Row::text(None, line.as_str())], &[], &Limits::default());
        assert!(chunks.iter().all(|c| c.metadata.token_count <= 1_200));
        start.elapsed()
    };
    time(10_000);
    let (small, large) = (time(200_000), time(2_000_000));
    assert!(large < small * 25 + Duration::from_millis(500), "{small:?} {large:?}");
    let unbroken = "x".repeat(300_000);
    let chunks = write(&[Row::text(None, unbroken.as_str())], &[], &Limits::default());
    assert_eq!(chunks.iter().map(|c| c.content.len()).sum::<usize>(), 300_000);
}

fn a_row() -> impl Strategy<Value = (u8, String, Option<usize>, bool)> {
    let words = "(?:[a-z]{1,9}|[A-Z][a-z]+\\.|漢字|ü+|!\\?|\\n| )(?: (?:[a-z]{1,9}|[A-Z][a-z]+\\.|深圳市。|\u{e9}|👩‍👧)){0,40}";
    (0_u8..4, words, prop::option::of(0_usize..4), any::<bool>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn no_text_is_lost_or_repeated_and_every_link_holds(plan in prop::collection::vec(a_row(), 1..24), places in prop::collection::vec((0_usize..24, 0_usize..60), 0..8)) {
        let headings: Vec<Heading> = (0..4).map(|n| heading(&format!("H{n}"), 1 + n % 3)).collect();
        let mut rows: Vec<Row> = plan.iter().enumerate().map(|(n, (kind, text, section, tight))| match kind {
            0 => Row::image(*section, n, text.clone()),
            1 => Row::table(*section, table(&[&["h", "i"], &[text, "1"]])),
            _ => Row { tight: *tight, ..Row::text(*section, text.clone()) },
        }).collect();
        let count = rows.len();
        for (n, (target, at)) in places.into_iter().enumerate() {
            rows[(n * 7) % count].refs.push(RowRef { row: target, at });
        }
        let limits = small();
        let chunks = write(&rows, &headings, &limits);
        let again = write(&rows, &headings, &limits);
        prop_assert_eq!(&chunks, &again);

        // Order of sections and of assets inside text may differ from the rows'; within a section nothing else may.
        let squeeze = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        let tree = SectionTree::build(&headings, &rows, "a.md", &limits);
        for (index, section) in tree.sections().iter().enumerate() {
            let told: String = rows.iter().filter(|r| r.kind == RowKind::Text && tree.index_of(r.section) == index).map(|r| squeeze(&r.content)).collect();
            let kept: String = chunks.iter().filter(|c| c.kind == ChunkType::Text && c.metadata.section_id == section.id).map(|c| {
                let mut text = c.content.clone();
                for link in &c.metadata.connect_to {
                    if let Some(reference) = &link.reference {
                        text = text.replacen(reference, "", 1);
                    }
                }
                squeeze(&text)
            }).collect();
            prop_assert_eq!(kept, told);
        }
        prop_assert_eq!(chunks.iter().filter(|c| c.kind == ChunkType::Image).count(), rows.iter().filter(|r| r.kind == RowKind::Image).count());
        for chunk in &chunks {
            prop_assert!(chunk.kind == ChunkType::Image || chunk.metadata.token_count <= limits.chunk_tokens, "{:?}", chunk);
            for link in &chunk.metadata.connect_to {
                let target = &chunks[link.target_ordinal as usize];
                prop_assert_eq!(&target.chunk_id, &link.target);
                if let (Some(reference), Some(position)) = (&link.reference, link.position) {
                    let there: String = chunk.content.chars().skip(position.start as usize).take((position.end - position.start) as usize).collect();
                    prop_assert_eq!(&there, reference);
                    prop_assert!(chunk.content.lines().any(|line| line == reference));
                }
            }
        }
    }
}
