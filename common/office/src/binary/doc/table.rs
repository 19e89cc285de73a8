//! Tables: paragraphs whose marks end cells and rows, and the edges that the end of each row defines.

use quarry_document::flow::{Block, FlowCell, FlowRow, FlowTable, HeaderCells, Merge};
use quarry_model::{DocumentCode, DocumentFailure};

use super::paragraph::Stored;
use super::walk::Walk;
use crate::binary::numbers::{i16_at, u16_at};

/// Edges this near to one another, in twentieths of a point, are one: rows are dragged by hand.
const SAME_EDGE: i32 = 40;
/// Size of a cell in a definition ([MS-DOC] 2.9.317 `TC80`).
const CELL: usize = 20;

/// A row before its cells know their columns.
struct RawRow {
    cells: Vec<Vec<Block>>,
    /// Left edges of the cells, and the right one of the last.
    edges: Vec<i32>,
    merges: Vec<Merge>,
    /// Cells that are swallowed by the one on their left.
    swallowed: Vec<bool>,
    is_header: bool,
}

impl<'a> Walk<'_, 'a> {
    /// The table of this depth that these paragraphs make.
    pub(super) fn table(&mut self, stored: &[Stored<'a>], depth: u32) -> Result<Vec<Block>, DocumentFailure> {
        let mut rows = Vec::new();
        let (mut cells, mut content) = (Vec::new(), 0..0_usize);
        for (index, paragraph) in stored.iter().enumerate() {
            content.end = index.saturating_add(1);
            if paragraph.ends_row(depth) {
                // What stands before the mark of the row but in no cell is a cell of its own.
                let loose = self.level(stored.get(content.start..index).unwrap_or_default(), depth)?;
                if !loose.is_empty() {
                    cells.push(loose);
                }
                rows.push(row(std::mem::take(&mut cells), paragraph));
                content.start = content.end;
            } else if paragraph.ends_cell(depth) {
                cells.push(self.level(stored.get(content.clone()).unwrap_or_default(), depth)?);
                content.start = content.end;
            }
        }
        let loose = self.level(stored.get(content).unwrap_or_default(), depth)?;
        if !loose.is_empty() {
            cells.push(loose);
        }
        if !cells.is_empty() {
            rows.push(RawRow { cells, edges: Vec::new(), merges: Vec::new(), swallowed: Vec::new(), is_header: false });
        }
        let columns = columns(&rows);
        let rows = rows.into_iter().map(|row| flow_row(row, &columns)).collect();
        let table = FlowTable { rows, headers: HeaderCells::default(), caption: String::new() };
        let (blocks, dropped) = table.into_blocks(self.limits);
        if dropped > 0 {
            self.warnings.partial(DocumentCode::TooLarge, format!("{dropped} cells of a table are left out"));
        }
        Ok(blocks)
    }
}

fn row(cells: Vec<Vec<Block>>, end: &Stored<'_>) -> RawRow {
    let definition = end.properties.row;
    let count = usize::from(definition.first().copied().unwrap_or_default());
    let edges: Vec<i32> =
        (0..=count).map_while(|index| i16_at(definition, index.saturating_mul(2).saturating_add(1)).map(i32::from)).collect();
    let at = count.saturating_add(1).saturating_mul(2).saturating_add(1);
    let flags = |index: usize| u16_at(definition, at.saturating_add(index.saturating_mul(CELL))).unwrap_or_default();
    let mut merges: Vec<Merge> = (0..count)
        .map(|index| match (flags(index) & 0x0020 != 0, flags(index) & 0x0040 != 0) {
            (_, true) => Merge::Begins,
            (true, false) => Merge::Continues,
            (false, false) => Merge::None,
        })
        .collect();
    for (cell, merge) in &end.properties.merges {
        if let Some(slot) = merges.get_mut(usize::from(*cell)) {
            *slot = match merge {
                0 => Merge::None,
                1 => Merge::Continues,
                _ => Merge::Begins,
            };
        }
    }
    let swallowed = (0..count).map(|index| flags(index) & 0x0002 != 0).collect();
    RawRow { cells, edges: if count == 0 { Vec::new() } else { edges }, merges, swallowed, is_header: end.properties.row_is_header }
}

/// The edges of all rows from the left, those that are the same once.
fn columns(rows: &[RawRow]) -> Vec<i32> {
    let mut edges: Vec<i32> = rows.iter().flat_map(|row| row.edges.iter().copied()).collect();
    edges.sort_unstable();
    edges.dedup_by(|next, kept| next.saturating_sub(*kept) < SAME_EDGE);
    edges
}

fn column_of(edge: i32, columns: &[i32]) -> u32 {
    let next = columns.partition_point(|column| *column <= edge);
    u32::try_from(next.saturating_sub(1)).unwrap_or_default()
}

fn flow_row(row: RawRow, columns: &[i32]) -> FlowRow {
    let mut cells: Vec<FlowCell> = Vec::new();
    for (index, blocks) in row.cells.into_iter().enumerate() {
        let free = cells.last().map_or(0, |cell: &FlowCell| cell.column.saturating_add(cell.columns));
        let place = row.edges.get(index).zip(row.edges.get(index.saturating_add(1)));
        let (column, end) =
            place.map_or((free, free.saturating_add(1)), |(left, right)| (column_of(*left, columns), column_of(*right, columns)));
        let column = column.max(free);
        let width = end.saturating_sub(column).max(1);
        if row.swallowed.get(index) == Some(&true)
            && let Some(last) = cells.last_mut()
        {
            last.columns = last.columns.saturating_add(width);
            last.blocks.extend(blocks);
            continue;
        }
        let down = row.merges.get(index).copied().unwrap_or(Merge::None);
        cells.push(FlowCell { column, columns: width, rows: 1, down, blocks });
    }
    FlowRow { cells, marked_header: row.is_header }
}
