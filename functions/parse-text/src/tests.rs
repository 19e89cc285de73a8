//! Whole documents: encodings, refusals, coverage, damage. Single features are tested beside each reader.

use std::collections::BTreeSet;

use bytes::Bytes;
use quarry_document::{RevisionFolder, RevisionRequest, parse_to_folder};
use quarry_model::message::Profile;
use quarry_model::{DocumentCode, DocumentId};
use quarry_ports::SystemClock;

use super::*;

const GOLDEN: [(Format, &[u8]); 7] = [
    (Format::Markdown, include_bytes!("../../../tests/golden/markdown/handbuch/input.md")),
    (Format::Markdown, include_bytes!("../../../tests/golden/markdown/shuoming/input.md")),
    (Format::Markdown, include_bytes!("../../../tests/golden/markdown/pump-report/input.md")),
    (Format::Text, include_bytes!("../../../tests/golden/text/contrato/input.txt")),
    (Format::Text, include_bytes!("../../../tests/golden/text/dnevnik/input.txt")),
    (Format::Text, include_bytes!("../../../tests/golden/text/yaoqiu/input.txt")),
    (Format::Text, include_bytes!("../../../tests/golden/text/field-notes/input.txt")),
];

fn profile(format: Format) -> Profile {
    Profile { format, claimed_format: None, encoding: None, category: String::new(), routing_category: "generic".into(), pdf: None }
}

fn parse(format: Format, bytes: &[u8]) -> Result<Parsed, DocumentFailure> {
    TextParser.parse(&Source { bytes, file_name: "file", profile: &profile(format) }, &Limits::default())
}

fn folder(format: Format, bytes: &[u8]) -> Result<RevisionFolder, DocumentFailure> {
    let request = RevisionRequest {
        job_id: None,
        data_id: None,
        document_id: DocumentId::from_random([0; 6]),
        file_name: "file".into(),
        profile: profile(format),
        parsing_params: serde_json::Map::new(),
    };
    parse_to_folder(&TextParser, &Bytes::copy_from_slice(bytes), &request, &Limits::default(), &SystemClock)
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Words of the Markdown source that no chunk holds, with the reason.
const EXCEPTIONS: [(&str, &str); 22] = [
    ("h", "H<sub>2</sub>O is told as H2O"),
    ("o", "H<sub>2</sub>O is told as H2O"),
    ("p", "a tag"),
    ("align", "an attribute"),
    ("center", "an attribute's value"),
    ("img", "a tag"),
    ("src", "an attribute"),
    ("alt", "an attribute"),
    ("width", "an attribute"),
    ("200", "an attribute's value"),
    ("archiv", "an address; the link's text stands"),
    ("alte", "a link's title"),
    ("fassungen", "a link's title"),
    ("bau", "an address; the picture in the link stands"),
    ("br", "a tag"),
    ("sub", "a tag"),
    ("nicht", "a comment"),
    ("zu", "a comment"),
    ("lesen", "a comment"),
    ("summary", "a tag"),
    ("details", "a tag"),
    ("image", "of a data URI: its bytes are a file of their own"),
];

/// Tags and bytes of pictures, which have no reason of their own.
fn is_markup(word: &str) -> bool {
    ["table", "thead", "tr", "th", "td", "colspan", "rowspan", "gif", "base64", "data"].contains(&word) || word.len() > 20
}

#[test]
fn every_word_of_the_source_is_in_a_chunk_or_a_title() {
    for (format, bytes) in GOLDEN {
        let folder = folder(format, bytes).unwrap();
        let text = encoding::decode(bytes, Declaration::Never).text.into_owned();
        let mut told: BTreeSet<String> = BTreeSet::new();
        for chunk in &folder.chunks.chunks {
            told.extend(words(&chunk.content));
            told.extend(words(&chunk.path));
        }
        let excepted = |word: &String| format == Format::Markdown && (is_markup(word) || EXCEPTIONS.iter().any(|(known, _)| known == word));
        let source: BTreeSet<String> = words(&text).collect();
        let lost: Vec<&String> = source.iter().filter(|word| !told.contains(*word) && !excepted(word)).collect();
        assert!(lost.is_empty(), "{lost:?}");
    }
}

#[test]
fn encodings_of_plain_text() {
    let told = |index: usize| {
        let (format, bytes) = GOLDEN[index];
        parse(format, bytes).unwrap().headings.iter().map(|h| format!("{} {}", h.level, h.title)).collect::<Vec<_>>()
    };
    assert_eq!(told(4), ["1 ДНЕВНИК ЭКСПЕДИЦИИ", "2 Глава 1. Сборы", "2 Глава 2. Перевал", "2 Приложение А"]);
    assert_eq!(told(5), ["1 第一章 总则", "1 第二章 技术要求", "2 第一节 性能", "2 第二节 安全", "3 一、口令", "3 二、日志", "1 附录"]);
    assert_eq!(
        told(3),
        [
            "1 Capítulo primero. Del objeto",
            "2 Artículo 1. Objeto",
            "2 Artículo 2. Duración",
            "1 Capítulo segundo. De la renta",
            "2 Artículo 3. Renta",
            "2 Artículo 4. Fianza",
            "1 Anexo I"
        ]
    );
}

#[test]
fn files_without_text_are_refused() {
    for format in [Format::Text, Format::Markdown] {
        let code = |bytes: &[u8]| parse(format, bytes).map(|_| ()).map_err(|failure| failure.code);
        assert_eq!(code(b""), Err(DocumentCode::Empty));
        assert_eq!(code(b" \n \t"), Err(DocumentCode::Empty));
        assert_eq!(code(&[0; 300]), Err(DocumentCode::Corrupt));
        assert_eq!(code(b"a"), Ok(()));
        let broken = parse(format, b"caf\xc3\xa9 cr\xc3\xa8me br\xc3\xbbl\xc3\xa9e \xff").unwrap();
        assert_eq!((broken.warnings.len(), broken.rows.len()), (1, 1));
    }
}

#[test]
fn one_long_line_becomes_bounded_chunks() {
    let folder = folder(Format::Text, "a very long line without any end ".repeat(40_000).as_bytes()).unwrap();
    let limit = Limits::default().chunk_tokens;
    assert!(folder.chunks.chunks.len() > 100 && folder.chunks.chunks.iter().all(|chunk| chunk.metadata.token_count <= limit));
}

#[test]
fn levels_that_jump_are_put_in_order_and_kept() {
    let folder = folder(Format::Markdown, b"# A\n\na\n\n###### B\n\nb\n").unwrap();
    let b = &folder.hierarchy.headings[0].children[0];
    assert_eq!((b.title.as_str(), b.level, b.original_level), ("B", 2, Some(6)));
}

#[test]
fn cut_anywhere_it_reads_or_fails_with_a_code() {
    for (format, bytes) in GOLDEN {
        for cut in (0..bytes.len()).step_by(512).chain((0..bytes.len()).rev().take(60)) {
            let _ = parse(format, &bytes[..cut]);
        }
        folder(format, &bytes[..bytes.len() / 2]).unwrap();
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
        let (format, source) = GOLDEN[round % GOLDEN.len()];
        let mut bytes = source.to_vec();
        for _ in 0..=random() % 3 {
            let at = random() as usize % bytes.len();
            match random() % 4 {
                0 => bytes[at] = (random() & 0xff) as u8,
                1 => bytes[at] = b"#>|`*_[]<\n\r\0-"[random() as usize % 13],
                2 => drop(bytes.drain(at..(at + 40).min(bytes.len()))),
                _ => {
                    let piece = bytes[at..(at + 60).min(bytes.len())].to_vec();
                    bytes.splice(at..at, piece);
                }
            }
        }
        let first = parse(format, &bytes);
        assert_eq!(first, parse(format, &bytes), "round {round}");
        if round % 50 == 0 {
            let _ = folder(format, &bytes);
        }
    }
}
