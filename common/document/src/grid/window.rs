//! Row windows of a table that is too large for one chunk: every row is in a window, every window repeats the headers.
//!
//! A row that is too large by itself (a layout table, hundreds of columns) is cut further, between its cells and, where
//! one cell alone is too large, inside its text; each part repeats the headers over its own columns.

use std::borrow::Cow;
use std::ops::Range;

use quarry_language::tokens;
use quarry_model::{Cell, Limits, Table};

use super::html::{CellView, escape, to_html, write_caption, write_row};
use super::layout::{Layout, Placed, plain_text};
use crate::chunks::split::split_text;

/// A caption above this many tokens is no longer repeated but becomes a row of its own.
const CAPTION_TOKENS: u32 = 120;
/// `<tr><td rowspan="2"></td></tr>` and the like, per cell.
const CELL_TOKENS: u32 = 12;
/// Table, head and body tags.
const FRAME_TOKENS: u32 = 24;
/// Text of a cell that reaches into a window from above is repeated up to this many bytes.
const CARRIED_BYTES: usize = 200;

/// Empty columns between two cells that one part of a cut row may bridge.
const MAX_GAP: usize = 4;

/// Some rows of a table, headers repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableWindow {
    /// First and last body row, from 1, and how many body rows there are; `None` when it is the whole table.
    pub rows: Option<[u32; 3]>,
    /// Canonical HTML.
    pub html: String,
}

/// Cuts a table into windows of at most `limits.chunk_tokens` tokens, the whole table in one when it fits.
pub fn windows(table: &Table, limits: &Limits) -> Vec<TableWindow> {
    let whole = to_html(table);
    if tokens::count(&whole) <= limits.chunk_tokens {
        return vec![TableWindow { rows: None, html: whole }];
    }
    let table = long_caption_as_row(table);
    let layout = Layout::of(&table);
    Cutter::new(&table.caption, &layout, limits.chunk_tokens).cut()
}

fn long_caption_as_row(table: &Table) -> Cow<'_, Table> {
    if tokens::count(&table.caption) <= CAPTION_TOKENS {
        return Cow::Borrowed(table);
    }
    let mut copy = table.clone();
    copy.rows.insert(0, vec![Cell::new(std::mem::take(&mut copy.caption))]);
    copy.header_rows = 0;
    Cow::Owned(copy)
}

struct Cutter<'t> {
    caption: &'t str,
    layout: &'t Layout<'t>,
    /// Rows repeated in every window.
    header_rows: usize,
    /// Whether the headers are too wide to be repeated whole, so that every row is cut by columns.
    by_columns: bool,
    max: u32,
    /// Tokens of caption and frame.
    frame: u32,
    /// Tokens of caption, frame and headers.
    overhead: u32,
    out: Vec<TableWindow>,
}

impl<'t> Cutter<'t> {
    fn new(caption: &'t str, layout: &'t Layout<'t>, max: u32) -> Self {
        let frame = tokens::count(caption).saturating_add(FRAME_TOKENS);
        let mut header_rows = if layout.headers_stand_alone() { layout.header_rows } else { 0 };
        let mut overhead = frame.saturating_add(header_cost(layout, header_rows, 0..layout.width));
        let mut by_columns = false;
        if overhead > max / 2 {
            let widest = (0..layout.width).map(|c| header_cost(layout, header_rows, c..c.saturating_add(1))).max().unwrap_or(0);
            by_columns = frame.saturating_add(widest) <= max / 2;
            if !by_columns {
                // Headers longer than half a chunk cannot be repeated: they are rows like any other.
                header_rows = 0;
            }
            overhead = frame;
        }
        Self { caption, layout, header_rows, by_columns, max, frame, overhead, out: Vec::new() }
    }

    fn cut(mut self) -> Vec<TableWindow> {
        let height = self.layout.rows.len();
        let mut carried: Vec<Placed<'t>> = Vec::new();
        let mut start = self.header_rows;
        while start < height {
            let end = if self.by_columns { start } else { self.window(start, &carried) };
            let next = if end == start {
                self.split_row(start, &carried);
                start.saturating_add(1)
            } else {
                end
            };
            let begun = self.layout.rows.iter().take(next).skip(start).flatten().copied();
            carried = carried.iter().copied().chain(begun).filter(|p| p.end_row() > next).collect();
            carried.sort_by_key(|p| p.column);
            start = next;
        }
        self.out
    }

    /// Writes the window that begins at `start`, as many rows as fit; answers where it ends, `start` when not even one
    /// row fits.
    fn window(&mut self, start: usize, carried: &[Placed<'t>]) -> usize {
        let mut sum = self.overhead;
        let mut end = start;
        for row in self.layout.rows.iter().skip(start) {
            let mut line = String::new();
            let above = carried.iter().filter(|_| end == start).map(carried_view);
            write_row(above.chain(row.iter().map(CellView::whole)), &mut line);
            sum = sum.saturating_add(tokens::count(&line));
            if sum > self.max {
                break;
            }
            end = end.saturating_add(1);
        }
        // Parts are counted one by one; tokens may fall differently in the whole.
        while end > start {
            let html = self.html(start..end, carried);
            if tokens::count(&html) <= self.max {
                self.push(start, end, html);
                break;
            }
            end = end.saturating_sub(1);
        }
        end
    }

    fn push(&mut self, start: usize, end: usize, html: String) {
        let body = |row: usize| u32::try_from(row.saturating_sub(self.header_rows)).unwrap_or(u32::MAX);
        let rows = [body(start).saturating_add(1), body(end), body(self.layout.rows.len())];
        self.out.push(TableWindow { rows: Some(rows), html });
    }

    fn html(&self, rows: Range<usize>, carried: &[Placed<'t>]) -> String {
        let mut out = String::from("<table>\n");
        write_caption(self.caption, &mut out);
        self.write_head(0..self.layout.width, &mut out);
        for (index, row) in self.layout.rows.iter().enumerate().take(rows.end).skip(rows.start) {
            let above = carried.iter().filter(|_| index == rows.start);
            let mut cells: Vec<(&Placed<'t>, CellView<'t>)> = above.map(|p| (p, carried_view(p))).collect();
            cells.extend(row.iter().map(|p| (p, CellView::whole(p))));
            cells.sort_by_key(|(p, _)| p.column);
            let views =
                cells.into_iter().map(|(p, view)| CellView { rowspan: p.end_row().min(rows.end).saturating_sub(index).max(1), ..view });
            write_row(views, &mut out);
        }
        self.write_foot(&mut out);
        out
    }

    fn write_head(&self, columns: Range<usize>, out: &mut String) {
        if self.header_rows == 0 {
            return;
        }
        out.push_str("<thead>\n");
        for row in self.layout.rows.iter().take(self.header_rows) {
            write_row(overlapping(row, &columns), out);
        }
        out.push_str("</thead>\n<tbody>\n");
    }

    fn write_foot(&self, out: &mut String) {
        out.push_str(if self.header_rows > 0 { "</tbody>\n</table>" } else { "</table>" });
    }

    /// Writes one row as several windows, each with some of its cells, or a part of one cell's text.
    fn split_row(&mut self, row: usize, carried: &[Placed<'t>]) {
        let layout = self.layout;
        let Some(own) = layout.rows.get(row) else { return };
        let mut cells: Vec<&Placed<'t>> = own.iter().chain(carried.iter().filter(|p| p.cell.text.len() <= CARRIED_BYTES)).collect();
        cells.sort_by_key(|p| p.column);
        let mut part = Part::default();
        for placed in cells {
            let text = cell_text(placed.cell);
            let columns = placed.column..placed.end_column();
            let fixed = header_cost(layout, self.header_rows, columns.clone()).saturating_add(CELL_TOKENS);
            let room = self.max.saturating_sub(self.frame).saturating_sub(fixed).max(32);
            for piece in pieces_within(&text, room) {
                let cost = fixed.saturating_add(escaped_tokens(piece));
                let gap = part.columns.end..columns.start;
                let filler = match gap.len() {
                    0 => 0,
                    _ => header_cost(layout, self.header_rows, gap.clone()).saturating_add(CELL_TOKENS),
                };
                let sum = self.frame.saturating_add(part.cost).saturating_add(filler).saturating_add(cost);
                if !part.cells.is_empty() && (sum > self.max || gap.len() > MAX_GAP) {
                    self.push_part(row, &std::mem::take(&mut part));
                } else if !part.cells.is_empty() && !gap.is_empty() {
                    part.add(gap, "", false, filler);
                }
                part.add(columns.clone(), piece, placed.header, cost);
            }
        }
        if !part.cells.is_empty() {
            self.push_part(row, &part);
        }
    }

    fn push_part(&mut self, row: usize, part: &Part) {
        let mut out = String::from("<table>\n");
        write_caption(self.caption, &mut out);
        self.write_head(part.columns.clone(), &mut out);
        let views = part.cells.iter().map(|(columns, text, header)| CellView {
            text,
            tables: &[],
            rowspan: 1,
            colspan: columns.len().max(1),
            header: *header,
        });
        write_row(views, &mut out);
        self.write_foot(&mut out);
        self.push(row, row.saturating_add(1), out);
    }
}

/// Cells of one row that go into one window.
#[derive(Default)]
struct Part {
    columns: Range<usize>,
    cells: Vec<(Range<usize>, String, bool)>,
    cost: u32,
}

impl Part {
    fn add(&mut self, columns: Range<usize>, text: &str, header: bool, cost: u32) {
        if self.cells.is_empty() {
            self.columns = columns.clone();
        }
        self.columns.end = self.columns.end.max(columns.end);
        self.cost = self.cost.saturating_add(cost);
        match self.cells.last_mut() {
            // Another part of the same cell.
            Some((last, before, _)) if *last == columns => {
                before.push('\n');
                before.push_str(text);
            }
            _ => self.cells.push((columns, text.to_owned(), header)),
        }
    }
}

/// Tokens of the header cells over some columns.
fn header_cost(layout: &Layout<'_>, header_rows: usize, columns: Range<usize>) -> u32 {
    let rows = layout.rows.iter().take(header_rows);
    let mut line = String::new();
    for row in rows {
        write_row(overlapping(row, &columns), &mut line);
    }
    tokens::count(&line)
}

fn overlapping<'a, 't>(row: &'a [Placed<'t>], columns: &'a Range<usize>) -> impl Iterator<Item = CellView<'t>> + use<'a, 't> {
    let first = row.partition_point(|p| p.end_column() <= columns.start);
    row.iter().skip(first).take_while(|p| p.column < columns.end).map(|p| {
        let colspan = p.end_column().min(columns.end).saturating_sub(p.column.max(columns.start)).max(1);
        CellView { colspan, ..CellView::whole(p) }
    })
}

fn carried_view<'t>(placed: &Placed<'t>) -> CellView<'t> {
    let text = if placed.cell.text.len() <= CARRIED_BYTES { placed.cell.text.as_str() } else { "" };
    CellView { text, tables: &[], ..CellView::whole(placed) }
}

fn cell_text(cell: &Cell) -> Cow<'_, str> {
    if cell.tables.is_empty() {
        return Cow::Borrowed(&cell.text);
    }
    let nested = cell.tables.iter().map(plain_text);
    Cow::Owned(std::iter::once(cell.text.clone()).chain(nested).filter(|t| !t.is_empty()).collect::<Vec<_>>().join("\n"))
}

/// The non-empty pieces of a text, none above `room` tokens once escaped.
fn pieces_within(text: &str, room: u32) -> Vec<&str> {
    let mut raw = room;
    loop {
        let cut = split_text(text, raw).into_iter().filter_map(|range| text.get(range));
        let pieces: Vec<&str> = cut.map(str::trim).filter(|piece| !piece.is_empty()).collect();
        if raw <= 8 || pieces.iter().all(|piece| escaped_tokens(piece) <= room) {
            return pieces;
        }
        raw /= 2;
    }
}

fn escaped_tokens(text: &str) -> u32 {
    let mut out = String::with_capacity(text.len());
    escape(text, &mut out);
    tokens::count(&out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::text_of;
    use proptest::prelude::*;

    fn limits(chunk_tokens: u32) -> Limits {
        Limits { chunk_tokens, ..Limits::default() }
    }

    fn check(table: &Table, max: u32) -> Vec<TableWindow> {
        let windows = windows(table, &limits(max));
        for window in &windows {
            assert!(tokens::count(&window.html) <= max, "{} tokens: {}", tokens::count(&window.html), window.html);
            assert!(window.html.starts_with("<table>") && window.html.ends_with("</table>"));
        }
        windows
    }

    fn body(columns: usize, rows: usize, text: impl Fn(usize, usize) -> String) -> Table {
        let rows = (0..rows).map(|r| (0..columns).map(|c| Cell::new(text(r, c))).collect()).collect();
        Table { rows, header_rows: 1, ..Table::default() }
    }

    #[test]
    fn a_cell_that_reaches_into_a_window_is_repeated_there() {
        let mut table = body(2, 40, |r, c| format!("cell {r} {c}"));
        for row in 2..40 {
            table.rows[row].remove(0);
        }
        table.rows[1][0] = Cell::spanning("group", 39, 1);
        let windows = check(&table, 200);
        assert!(windows.len() > 2);
        for window in &windows {
            let [first, last, _] = window.rows.unwrap();
            assert!(window.html.contains(&format!("<td rowspan=\"{}\">group</td>", last - first + 1)), "{}", window.html);
        }
    }

    #[test]
    fn a_row_too_large_by_itself_is_cut_between_and_inside_cells() {
        let long = "This cell holds a whole article. ".repeat(100);
        let table = body(3, 3, |r, c| if (r, c) == (1, 1) { long.clone() } else { format!("{r}{c}") });
        let windows = check(&table, 300);
        let words: String = windows.iter().map(|w| text_of(&w.html)).collect();
        assert_eq!(words.matches("whole article").count(), 100);
        assert!(windows[1].html.contains("<th>01</th>") && !windows[1].html.contains("<th>00</th>"), "{}", windows[1].html);
        assert!(words.contains("10") && words.contains("12") && words.contains("22"));
    }

    #[test]
    fn headers_too_wide_to_repeat_are_repeated_by_columns() {
        let table = body(400, 3, |r, c| format!("v{r}x{c}"));
        let windows = check(&table, 300);
        assert!(windows.iter().all(|w| w.html.contains("<thead>")));
        let words: String = windows.iter().map(|w| text_of(&w.html)).collect();
        for c in 0..400 {
            assert!((0..3).all(|r| words.contains(&format!("v{r}x{c}\t"))), "{c}");
        }
    }

    #[test]
    fn long_headers_and_captions_are_told_once() {
        let mut table = body(2, 30, |r, c| if r == 0 { "a very long header ".repeat(60) } else { format!("{r} {c}") });
        table.caption = "long caption ".repeat(100);
        let words: String = check(&table, 300).iter().map(|w| text_of(&w.html)).collect();
        assert_eq!((words.matches("long header").count(), words.matches("long caption").count()), (120, 100));
    }

    #[test]
    fn markup_quoted_in_cells_stays_within_the_limit() {
        check(&body(2, 4, |_, _| "<&>".repeat(900)), 300);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

        #[test]
        fn every_cell_is_in_some_window(
            cells in prop::collection::vec(prop::collection::vec(("[a-z<&]{1,12}( [a-z]{1,8}){0,30}", 1_u32..4, 1_u32..4), 1..6), 1..14),
            header_rows in 0_u32..3,
        ) {
            let rows: Vec<Vec<Cell>> = cells.iter().map(|r| r.iter().map(|(t, a, b)| Cell::spanning(t.clone(), *a, *b)).collect()).collect();
            let table = Table { rows, header_rows, ..Table::default() };
            let words: String = check(&table, 160).iter().map(|w| text_of(&w.html).split_whitespace().collect::<Vec<_>>().join(" ") + " ").collect();
            for (text, _, _) in cells.iter().flatten() {
                for word in text.split_whitespace() {
                    prop_assert!(words.contains(word), "{word} not in {words}");
                }
            }
        }
    }
}
