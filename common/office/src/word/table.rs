//! Tables.

use std::collections::{BTreeMap, BTreeSet};

use quarry_document::TableBuilder;
use quarry_document::xml::{Element, Ns};
use quarry_model::{Cell, DocumentCode, DocumentFailure, Table};

use crate::word::block::{Block, Paragraph, Picture, TableBlock};
use crate::word::properties::{attribute, number, toggle, value, w};
use crate::word::walk::Walk;

/// Most columns a span or an offset may claim; HTML allows no more.
const MAX_SPAN: u32 = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Merge {
    None,
    Begins,
    Continues,
}

struct RawCell {
    column: u32,
    columns: u32,
    down: Merge,
    blocks: Vec<Block>,
}

struct RawRow {
    cells: Vec<RawCell>,
    marked_header: bool,
}

impl RawRow {
    /// Columns in which a merge from above goes on.
    fn continued(&self) -> impl Iterator<Item = u32> + '_ {
        self.cells.iter().filter(|cell| cell.down == Merge::Continues).map(|cell| cell.column)
    }
}

impl<'t> Walk<'_, '_, 't> {
    /// A table as blocks. One of a single cell is a frame around its content, and gives that content.
    pub(crate) fn table(&mut self, table: Element<'t>) -> Result<Vec<Block>, DocumentFailure> {
        let properties = w(table, "tblPr");
        let mut rows = Vec::new();
        self.rows(table, &mut rows)?;
        if let [RawRow { cells, .. }] = rows.as_mut_slice()
            && let [cell] = cells.as_mut_slice()
        {
            return Ok(std::mem::take(&mut cell.blocks));
        }
        bridge(&mut rows);
        let (header_rows, header_columns) = self.headers(properties, &rows);
        let mut builder = TableBuilder::new(self.limits);
        let mut after = Vec::new();
        for row in rows {
            builder.row();
            for raw in row.cells {
                if raw.down == Merge::Continues {
                    // Every column is asked, for a merge may cover several; words in a continuation make it a cell.
                    let mut continued = raw.blocks.is_empty();
                    for column in raw.column..raw.column.saturating_add(raw.columns) {
                        continued = continued && builder.continue_above(column);
                    }
                    if continued {
                        continue;
                    }
                }
                let mut cell = Cell::spanning(String::new(), 1, raw.columns);
                fill(&mut cell, raw.blocks, &mut after);
                builder.cell_at(raw.column, cell);
            }
        }
        let caption = properties.and_then(|properties| value(properties, "tblCaption").or_else(|| value(properties, "tblDescription")));
        let built = builder.finish(header_rows, header_columns, caption.unwrap_or_default().trim());
        if built.dropped_cells > 0 {
            self.warnings.partial(DocumentCode::TooLarge, format!("{} cells of a table are left out", built.dropped_cells));
        }
        if built.table.rows.iter().all(Vec::is_empty) {
            return Ok(after);
        }
        Ok(vec![Block::Table(TableBlock { table: built.table, after })])
    }

    /// Rows, also those inside content controls and tracked insertions.
    fn rows(&mut self, container: Element<'t>, out: &mut Vec<RawRow>) -> Result<(), DocumentFailure> {
        for child in container.elements() {
            match (child.ns(), child.name()) {
                (Ns::W, "tr") => {
                    let properties = w(child, "trPr");
                    if properties.is_some_and(|properties| w(properties, "del").is_some()) {
                        continue;
                    }
                    let before = properties.and_then(|properties| number(properties, "gridBefore")).unwrap_or_default();
                    let mut column = span(before);
                    let mut cells = Vec::new();
                    self.cells(child, &mut column, &mut cells)?;
                    let marked_header = properties.and_then(|properties| toggle(properties, "tblHeader")).unwrap_or_default();
                    out.push(RawRow { cells, marked_header });
                }
                (Ns::W, "tblPr" | "tblGrid" | "sdtPr" | "sdtEndPr" | "del" | "moveFrom") => {}
                _ => self.rows(child, out)?,
            }
        }
        Ok(())
    }

    fn cells(&mut self, container: Element<'t>, column: &mut u32, out: &mut Vec<RawCell>) -> Result<(), DocumentFailure> {
        for child in container.elements() {
            match (child.ns(), child.name()) {
                (Ns::W, "tc") => {
                    let properties = w(child, "tcPr");
                    let columns = span(properties.and_then(|properties| number(properties, "gridSpan")).unwrap_or(1)).max(1);
                    let merge = |name| match properties.and_then(|properties| w(properties, name)) {
                        None => Merge::None,
                        Some(merge) if attribute(merge, "val") == Some("restart") => Merge::Begins,
                        Some(_) => Merge::Continues,
                    };
                    let deleted = properties.is_some_and(|properties| w(properties, "cellDel").is_some());
                    let blocks = if deleted { Vec::new() } else { self.blocks(child)? };
                    match (merge("hMerge"), out.last_mut()) {
                        // The old way to merge sideways: this cell only widens the one before it.
                        (Merge::Continues, Some(previous)) => {
                            previous.columns = previous.columns.saturating_add(columns).min(MAX_SPAN);
                            previous.blocks.extend(blocks);
                        }
                        _ => out.push(RawCell { column: *column, columns, down: merge("vMerge"), blocks }),
                    }
                    *column = column.saturating_add(columns);
                }
                (Ns::W, "trPr" | "tblPrEx" | "sdtPr" | "sdtEndPr" | "del" | "moveFrom") => {}
                _ => self.cells(child, column, out)?,
            }
        }
        Ok(())
    }

    /// How many rows and columns are headers: rows marked as such; else the first, when the table's style sets it
    /// apart, or when it alone is bold.
    fn headers(&self, properties: Option<Element<'t>>, rows: &[RawRow]) -> (u32, u32) {
        let style = properties.and_then(|properties| value(properties, "tblStyle"));
        let (row_looks, column_looks) = style.map(|style| self.styles.table_looks(style)).unwrap_or_default();
        let look = properties.and_then(|properties| w(properties, "tblLook"));
        let bits = look.and_then(|look| attribute(look, "val")).and_then(|bits| u32::from_str_radix(bits, 16).ok());
        let asked = |name: &str, bit: u32| {
            let on = look.and_then(|look| attribute(look, name));
            on.map_or_else(|| bits.is_some_and(|bits| bits & bit != 0), |on| matches!(on, "1" | "true" | "on"))
        };
        let marked = rows.iter().take_while(|row| row.marked_header).count();
        let body = rows.len().saturating_sub(1);
        let first_row = body > 0
            && (asked("firstRow", 0x20) && row_looks
                || rows.first().is_some_and(is_bold) && rows.get(1).is_some_and(|second| !is_bold(second)));
        let header_rows = if marked > 0 && marked < rows.len() { marked as u32 } else { u32::from(first_row) };
        (header_rows, u32::from(asked("firstColumn", 0x80) && column_looks && body > 0))
    }
}

/// Lets merges reach over rows that end too early: a row without a cell in a merged column, between a row that merges
/// there and one that goes on with it, is part of the merge.
fn bridge(rows: &mut [RawRow]) {
    // Column → width, of merges that reach the row above.
    let mut open: BTreeMap<u32, u32> = BTreeMap::new();
    for index in 0..rows.len() {
        let goes_on: BTreeSet<u32> = rows.get(index.saturating_add(1)).into_iter().flat_map(RawRow::continued).collect();
        let Some(row) = rows.get_mut(index) else { break };
        let end = row.cells.last().map_or(0, |cell| cell.column.saturating_add(cell.columns));
        for (column, columns) in open.range(end..).filter(|(column, _)| goes_on.contains(column)) {
            row.cells.push(RawCell { column: *column, columns: *columns, down: Merge::Continues, blocks: Vec::new() });
        }
        open = row.cells.iter().filter(|cell| cell.down != Merge::None).map(|cell| (cell.column, cell.columns)).collect();
    }
}

/// Whether every cell with words is bold, and there are at least two.
fn is_bold(row: &RawRow) -> bool {
    let mut worded = 0_usize;
    for cell in &row.cells {
        for block in &cell.blocks {
            match block {
                Block::Paragraph(paragraph) if paragraph.text.is_empty() => {}
                Block::Paragraph(paragraph) if paragraph.bold => worded = worded.saturating_add(1),
                _ => return false,
            }
        }
    }
    worded > 1
}

fn span(columns: i64) -> u32 {
    u32::try_from(columns.clamp(0, i64::from(MAX_SPAN))).unwrap_or_default()
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
