//! Damage: every golden document of every format, cut off and with single bytes changed. A parser answers each with rows or
//! with a public code; it never panics and never hangs.
//!
//! A thousand changed bytes are spread over the documents, so that an unoptimised build takes seconds;
//! `QUARRY_SWEEP=full` cuts every document at every 512 bytes and changes a thousand bytes of each.

use std::fs;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use quarry::parsers::parser;
use quarry_document::{Parser, Source};
use quarry_model::message::Profile;
use quarry_model::{DocumentCode, Format, Limits, Parsed};

use super::cases;

/// One reading must not take longer, on any machine.
const PATIENCE: Duration = Duration::from_mins(1);
/// Stack of a reading, as the stage gives it.
const STACK: usize = 64 << 20;
/// Changed bytes over all documents, and cuts of each, of a short run.
const SEEDS: usize = 1_000;
const CUTS: usize = 24;

fn full() -> bool {
    std::env::var("QUARRY_SWEEP").is_ok_and(|value| value == "full")
}

/// Damaged forms of a document: what was done, and the bytes.
fn damaged(bytes: &[u8], seeds: usize) -> impl Iterator<Item = (String, Vec<u8>)> + '_ {
    let step = if full() { 512 } else { bytes.len().div_ceil(CUTS).next_multiple_of(512).max(1) };
    let cuts = (0..bytes.len()).step_by(step).map(|end| (format!("cut at {end}"), bytes[..end].to_vec()));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let changes = (0..seeds).map(move |seed| {
        let (at, bit) = (random.below(bytes.len()), random.below(8));
        let mut changed = bytes.to_vec();
        changed[at] ^= 1 << bit;
        (format!("seed {seed}, byte {at}, bit {bit}"), changed)
    });
    cuts.chain(changes)
}

/// Reads every damaged form on a thread of its own; answers what went wrong.
fn sweep(input: &Path, seeds: usize) -> Result<Vec<String>> {
    let name = input.display().to_string();
    let format = Format::of_file_name(&name).context("a known extension")?;
    let family = format.row().family.context("a format that is read")?;
    let bytes = fs::read(input)?;
    ensure!(!bytes.is_empty(), "{name} is empty");
    let (tell, told) = mpsc::channel();
    let reader = std::thread::Builder::new().stack_size(STACK).spawn(move || {
        let parser = parser(family);
        let profile = Profile {
            format,
            claimed_format: None,
            encoding: None,
            category: String::new(),
            routing_category: "generic".into(),
            pdf: None,
        };
        let limits = Limits::default();
        let mut faults = Vec::new();
        for (what, bytes) in damaged(&bytes, seeds) {
            let _ = tell.send(what.clone());
            match parser.parse(&Source { bytes: &bytes, file_name: "input", profile: &profile }, &limits) {
                Ok(parsed) => faults.extend(inconsistency(&parsed).map(|fault| format!("{what}: {fault}"))),
                Err(failure) if of_the_document(failure.code) => {}
                Err(failure) => faults.push(format!("{what}: {failure}")),
            }
        }
        faults
    })?;
    let mut last = "nothing".to_owned();
    loop {
        match told.recv_timeout(PATIENCE) {
            Ok(what) => last = what,
            Err(mpsc::RecvTimeoutError::Timeout) => return Ok(vec![format!("{name}: {last}: hangs")]),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    match reader.join() {
        Ok(faults) => Ok(faults.into_iter().map(|fault| format!("{name}: {fault}")).collect()),
        Err(_) => Ok(vec![format!("{name}: {last}: panics")]),
    }
}

/// Codes that say something of the document, not of the service.
fn of_the_document(code: DocumentCode) -> bool {
    !matches!(code, DocumentCode::Crashed | DocumentCode::UploadExpired | DocumentCode::ModelUnavailable)
}

/// The first index or position that leads nowhere.
fn inconsistency(parsed: &Parsed) -> Option<String> {
    parsed.rows.iter().enumerate().find_map(|(index, row)| {
        let section = row.section.is_none_or(|section| section < parsed.headings.len());
        let asset = row.asset.is_none_or(|asset| asset < parsed.assets.len());
        let length = row.content.chars().count();
        let refs = row.refs.iter().all(|reference| reference.row < parsed.rows.len() && reference.at <= length);
        (!(section && asset && refs)).then(|| format!("row {index} points nowhere"))
    })
}

#[test]
fn damage_ends_in_rows_or_a_public_code() -> Result<()> {
    let cases = cases()?;
    let seeds = if full() { SEEDS } else { SEEDS.div_ceil(cases.len().max(1)) };
    let mut faults = Vec::new();
    for (_, input) in &cases {
        faults.extend(sweep(input, seeds)?);
    }
    ensure!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
    Ok(())
}

/// xorshift64*, so that every run sweeps the same bytes.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap_or_default() % limit
    }
}
