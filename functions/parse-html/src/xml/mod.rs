//! XML → rows: documents as prose, data as tables and lines.
//!
//! Nothing is known of a document's own vocabulary, so its shape decides: an element with a title of its own is a
//! section, like elements beside each other are a table, text with elements in it is a paragraph. A document type is
//! never followed and its entities are never expanded.

mod running;
mod shape;
mod table;
#[cfg(test)]
mod tests;
mod walk;

use quarry_document::encoding::{self, Declaration};
use quarry_document::prose::Collector;
use quarry_document::xml::Tree;
use quarry_model::{DocumentCode, DocumentFailure, Limits, Parsed, Row, Warning};

/// Reads an XML document.
pub(crate) fn read(bytes: &[u8], limits: &Limits) -> Result<Parsed, DocumentFailure> {
    let decoded = encoding::read(bytes, Declaration::Markup)?;
    let tree = Tree::parse(&decoded.text, limits)?;
    let root = tree.root();
    let mut walk = walk::Walk::new(Collector::new(limits));
    walk.root(root);
    let mut parsed = walk.finish();
    parsed.title = shape::title(root).or_else(|| root.elements().next().and_then(shape::title));
    if parsed.rows.is_empty() && parsed.headings.is_empty() {
        // Elements without a word in them: their names are all there is.
        let mut names: Vec<&str> = std::iter::once(root).chain(root.descendants()).map(quarry_document::xml::Element::name).collect();
        names.dedup();
        names.truncate(1_000);
        parsed.rows.push(Row::text(None, names.join(" ")));
    }
    if declares_entities(&decoded.text) {
        let message = "the document type declares entities; they are not expanded, references to them stay as they are written";
        parsed.warnings.push(Warning::new(DocumentCode::Unsupported, message));
    }
    parsed.warnings.extend(decoded.warning());
    Ok(parsed)
}

/// Whether a document type before the root element declares entities.
fn declares_entities(text: &str) -> bool {
    let Some(start) = text.find("<!DOCTYPE") else { return false };
    let head = text.get(start..).unwrap_or_default();
    let internal = head.split_once('[').filter(|(before, _)| !before.contains('>'));
    internal.and_then(|(_, subset)| subset.split_once("]>").or(Some((subset, "")))).is_some_and(|(subset, _)| subset.contains("<!ENTITY"))
}
