//! ODT → rows.
//!
//! What this room is for: one `OpenDocument` text becomes rows in reading order, with headings by outline level, the
//! numbers of lists and headings, tables with their spans, notes, annotations, text boxes, pictures and formulas. What
//! enters: the bytes of one document. What leaves: [`quarry_model::Parsed`]; what could not be read is a warning in it.
//! What it must never do: open an address, run a script, use a name out of the package for a path, trust a size.
//!
//! Recursion follows the nesting of elements, which the XML reader bounds.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

mod frame;
mod inline;
mod lists;
mod math;
mod package;
mod styles;
mod table;
mod walk;

use quarry_document::flow::{self, RunningText};
use quarry_document::xml::{Element, Ns, Tree};
use quarry_document::{Parser, Source, Warnings};
use quarry_model::{DocumentCode, DocumentFailure, Limits, Parsed};

use crate::lists::Lists;
use crate::package::Package;
use crate::styles::Styles;
use crate::walk::{Place, Walk};

/// The parser of ODT.
#[derive(Debug, Clone, Copy, Default)]
pub struct OdtParser;

impl Parser for OdtParser {
    fn name(&self) -> &'static str {
        "parse-odt"
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
    let mut package = Package::open(bytes, limits)?;
    let content = package.tree("content.xml", &mut warnings)?;
    let content = content.ok_or_else(|| DocumentFailure::new(DocumentCode::Corrupt, "the document has no content that can be read"))?;
    let common = package.tree("styles.xml", &mut warnings)?;
    let (mut styles, mut lists) = (Styles::default(), Lists::default());
    for tree in common.iter().chain([&content]) {
        styles.read(tree.root());
        lists.read(tree.root());
    }
    let body = content.root().child(Ns::OdfOffice, "body");
    let body = body.and_then(|body| body.child(Ns::OdfOffice, "text")).or(body);
    let body = body.ok_or_else(|| DocumentFailure::new(DocumentCode::Corrupt, "the document has no body"))?;

    let mut walk = Walk::new(&mut package, limits, &styles, &mut lists, &mut warnings);
    let mut blocks = walk.blocks(body)?;
    flow::promote(&mut blocks);
    let mut running = RunningText::beside(&blocks);
    walk.place = Place::Header;
    for part in common.iter().flat_map(headers) {
        let blocks = walk.blocks(part)?;
        running.keep_all(blocks);
    }
    let assets = walk.assets;
    let mut all = running.into_blocks();
    all.append(&mut blocks);
    let mut parsed = flow::assemble(all, assets);
    parsed.title = package.tree("meta.xml", &mut warnings)?.as_ref().and_then(title);
    (parsed.warnings, parsed.partial) = warnings.finish();
    if parsed.rows.is_empty() && parsed.headings.is_empty() {
        return Err(DocumentFailure::new(DocumentCode::Empty, "the document holds no text"));
    }
    Ok(parsed)
}

/// Headers, then footers, of the page styles.
fn headers(styles: &Tree) -> Vec<Element<'_>> {
    let masters = styles.root().child(Ns::OdfOffice, "master-styles");
    let pages = || masters.iter().flat_map(|masters| masters.elements()).filter(|page| page.is(Ns::OdfStyle, "master-page"));
    let of = |start: &'static str| {
        pages().flat_map(Element::elements).filter(move |part| part.ns() == Ns::OdfStyle && part.name().starts_with(start))
    };
    of("header").chain(of("footer")).collect()
}

fn title(meta: &Tree) -> Option<String> {
    let title = meta.root().descendants().find(|element| element.is(Ns::Dc, "title"))?.text();
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    (!title.is_empty()).then_some(title)
}

#[cfg(test)]
mod tests;
