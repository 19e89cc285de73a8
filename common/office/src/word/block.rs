//! What the walk through a part gives: blocks in reading order, before they become rows.

use quarry_model::{Evidence, Table};

use crate::word::numbering::Label;

/// One block.
#[derive(Debug, Clone)]
pub(crate) enum Block {
    Paragraph(Box<Paragraph>),
    Table(TableBlock),
    Note(Note),
}

/// A table, and what stood in its cells but is no text: pictures, notes.
#[derive(Debug, Clone)]
pub(crate) struct TableBlock {
    pub table: Table,
    pub after: Vec<Block>,
}

/// A footnote, an endnote or a comment, at the paragraph that refers to it.
#[derive(Debug, Clone)]
pub(crate) struct Note {
    /// `[^1]:`, `Comment (author):`.
    pub label: String,
    pub blocks: Vec<Block>,
}

/// A picture where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Picture {
    /// Index into the document's assets; `None` for one that lies outside or could not be read.
    pub asset: Option<usize>,
    /// Alternative text; empty when there is none.
    pub alt: String,
    /// Code points of the paragraph's text before it.
    pub at: usize,
}

/// What a paragraph is, beside its text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Role {
    #[default]
    Body,
    /// A heading of this level, from 1.
    Heading(u32, Evidence),
    /// The document's title.
    Title,
    /// A caption; `sequence` is the name of its counter ("Figure", "Table"), empty when it has none.
    Caption { sequence: String },
    /// An entry of the table of contents.
    Contents(ContentsEntry),
    /// The title of the contents, or an entry of a table of figures: part of the contents region, no evidence.
    ContentsOther,
}

/// What an entry of the table of contents says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ContentsEntry {
    pub title: String,
    /// From 1.
    pub level: u32,
    pub page: Option<u32>,
    /// The bookmark it leads to.
    pub anchor: Option<String>,
}

/// A paragraph.
#[derive(Debug, Clone, Default)]
pub(crate) struct Paragraph {
    /// Text as shown, trimmed; lines separated by `\n`.
    pub text: String,
    /// Text the source hides.
    pub hidden: String,
    pub pictures: Vec<Picture>,
    pub role: Role,
    pub label: Option<Label>,
    /// Bookmarks that begin in it.
    pub bookmarks: Vec<String>,
    /// Whether every visible character is bold.
    pub bold: bool,
    /// Whether it shows the number of the page or of pages.
    pub shows_page: bool,
    /// Text boxes, charts, diagrams and notes anchored in it.
    pub after: Vec<Block>,
}

impl Paragraph {
    /// A paragraph of plain text.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Whether nothing of it can be seen or heard.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.hidden.is_empty() && self.pictures.is_empty() && self.after.is_empty()
    }

    /// Whether it is nothing but pictures.
    pub(crate) fn is_pictures(&self) -> bool {
        self.text.is_empty() && !self.pictures.is_empty()
    }
}
