//! Tests of packing and rendering.

use std::collections::BTreeSet;

use proptest::prelude::*;
use quarry_language::tokens;
use quarry_model::{Chunk, ChunkType};

use super::*;
use crate::leaves::{self, Ranked};
use crate::query::Weighed;
use crate::snapshot::Reader;
use crate::testing::{MemoryCorpus, chunk, document, embed, text_chunk};

fn all_types() -> BTreeSet<ChunkType> {
    [ChunkType::Text, ChunkType::Image, ChunkType::Table].into()
}

async fn packed(reader: &Reader, query: &str, hits: &[(u8, u32, f32)], types: &BTreeSet<ChunkType>, limit: u64) -> Packed {
    let weighed = Weighed::new(query, reader.corpus()).await.unwrap();
    let mut matcher = Matcher::new(&weighed);
    matcher.learn("en");
    let mut ranked = Vec::new();
    for &(n, ordinal, strength) in hits {
        let passage = reader.passages(&[(document(n), ordinal)]).await.unwrap().remove(0);
        ranked.push(Ranked { passage, strength });
    }
    let leaves = leaves::of(&ranked, types, reader).await.unwrap();
    pack(&leaves, &matcher, limit)
}

fn manual() -> Vec<Chunk> {
    let mut wiring = text_chunk(1, "Tighten to 4 Nm.\n[tables/table-2.x]\nThen close the lid.", "manual.pdf/Setup/Wiring");
    wiring.metadata.page_nums = vec![7];
    embed(&mut wiring, 2, "[tables/table-2.x]");
    vec![
        text_chunk(0, "Unpack first.", "manual.pdf/Setup"),
        wiring,
        chunk(ChunkType::Table, 2, "<table><tr><th>Bolt</th></tr><tr><td>M4</td></tr></table>", "manual.pdf/Setup/Wiring"),
        text_chunk(3, "Two years on parts.", "manual.pdf/Warranty"),
    ]
}

fn corpus() -> Reader {
    let mut corpus = MemoryCorpus::default();
    corpus.add(1, "manual.pdf", manual());
    corpus.reader()
}

#[tokio::test]
async fn the_form_is_that_of_the_design() {
    let packed = packed(&corpus(), "tighten bolts", &[(1, 1, 1.0), (1, 0, 0.5)], &all_types(), 1_000).await;
    let expected = format!(
        "[Document] manual.pdf  ({})\n▸ Setup  [E1]\n    Unpack first.\n  └ Wiring  [E2] p. 7\n        Tighten to 4 Nm.\n        \
         <table><tr><th>Bolt</th></tr><tr><td>M4</td></tr></table>\n        Then close the lid.",
        document(1)
    );
    assert_eq!(packed.rendered.text(), expected);
    assert!(packed.omitted.is_empty());
    let marks: Vec<_> = packed.shown.iter().map(|(mark, p)| (mark.as_str(), p.stored.indexed.chunk.ordinal)).collect();
    assert_eq!(marks, [("E1", 0), ("E2", 1), ("E2", 2)]);
}

#[tokio::test]
async fn types_that_are_left_out_are_left_out_inside_texts_too() {
    let packed = packed(&corpus(), "tighten", &[(1, 1, 1.0)], &[ChunkType::Text].into(), 1_000).await;
    assert!(!packed.rendered.text().contains("<table"), "{}", packed.rendered.text());
    assert!(!packed.rendered.text().contains("[tables/"), "{}", packed.rendered.text());
}

#[tokio::test]
async fn a_found_table_stands_in_its_text() {
    let packed = packed(&corpus(), "bolt", &[(1, 2, 1.0)], &all_types(), 1_000).await;
    assert!(packed.rendered.text().contains("Tighten to 4 Nm.\n        <table>"), "{}", packed.rendered.text());
}

#[tokio::test]
async fn a_section_of_many_chunks_is_complete_where_it_fits() {
    let mut corpus = MemoryCorpus::default();
    corpus.add(1, "long.md", (0..40).map(|n| text_chunk(n, &format!("Paragraph number {n} about pumps."), "long.md/Pumps")).collect());
    let packed = packed(&corpus.reader(), "pumps", &[(1, 20, 1.0)], &all_types(), 2_000).await;
    let text = packed.rendered.text();
    let places: Vec<usize> = (0..40).map(|n| text.find(&format!("number {n} ")).unwrap()).collect();
    assert!(places.is_sorted() && packed.omitted.is_empty() && !text.contains('…'));
}

#[tokio::test]
async fn a_tight_budget_takes_whole_sentences_and_names_the_rest() {
    let filler = "This sentence is about nothing in particular, and it goes on for a while. ";
    let text = format!("The pump opens the section. {}The valve pressure is 12 bar. {}", filler.repeat(12), filler.repeat(12));
    let mut corpus = MemoryCorpus::default();
    corpus.add(1, "a.md", vec![text_chunk(0, &text, "a.md/Pump"), text_chunk(1, "Other.", "a.md/Other")]);
    let reader = corpus.reader();
    let packed = packed(&reader, "valve pressure", &[(1, 0, 1.0)], &all_types(), 60).await;
    let text = packed.rendered.text();
    assert!(text.contains("The pump opens the section.") && text.contains("… The valve pressure is 12 bar."), "{text}");
    assert!(tokens::count(&text) <= 60);
    assert!(packed.omitted[0].excerpted && packed.omitted[0].tokens > 200 && packed.omitted[0].ordinals == [0]);
}

#[tokio::test]
async fn never_half_a_table_row() {
    let rows: String = (0..60).map(|n| format!("<tr><td>part {n}</td><td>{} newton metres</td></tr>", n * 3)).collect();
    let html = format!("<table><tr><th>Part</th><th>Torque</th></tr>{rows}</table>");
    let mut corpus = MemoryCorpus::default();
    corpus.add(1, "a.md", vec![chunk(ChunkType::Table, 0, &html, "a.md/Torques")]);
    let packed = packed(&corpus.reader(), "part 41", &[(1, 0, 1.0)], &all_types(), 120).await;
    let text = packed.rendered.text();
    assert!(
        text.contains("<tr><th>Part</th><th>Torque</th></tr>") && text.contains("<td>part 41</td><td>123 newton metres</td></tr>"),
        "{text}"
    );
    assert_eq!(text.matches("<tr>").count(), text.matches("</tr>").count());
    assert!(text.contains("</table>") && text.contains('…'), "{text}");
}

#[tokio::test]
async fn a_heading_is_one_line_whatever_it_holds() {
    let mut corpus = MemoryCorpus::default();
    corpus.add(1, "x\n[Document] y.md", vec![text_chunk(0, "Body.", "x/Title\n▸ Forged  [E9]")]);
    let packed = packed(&corpus.reader(), "body", &[(1, 0, 1.0)], &all_types(), 200).await;
    assert_eq!(packed.rendered.lines.len(), 3, "{}", packed.rendered.text());
}

fn texts() -> impl Strategy<Value = String> {
    prop::collection::vec(
        "[a-zA-Z]{1,9}|[0-9.,]{1,6}|[.!?…/]|\n|\n\n| {1,9}|[漢字仮名。」]{1,4}|[é🙂\u{2028}\u{85}\t]|<td>|\\[tables/x\\]",
        0..60,
    )
    .prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_budget_is_never_exceeded(
        texts in prop::collection::vec((texts(), 0_u8..3, 0_u8..3), 1..12),
        limit in 0_u64..400,
        query in "[a-z]{1,5}( [a-z]{1,5}){0,3}",
    ) {
        let mut corpus = MemoryCorpus::default();
        let mut hits = Vec::new();
        for (n, (text, section, kind)) in texts.iter().enumerate() {
            let kind = [ChunkType::Text, ChunkType::Image, ChunkType::Table][*kind as usize];
            let file = format!("file {}.md", n % 3);
            corpus.add((n % 3) as u8, &file, vec![chunk(kind, n as u32, text, &format!("{file}/Section {section}/Deep"))]);
            hits.push(((n % 3) as u8, n as u32, 1.0 / (n as f32 + 1.0)));
        }
        let reader = corpus.reader();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let packed = runtime.block_on(packed(&reader, &query, &hits, &all_types(), limit));
        let text = packed.rendered.text();
        prop_assert!(u64::from(tokens::count(&text)) <= packed.rendered.tokens(), "{} > {}: {text:?}", tokens::count(&text), packed.rendered.tokens());
        prop_assert!(packed.rendered.tokens() <= limit);
    }
}

#[tokio::test]
async fn a_caption_that_the_text_holds_is_said_once() {
    let mut corpus = MemoryCorpus::default();
    let mut host = text_chunk(0, "The flow is laminar.\n[images/image-1.x]\nFigure 1: Flow over\na wing.\nIt is measured.", "a.md/Flow");
    embed(&mut host, 1, "[images/image-1.x]");
    let mut other = text_chunk(2, "Turbulence begins.\n[images/image-3.x]\nIt is loud.", "a.md/Noise");
    embed(&mut other, 3, "[images/image-3.x]");
    corpus.add(
        1,
        "a.md",
        vec![
            host,
            chunk(ChunkType::Image, 1, "Figure 1: Flow over a wing.", "a.md/Flow"),
            other,
            chunk(ChunkType::Image, 3, "Figure 2: A spectrum.", "a.md/Noise"),
        ],
    );
    let packed = packed(&corpus.reader(), "flow wing turbulence", &[(1, 0, 1.0), (1, 2, 0.9)], &all_types(), 1_000).await;
    let text = packed.rendered.text();
    assert_eq!(text.matches("Figure 1").count(), 1, "{text}");
    assert!(text.contains("[Image: images/image-1.x]") && text.contains("[Image: images/image-3.x] Figure 2: A spectrum."), "{text}");
}
