//! Whole documents: encodings, refusals, coverage, damage. Single features are tested beside the reader in
//! `quarry_document::html`.

use std::collections::BTreeSet;

use bytes::Bytes;
use quarry_document::{RevisionFolder, RevisionRequest, Source, parse_to_folder};
use quarry_model::message::Profile;
use quarry_model::{ChunkType, DocumentId, Format, RowKind};
use quarry_ports::SystemClock;

use super::*;

const GOLDEN: [&[u8]; 4] = [
    include_bytes!("../../../tests/golden/html/musee/input.html"),
    include_bytes!("../../../tests/golden/html/kisoku/input.html"),
    include_bytes!("../../../tests/golden/html/bulletin/input.html"),
    include_bytes!("../../../tests/golden/html/tariff/input.html"),
];

fn profile() -> Profile {
    Profile {
        format: Format::Html,
        claimed_format: None,
        encoding: None,
        category: String::new(),
        routing_category: "generic".into(),
        pdf: None,
    }
}

fn parse(bytes: &[u8]) -> Result<Parsed, DocumentFailure> {
    HtmlParser.parse(&Source { bytes, file_name: "page.html", profile: &profile() }, &Limits::default())
}

fn folder(bytes: &[u8]) -> Result<RevisionFolder, DocumentFailure> {
    let request = RevisionRequest {
        job_id: None,
        data_id: None,
        document_id: DocumentId::from_random([0; 6]),
        file_name: "page.html".into(),
        profile: profile(),
        parsing_params: serde_json::Map::new(),
    };
    parse_to_folder(&HtmlParser, &Bytes::copy_from_slice(bytes), &request, &Limits::default(), &SystemClock)
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// Words of a page's text nodes, read apart from our reader: every text node that does not stand in an element which is
/// never read. `true` for a word at a node's edge, which may be part of a longer one: XVI<sup>e</sup>.
fn source_words(html: &str) -> BTreeSet<(String, bool)> {
    let page = scraper::Html::parse_document(html);
    let never = ["script", "style", "noscript", "template", "svg", "iframe", "title", "math"];
    let mut out = BTreeSet::new();
    for node in page.tree.nodes() {
        let Some(text) = node.value().as_text() else { continue };
        if node.ancestors().any(|above| above.value().as_element().is_some_and(|element| never.contains(&element.name()))) {
            continue;
        }
        let all = words(text);
        let last = all.len().saturating_sub(1);
        for (place, word) in all.into_iter().enumerate() {
            let edge = (place == 0 && text.starts_with(char::is_alphanumeric)) || (place == last && text.ends_with(char::is_alphanumeric));
            out.insert((word, edge));
        }
    }
    out
}

/// The list above, with its reasons.
const EXCEPTIONS: [(&str, &str); 3] = [
    ("script, style, noscript, template, svg, iframe", "nobody reads them; row 36 of the hostile inputs"),
    ("title", "metadata: it is kept as the document's title"),
    ("math", "its TeX annotation says the same once"),
];

#[test]
fn every_word_of_the_page_is_in_a_chunk_or_a_title() {
    assert_eq!(EXCEPTIONS.len(), 3);
    for bytes in GOLDEN {
        let folder = folder(bytes).unwrap();
        let text = encoding::decode(bytes, Declaration::Markup).text.into_owned();
        let mut told: BTreeSet<String> = BTreeSet::new();
        for chunk in &folder.chunks.chunks {
            told.extend(words(&chunk.content));
            told.extend(words(&chunk.path));
        }
        let within = |word: &str| told.iter().any(|longer| longer.contains(word));
        let kept = |(word, edge): &(String, bool)| told.contains(word) || (*edge && within(word));
        let lost: Vec<(String, bool)> = source_words(&text).into_iter().filter(|word| !kept(word)).collect();
        assert!(lost.is_empty(), "{lost:?}");
        // Words of a script and of a `noscript`, which stand nowhere else.
        assert!(!told.contains("write") && !told.contains("never"), "what is never shown is never told");
    }
}

#[test]
fn the_museum_reads_in_order() {
    let folder = folder(GOLDEN[0]).unwrap();
    let kinds: Vec<ChunkType> = folder.chunks.chunks.iter().map(|chunk| chunk.kind).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == ChunkType::Table).count(), 1);
    assert_eq!(kinds.iter().filter(|kind| **kind == ChunkType::Image).count(), 2);
    let titles: Vec<&str> = folder.hierarchy.headings.iter().filter(|node| node.level > 0).map(|node| node.title.as_str()).collect();
    assert_eq!(titles, ["Le musée des instruments"]);
    let hidden: Vec<&str> = folder.chunks.chunks.iter().filter(|c| c.metadata.hidden).map(|c| c.content.as_str()).collect();
    assert_eq!(hidden, ["Texte réservé aux conservateurs."]);
    let footer = folder.chunks.chunks.iter().find(|chunk| chunk.content.contains("Mentions légales")).unwrap();
    assert!(!footer.path.contains("Acoustique"), "{}", footer.path);
}

#[test]
fn the_declared_encoding_is_used() {
    let parsed = parse(GOLDEN[1]).unwrap();
    assert_eq!(parsed.title.as_deref(), Some("図書館利用規則"));
    assert_eq!(
        parsed.headings.iter().map(|h| h.title.as_str()).collect::<Vec<_>>(),
        ["図書館利用規則", "第1章 総則", "第2章 貸出", "附則"]
    );
    let wide: Vec<u8> = "<p>Größe</p>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(parse(&wide).unwrap().rows[0].content, "Größe");
    let broken = parse(b"<p>caf\xc3\xa9 cr\xc3\xa8me br\xc3\xbbl\xc3\xa9e \xff fin").unwrap();
    assert_eq!((broken.rows[0].content.as_str(), broken.warnings.len()), ("café crème brûlée \u{fffd} fin", 1));
}

#[test]
fn pages_without_text_are_refused_or_named() {
    let code = |bytes: &[u8]| parse(bytes).map(|_| ()).map_err(|failure| failure.code);
    assert_eq!(code(b""), Err(DocumentCode::Empty));
    assert_eq!(code(&[0; 300]), Err(DocumentCode::Corrupt));
    assert_eq!(code(b"<html><body><script>app()</script></body></html>"), Err(DocumentCode::Empty));
    assert_eq!(parse(b"<title>App</title><div id=root></div>").unwrap().rows[0].content, "App");
}

#[test]
fn addresses_are_text_and_never_fetched() {
    let parsed =
        parse(b"<p>a<img src='http://169.254.169.254/latest/meta-data' alt='b'><img src='file:///etc/passwd'><img src='//x/y.png'>")
            .unwrap();
    let pictures: Vec<&str> = parsed.rows.iter().filter(|row| row.kind == RowKind::Image).map(|row| row.content.as_str()).collect();
    assert_eq!(pictures, ["b (http://169.254.169.254/latest/meta-data)", "file:///etc/passwd", "//x/y.png"]);
    assert!(parsed.assets.is_empty());
}

#[test]
fn handlers_and_addresses_never_reach_table_html() {
    let folder = folder(
        b"<table onclick=x()><tr><td style='x'><a href='javascript:y()'>a</a><script>z()</script><td>&lt;script&gt;<tr><td>b<td>c</table>",
    )
    .unwrap();
    let table = folder.chunks.chunks.iter().find(|chunk| chunk.kind == ChunkType::Table).unwrap();
    assert_eq!(table.content.replace('\n', ""), "<table><tr><td>a</td><td>&lt;script&gt;</td></tr><tr><td>b</td><td>c</td></tr></table>");
}

#[test]
fn strange_characters_stay() {
    let parsed = parse("<h1>a\u{202e}b\u{200b}c 🜁 раураl</h1><p>\u{feff}x\u{2066}y".as_bytes()).unwrap();
    assert_eq!(parsed.headings[0].title, "a\u{202e}b\u{200b}c 🜁 раураl");
    assert_eq!(parsed.rows[0].content, "\u{feff}x\u{2066}y");
}

#[test]
fn many_headings_and_long_lines_are_bounded() {
    let started = std::time::Instant::now();
    assert_eq!(parse("<h6>x</h6>".repeat(200_000).as_bytes()).unwrap().headings.len(), 200_000);
    let line = "word ".repeat(2_000_000);
    assert_eq!(parse(line.as_bytes()).unwrap().rows[0].content.len(), line.trim_end().len());
    assert!(parse("<ul><li>".repeat(400).as_bytes()).is_err() || parse("<ul><li>a".repeat(200).as_bytes()).is_ok());
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

#[test]
fn cut_anywhere_it_reads_or_fails_with_a_code() {
    for bytes in GOLDEN {
        let cuts = (0..bytes.len()).step_by(512).chain((0..bytes.len()).rev().take(40));
        for cut in cuts {
            let _ = parse(&bytes[..cut]);
        }
        folder(&bytes[..bytes.len() / 2]).unwrap();
    }
}

#[test]
fn changed_anywhere_it_reads_or_fails_with_a_code() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for round in 0..1_000 {
        let mut bytes = GOLDEN[round % GOLDEN.len()].to_vec();
        for _ in 0..=random() % 3 {
            let at = random() as usize % bytes.len();
            match random() % 4 {
                0 => bytes[at] = (random() & 0xff) as u8,
                1 => bytes[at] = b"<>\"'&/= \0"[random() as usize % 9],
                2 => drop(bytes.drain(at..(at + 40).min(bytes.len()))),
                _ => {
                    let piece = bytes[at..(at + 60).min(bytes.len())].to_vec();
                    bytes.splice(at..at, piece);
                }
            }
        }
        let first = parse(&bytes);
        assert_eq!(first, parse(&bytes), "round {round}");
        if round % 50 == 0 {
            let _ = folder(&bytes);
        }
    }
}
