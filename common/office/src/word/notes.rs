//! Footnotes, endnotes and comments, found by the id that the text refers to.

use std::collections::BTreeMap;
use std::rc::Rc;

use quarry_document::Warnings;
use quarry_document::xml::{Element, Tree};
use quarry_model::DocumentFailure;

use crate::package::{Package, Relationships};
use crate::word::properties::attribute;

/// The three kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NoteKind {
    Footnote,
    Endnote,
    Comment,
}

impl NoteKind {
    /// Relationship kind of the part, and the element of one note in it.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Footnote => ("footnotes", "footnote"),
            Self::Endnote => ("endnotes", "endnote"),
            Self::Comment => ("comments", "comment"),
        }
    }
}

/// A notes part as read.
pub(crate) struct NotePart {
    kind: NoteKind,
    tree: Tree,
    pub relationships: Rc<Relationships>,
}

/// Reads the notes parts of a main part.
pub(crate) fn read(package: &mut Package<'_>, main: &Relationships, warnings: &mut Warnings) -> Result<Vec<NotePart>, DocumentFailure> {
    let mut parts = Vec::new();
    for kind in [NoteKind::Footnote, NoteKind::Endnote, NoteKind::Comment] {
        let Some(part) = main.part_of_kind(kind.names().0) else { continue };
        let Some(tree) = package.optional_tree(part, warnings)? else { continue };
        let relationships = package.relationships(part, warnings)?;
        parts.push(NotePart { kind, tree, relationships });
    }
    Ok(parts)
}

/// All notes by kind and id.
#[derive(Default)]
pub(crate) struct NoteIndex<'t> {
    notes: BTreeMap<(NoteKind, &'t str), (Element<'t>, &'t Rc<Relationships>)>,
}

impl<'t> NoteIndex<'t> {
    pub(crate) fn of(parts: &'t [NotePart]) -> Self {
        let mut index = Self::default();
        for part in parts {
            for note in part.tree.root().elements().filter(|note| note.name() == part.kind.names().1) {
                // Separators have a type of their own and hold nothing to read.
                let ordinary = matches!(attribute(note, "type"), None | Some("normal"));
                if let (true, Some(id)) = (ordinary, attribute(note, "id")) {
                    index.notes.entry((part.kind, id)).or_insert((note, &part.relationships));
                }
            }
        }
        index
    }

    pub(crate) fn get(&self, kind: NoteKind, id: &'t str) -> Option<(Element<'t>, &'t Rc<Relationships>)> {
        self.notes.get(&(kind, id)).copied()
    }
}
