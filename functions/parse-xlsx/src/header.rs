//! Which rows of a table are headers: decided by what the rows say and look like, never by a row's lack of numbers
//! alone, so that rows of text are not swallowed.

use crate::cells::{CellView, Kind};

/// Rows looked at for headers.
pub(crate) const LOOKED_AT: usize = 32;
/// Most rows of one header.
const MOST: usize = 6;
/// A header's words are short.
const LONG: usize = 80;

/// A row as it begins a table: its cells, and how many columns each covers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Line<'c> {
    pub cells: Vec<Span<'c>>,
}

/// A cell with the room it takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span<'c> {
    pub cell: CellView<'c>,
    pub columns: u32,
    pub rows: u32,
}

impl Line<'_> {
    fn is_text(&self) -> bool {
        self.cells.iter().all(|span| span.cell.kind == Kind::Text && span.cell.text.chars().take(LONG.saturating_add(1)).count() <= LONG)
    }

    /// Texts, and years or days as the names of columns.
    fn is_names(&self) -> bool {
        let named = |span: &Span<'_>| match span.cell.kind {
            Kind::Text => true,
            Kind::Date => true,
            Kind::Number => is_year(span.cell.text),
            Kind::Other => false,
        };
        self.cells.iter().all(named) && self.cells.iter().any(|span| span.cell.kind != Kind::Text)
    }

    fn is_bold(&self) -> bool {
        !self.cells.is_empty() && self.cells.iter().all(|span| span.cell.bold)
    }

    fn covered(&self) -> u32 {
        self.cells.iter().map(|span| span.columns).fold(0, u32::saturating_add)
    }

    fn merged(&self) -> bool {
        self.cells.iter().any(|span| span.columns > 1)
    }

    fn at(&self, column: u32) -> Option<Kind> {
        self.cells.iter().find(|span| span.cell.column == column).map(|span| span.cell.kind)
    }

    fn distinct(&self) -> bool {
        let mut seen = std::collections::BTreeSet::new();
        self.cells.iter().all(|span| seen.insert(span.cell.text))
    }
}

/// How many of the leading rows are headers. `width` is the table's; `lines` its first rows, at most [`LOOKED_AT`], and
/// `height` how many it has in all.
pub(crate) fn count(lines: &[Line<'_>], width: u32, height: u32) -> u32 {
    if width < 2 || height < 2 {
        return 0;
    }
    // A title over the table: one text alone in its row.
    let titles = lines.iter().take(MOST).take_while(|line| line.cells.len() <= 1 && line.is_text()).count();
    let Some(first) = lines.get(titles).filter(|line| line.cells.len() > 1) else { return 0 };
    let below = lines.get(titles.saturating_add(1)..).unwrap_or_default();
    let own = own_rows(first, below, width);
    // A title alone is none: what it heads has no names.
    let found = if own == 0 { 0 } else { titles.saturating_add(own) };
    let found = u32::try_from(found).unwrap_or_default();
    if found < height { found } else { 0 }
}

/// How many rows, the first one and those below, name the columns.
fn own_rows(first: &Line<'_>, below: &[Line<'_>], width: u32) -> usize {
    let mut rows = usize::from(heads(first, below, width));
    if rows == 0 {
        return 0;
    }
    let mut last = first;
    for (index, next) in below.iter().enumerate().take(MOST) {
        let reaches = std::iter::once(first)
            .chain(below.iter().take(index))
            .enumerate()
            .any(|(row, line)| line.cells.iter().any(|span| span.columns < width && row.saturating_add(span.rows as usize) > rows));
        let rest = below.get(index.saturating_add(1)..).unwrap_or_default();
        let under_merge = last.merged() && last.covered() <= width && (next.is_text() || next.is_names()) && !rest.is_empty();
        let same_look =
            last.is_bold() && next.is_bold() && next.is_text() && next.cells.len() > 1 && rest.iter().any(|line| !line.is_bold());
        if !(reaches || under_merge || same_look) || rows >= MOST {
            break;
        }
        rows = rows.saturating_add(1);
        last = next;
    }
    rows
}

/// Whether a row names the columns below it.
fn heads(row: &Line<'_>, below: &[Line<'_>], width: u32) -> bool {
    if below.is_empty() {
        return false;
    }
    let bold = row.is_bold() && below.iter().any(|line| !line.is_bold());
    if !row.is_text() {
        // Years and days are names when the row looks so, or when what stands below them is something else.
        return row.is_names() && row.covered().saturating_mul(2) >= width && (bold || below.iter().take(8).all(|line| !line.is_names()));
    }
    // Numbers or days under a word.
    let typed = row.cells.iter().any(|span| {
        let kinds: Vec<Kind> = below.iter().filter_map(|line| line.at(span.cell.column)).collect();
        let values = kinds.iter().filter(|kind| **kind != Kind::Text).count();
        values > 0 && values.saturating_mul(2) >= kinds.len()
    });
    if bold || typed {
        return row.covered().saturating_mul(2) >= width;
    }
    // All is text: a full row of different names, and below it rows that do not repeat it.
    let full = row.covered().saturating_mul(5) >= width.saturating_mul(4);
    let names = |span: &Span<'_>| span.cell.text.chars().any(char::is_alphabetic) || is_year(span.cell.text);
    let named = row.distinct() && row.cells.iter().all(names);
    full && named && (row.merged() || below.iter().any(|line| line.cells.len() > 1))
}

fn is_year(text: &str) -> bool {
    text.len() == 4 && text.parse::<u16>().is_ok_and(|year| (1900..=2100).contains(&year))
}
