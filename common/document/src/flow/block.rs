//! Blocks in reading order: what walking through a document gives, before it becomes rows.

use quarry_model::{Evidence, Table};

use super::label::Label;

/// One block.
#[derive(Debug, Clone)]
pub enum Block {
    /// A paragraph.
    Paragraph(Box<Paragraph>),
    /// A table.
    Table(TableBlock),
    /// A note.
    Note(Note),
}

/// A table, and what stood in its cells but is no text: pictures, notes.
#[derive(Debug, Clone)]
pub struct TableBlock {
    /// The grid.
    pub table: Table,
    /// What stood in it beside text.
    pub after: Vec<Block>,
}

/// A footnote, an endnote or a comment, at the paragraph that refers to it.
#[derive(Debug, Clone)]
pub struct Note {
    /// `[^1]:`, `Comment (author):`.
    pub label: String,
    /// What it says.
    pub blocks: Vec<Block>,
}

/// A picture where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Index into the document's assets; `None` for one that lies outside or could not be read.
    pub asset: Option<usize>,
    /// Alternative text; empty when there is none.
    pub alt: String,
    /// Code points of the paragraph's text before it.
    pub at: usize,
}

/// What a paragraph is, beside its text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Role {
    /// Running text.
    #[default]
    Body,
    /// A heading of this level, from 1.
    Heading(u32, Evidence),
    /// The document's title.
    Title,
    /// A caption; `sequence` is the name of its counter ("Figure", "Table"), empty when it has none.
    Caption {
        /// Empty when it has none.
        sequence: String,
    },
    /// An entry of the table of contents.
    Contents(ContentsEntry),
    /// The title of the contents, or an entry of a table of figures: part of the contents region, no evidence.
    ContentsOther,
}

/// What an entry of the table of contents says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContentsEntry {
    /// The heading it names.
    pub title: String,
    /// From 1.
    pub level: u32,
    /// The page it names.
    pub page: Option<u32>,
    /// The bookmark it leads to.
    pub anchor: Option<String>,
}

/// A paragraph.
#[derive(Debug, Clone, Default)]
pub struct Paragraph {
    /// Text as shown, trimmed; lines separated by `\n`.
    pub text: String,
    /// Text the source hides.
    pub hidden: String,
    /// Where pictures stand in it.
    pub pictures: Vec<Picture>,
    /// What it is.
    pub role: Role,
    /// The number or bullet in front of it.
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
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Whether nothing of it can be seen or heard.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.hidden.is_empty() && self.pictures.is_empty() && self.after.is_empty()
    }

    /// Whether it is nothing but pictures.
    pub fn is_pictures(&self) -> bool {
        self.text.is_empty() && !self.pictures.is_empty()
    }
}
