//! EPUB → rows.
//!
//! What this room is for: reading books, EPUB 2 and 3. What enters: the bytes of one container. What leaves: the chapters
//! in the order of the spine as rows, with the book's own contents list as the first evidence for headings; what could
//! not be read is a warning. What it must never do: open an address outside the container, run a script, use a name out
//! of the container for a path, break a book's protection (that is `ENCRYPTED`).
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

mod chapters;
mod contents;
mod package;

use std::collections::BTreeSet;

use quarry_document::encoding::{self, Declaration};
use quarry_document::prose::Collector;
use quarry_document::{Parser, Source, Warnings, html};
use quarry_model::{Asset, DocumentCode, DocumentFailure, Limits, Parsed};

use crate::chapters::Chapters;
use crate::package::{Item, Package, locate};

/// The parser of EPUB.
#[derive(Debug, Clone, Copy, Default)]
pub struct EpubParser;

impl Parser for EpubParser {
    fn name(&self) -> &'static str {
        "parse-epub"
    }

    fn version(&self) -> &'static str {
        "1"
    }

    fn parse(&self, source: &Source<'_>, limits: &Limits) -> Result<Parsed, DocumentFailure> {
        read(source.bytes, limits)
    }
}

fn read(bytes: &[u8], limits: &Limits) -> Result<Parsed, DocumentFailure> {
    let mut warnings = Warnings::default();
    let mut package = Package::open(bytes, limits, &mut warnings)?;
    let entries = contents::read(&mut package, limits, &mut warnings)?;
    let mut out = Collector::new(limits);
    pictures(&mut package, &mut out, &mut warnings)?;

    let mut chapters = Chapters::new(&entries);
    for item in package.spine() {
        if item.is_navigation() {
            continue;
        }
        let here = item.part.clone();
        out.resolve_with(move |address| locate(&here, address).map(|(part, _)| part));
        out.watch(chapters.anchors_of(&item.part));
        let start = out.place();
        chapter(&mut package, &item, &mut out, &mut warnings)?;
        chapters.read(&item.part, start, &out);
    }
    let heading_rows = out.heading_rows().to_vec();
    let mut parsed = out.finish();
    chapters.mend(&mut parsed, &heading_rows);
    if parsed.rows.is_empty() && parsed.headings.is_empty() {
        return Err(DocumentFailure::new(DocumentCode::Empty, "the book's chapters hold no text"));
    }
    parsed.outline = entries.into_iter().map(contents::Entry::into_heading).collect();
    parsed.title = package.title;
    let (own, partial) = warnings.finish();
    parsed.warnings.extend(own);
    parsed.partial |= partial;
    Ok(parsed)
}

/// One item of the spine: a chapter, or a picture by itself.
fn chapter(package: &mut Package<'_>, item: &Item, out: &mut Collector<'_>, warnings: &mut Warnings) -> Result<(), DocumentFailure> {
    if item.is_picture() {
        let section = out.section();
        let picture = quarry_document::prose::Picture { source: item.file_name().to_owned(), description: String::new() };
        out.picture(section, &picture);
        return Ok(());
    }
    let Some(bytes) = package.read(&item.part, warnings)? else { return Ok(()) };
    let decoded = encoding::decode(&bytes, Declaration::Markup);
    if let Some(warning) = decoded.warning() {
        warnings.note(warning.code, format!("{}: {}", item.file_name(), warning.message));
    }
    match html::read_chapter(&decoded.text, out) {
        Ok(_) => Ok(()),
        // One chapter that cannot be read does not lose the others.
        Err(failure) => {
            warnings.partial(failure.code, format!("{} is not read: {}", item.file_name(), failure.detail));
            Ok(())
        }
    }
}

/// Gives the collector every picture of the manifest.
fn pictures(package: &mut Package<'_>, out: &mut Collector<'_>, warnings: &mut Warnings) -> Result<(), DocumentFailure> {
    let items: BTreeSet<Item> = package.items().filter(|item| item.is_picture()).cloned().collect();
    for item in items {
        if let Some(bytes) = package.read(&item.part, warnings)?.filter(|bytes| !bytes.is_empty()) {
            let original_name = item.file_name().to_owned();
            out.embedded().add(item.part, Asset { bytes, original_name });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
