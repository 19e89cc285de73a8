//! Tables.

use quarry_document::flow::{Block, FlowCell, FlowRow, FlowTable, HeaderCells, Merge};
use quarry_document::xml::{Element, Ns};
use quarry_model::{DocumentCode, DocumentFailure};

use crate::walk::Walk;

/// Most columns a span may claim; HTML allows no more.
const MAX_SPAN: u32 = 1_000;
/// Most copies of one row or cell that a repetition makes; texts repeat a few, sheets fill their last rows with it.
const MAX_REPEATED: u32 = 64;

impl Walk<'_, '_> {
    /// A table as blocks.
    pub(crate) fn table(&mut self, table: Element<'_>) -> Result<Vec<Block>, DocumentFailure> {
        let mut rows = Vec::new();
        self.rows(table, false, &mut rows)?;
        // A sheet inside the document ends in rows and cells of nothing.
        while rows.last().is_some_and(|row| row.cells.iter().all(|cell| cell.blocks.is_empty() && cell.rows <= 1)) {
            rows.pop();
        }
        let said = |name| table.child(Ns::OdfTable, name).map(Element::text).unwrap_or_default();
        let caption = [said("title"), said("desc")].into_iter().find(|text| !text.trim().is_empty()).unwrap_or_default();
        let first_column = table.child(Ns::OdfTable, "table-header-columns").is_some();
        let headers = HeaderCells { first_row: false, first_column };
        let (blocks, dropped) = FlowTable { rows, headers, caption }.into_blocks(self.limits);
        if dropped > 0 {
            self.warnings.partial(DocumentCode::TooLarge, format!("{dropped} cells of a table are left out"));
        }
        Ok(blocks)
    }

    fn rows(&mut self, container: Element<'_>, header: bool, out: &mut Vec<FlowRow>) -> Result<(), DocumentFailure> {
        for child in container.elements().filter(|child| child.ns() == Ns::OdfTable) {
            match child.name() {
                "table-header-rows" => self.rows(child, true, out)?,
                "table-rows" | "table-row-group" => self.rows(child, header, out)?,
                "table-row" => {
                    let cells = self.cells(child)?;
                    let empty = cells.iter().all(|cell| cell.blocks.is_empty());
                    let copies = if empty { 1 } else { number(child, "number-rows-repeated").clamp(1, MAX_REPEATED) };
                    let row = FlowRow { cells, marked_header: header };
                    out.extend(std::iter::repeat_n(row, copies as usize));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn cells(&mut self, row: Element<'_>) -> Result<Vec<FlowCell>, DocumentFailure> {
        let (mut cells, mut column) = (Vec::new(), 0_u32);
        for child in row.elements().filter(|child| child.ns() == Ns::OdfTable) {
            let repeated = number(child, "number-columns-repeated").max(1);
            if child.name() == "covered-table-cell" {
                column = column.saturating_add(repeated);
                continue;
            }
            if child.name() != "table-cell" {
                continue;
            }
            let blocks = self.blocks(child)?;
            let columns = number(child, "number-columns-spanned").clamp(1, MAX_SPAN);
            let rows = number(child, "number-rows-spanned").clamp(1, MAX_SPAN);
            if blocks.is_empty() && repeated > MAX_REPEATED {
                column = column.saturating_add(repeated);
                continue;
            }
            for _ in 0..repeated.min(MAX_REPEATED) {
                cells.push(FlowCell { column, columns, rows, down: Merge::None, blocks: blocks.clone() });
                column = column.saturating_add(1);
            }
        }
        // Covered cells follow the one that covers them, so that each column is counted once.
        Ok(cells)
    }
}

fn number(element: Element<'_>, name: &str) -> u32 {
    element.attribute(Ns::OdfTable, name).and_then(|number| number.trim().parse().ok()).unwrap_or(1)
}
