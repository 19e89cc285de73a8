//! Tables of word processors: cells at columns of a grid, merged sideways and downwards, with blocks in them.

use std::collections::{BTreeMap, BTreeSet};

use quarry_model::{Cell, Limits, Table};

use super::block::{Block, Paragraph, Picture, TableBlock};
use crate::grid::TableBuilder;

/// How a cell takes part in a merge downwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// Not at all.
    None,
    /// One begins with it.
    Begins,
    /// It continues the cell above.
    Continues,
}

/// A cell.
#[derive(Debug, Clone)]
pub struct FlowCell {
    /// Column of the grid, from 0.
    pub column: u32,
    /// Columns covered, at least 1.
    pub columns: u32,
    /// Rows covered where the source says it, else 1.
    pub rows: u32,
    /// Its part in a merge downwards, where the source says that instead.
    pub down: Merge,
    /// What stands in it.
    pub blocks: Vec<Block>,
}

/// A row.
#[derive(Debug, Clone, Default)]
pub struct FlowRow {
    /// Its cells from the left.
    pub cells: Vec<FlowCell>,
    /// Whether the source marks it as a header row.
    pub marked_header: bool,
}

impl FlowRow {
    /// Columns in which a merge from above goes on.
    fn continued(&self) -> impl Iterator<Item = u32> + '_ {
        self.cells.iter().filter(|cell| cell.down == Merge::Continues).map(|cell| cell.column)
    }

    /// Whether every cell with words is bold, and there are at least two.
    fn is_bold(&self) -> bool {
        let mut worded = 0_usize;
        for block in self.cells.iter().flat_map(|cell| &cell.blocks) {
            match block {
                Block::Paragraph(paragraph) if paragraph.text.is_empty() => {}
                Block::Paragraph(paragraph) if paragraph.bold => worded = worded.saturating_add(1),
                _ => return false,
            }
        }
        worded > 1
    }
}

/// What else says that there are headers.
#[derive(Debug, Clone, Copy, Default)]
pub struct HeaderCells {
    /// The table's style sets its first row apart.
    pub first_row: bool,
    /// The table's style sets its first column apart.
    pub first_column: bool,
}

/// A table as read.
#[derive(Debug, Clone, Default)]
pub struct FlowTable {
    /// Its rows.
    pub rows: Vec<FlowRow>,
    /// What is known of its headers beside marked rows.
    pub headers: HeaderCells,
    /// Its caption, title or description; empty for none.
    pub caption: String,
}

impl FlowTable {
    /// The table as blocks, and how many cells were too many for it. One of a single cell is a frame around its content,
    /// and gives that content.
    pub fn into_blocks(self, limits: &Limits) -> (Vec<Block>, u64) {
        let Self { mut rows, headers, caption } = self;
        if let [FlowRow { cells, .. }] = rows.as_mut_slice()
            && let [cell] = cells.as_mut_slice()
        {
            return (std::mem::take(&mut cell.blocks), 0);
        }
        bridge(&mut rows);
        let (header_rows, header_columns) = header_counts(headers, &rows);
        let mut builder = TableBuilder::new(limits);
        let mut after = Vec::new();
        for row in rows {
            builder.row();
            for read in row.cells {
                if read.down == Merge::Continues {
                    // Every column is asked, for a merge may cover several; words in a continuation make it a cell.
                    let mut continued = read.blocks.is_empty();
                    for column in read.column..read.column.saturating_add(read.columns) {
                        continued = continued && builder.continue_above(column);
                    }
                    if continued {
                        continue;
                    }
                }
                let mut cell = Cell::spanning(String::new(), read.rows, read.columns);
                fill(&mut cell, read.blocks, &mut after);
                builder.cell_at(read.column, cell);
            }
        }
        let built = builder.finish(header_rows, header_columns, caption.trim());
        let blocks =
            if built.table.rows.iter().all(Vec::is_empty) { after } else { vec![Block::Table(TableBlock { table: built.table, after })] };
        (blocks, built.dropped_cells)
    }
}

/// How many rows and columns are headers: rows marked as such; else the first, when the table's style sets it apart, or
/// when it alone is bold.
fn header_counts(headers: HeaderCells, rows: &[FlowRow]) -> (u32, u32) {
    let marked = rows.iter().take_while(|row| row.marked_header).count();
    let body = rows.len().saturating_sub(1);
    let alone_bold = rows.first().is_some_and(FlowRow::is_bold) && rows.get(1).is_some_and(|second| !second.is_bold());
    let first_row = body > 0 && (headers.first_row || alone_bold);
    let header_rows = if marked > 0 && marked < rows.len() { u32::try_from(marked).unwrap_or(u32::MAX) } else { u32::from(first_row) };
    (header_rows, u32::from(headers.first_column && body > 0))
}

/// Lets merges reach over rows that end too early: a row without a cell in a merged column, between a row that merges
/// there and one that goes on with it, is part of the merge.
fn bridge(rows: &mut [FlowRow]) {
    // Column → width, of merges that reach the row above.
    let mut open: BTreeMap<u32, u32> = BTreeMap::new();
    for index in 0..rows.len() {
        let goes_on: BTreeSet<u32> = rows.get(index.saturating_add(1)).into_iter().flat_map(FlowRow::continued).collect();
        let Some(row) = rows.get_mut(index) else { break };
        let end = row.cells.last().map_or(0, |cell| cell.column.saturating_add(cell.columns));
        for (column, columns) in open.range(end..).filter(|(column, _)| goes_on.contains(column)) {
            row.cells.push(FlowCell { column: *column, columns: *columns, rows: 1, down: Merge::Continues, blocks: Vec::new() });
        }
        open = row.cells.iter().filter(|cell| cell.down != Merge::None).map(|cell| (cell.column, cell.columns)).collect();
    }
}

/// Puts blocks into a cell: text as lines, tables as nested tables; pictures and notes go behind the table.
fn fill(cell: &mut Cell, blocks: Vec<Block>, after: &mut Vec<Block>) {
    for block in blocks {
        match block {
            Block::Paragraph(paragraph) => {
                let Paragraph { text, hidden, pictures, label, after: anchored, .. } = *paragraph;
                let text = match label {
                    // A bullet adds nothing to a line of its own.
                    Some(label) if !label.bullet => label.before(&text),
                    _ => text,
                };
                for line in [text, hidden] {
                    if !line.is_empty() {
                        if !cell.text.is_empty() {
                            cell.text.push('\n');
                        }
                        cell.text.push_str(&line);
                    }
                }
                if !pictures.is_empty() {
                    let pictures = pictures.into_iter().map(|picture| Picture { at: 0, ..picture }).collect();
                    after.push(Block::Paragraph(Box::new(Paragraph { pictures, ..Paragraph::default() })));
                }
                fill(cell, anchored, after);
            }
            Block::Table(TableBlock { table, after: inner }) => {
                nest(cell, table);
                after.extend(inner);
            }
            note @ Block::Note(_) => after.push(note),
        }
    }
}

fn nest(cell: &mut Cell, table: Table) {
    cell.tables.push(table);
}
