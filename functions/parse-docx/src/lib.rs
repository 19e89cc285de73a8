//! Reads DOCX into rows.
//!
//! What this room is for: one `WordprocessingML` package (Transitional or Strict) becomes rows in reading order, with the
//! heading tree's evidence, tables as grids, pictures, notes, formulas and the numbers that Word computes. What enters:
//! the bytes of one document. What leaves: [`quarry_model::Parsed`]; what could not be read is a warning in it. What it
//! must never do: open an address, run a macro or a field, use a name out of the package for a path, trust a size.
//!
//! The walk goes through the main part once ([`walk`](self)) and gives blocks; blocks become rows. Recursion follows the
//! nesting of elements, which the XML reader bounds.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

mod assemble;
mod block;
mod chart;
mod diagram;
mod evidence;
mod fields;
mod graphic;
mod headers;
mod inline;
mod label;
mod math;
mod math_symbols;
mod notes;
mod numbering;
mod numerals;
mod package;
mod properties;
mod styles;
mod symbols;
mod table;
mod walk;
mod warnings;

use quarry_document::xml::Ns;
use quarry_document::{Parser, Source};
use quarry_model::{DocumentCode, DocumentFailure, Limits, Parsed};

use crate::fields::Fields;
use crate::headers::Headers;
use crate::notes::NoteIndex;
use crate::numbering::Numbering;
use crate::package::Package;
use crate::styles::Styles;
use crate::walk::Walk;
use crate::warnings::Warnings;

/// The parser of DOCX.
#[derive(Debug, Clone, Copy, Default)]
pub struct DocxParser;

impl Parser for DocxParser {
    fn name(&self) -> &'static str {
        "parse-docx"
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
    let main_part = package.main_part(&mut warnings)?;
    let tree = package.required_tree(&main_part)?;
    let relationships = package.relationships(&main_part, &mut warnings)?;
    let part = |kind: &str, package: &mut Package<'_>, warnings: &mut Warnings| match relationships.part_of_kind(kind) {
        Some(part) => package.optional_tree(part, warnings),
        None => Ok(None),
    };
    let styles = part("styles", &mut package, &mut warnings)?.map(|tree| Styles::read(&tree, &mut warnings)).unwrap_or_default();
    let numbering_tree = part("numbering", &mut package, &mut warnings)?;
    let note_parts = notes::read(&mut package, &relationships, &mut warnings)?;
    let notes = NoteIndex::of(&note_parts);
    let body = tree.root().child(Ns::W, "body").unwrap_or(tree.root());

    let mut ignore_fields = false;
    let (mut blocks, assets, references) = loop {
        let mut numbering = numbering_tree.as_ref().map(Numbering::read).unwrap_or_default();
        let mut walk = Walk::new(&mut package, limits, &styles, &mut numbering, &notes, &mut warnings, std::rc::Rc::clone(&relationships));
        if ignore_fields {
            walk.fields = Fields::ignored();
        }
        let blocks = walk.blocks(body)?;
        let (shows, assets, references) = (walk.fields.shows(), walk.assets, walk.headers);
        if shows || ignore_fields {
            break (blocks, assets, references);
        }
        // An instruction that never ends would hide the rest of the document: read again as if there were no fields.
        warnings.note(DocumentCode::Corrupt, "a field has no end; fields are read as text");
        ignore_fields = true;
    };
    evidence::promote(&mut blocks);
    let mut headers = Headers::beside(&blocks);
    headers.read(&mut package, &references, &relationships, &styles, &mut warnings, limits)?;
    let mut all = headers.blocks;
    all.append(&mut blocks);

    let mut parsed = assemble::assemble(all, assets);
    parsed.title = title(&mut package, &mut warnings)?;
    (parsed.warnings, parsed.partial) = warnings.finish();
    Ok(parsed)
}

/// The title in the core properties.
fn title(package: &mut Package<'_>, warnings: &mut Warnings) -> Result<Option<String>, DocumentFailure> {
    let Some(tree) = package.core_properties(warnings)? else { return Ok(None) };
    let title = tree.root().child(Ns::Dc, "title").map(quarry_document::xml::Element::text).unwrap_or_default();
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(Some(title).filter(|title| !title.is_empty()))
}
