//! Text documents: `WordprocessingML`, Transitional or Strict.
//!
//! The walk goes through the main part once and gives blocks; blocks become rows. Recursion follows the nesting of
//! elements, which the XML reader bounds.

mod form;
mod graphic;
mod headers;
mod inline;
mod notes;
mod numbering;
mod properties;
mod styles;
mod table;
mod walk;

use quarry_document::Warnings;
use quarry_document::flow::{self, Fields, RunningText};
use quarry_document::xml::Ns;
use quarry_model::{DocumentCode, DocumentFailure, Limits, Parsed};

use crate::package::Package;
use notes::NoteIndex;
use numbering::Numbering;
use styles::Styles;
use walk::Walk;

/// Where the main part usually stands.
const USUAL: &str = "word/document.xml";

/// Reads a package of `WordprocessingML`.
///
/// Fails with `CORRUPT` when there is no main part that can be read, and when a limit is crossed.
pub fn read(bytes: &[u8], limits: &Limits) -> Result<Parsed, DocumentFailure> {
    let mut warnings = Warnings::default();
    let mut package = Package::open(bytes, limits)?;
    let main_part = package.main_part(USUAL, &mut warnings)?;
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
    let (mut blocks, media, references) = loop {
        let mut numbering = numbering_tree.as_ref().map(Numbering::read).unwrap_or_default();
        let mut walk = Walk::new(&mut package, limits, &styles, &mut numbering, &notes, &mut warnings, std::rc::Rc::clone(&relationships));
        if ignore_fields {
            walk.fields = Fields::ignored();
        }
        let blocks = walk.blocks(body)?;
        let (shows, media, references) = (walk.fields.shows(), walk.media, walk.headers);
        if shows || ignore_fields {
            break (blocks, media, references);
        }
        // An instruction that never ends would hide the rest of the document: read again as if there were no fields.
        warnings.note(DocumentCode::Corrupt, "a field has no end; fields are read as text");
        ignore_fields = true;
    };
    flow::promote(&mut blocks);
    let mut running = RunningText::beside(&blocks);
    headers::read(&mut running, &mut package, &references, &relationships, &styles, &mut warnings, limits)?;
    let mut all = running.into_blocks();
    all.append(&mut blocks);

    let mut parsed = flow::assemble(all, media.into_assets());
    parsed.title = package.title(&mut warnings)?;
    (parsed.warnings, parsed.partial) = warnings.finish();
    Ok(parsed)
}
