//! Habits that a reader relies on: short entry points, rooms that say what they are for, no `utils`.

use std::fs;
use std::path::{Path, PathBuf};

use quarry_tests::repository;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

fn all_sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for room in ["common", "functions"] {
        sources(&repository().join(room), &mut found);
    }
    found.sort();
    found
}

#[test]
fn entry_points_are_short() {
    for path in all_sources().iter().filter(|p| p.ends_with("src/main.rs")) {
        let lines = fs::read_to_string(path).expect("source").lines().count();
        assert!(lines <= 40, "{} has {lines} lines", path.display());
    }
}

#[test]
fn no_room_is_called_utils() {
    for path in all_sources() {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        assert!(!["utils", "util", "helpers", "helper", "manager", "misc"].contains(&stem.as_str()), "{}", path.display());
    }
}

#[test]
fn files_stay_readable() {
    let long: Vec<String> = all_sources()
        .iter()
        .filter(|path| !path.iter().any(|part| part == "tests"))
        .map(|path| (path, fs::read_to_string(path).expect("source").lines().count()))
        .filter(|(_, lines)| *lines > 600)
        .map(|(path, lines)| format!("{} has {lines} lines", path.display()))
        .collect();
    assert!(long.is_empty(), "{long:#?}");
}
