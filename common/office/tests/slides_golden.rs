//! The golden document is built here, so that nobody has to trust a binary; and nothing of it is lost.

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use quarry_document::{Parser, RevisionRequest, Source, parse_to_folder};
use quarry_model::message::Profile;
use quarry_model::{DocumentFailure, DocumentId, Format, Limits, Parsed};
use quarry_office::slides;
use quarry_ports::SystemClock;
use support::rich::rich;

#[test]
fn the_golden_input_is_what_the_builder_builds() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/pptx/everything/input.pptx");
    let built = rich().bytes();
    if std::env::var("QUARRY_GOLDEN").is_ok_and(|value| value == "write") {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &built).unwrap();
    }
    assert!(built.len() < 60_000);
    assert!(std::fs::read(&path).unwrap() == built, "QUARRY_GOLDEN=write writes {}", path.display());
}

/// Words of `a:t` that no chunk holds, each for its reason.
const EXCEPTIONS: [(&str, &str); 6] = [
    ("33", "the number of a slide"),
    ("77", "the number of a notes page"),
    ("Click", "what a template says to its user"),
    ("edit", "what a template says to its user"),
    ("master", "what a template says to its user"),
    ("to", "what a template says to its user"),
];

struct Slides;

impl Parser for Slides {
    fn name(&self) -> &'static str {
        "slides"
    }

    fn version(&self) -> &'static str {
        "1"
    }

    fn parse(&self, source: &Source<'_>, limits: &Limits) -> Result<Parsed, DocumentFailure> {
        slides::read(source.bytes, limits)
    }
}

#[test]
fn every_word_of_the_source_is_in_a_chunk_or_a_title() {
    let source = rich();
    let request = RevisionRequest {
        job_id: None,
        data_id: None,
        document_id: DocumentId::from_random([0; 6]),
        file_name: "rich.pptx".to_owned(),
        profile: Profile {
            format: Format::Pptx,
            claimed_format: None,
            encoding: None,
            category: String::new(),
            routing_category: "generic".to_owned(),
            pdf: None,
        },
        parsing_params: serde_json::Map::new(),
    };
    let bytes = bytes::Bytes::from(source.bytes());
    let folder = parse_to_folder(&Slides, &bytes, &request, &Limits::default(), &SystemClock).unwrap();
    // The title of a section without any text of its own stands in the tree alone.
    let mut told: BTreeSet<String> = folder.hierarchy.headings.iter().flat_map(|heading| words(&heading.title)).collect();
    for chunk in &folder.chunks.chunks {
        told.extend(words(&chunk.content.replace("<br>", " ").replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")));
        told.extend(words(&chunk.path));
    }
    let mut missing = BTreeSet::new();
    for (_, part) in source.all_parts().iter().filter(|(name, _)| name.ends_with(".xml")) {
        let part = std::str::from_utf8(part).unwrap();
        for mark in ["a:t", "p:text", "c:v", "m:t"] {
            for text in part.split(&format!("<{mark}>")).skip(1) {
                let text = text.split(&format!("</{mark}>")).next().unwrap();
                let text = text.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
                missing.extend(words(&text).into_iter().filter(|word| !told.contains(word)));
            }
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
