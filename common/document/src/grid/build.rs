//! Building a table cell by cell, whatever the format says about spans.

use quarry_model::{Cell, Limits, Table};

/// HTML's own cap on `colspan`.
pub(super) const MAX_COLSPAN: u32 = 1_000;
/// No grid is wider than a spreadsheet.
pub(super) const MAX_COLUMNS: u32 = 16_384;

/// A finished table, and what did not fit into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltTable {
    /// The table.
    pub table: Table,
    /// Cells left out because the table already held as many as one may; the caller warns when it is not 0.
    pub dropped_cells: u64,
}

/// What a column of the grid is covered by.
#[derive(Debug, Clone, Copy)]
struct Cover {
    /// Row and index in that row of the covering cell.
    cell: (usize, usize),
    /// First row that is free again.
    until: u64,
}

/// Builds a [`Table`], row by row from the top and cell by cell from the left.
///
/// Sources that leave covered cells out (HTML) use [`TableBuilder::cell`]; sources that know each cell's column (DOCX,
/// sheets) use [`TableBuilder::cell_at`], and [`TableBuilder::continue_above`] for a merge that goes on downwards.
/// Spans are clamped to the free columns of their row and, at the end, to the rows there are.
#[derive(Debug)]
pub struct TableBuilder {
    rows: Vec<Vec<Cell>>,
    columns: Vec<Option<Cover>>,
    next: usize,
    cells: u64,
    max_cells: u64,
    dropped: u64,
}

impl TableBuilder {
    /// An empty table that holds at most `limits.table_cells` cells, those of nested tables included.
    pub fn new(limits: &Limits) -> Self {
        Self { rows: Vec::new(), columns: Vec::new(), next: 0, cells: 0, max_cells: limits.table_cells, dropped: 0 }
    }

    /// Begins the next row.
    pub fn row(&mut self) {
        if self.cells < self.max_cells {
            self.rows.push(Vec::new());
        }
        self.next = 0;
    }

    /// How many rows were begun.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Adds a cell at the next free column of the current row. A `rowspan` of [`u32::MAX`] means "to the last row".
    pub fn cell(&mut self, cell: Cell) {
        self.skip_covered();
        self.place(cell);
    }

    /// Adds a cell at `column` (from 0); free columns before it are filled with empty cells. A column that is already
    /// taken in this row moves the cell to the next free one.
    pub fn cell_at(&mut self, column: u32, cell: Cell) {
        let column = column.min(MAX_COLUMNS.saturating_sub(1)) as usize;
        loop {
            self.skip_covered();
            if self.next >= column || self.cells >= self.max_cells {
                break;
            }
            self.place(Cell::new(""));
        }
        self.place(cell);
    }

    /// Lets the cell that covers `column` in the row above go on into this row. Answers `false`, and does nothing, when
    /// there is no such cell: the caller then adds an ordinary one.
    pub fn continue_above(&mut self, column: u32) -> bool {
        let Some(row) = self.rows.len().checked_sub(1) else { return false };
        let Some(Some(cover)) = self.columns.get(column as usize).copied() else { return false };
        let row = row as u64;
        if cover.until < row || cover.cell.0 as u64 == row {
            return false;
        }
        if cover.until > row {
            return true;
        }
        for c in self.columns.iter_mut().flatten().filter(|c| c.cell == cover.cell) {
            c.until = row.saturating_add(1);
        }
        if let Some(cell) = self.rows.get_mut(cover.cell.0).and_then(|r| r.get_mut(cover.cell.1)) {
            cell.rowspan = cell.rowspan.saturating_add(1);
        }
        true
    }

    /// The table. Rows at the end that hold nothing and are covered by nothing are left out.
    pub fn finish(mut self, header_rows: u32, header_columns: u32, caption: impl Into<String>) -> BuiltTable {
        let covered = self.columns.iter().flatten().map(|c| c.until).filter(|u| *u < u64::from(u32::MAX)).max().unwrap_or(0);
        while self.rows.last().is_some_and(Vec::is_empty) && self.rows.len() as u64 > covered {
            self.rows.pop();
        }
        let height = self.rows.len();
        for (index, row) in self.rows.iter_mut().enumerate() {
            let left = u32::try_from(height.saturating_sub(index)).unwrap_or(u32::MAX);
            for cell in row {
                cell.rowspan = cell.rowspan.clamp(1, left.max(1));
            }
        }
        let table = Table { rows: self.rows, header_rows: header_rows.min(height as u32), header_columns, caption: caption.into() };
        BuiltTable { table, dropped_cells: self.dropped }
    }

    fn is_free(&self, column: usize) -> bool {
        let row = self.rows.len().saturating_sub(1) as u64;
        self.columns.get(column).copied().flatten().is_none_or(|c| c.until <= row)
    }

    fn skip_covered(&mut self) {
        while !self.is_free(self.next) {
            self.next = self.next.saturating_add(1);
        }
    }

    fn place(&mut self, mut cell: Cell) {
        let size = cell_count(&cell);
        if self.rows.is_empty() {
            self.rows.push(Vec::new());
        }
        if self.cells.saturating_add(size) > self.max_cells || self.next >= MAX_COLUMNS as usize {
            self.dropped = self.dropped.saturating_add(size);
            return;
        }
        self.cells = self.cells.saturating_add(size);
        let wanted = cell.colspan.clamp(1, MAX_COLSPAN) as usize;
        let free = (0..wanted).take_while(|n| self.is_free(self.next.saturating_add(*n))).count().max(1);
        cell.colspan = free as u32;
        cell.rowspan = cell.rowspan.max(1);
        let row = self.rows.len().saturating_sub(1);
        let Some(cells) = self.rows.last_mut() else { return };
        let cover = Cover { cell: (row, cells.len()), until: (row as u64).saturating_add(u64::from(cell.rowspan)) };
        let end = self.next.saturating_add(free);
        if self.columns.len() < end {
            self.columns.resize(end, None);
        }
        for column in self.columns.iter_mut().take(end).skip(self.next) {
            *column = Some(cover);
        }
        cells.push(cell);
        self.next = end;
    }
}

/// A cell and everything nested in it. Nesting is bounded by the parsers' own depth limits.
fn cell_count(cell: &Cell) -> u64 {
    cell.tables.iter().flat_map(|t| t.rows.iter().flatten()).map(cell_count).fold(1, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::to_html;

    fn builder(max: u64) -> TableBuilder {
        TableBuilder::new(&Limits { table_cells: max, ..Limits::default() })
    }

    #[test]
    fn vertical_merges_become_row_spans() {
        let mut b = builder(100);
        for row in 0..3 {
            b.row();
            if row == 0 {
                b.cell_at(0, Cell::spanning("left", 1, 2));
            } else {
                assert!(b.continue_above(0) && b.continue_above(1), "asked for each column of the merge");
            }
            b.cell_at(2, Cell::new(row.to_string()));
        }
        let built = b.finish(0, 0, "");
        assert_eq!(
            to_html(&built.table),
            "<table>\n<tr><td rowspan=\"3\" colspan=\"2\">left</td><td>0</td></tr>\n<tr><td>1</td></tr>\n<tr><td>2</td></tr>\n</table>"
        );
    }

    #[test]
    fn a_merge_without_a_beginning_is_no_merge() {
        let mut b = builder(100);
        b.row();
        assert!(!b.continue_above(0));
        b.cell(Cell::new("a"));
        b.row();
        b.cell_at(1, Cell::new("b"));
        assert!(!b.continue_above(0), "the cell above ended in the row above, this row has its own");
        assert_eq!(b.finish(0, 0, "").table.rows[1].len(), 2);
    }

    #[test]
    fn gaps_are_filled_and_the_end_is_trimmed() {
        let mut b = builder(100);
        b.row();
        b.cell_at(2, Cell::new("x"));
        b.row();
        b.row();
        let table = b.finish(9, 0, "c").table;
        assert_eq!((table.rows.len(), table.rows[0].len(), table.header_rows), (1, 3, 1));
    }

    #[test]
    fn no_more_cells_than_allowed() {
        let mut b = builder(3);
        for _ in 0..10 {
            b.row();
            b.cell(Cell::spanning("x", u32::MAX, 1 << 31));
        }
        let built = b.finish(0, 0, "");
        assert_eq!((built.table.rows.iter().flatten().count(), built.dropped_cells), (3, 7));
        assert!(built.table.rows.iter().flatten().all(|c| c.colspan <= 1_000 && c.rowspan <= 3));
    }
}
