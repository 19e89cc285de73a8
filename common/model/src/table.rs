//! One grid model for the tables of every format. Rendering to HTML lives in `common/document`.

use serde::{Deserialize, Serialize};

/// A table: rows of cells as HTML writes them (a cell covered by a span is not listed again).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Table {
    /// Rows from the top; each holds the cells that begin in it, from the left.
    pub rows: Vec<Vec<Cell>>,
    /// How many rows from the top are headers.
    pub header_rows: u32,
    /// How many columns from the left are headers.
    pub header_columns: u32,
    /// The table's caption; empty when it has none.
    pub caption: String,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Text as read, lines separated by `\n`. Escaping happens when HTML is written.
    pub text: String,
    /// Rows covered, from 1.
    pub rowspan: u32,
    /// Columns covered, from 1.
    pub colspan: u32,
    /// Tables inside the cell, after its text.
    pub tables: Vec<Table>,
    /// Whether the source itself marks this cell as a header.
    pub header: bool,
}

impl Cell {
    /// A plain cell.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), rowspan: 1, colspan: 1, tables: Vec::new(), header: false }
    }

    /// A cell over several rows and columns (at least one of each).
    pub fn spanning(text: impl Into<String>, rowspan: u32, colspan: u32) -> Self {
        Self { rowspan: rowspan.max(1), colspan: colspan.max(1), ..Self::new(text) }
    }
}
