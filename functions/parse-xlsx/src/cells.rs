//! The cells of one sheet that hold something, and nothing else: a sheet with two far corners costs two cells.

use quarry_model::{DocumentCode, DocumentFailure, Limits};

/// Rows of the largest grid there is.
pub(crate) const MAX_ROWS: u32 = 1_048_576;
/// Columns of the largest grid there is.
pub(crate) const MAX_COLUMNS: u32 = 16_384;

/// What a cell's value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Words.
    Text,
    /// A quantity, also a percentage or an amount of money.
    Number,
    /// A day or a time.
    Date,
    /// True, false, or an error.
    Other,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    row: u32,
    column: u16,
    kind: Kind,
    bold: bool,
    start: u32,
    length: u32,
}

/// A cell as it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CellView<'c> {
    /// From 0.
    pub row: u32,
    /// From 0.
    pub column: u32,
    pub kind: Kind,
    /// Whether the cell as a whole is printed bold.
    pub bold: bool,
    /// Never empty.
    pub text: &'c str,
}

/// A sparse grid.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    entries: Vec<Entry>,
    pool: String,
    unsorted: bool,
}

impl Cells {
    /// Adds a cell (row and column from 0). `text` is what it shows; one that shows nothing is no cell. Cells outside
    /// the largest grid there is are left out: answers whether it was inside.
    pub(crate) fn push(&mut self, row: u32, column: u32, kind: Kind, bold: bool, text: &str) -> bool {
        let (Ok(small), true) = (u16::try_from(column), row < MAX_ROWS && column < MAX_COLUMNS) else { return false };
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        let (Ok(start), Ok(length)) = (u32::try_from(self.pool.len()), u32::try_from(text.len())) else { return false };
        if text.is_empty() {
            return true;
        }
        self.unsorted |= self.entries.last().is_some_and(|last| (last.row, last.column) >= (row, small));
        self.pool.push_str(text);
        self.entries.push(Entry { row, column: small, kind, bold, start, length });
        true
    }

    /// Adds a cell that shows the same as the cell at `index`, in the same column of another row.
    pub(crate) fn repeat(&mut self, index: usize, row: u32) {
        if let Some(entry) = self.entries.get(index).copied().filter(|_| row < MAX_ROWS) {
            self.unsorted |= self.entries.last().is_some_and(|last| (last.row, last.column) >= (row, entry.column));
            self.entries.push(Entry { row, ..entry });
        }
    }

    /// Brings the cells into reading order. Of two cells at one place the later one counts, as it does for a
    /// spreadsheet program.
    pub(crate) fn sort(&mut self) {
        if !std::mem::take(&mut self.unsorted) {
            return;
        }
        self.entries.sort_by_key(|entry| (entry.row, entry.column));
        self.entries.reverse();
        self.entries.dedup_by_key(|entry| (entry.row, entry.column));
        self.entries.reverse();
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The cell at `index` in reading order.
    pub(crate) fn get(&self, index: usize) -> Option<CellView<'_>> {
        let entry = self.entries.get(index)?;
        let end = entry.start.saturating_add(entry.length) as usize;
        Some(CellView {
            row: entry.row,
            column: u32::from(entry.column),
            kind: entry.kind,
            bold: entry.bold,
            text: self.pool.get(entry.start as usize..end)?,
        })
    }

    /// All cells in reading order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = CellView<'_>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Index of the first cell at or after a place, looked for from `from` on.
    pub(crate) fn seek(&self, from: usize, row: u32, column: u32) -> usize {
        let place = (row, u16::try_from(column).unwrap_or(u16::MAX));
        let rest = self.entries.get(from..).unwrap_or_default();
        // Nearly always it is the very next cell.
        let near = rest.iter().take(8).position(|entry| (entry.row, entry.column) >= place);
        let ahead = near.unwrap_or_else(|| rest.partition_point(|entry| (entry.row, entry.column) < place));
        from.saturating_add(ahead)
    }

    /// What a cell at a place shows.
    pub(crate) fn at(&self, row: u32, column: u32) -> Option<CellView<'_>> {
        self.get(self.seek(0, row, column)).filter(|cell| (cell.row, cell.column) == (row, column))
    }
}

/// How much one workbook may hold.
#[derive(Debug)]
pub(crate) struct Budget {
    cells: u64,
    text: u64,
    /// Whether cells were left out because there were too many.
    pub(crate) exceeded: bool,
}

impl Budget {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self { cells: limits.workbook_cells, text: limits.stream_bytes, exceeded: false }
    }

    /// For a source whose text is its cells: nothing can be repeated.
    pub(crate) fn of_text(limits: &Limits) -> Self {
        Self { text: u64::MAX, ..Self::new(limits) }
    }

    /// Counts a cell of `bytes`. Answers whether it may be kept.
    ///
    /// Fails with `BOMB` when few bytes of the file repeat as many in its cells as no workbook holds.
    pub(crate) fn cell(&mut self, bytes: usize) -> Result<bool, DocumentFailure> {
        let Some(cells) = self.cells.checked_sub(1) else {
            self.exceeded = true;
            return Ok(false);
        };
        self.cells = cells;
        self.text = self
            .text
            .checked_sub(bytes as u64)
            .ok_or_else(|| DocumentFailure::new(DocumentCode::Bomb, "the cells of the workbook repeat too much text"))?;
        Ok(true)
    }
}

/// A rectangle of cells, all four sides included, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Area {
    pub top: u32,
    pub left: u32,
    pub bottom: u32,
    pub right: u32,
}

impl Area {
    pub(crate) fn cell(row: u32, column: u32) -> Self {
        Self { top: row, left: column, bottom: row, right: column }
    }

    /// `B2:C5`, `$B$2`, `Sheet!B2`; `None` for anything else.
    pub(crate) fn parse(reference: &str) -> Option<Self> {
        let reference = reference.rsplit('!').next()?;
        let (first, last) = reference.split_once(':').unwrap_or((reference, reference));
        let ((top, left), (bottom, right)) = (place(first)?, place(last)?);
        Some(Self { top: top.min(bottom), left: left.min(right), bottom: top.max(bottom), right: left.max(right) })
    }

    pub(crate) fn width(&self) -> u32 {
        self.right.saturating_sub(self.left).saturating_add(1)
    }

    pub(crate) fn height(&self) -> u32 {
        self.bottom.saturating_sub(self.top).saturating_add(1)
    }

    pub(crate) fn size(&self) -> u64 {
        u64::from(self.width()).saturating_mul(u64::from(self.height()))
    }

    pub(crate) fn contains(&self, row: u32, column: u32) -> bool {
        (self.top..=self.bottom).contains(&row) && (self.left..=self.right).contains(&column)
    }

    pub(crate) fn intersects(&self, other: &Self) -> bool {
        self.top <= other.bottom && other.top <= self.bottom && self.left <= other.right && other.left <= self.right
    }

    /// The smallest area that holds both.
    pub(crate) fn union(&self, other: &Self) -> Self {
        Self {
            top: self.top.min(other.top),
            left: self.left.min(other.left),
            bottom: self.bottom.max(other.bottom),
            right: self.right.max(other.right),
        }
    }

    /// The part of it inside `other`.
    pub(crate) fn within(&self, other: &Self) -> Option<Self> {
        self.intersects(other).then(|| Self {
            top: self.top.max(other.top),
            left: self.left.max(other.left),
            bottom: self.bottom.min(other.bottom),
            right: self.right.min(other.right),
        })
    }
}

/// Row and column, from 0, of `B2` or `$B$2`; `None` outside the largest grid there is.
pub(crate) fn place(reference: &str) -> Option<(u32, u32)> {
    let (mut row, mut column) = (0_u32, 0_u32);
    for byte in reference.bytes() {
        match byte {
            b'$' => {}
            b'A'..=b'Z' | b'a'..=b'z' if row == 0 => {
                column = column.checked_mul(26)?.checked_add(u32::from(byte.to_ascii_uppercase().checked_sub(b'@')?))?;
            }
            b'0'..=b'9' => row = row.checked_mul(10)?.checked_add(u32::from(byte.checked_sub(b'0')?))?,
            _ => return None,
        }
    }
    let (row, column) = (row.checked_sub(1)?, column.checked_sub(1)?);
    (row < MAX_ROWS && column < MAX_COLUMNS).then_some((row, column))
}

/// A column's letters, from 0: `A`, `Z`, `AA`.
pub(crate) fn letters(column: u32) -> String {
    let mut rest = column;
    let mut out = Vec::new();
    loop {
        out.push(char::from(b'A'.saturating_add(u8::try_from(rest % 26).unwrap_or_default())));
        match (rest / 26).checked_sub(1) {
            Some(next) => rest = next,
            None => return out.iter().rev().collect(),
        }
    }
}

/// A cell's name: `B2`.
pub(crate) fn name(row: u32, column: u32) -> String {
    format!("{}{}", letters(column), row.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_places() {
        for (row, column, reference) in [(0, 0, "A1"), (9, 25, "Z10"), (0, 26, "AA1"), (1_048_575, 16_383, "XFD1048576")] {
            assert_eq!(place(reference), Some((row, column)));
            assert_eq!(name(row, column), reference);
        }
        for bad in ["", "A", "1", "A0", "XFE1", "A1048577", "A1B", "ZZZZZZZZZZZ1", "A99999999999"] {
            assert_eq!(place(bad), None, "{bad}");
        }
        assert_eq!(Area::parse("Sheet!$C$5:$B$2"), Some(Area { top: 1, left: 1, bottom: 4, right: 2 }));
    }

    #[test]
    fn the_later_of_two_cells_counts_and_order_is_made() {
        let mut cells = Cells::default();
        for (row, column, text) in [(5, 5, "last"), (0, 1, "old"), (0, 1, "new"), (0, 0, " a "), (1, 0, "  ")] {
            assert!(cells.push(row, column, Kind::Text, false, text));
        }
        assert!(!cells.push(MAX_ROWS, 0, Kind::Text, false, "outside"));
        cells.sort();
        assert_eq!(cells.iter().map(|cell| cell.text).collect::<Vec<_>>(), ["a", "new", "last"]);
        assert_eq!(cells.at(0, 1).map(|cell| cell.text), Some("new"));
        assert_eq!(cells.at(0, 2), None);
    }
}
