//! Tables.

use quarry_document::flow::{Block, FlowCell, FlowRow, FlowTable, HeaderCells, Merge};
use quarry_document::xml::{Element, Ns};
use quarry_model::{DocumentCode, DocumentFailure};

use crate::word::properties::{attribute, number, toggle, value, w};
use crate::word::walk::Walk;

/// Most columns a span or an offset may claim; HTML allows no more.
const MAX_SPAN: u32 = 1_000;

impl<'t> Walk<'_, '_, 't> {
    /// A table as blocks. One of a single cell is a frame around its content, and gives that content.
    pub(crate) fn table(&mut self, table: Element<'t>) -> Result<Vec<Block>, DocumentFailure> {
        let properties = w(table, "tblPr");
        let mut rows = Vec::new();
        self.rows(table, &mut rows)?;
        let caption = properties.and_then(|properties| value(properties, "tblCaption").or_else(|| value(properties, "tblDescription")));
        let table = FlowTable { rows, headers: self.headers(properties), caption: caption.unwrap_or_default().to_owned() };
        let (blocks, dropped) = table.into_blocks(self.limits);
        if dropped > 0 {
            self.warnings.partial(DocumentCode::TooLarge, format!("{dropped} cells of a table are left out"));
        }
        Ok(blocks)
    }

    /// Rows, also those inside content controls and tracked insertions.
    fn rows(&mut self, container: Element<'t>, out: &mut Vec<FlowRow>) -> Result<(), DocumentFailure> {
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
                    out.push(FlowRow { cells, marked_header });
                }
                (Ns::W, "tblPr" | "tblGrid" | "sdtPr" | "sdtEndPr" | "del" | "moveFrom") => {}
                _ => self.rows(child, out)?,
            }
        }
        Ok(())
    }

    fn cells(&mut self, container: Element<'t>, column: &mut u32, out: &mut Vec<FlowCell>) -> Result<(), DocumentFailure> {
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
                        _ => out.push(FlowCell { column: *column, columns, rows: 1, down: merge("vMerge"), blocks }),
                    }
                    *column = column.saturating_add(columns);
                }
                (Ns::W, "trPr" | "tblPrEx" | "sdtPr" | "sdtEndPr" | "del" | "moveFrom") => {}
                _ => self.cells(child, column, out)?,
            }
        }
        Ok(())
    }

    /// What the table's style sets apart, and the table asks for.
    fn headers(&self, properties: Option<Element<'t>>) -> HeaderCells {
        let style = properties.and_then(|properties| value(properties, "tblStyle"));
        let (row_looks, column_looks) = style.map(|style| self.styles.table_looks(style)).unwrap_or_default();
        let look = properties.and_then(|properties| w(properties, "tblLook"));
        let bits = look.and_then(|look| attribute(look, "val")).and_then(|bits| u32::from_str_radix(bits, 16).ok());
        let asked = |name: &str, bit: u32| {
            let on = look.and_then(|look| attribute(look, name));
            on.map_or_else(|| bits.is_some_and(|bits| bits & bit != 0), |on| matches!(on, "1" | "true" | "on"))
        };
        HeaderCells { first_row: asked("firstRow", 0x20) && row_looks, first_column: asked("firstColumn", 0x80) && column_looks }
    }
}

fn span(columns: i64) -> u32 {
    u32::try_from(columns.clamp(0, i64::from(MAX_SPAN))).unwrap_or_default()
}
