//! Tables of `DrawingML`.

use std::collections::BTreeMap;

use quarry_document::TableBuilder;
use quarry_document::xml::{Element, Ns};
use quarry_model::{Cell, Limits, Table};

use super::text::{self, Paragraph};

/// Most rows or columns a merge may claim; HTML allows no more.
const MAX_SPAN: u32 = 1_000;

/// What a table gives.
pub(super) enum Content {
    Table(Table),
    /// The paragraphs of a table of one cell: a frame around its text.
    Frame(Vec<Paragraph>),
    Empty,
}

/// A table as read, and how many cells did not fit.
pub(super) struct Read {
    pub content: Content,
    pub dropped: u64,
}

struct RawCell {
    columns: u32,
    rows: u32,
    /// Marked as covered by a merge.
    merged: bool,
    paragraphs: Vec<Paragraph>,
}

impl RawCell {
    fn of(cell: Element<'_>) -> Self {
        let span = |name| cell.attribute(Ns::None, name).and_then(|value| value.trim().parse::<u32>().ok()).unwrap_or(1).clamp(1, MAX_SPAN);
        let paragraphs = cell.child(Ns::A, "txBody").map(|body| text::paragraphs(body, &[])).unwrap_or_default();
        Self { columns: span("gridSpan"), rows: span("rowSpan"), merged: is_on(cell, "hMerge") || is_on(cell, "vMerge"), paragraphs }
    }

    /// Whether no merge can cover it: it says something, and is not marked as covered.
    fn stands(&self) -> bool {
        !self.merged && !self.paragraphs.is_empty()
    }

    fn text(&self) -> String {
        self.paragraphs.iter().map(Paragraph::line).collect::<Vec<_>>().join("\n")
    }
}

/// Reads `a:tbl`; what is said of its frame is its caption.
pub(super) fn read(table: Element<'_>, said: &str, limits: &Limits) -> Read {
    let mut rows: Vec<Vec<RawCell>> = table
        .elements()
        .filter(|row| row.is(Ns::A, "tr"))
        .map(|row| row.elements().filter(|cell| cell.is(Ns::A, "tc")).map(RawCell::of).collect())
        .collect();
    if let [row] = rows.as_mut_slice()
        && let [cell] = row.as_mut_slice()
    {
        let paragraphs = std::mem::take(&mut cell.paragraphs);
        return Read { content: if paragraphs.is_empty() { Content::Empty } else { Content::Frame(paragraphs) }, dropped: 0 };
    }
    let properties = table.child(Ns::A, "tblPr");
    let is_header = |name| u32::from(properties.is_some_and(|properties| is_on(properties, name)));
    let owners = owners(&mut rows);
    let mut builder = TableBuilder::new(limits);
    for (index, row) in rows.iter().enumerate() {
        builder.row();
        for (column, cell) in row.iter().enumerate().filter(|(column, _)| !owners.contains_key(&(index, *column))) {
            builder.cell_at(column as u32, Cell::spanning(cell.text(), cell.rows, cell.columns));
        }
    }
    let built = builder.finish(is_header("firstRow"), is_header("firstCol"), said);
    let says = |cell: &Cell| !cell.text.is_empty();
    let empty = !built.table.rows.iter().flatten().any(says) && said.is_empty();
    Read { content: if empty { Content::Empty } else { Content::Table(built.table) }, dropped: built.dropped_cells }
}

/// The cells that a merge covers, and the cell that covers them (row, column). Spans are clamped to the table and to what
/// is free; words in a covered cell move to the one that covers it.
fn owners(rows: &mut [Vec<RawCell>]) -> BTreeMap<(usize, usize), (usize, usize)> {
    let mut owners = BTreeMap::new();
    let height = rows.len();
    for row in 0..height {
        let width = rows.get(row).map_or(0, Vec::len);
        for column in 0..width {
            let place = (row, column);
            let Some(cell) = rows.get_mut(row).and_then(|cells| cells.get_mut(column)) else { continue };
            if let Some((owner_row, owner_column)) = owners.get(&place).copied() {
                let words = std::mem::take(&mut cell.paragraphs);
                if let Some(owner) = rows.get_mut::<usize>(owner_row).and_then(|cells| cells.get_mut::<usize>(owner_column)) {
                    owner.paragraphs.extend(words);
                }
                continue;
            }
            let right = column.saturating_add(cell.columns as usize).min(width);
            let bottom = row.saturating_add(cell.rows as usize).min(height);
            let stands = |row: usize, column: usize| rows.get(row).and_then(|cells| cells.get(column)).is_some_and(RawCell::stands);
            let ends = |next: &usize| owners.contains_key(&(row, *next)) || stands(row, *next);
            let right = (column.saturating_add(1)..right).find(ends).unwrap_or(right);
            let bottom = (row.saturating_add(1)..bottom).find(|next| stands(*next, column)).unwrap_or(bottom);
            let Some(cell) = rows.get_mut(row).and_then(|cells| cells.get_mut(column)) else { continue };
            (cell.columns, cell.rows) = (right.saturating_sub(column) as u32, bottom.saturating_sub(row) as u32);
            for covered_row in row..bottom {
                for covered in column..right {
                    if (covered_row, covered) != place && owners.insert((covered_row, covered), place).is_some() {
                        break;
                    }
                }
            }
        }
    }
    owners
}

fn is_on(element: Element<'_>, name: &str) -> bool {
    matches!(element.attribute(Ns::None, name), Some("1" | "true" | "on"))
}
