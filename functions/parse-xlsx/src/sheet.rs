//! One sheet, whatever format it was read from.

use quarry_model::{Asset, Table};

use crate::cells::{Area, Cells};

/// A range that its author made a table of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedTable {
    /// The range, header and totals included.
    pub area: Area,
    /// Header rows, 0 or 1.
    pub header_rows: u32,
}

/// Something that floats over the cells or is pinned to one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Float {
    /// Row of its top left corner, from 0.
    pub row: u32,
    /// Column of its top left corner, from 0.
    pub column: u32,
    pub what: Floating,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Floating {
    /// A text box, a shape with words, a diagram.
    Text(String),
    /// A picture: its asset, if it could be read, and what is said of it.
    Picture(Option<usize>, String),
    /// A chart drawn from cells that are read themselves: what it shows, in words.
    Chart(String),
    /// A chart drawn from data that stand nowhere else.
    Data(Table),
    /// A comment on the cell it stands at.
    Note { author: String, text: String },
}

/// One sheet.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    pub name: String,
    /// Whether the author hid it.
    pub hidden: bool,
    pub cells: Cells,
    pub merges: Vec<Area>,
    pub tables: Vec<NamedTable>,
    /// Hidden rows, first and last.
    pub hidden_rows: Vec<(u32, u32)>,
    /// Hidden columns, first and last.
    pub hidden_columns: Vec<(u32, u32)>,
    pub floats: Vec<Float>,
    /// Whether all of it is one table, as in a file of separated values.
    pub whole: bool,
}

impl Sheet {
    pub(crate) fn is_empty(&self) -> bool {
        self.cells.is_empty() && self.floats.is_empty()
    }
}

/// Pictures of the workbook, as rows point at them.
pub(crate) type Assets = Vec<Asset>;
