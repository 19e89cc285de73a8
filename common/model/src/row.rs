//! What a parser gives: one typed table of rows in reading order, with headings and assets beside it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::code::DocumentCode;
use crate::hierarchy::Evidence;
use crate::table::{PackedTable, Table};

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RowKind {
    /// A paragraph, a list item, a code block, a note.
    Text,
    /// A table.
    Table,
    /// A picture.
    Image,
}

/// Where something stands on a page, in points from the top left.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "(u32, f32, f32, f32, f32)", from = "(u32, f32, f32, f32, f32)")]
pub struct PageBox {
    /// Page, from 1.
    pub page: u32,
    /// Left.
    pub x0: f32,
    /// Top.
    pub y0: f32,
    /// Right.
    pub x1: f32,
    /// Bottom.
    pub y1: f32,
}

impl From<PageBox> for (u32, f32, f32, f32, f32) {
    fn from(b: PageBox) -> Self {
        (b.page, b.x0, b.y0, b.x1, b.y1)
    }
}

impl From<(u32, f32, f32, f32, f32)> for PageBox {
    fn from((page, x0, y0, x1, y1): (u32, f32, f32, f32, f32)) -> Self {
        Self { page, x0, y0, x1, y1 }
    }
}

/// A part of a table that goes on over pages.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TablePart {
    /// The first of its rows in [`Table::rows`].
    pub row: usize,
    /// Where it stands.
    pub place: PageBox,
}

/// An asset's row standing inside a text row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowRef {
    /// Index of the asset's row in [`Parsed::rows`].
    pub row: usize,
    /// Code points of the host's content that stand before it.
    pub at: usize,
}

/// One block in reading order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What it is.
    pub kind: RowKind,
    /// The text; for an image its caption, alt text, description or recognised text; empty for a table (see `table`).
    pub content: String,
    /// The grid, of a table row only.
    pub table: Option<Table>,
    /// In its place the grid of a very large table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packed: Option<Box<PackedTable>>,
    /// Index into [`Parsed::headings`] of the section it stands in; `None` before the first heading.
    pub section: Option<usize>,
    /// Pages it stands on, from 1, ascending; empty only when the format has no pages.
    pub pages: Vec<u32>,
    /// Where on those pages (PDF and PPTX).
    pub boxes: Vec<PageBox>,
    /// Index into [`Parsed::assets`], of an image row only.
    pub asset: Option<usize>,
    /// Assets embedded in this text.
    pub refs: Vec<RowRef>,
    /// Byte range in the source, for formats whose source is text.
    pub source_span: Option<(u64, u64)>,
    /// Whether the source marks it as hidden.
    pub hidden: bool,
    /// Whether it continues the previous text row: joined by one newline instead of a paragraph break.
    pub tight: bool,
    /// Whether it goes on with the paragraph of the text row before it, which was cut where a page ends; white space
    /// between the two stands at the end of that row.
    pub continues: bool,
    /// Of a table that goes on over pages, its parts in order; empty for any other row.
    pub parts: Vec<TablePart>,
}

impl Row {
    /// A text row.
    pub fn text(section: Option<usize>, content: impl Into<String>) -> Self {
        Self {
            kind: RowKind::Text,
            content: content.into(),
            table: None,
            packed: None,
            section,
            pages: Vec::new(),
            boxes: Vec::new(),
            asset: None,
            refs: Vec::new(),
            source_span: None,
            hidden: false,
            tight: false,
            continues: false,
            parts: Vec::new(),
        }
    }

    /// A table row.
    pub fn table(section: Option<usize>, table: Table) -> Self {
        Self { kind: RowKind::Table, table: Some(table), ..Self::text(section, "") }
    }

    /// The row of a very large table, packed if it can be.
    pub fn large_table(section: Option<usize>, table: Table) -> Self {
        match PackedTable::pack(table) {
            Ok(packed) => Self { kind: RowKind::Table, packed: Some(Box::new(packed)), ..Self::text(section, "") },
            Err(table) => Self::table(section, table),
        }
    }

    /// The grid of a table row, packed or not.
    pub fn grid(&self) -> Option<Cow<'_, Table>> {
        match (&self.table, &self.packed) {
            (Some(table), _) => Some(Cow::Borrowed(table)),
            (None, Some(packed)) => Some(Cow::Owned(packed.unpack())),
            (None, None) => None,
        }
    }

    /// An image row: `content` is its caption, alt text or description, and may be empty.
    pub fn image(section: Option<usize>, asset: usize, content: impl Into<String>) -> Self {
        Self { kind: RowKind::Image, asset: Some(asset), ..Self::text(section, content) }
    }
}

/// A heading, in document order. The tree follows from the levels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heading {
    /// Its own text, white space folded. A number typed into it is part of it.
    pub title: String,
    /// The number the source counts for it (`1.2`, `SECTION 1`), where its text does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
    /// From 1; jumps are normalised when the tree is built.
    pub level: u32,
    /// Page, when the format has pages.
    pub page: Option<u32>,
    /// What made it a heading.
    pub evidence: Evidence,
}

impl Heading {
    /// A heading as readers of the source see it: the number, then the title.
    pub fn shown(&self) -> String {
        match &self.number {
            Some(number) => format!("{number} {}", self.title),
            None => self.title.clone(),
        }
    }
}

/// A picture's bytes as found in the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The name in the source; never used for a path.
    pub original_name: String,
}

/// Something that was not read in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// From the closed list.
    pub code: DocumentCode,
    /// What, where.
    pub message: String,
    /// Page, when known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
}

impl Warning {
    /// A warning without a page.
    pub fn new(code: DocumentCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), page: None }
    }
}

/// Everything one parser read out of one source.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parsed {
    /// Blocks in reading order.
    pub rows: Vec<Row>,
    /// Headings in document order.
    pub headings: Vec<Heading>,
    /// Entries of the source's own table of contents, when it has one: title, level from 1, page.
    pub outline: Vec<Heading>,
    /// Pictures, as rows point at them.
    pub assets: Vec<Asset>,
    /// What could not be read.
    pub warnings: Vec<Warning>,
    /// The document's title by its own metadata.
    pub title: Option<String>,
    /// Pages, slides or sheets; `None` when the format has none.
    pub page_count: Option<u32>,
    /// Whether parts of the source are missing from the rows.
    pub partial: bool,
}
