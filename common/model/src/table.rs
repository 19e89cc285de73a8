//! One grid model for the tables of every format. Rendering to HTML lives in `common/document`.

use serde::{Deserialize, Serialize};

/// A table: rows of cells as HTML writes them (a cell covered by a span is not listed again).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Table {
    /// Rows from the top; each holds the cells that begin in it, from the left.
    pub rows: Vec<Vec<Cell>>,
    /// How many rows from the top are headers.
    pub header_rows: u32,
    /// How many columns from the left are headers.
    pub header_columns: u32,
    /// The table's caption; empty when it has none.
    pub caption: String,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Text as read, lines separated by `\n`. Escaping happens when HTML is written.
    pub text: String,
    /// Rows covered, from 1.
    pub rowspan: u32,
    /// Columns covered, from 1.
    pub colspan: u32,
    /// Tables inside the cell, after its text.
    pub tables: Vec<Table>,
    /// Whether the source itself marks this cell as a header.
    pub header: bool,
}

impl Cell {
    /// A plain cell.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), rowspan: 1, colspan: 1, tables: Vec::new(), header: false }
    }

    /// A cell over several rows and columns (at least one of each).
    pub fn spanning(text: impl Into<String>, rowspan: u32, colspan: u32) -> Self {
        Self { rowspan: rowspan.max(1), colspan: colspan.max(1), ..Self::new(text) }
    }
}

/// A table in a tenth of the room: a sheet of millions of cells is kept so, and unpacked one table at a time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PackedTable {
    /// The texts of all cells, one after the other.
    text: String,
    /// Where the text of each cell ends.
    ends: Vec<u32>,
    /// Of each row, how many cells stand before its end.
    rows: Vec<u32>,
    /// The few cells that cover more than one place: index, rows, columns.
    spans: Vec<(u32, u32, u32)>,
    header_rows: u32,
    header_columns: u32,
    caption: String,
}

impl PackedTable {
    /// Packs a table. Gives it back when it holds what has no place here: tables in cells, cells that are headers by
    /// themselves, more than 4 GiB of text.
    pub fn pack(table: Table) -> Result<Self, Table> {
        let cells = || table.rows.iter().flatten();
        let bytes = cells().map(|cell| cell.text.len() as u64).sum::<u64>();
        if u32::try_from(bytes).is_err() || cells().any(|cell| cell.header || !cell.tables.is_empty()) {
            return Err(table);
        }
        let mut packed = Self {
            text: String::with_capacity(bytes as usize),
            ends: Vec::with_capacity(cells().count()),
            rows: Vec::with_capacity(table.rows.len()),
            spans: Vec::new(),
            header_rows: table.header_rows,
            header_columns: table.header_columns,
            caption: String::new(),
        };
        for row in &table.rows {
            for cell in row {
                if cell.rowspan != 1 || cell.colspan != 1 {
                    packed.spans.push((packed.ends.len() as u32, cell.rowspan, cell.colspan));
                }
                packed.text.push_str(&cell.text);
                packed.ends.push(packed.text.len() as u32);
            }
            packed.rows.push(packed.ends.len() as u32);
        }
        packed.caption = table.caption;
        Ok(packed)
    }

    /// The table as it was.
    pub fn unpack(&self) -> Table {
        let mut spans = self.spans.iter().peekable();
        let (mut start, mut index) = (0_usize, 0_usize);
        let mut rows = Vec::with_capacity(self.rows.len());
        for end in &self.rows {
            let count = (*end as usize).saturating_sub(index);
            let mut row = Vec::with_capacity(count);
            for text_end in self.ends.iter().skip(index).take(count) {
                let text = self.text.get(start..*text_end as usize).unwrap_or_default();
                let span = spans.next_if(|(cell, _, _)| *cell as usize == index);
                row.push(span.map_or_else(|| Cell::new(text), |(_, rowspan, colspan)| Cell::spanning(text, *rowspan, *colspan)));
                (start, index) = (*text_end as usize, index.saturating_add(1));
            }
            rows.push(row);
        }
        Table { rows, header_rows: self.header_rows, header_columns: self.header_columns, caption: self.caption.clone() }
    }

    /// How many cells it holds.
    pub fn cells(&self) -> usize {
        self.ends.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out_again() {
        let rows = vec![
            vec![Cell::spanning("größe", 2, 3), Cell::new("")],
            vec![],
            vec![Cell::new("a"), Cell::new("b"), Cell::spanning("", 1, 2)],
        ];
        let table = Table { rows, header_rows: 1, header_columns: 2, caption: "c".into() };
        let packed = PackedTable::pack(table.clone()).unwrap();
        assert_eq!((packed.unpack(), packed.cells()), (table, 5));
        let nested = Table { rows: vec![vec![Cell { tables: vec![Table::default()], ..Cell::new("") }]], ..Table::default() };
        assert_eq!(PackedTable::pack(nested.clone()), Err(nested));
    }
}
