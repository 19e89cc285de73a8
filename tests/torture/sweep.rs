//! Every golden PDF cut at every step, and with one byte changed, a thousand times over: it is read, or refused with a
//! public code; it never panics, hangs or comes back empty without saying so.
//!
//! `QUARRY_SWEEP=full` takes the steps and seeds of the design (every 512 bytes, 1,000 seeds a file); by default a build
//! for tests takes as many as fit into seconds.

use std::path::PathBuf;

use quarry_pdf::testing::{Builder, Leaf};
use quarry_tests::repository;

use crate::build::{encrypted, pages};
use crate::run::{read, words};

/// The files: those of the golden documents, and some of other kinds built here.
fn files() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let folder = repository().join("tests/golden/pdf");
    for case in std::fs::read_dir(&folder).expect("golden PDFs") {
        let path: PathBuf = case.expect("a case").path().join("input.pdf");
        files.push((path.display().to_string(), std::fs::read(&path).expect("an input")));
    }
    files.push(("pages".into(), pages(4).save()));
    files.push((
        "scan".into(),
        Builder::new().page(Leaf::sized(200.0, 200.0).blank_scan().hidden(20.0, 60.0, 9.0, "Words under a scan")).save(),
    ));
    files.push(("encrypted".into(), encrypted("")));
    files.sort();
    files
}

fn is_full() -> bool {
    std::env::var("QUARRY_SWEEP").is_ok_and(|value| value == "full")
}

/// Ends well or is refused; the job's own rule: something is said, or a code.
fn check(name: &str, what: &str, bytes: &[u8]) {
    match read(bytes) {
        Ok(folder) => {
            let silent = folder.chunks.chunks.is_empty();
            assert!(!silent, "{name} {what}: read, and nothing is in it: {:?}", words(&folder));
        }
        Err(failure) => assert!(!failure.code.sentence().is_empty(), "{name} {what}: {failure}"),
    }
}

#[test]
fn files_cut_at_any_byte_are_read_or_refused() {
    for (name, bytes) in files() {
        let step = if is_full() { 512 } else { (bytes.len() / 24).max(512) };
        for end in (0..bytes.len()).step_by(step).chain(bytes.len().saturating_sub(40)..bytes.len()) {
            if !is_full() && end + 40 > bytes.len() && end % 4 != 0 {
                continue;
            }
            check(&name, &format!("cut at {end}"), &bytes[..end]);
        }
    }
}

#[test]
fn cut_files_say_that_they_are_partial() {
    let bytes = pages(4).save();
    for end in (0..bytes.len() - 8).step_by(bytes.len() / 16) {
        if let Ok(folder) = read(&bytes[..end]) {
            let status = serde_json::to_value(&folder.manifest.quality).expect("JSON")["status"].clone();
            assert_eq!(status, "partial", "cut at {end} of {}", bytes.len());
        }
    }
}

#[test]
fn files_with_one_byte_changed_are_read_or_refused() {
    let seeds = if is_full() { 1_000 } else { 40 };
    for (name, bytes) in files() {
        // A generator of its own, so that a seed names the same change for ever: Knuth's MMIX constants.
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for seed in 0..seeds {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (state >> 33) as usize % bytes.len();
            let to = (state >> 24) as u8;
            let mut changed = bytes.clone();
            changed[at] = to;
            check(&name, &format!("seed {seed}: byte {at} is {to}"), &changed);
        }
    }
}
