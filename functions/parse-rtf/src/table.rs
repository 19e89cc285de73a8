//! Tables: edges of cells in twips → columns of a grid.

use quarry_document::flow::{Block, FlowCell, FlowRow, FlowTable, HeaderCells, Merge};
use quarry_model::Limits;

/// Edges closer than this are one: rows of a table differ by rounding.
const SAME_EDGE: i32 = 24;
/// Most cells of one row; Word allows 63.
const ROW_CELLS: usize = 1_024;

/// A cell as its row describes it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CellShape {
    /// Right edge in twips.
    pub right: i32,
    pub merged_left: bool,
    pub down_begins: bool,
    pub down_continues: bool,
}

/// A row as described before or after its cells.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowShape {
    pub left: i32,
    pub header: bool,
    pub cells: Vec<CellShape>,
    /// What the next `\cellx` closes.
    pub next: CellShape,
}

impl RowShape {
    pub(crate) fn edge(&mut self, right: i32) {
        if self.cells.len() < ROW_CELLS {
            self.cells.push(CellShape { right, ..self.next });
        }
        self.next = CellShape::default();
    }
}

#[derive(Debug, Default)]
struct Row {
    shape: RowShape,
    cells: Vec<Vec<Block>>,
}

/// A table that is open.
#[derive(Debug, Default)]
pub(crate) struct OpenTable {
    rows: Vec<Row>,
    cells: Vec<Vec<Block>>,
    /// Blocks of the cell that is open.
    pub current: Vec<Block>,
}

impl OpenTable {
    pub(crate) fn end_cell(&mut self) {
        let blocks = std::mem::take(&mut self.current);
        self.cells.push(blocks);
    }

    pub(crate) fn end_row(&mut self, shape: &RowShape) {
        if !self.current.is_empty() {
            self.end_cell();
        }
        let cells = std::mem::take(&mut self.cells);
        if !cells.is_empty() {
            self.rows.push(Row { shape: shape.clone(), cells });
        }
    }

    /// The table as blocks, and how many cells were too many.
    pub(crate) fn finish(mut self, limits: &Limits) -> (Vec<Block>, u64) {
        // A row that never ended is one all the same.
        self.end_row(&RowShape::default());
        let mut edges: Vec<i32> = self
            .rows
            .iter()
            .filter(|row| !row.shape.cells.is_empty())
            .flat_map(|row| std::iter::once(row.shape.left).chain(row.shape.cells.iter().map(|cell| cell.right)))
            .collect();
        edges.sort_unstable();
        edges.dedup_by(|next, kept| next.saturating_sub(*kept) <= SAME_EDGE);
        let column = |edge: i32| u32::try_from(edges.partition_point(|known| known.saturating_add(SAME_EDGE) < edge)).unwrap_or(u32::MAX);
        let mut rows = Vec::new();
        for row in self.rows {
            let mut next = column(row.shape.left);
            let mut cells: Vec<FlowCell> = Vec::new();
            for (index, blocks) in row.cells.into_iter().enumerate() {
                let shape = row.shape.cells.get(index);
                let end = shape.map_or(next.saturating_add(1), |shape| column(shape.right)).max(next.saturating_add(1));
                let columns = end.saturating_sub(next);
                let down = match shape {
                    Some(shape) if shape.down_continues => Merge::Continues,
                    Some(shape) if shape.down_begins => Merge::Begins,
                    _ => Merge::None,
                };
                match cells.last_mut() {
                    Some(previous) if shape.is_some_and(|shape| shape.merged_left) => {
                        previous.columns = previous.columns.saturating_add(columns);
                        previous.blocks.extend(blocks);
                    }
                    _ => cells.push(FlowCell { column: next, columns, rows: 1, down, blocks }),
                }
                next = end;
            }
            rows.push(FlowRow { cells, marked_header: row.shape.header });
        }
        FlowTable { rows, headers: HeaderCells::default(), caption: String::new() }.into_blocks(limits)
    }
}
