//! Footnotes, endnotes and comments: where they are referred to, and their texts.

use std::collections::BTreeMap;

use super::fib::{Fib, Lengths, Table};
use crate::binary::numbers::{part, u16_at, u32_at, utf16};

/// The three kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Footnote,
    Endnote,
    Comment,
}

/// A note's text, and who wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Note {
    pub kind: Kind,
    /// Which of its kind, from 1.
    pub number: usize,
    /// Characters of the document.
    pub from: u32,
    pub to: u32,
    pub author: String,
}

/// All notes by the place that refers to them.
#[derive(Debug, Default)]
pub(super) struct Notes(BTreeMap<u32, Note>);

impl Notes {
    pub(super) fn read(fib: &Fib<'_>, tables: &[u8], lengths: &Lengths) -> Self {
        let footnotes = lengths.body;
        let comments = [lengths.footnotes, lengths.headers, lengths.macros].into_iter().fold(footnotes, u32::saturating_add);
        let endnotes = comments.saturating_add(lengths.comments);
        let mut out = Self::default();
        let table = |table| fib.table(tables, table);
        out.kind(Kind::Footnote, (table(Table::FootnoteReferences), 2), table(Table::FootnoteText), (footnotes, lengths.footnotes));
        out.kind(Kind::Endnote, (table(Table::EndnoteReferences), 2), table(Table::EndnoteText), (endnotes, lengths.endnotes));
        out.kind(Kind::Comment, (table(Table::CommentReferences), 30), table(Table::CommentText), (comments, lengths.comments));
        let authors = authors(table(Table::CommentAuthors));
        let references = table(Table::CommentReferences);
        let count = references.len().saturating_sub(4) / 34;
        for (index, note) in out.0.values_mut().filter(|note| note.kind == Kind::Comment).enumerate() {
            let record = count.saturating_add(1).saturating_mul(4).saturating_add(index.saturating_mul(30));
            let author = u16_at(references, record.saturating_add(20)).map(usize::from);
            note.author = author.and_then(|author| authors.get(author)).cloned().unwrap_or_default();
        }
        out
    }

    fn kind(&mut self, kind: Kind, (references, record): (&[u8], usize), texts: &[u8], (base, length): (u32, u32)) {
        let count = references.len().saturating_sub(4).checked_div(record.saturating_add(4)).unwrap_or_default();
        for index in 0..count {
            let at = index.saturating_mul(4);
            let (Some(place), Some(from), Some(to)) = (u32_at(references, at), u32_at(texts, at), u32_at(texts, at.saturating_add(4)))
            else {
                break;
            };
            let (from, to) = (base.saturating_add(from.min(length)), base.saturating_add(to.min(length)));
            self.0.entry(place).or_insert(Note { kind, number: index.saturating_add(1), from, to, author: String::new() });
        }
    }

    /// The note that this place refers to.
    pub(super) fn at(&self, place: u32) -> Option<&Note> {
        self.0.get(&place)
    }
}

fn authors(table: &[u8]) -> Vec<String> {
    let mut out = Vec::new();
    let mut at = 0_usize;
    while let Some(letters) = u16_at(table, at) {
        let length = usize::from(letters).saturating_mul(2);
        out.push(utf16(part(table, at.saturating_add(2), length)).trim().to_owned());
        at = at.saturating_add(2).saturating_add(length);
    }
    out
}
