//! Headers and footers: each text once, before the body.

use std::collections::BTreeSet;
use std::rc::Rc;

use quarry_document::Warnings;
use quarry_document::flow::RunningText;
use quarry_model::{DocumentFailure, Limits};

use crate::package::{Package, Relationships, Target};
use crate::word::notes::NoteIndex;
use crate::word::numbering::Numbering;
use crate::word::styles::Styles;
use crate::word::walk::{HeaderReference, Place, Walk};

/// Reads all headers, then all footers, that sections name; each part once, each text once.
pub(crate) fn read(
    running: &mut RunningText,
    package: &mut Package<'_>,
    references: &[HeaderReference],
    relationships: &Rc<Relationships>,
    styles: &Styles,
    warnings: &mut Warnings,
    limits: &Limits,
) -> Result<(), DocumentFailure> {
    let mut parts = BTreeSet::new();
    for is_header in [true, false] {
        for reference in references.iter().filter(|reference| reference.is_header == is_header) {
            let Some(Target::Part(part)) = relationships.get(&reference.id).map(|relationship| &relationship.target) else { continue };
            if !parts.insert(part.clone()) {
                continue;
            }
            let Some(tree) = package.optional_tree(part, warnings)? else { continue };
            let own = package.relationships(part, warnings)?;
            let (notes, mut numbering) = (NoteIndex::default(), Numbering::default());
            let mut walk = Walk::new(package, limits, styles, &mut numbering, &notes, warnings, own);
            walk.place = Place::Header;
            let blocks = walk.blocks(tree.root())?;
            running.keep_all(blocks);
        }
    }
    Ok(())
}
