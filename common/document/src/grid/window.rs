//! Row windows of a table that is too large for one chunk: every row is in a window, every window repeats the headers.
//!
//! A row that is too large by itself (a layout table, hundreds of columns) is cut further, between its cells and, where
//! one cell alone is too large, inside its text; each part repeats the headers over its own columns, and the row's first
//! cell, which says what row it is.

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
    /// Its tokens.
    pub tokens: u32,
}

/// Cuts a table into windows of at most `limits.chunk_tokens` tokens, the whole table in one when it fits.
pub fn windows(table: &Table, limits: &Limits) -> Vec<TableWindow> {
    let whole = to_html(table);
    if tokens::fits(&whole, limits.chunk_tokens) {
        let tokens = tokens::count(&whole);
        return vec![TableWindow { rows: None, html: whole, tokens }];
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
            let tokens = tokens::count(&html);
            if tokens <= self.max {
                self.push(start, end, html, tokens);
                break;
            }
            end = end.saturating_sub(1);
        }
        end
    }

    fn push(&mut self, start: usize, end: usize, html: String, tokens: u32) {
        let body = |row: usize| u32::try_from(row.saturating_sub(self.header_rows)).unwrap_or(u32::MAX);
        let rows = [body(start).saturating_add(1), body(end), body(self.layout.rows.len())];
        self.out.push(TableWindow { rows: Some(rows), html, tokens });
    }

    fn html(&self, rows: Range<usize>, carried: &[Placed<'t>]) -> String {
        let mut out = String::from("<table>\n");
        write_caption(self.caption, &mut out);
        self.write_head(&[], 0..self.layout.width, &mut out);
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

    /// The headers over `columns`, after those over the columns of a row's label.
    fn write_head(&self, label: &[Range<usize>], columns: Range<usize>, out: &mut String) {
        if self.header_rows == 0 {
            return;
        }
        out.push_str("<thead>\n");
        for row in self.layout.rows.iter().take(self.header_rows) {
            let named = label.iter().flat_map(|label| overlapping(row, label));
            write_row(named.chain(overlapping(row, &columns)), out);
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
        let label = cells.first().and_then(|first| self.label(first));
        let frame = self.frame.saturating_add(label.as_ref().map_or(0, |label| label.cost));
        let mut part = Part::default();
        for placed in cells {
            let text = cell_text(placed.cell);
            let columns = placed.column..placed.end_column();
            let fixed = header_cost(layout, self.header_rows, columns.clone()).saturating_add(CELL_TOKENS);
            let room = self.max.saturating_sub(frame).saturating_sub(fixed).max(32);
            for piece in pieces_within(&text, room) {
                let cost = fixed.saturating_add(escaped_tokens(piece));
                let gap = part.columns.end..columns.start;
                let filler = match gap.len() {
                    0 => 0,
                    _ => header_cost(layout, self.header_rows, gap.clone()).saturating_add(CELL_TOKENS),
                };
                let sum = frame.saturating_add(part.cost).saturating_add(filler).saturating_add(cost);
                if !part.cells.is_empty() && (sum > self.max || gap.len() > MAX_GAP) {
                    self.push_part(row, &std::mem::take(&mut part), label.as_ref());
                } else if !part.cells.is_empty() && !gap.is_empty() {
                    part.add(gap, "", false, filler);
                }
                part.add(columns.clone(), piece, placed.header, cost);
            }
        }
        if !part.cells.is_empty() {
            self.push_part(row, &part, label.as_ref());
        }
    }

    /// What names a row in each of its parts: its first cell, in a table with headers, unless that is long itself.
    fn label(&self, first: &Placed<'t>) -> Option<Label<'t>> {
        let text = first.cell.text.as_str();
        if self.header_rows == 0 || first.column > 0 || text.is_empty() || text.len() > CARRIED_BYTES {
            return None;
        }
        let columns = 0..first.end_column();
        let cost =
            header_cost(self.layout, self.header_rows, columns.clone()).saturating_add(CELL_TOKENS).saturating_add(escaped_tokens(text));
        (cost <= self.max / 4).then_some(Label { columns, text, header: first.header, cost })
    }

    fn push_part(&mut self, row: usize, part: &Part, label: Option<&Label<'t>>) {
        let label = label.filter(|label| part.columns.start >= label.columns.end);
        let mut out = String::from("<table>\n");
        write_caption(self.caption, &mut out);
        self.write_head(label.map(|label| label.columns.clone()).as_slice(), part.columns.clone(), &mut out);
        let named = label.map(|label| (&label.columns, label.text, label.header));
        let views = named.into_iter().chain(part.cells.iter().map(|(columns, text, header)| (columns, text.as_str(), *header)));
        let views = views.map(|(columns, text, header)| CellView { text, tables: &[], rowspan: 1, colspan: columns.len().max(1), header });
        write_row(views, &mut out);
        self.write_foot(&mut out);
        let tokens = tokens::count(&out);
        self.push(row, row.saturating_add(1), out, tokens);
    }
}

/// The cell that says what row it is.
struct Label<'t> {
    columns: Range<usize>,
    text: &'t str,
    header: bool,
    /// Tokens of it and of the headers over it.
    cost: u32,
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
#[path = "window_tests.rs"]
mod tests;
