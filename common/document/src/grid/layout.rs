//! Where each cell of a table stands: the occupied-grid rules of HTML, with every span clamped to the grid.

use quarry_model::{Cell, Table};

use super::build::{MAX_COLSPAN, MAX_COLUMNS};

/// A cell at its place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed<'t> {
    /// Row it begins in, from 0.
    pub row: usize,
    /// Column it begins in, from 0.
    pub column: usize,
    /// Rows covered, at least 1, never past the last row.
    pub rowspan: usize,
    /// Columns covered, at least 1, never over a column another cell covers.
    pub colspan: usize,
    /// Whether it is a header.
    pub header: bool,
    /// The cell itself.
    pub cell: &'t Cell,
}

impl Placed<'_> {
    /// One past the last row covered.
    pub(crate) fn end_row(&self) -> usize {
        self.row.saturating_add(self.rowspan)
    }

    /// One past the last column covered.
    pub(crate) fn end_column(&self) -> usize {
        self.column.saturating_add(self.colspan)
    }
}

/// A table laid out.
#[derive(Debug)]
pub(crate) struct Layout<'t> {
    /// The cells that begin in each row, from the left.
    pub rows: Vec<Vec<Placed<'t>>>,
    /// Columns covered by at least one cell.
    pub width: usize,
    /// Rows from the top that are headers; fewer than all rows.
    pub header_rows: usize,
}

impl<'t> Layout<'t> {
    /// Lays a table out. Linear in its cells and the columns they cover.
    pub(crate) fn of(table: &'t Table) -> Self {
        let height = table.rows.len();
        let header_rows = header_rows(table);
        let header_columns = table.header_columns as usize;
        let mut free_from: Vec<usize> = Vec::new();
        let mut rows = Vec::with_capacity(height);
        for (row, cells) in table.rows.iter().enumerate() {
            let is_free = |free_from: &[usize], column: usize| free_from.get(column).is_none_or(|from| *from <= row);
            let mut column = 0_usize;
            let mut placed = Vec::with_capacity(cells.len());
            for cell in cells {
                while !is_free(&free_from, column) {
                    column = column.saturating_add(1);
                }
                let wanted = cell.colspan.clamp(1, MAX_COLSPAN) as usize;
                let room = (MAX_COLUMNS as usize).saturating_sub(column).max(1);
                let colspan = (0..wanted.min(room)).take_while(|n| is_free(&free_from, column.saturating_add(*n))).count().max(1);
                let rowspan = (cell.rowspan.max(1) as usize).min(height.saturating_sub(row).max(1));
                let end = column.saturating_add(colspan);
                if free_from.len() < end {
                    free_from.resize(end, 0);
                }
                for slot in free_from.iter_mut().take(end).skip(column) {
                    *slot = row.saturating_add(rowspan);
                }
                let header = cell.header || row < header_rows || column < header_columns;
                placed.push(Placed { row, column, rowspan, colspan, header, cell });
                column = end;
            }
            rows.push(placed);
        }
        Self { rows, width: free_from.len(), header_rows }
    }

    /// Whether no cell reaches from the headers into the body, so that they can be told apart.
    pub(crate) fn headers_stand_alone(&self) -> bool {
        self.rows.iter().take(self.header_rows).flatten().all(|p| p.end_row() <= self.header_rows)
    }
}

/// The header rows: those the parser counted, or else the leading rows made of nothing but cells marked as headers. A
/// table of headers only has none: there would be nothing for them to head.
fn header_rows(table: &Table) -> usize {
    let counted = table.header_rows as usize;
    let marked = || table.rows.iter().take_while(|row| !row.is_empty() && row.iter().all(|c| c.header)).count();
    let rows = if counted == 0 { marked() } else { counted };
    if rows >= table.rows.len() { 0 } else { rows }
}

/// A nested table as text of its cell: its caption, then one line a row, cells separated by tabs.
pub(crate) fn plain_text(table: &Table) -> String {
    let mut out = String::new();
    write_plain(table, &mut out);
    out
}

fn write_plain(table: &Table, out: &mut String) {
    if !table.caption.is_empty() {
        out.push_str(&table.caption);
        out.push('\n');
    }
    for row in &table.rows {
        for (index, cell) in row.iter().enumerate() {
            if index > 0 {
                out.push('\t');
            }
            out.push_str(&cell.text);
            for nested in &cell.tables {
                out.push('\n');
                write_plain(nested, out);
            }
        }
        out.push('\n');
    }
}
