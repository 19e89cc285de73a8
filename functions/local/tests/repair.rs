//! `quarry doctor --repair`: what is damaged on disk is mended from the revision folders.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::Quarry;

fn splits(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(place) = open.pop() {
        for entry in fs::read_dir(&place).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "split") {
                found.push(path);
            }
        }
    }
    found
}

fn best(quarry: &Quarry) -> String {
    let found = quarry.run(&["search", "heron terminal", "--json"]).ends(0).json();
    found["results"][0]["source"]["source_file_name"].as_str().unwrap().to_owned()
}

#[test]
fn a_damaged_or_lost_index_is_built_again() {
    for damage in [b"nonsense".as_slice(), b""] {
        let quarry = Quarry::new();
        quarry.write("heron.md", "# Heron\n\nThe heron terminal takes 48 volts.\n");
        quarry.write("other.md", "# Other\n\nNothing of it here.\n");
        quarry.ingest();
        quarry.run(&["doctor"]).ends(0);
        let stored = splits(&quarry.data());
        assert!(!stored.is_empty());
        for split in &stored {
            if damage.is_empty() {
                fs::remove_file(split).unwrap();
            } else {
                fs::write(split, damage).unwrap();
            }
        }
        let ill = quarry.run(&["doctor"]).ends(1);
        assert!(ill.out.contains("doctor --repair"), "{}", ill.out);
        let mended = quarry.run(&["doctor", "--repair"]).ends(0);
        assert!(mended.err.contains("built again from 2 documents"), "{}", mended.err);
        assert_eq!(best(&quarry), "heron.md");
        quarry.run(&["doctor"]).ends(0);
    }
}

#[test]
fn a_second_ingest_leaves_nothing_behind_after_a_repair() {
    let quarry = Quarry::new();
    quarry.write("heron.md", "# Heron\n\nThe heron terminal takes 48 volts.\n");
    quarry.ingest();
    quarry.write("heron.md", "# Heron\n\nThe heron terminal takes 24 volts.\n");
    quarry.ingest();
    quarry.run(&["doctor", "--repair"]).ends(0);
    assert_eq!(splits(&quarry.data()).len(), 1, "the split of the first ingest is gone");
    let again = quarry.run(&["doctor", "--repair", "--json"]).ends(0).json();
    assert!(again["checks"].as_array().unwrap().iter().all(|check| check["status"] == "ok"), "{again}");
    assert_eq!(best(&quarry), "heron.md");
}
