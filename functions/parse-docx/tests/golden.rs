//! The golden document is built here, so that nobody has to trust a binary; and nothing of it is lost.

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use quarry_document::{RevisionRequest, parse_to_folder};
use quarry_model::message::Profile;
use quarry_model::{ChunkFile, DocumentId, Format, HierarchyFile, Limits};
use quarry_parse_docx::DocxParser;
use quarry_ports::SystemClock;
use support::rich::rich;

#[test]
fn the_golden_input_is_what_the_builder_builds() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/docx/everything/input.docx");
    let built = rich().bytes();
    if std::env::var("QUARRY_GOLDEN").is_ok_and(|value| value == "write") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &built).unwrap();
    }
    assert!(built.len() < 60_000);
    assert!(std::fs::read(&path).unwrap() == built, "QUARRY_GOLDEN=write writes {}", path.display());
}

/// Words of `w:t` that no chunk holds, each for its reason.
const EXCEPTIONS: [(&str, &str); 1] = [("Contents", "the title of the contents region, which is evidence and not text")];

#[test]
fn every_word_of_the_source_is_in_a_chunk_or_a_title() {
    let source = rich();
    let request = RevisionRequest {
        job_id: None,
        data_id: None,
        document_id: DocumentId::from_random([0; 6]),
        file_name: "rich.docx".to_owned(),
        profile: Profile {
            format: Format::Docx,
            claimed_format: None,
            encoding: None,
            category: String::new(),
            routing_category: "generic".to_owned(),
            pdf: None,
        },
        parsing_params: serde_json::Map::new(),
    };
    let bytes = bytes::Bytes::from(source.bytes());
    let folder = parse_to_folder(&DocxParser, &bytes, &request, &Limits::default(), &SystemClock).unwrap();
    let chunks = folder.files.iter().find(|file| file.name == "chunks.json").unwrap();
    let chunks: ChunkFile = serde_json::from_slice(&chunks.bytes).unwrap();
    // The title of a section without any text of its own stands in the tree alone.
    let hierarchy = folder.files.iter().find(|file| file.name == "hierarchy.json").unwrap();
    let hierarchy: HierarchyFile = serde_json::from_slice(&hierarchy.bytes).unwrap();
    let mut told: BTreeSet<String> = hierarchy.headings.iter().flat_map(|heading| words(&heading.title)).collect();
    for chunk in &chunks.chunks {
        told.extend(words(&chunk.content.replace("<br>", " ").replace("&amp;", "&")));
        told.extend(words(&chunk.path));
    }
    let mut missing = BTreeSet::new();
    for (_, part) in source.xml_parts() {
        for text in part.split("<w:t").skip(1).filter(|text| text.starts_with([' ', '>'])) {
            let text = text.split_once('>').unwrap().1.split("</w:t>").next().unwrap().replace("&amp;", "&");
            missing.extend(words(&text).into_iter().filter(|word| !told.contains(word)));
        }
    }
    for (word, _) in EXCEPTIONS {
        assert!(missing.remove(word), "{word} is no exception");
    }
    assert_eq!(missing, BTreeSet::new());
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
