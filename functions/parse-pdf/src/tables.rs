//! Tables of a page: drawn grids, text between level rules, and columns of cells that line up without any rule.

use quarry_model::{Cell, Table};
use quarry_pdf::{Grid, Line, Rect, Word};

use crate::page::{PageText, inside};

/// A table and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct FoundTable {
    pub(crate) rect: Rect,
    pub(crate) table: Table,
    /// Where it goes on, on later pages, and with which of its rows.
    pub(crate) further: Vec<(u32, Rect, usize)>,
}

impl FoundTable {
    pub(crate) fn new(rect: Rect, table: Table) -> Self {
        Self { rect, table, further: Vec::new() }
    }
}

/// Takes the tables of a page out of its lines. A contents page is no table, though its numbers stand in a column.
pub(crate) fn take(page: &mut PageText, contents: bool) -> Vec<FoundTable> {
    let mut found = Vec::new();
    let grids = std::mem::take(&mut page.grids);
    for grid in &grids {
        if found.iter().any(|t: &FoundTable| inside(&grid.rect, &t.rect)) {
            continue;
        }
        let smaller = |other: &&Grid| other.rect.area() < grid.rect.area() && inside(&other.rect, &grid.rect);
        let inner: Vec<&Grid> = grids.iter().filter(smaller).collect();
        if let Some(table) = from_grid(grid, &inner, &page.lines, MAX_NESTING) {
            page.lines.retain(|line| !inside(&line.rect, &grid.rect));
            found.push(FoundTable::new(grid.rect, table));
        }
    }
    if !contents {
        found.extend(crate::aligned::take(page));
    }
    found
}

/// How deep tables stand in cells of tables; deeper ones are text of their cell.
const MAX_NESTING: u32 = 8;

/// A drawn grid with text in enough of its cells. Grids drawn inside its cells (`inner`) are tables of those cells.
fn from_grid(grid: &Grid, inner: &[&Grid], lines: &[Line], nesting: u32) -> Option<Table> {
    let rows = grid.rows.len().saturating_sub(1);
    let columns = grid.columns.len().saturating_sub(1);
    if rows < 1 || columns < 2 && rows < 3 {
        return None;
    }
    let within: Vec<&Line> = lines.iter().filter(|line| line.angle == 0 && inside(&line.rect, &grid.rect)).collect();
    let mut nested = nested_tables(grid, inner, lines, nesting);
    let mut texts: Vec<(Vec<&Word>, bool)> = grid.cells.iter().map(|_| (Vec::new(), true)).collect();
    for line in &within {
        for word in &line.words {
            let (x, y) = (f32::midpoint(word.rect.x0, word.rect.x1), f32::midpoint(word.rect.y0, word.rect.y1));
            if nested.iter().any(|(_, rect, _)| rect.contains(x, y)) {
                continue;
            }
            let cell = grid.cells.iter().position(|cell| cell.rect.contains(x, y));
            if let Some((words, bold)) = cell.and_then(|i| texts.get_mut(i)) {
                words.push(word);
                *bold &= line.bold;
            }
        }
    }
    let holds = |index: usize| nested.iter().any(|(cell, ..)| *cell == index);
    let filled = texts.iter().enumerate().filter(|(index, (words, _))| !words.is_empty() || holds(*index)).count();
    if filled < 2 || (filled as f32) < 0.25 * grid.cells.len() as f32 {
        return None;
    }
    let mut out: Vec<Vec<Cell>> = vec![Vec::new(); rows];
    let mut header = vec![true; rows];
    for (index, (cell, (words, bold))) in grid.cells.iter().zip(texts).enumerate() {
        let text = cell_text(words);
        let tables: Vec<Table> = nested.extract_if(.., |(at, ..)| *at == index).map(|(_, _, table)| table).collect();
        if let Some(flag) = header.get_mut(cell.row) {
            *flag &= (bold || text.is_empty()) && tables.is_empty();
        }
        if let Some(row) = out.get_mut(cell.row) {
            let span = |n: usize| u32::try_from(n).unwrap_or(1);
            row.push(Cell { tables, ..Cell::spanning(text, span(cell.rowspan), span(cell.colspan)) });
        }
    }
    let header_rows = header.iter().take_while(|h| **h).count();
    let header_rows = if header_rows >= rows { 0 } else { header_rows };
    Some(Table { rows: out, header_rows: u32::try_from(header_rows).unwrap_or(0), header_columns: 0, caption: String::new() })
}

/// The tables in a grid's cells: the cell's index, where the table stands, and the table.
fn nested_tables(grid: &Grid, inner: &[&Grid], lines: &[Line], nesting: u32) -> Vec<(usize, Rect, Table)> {
    let Some(deeper) = nesting.checked_sub(1) else { return Vec::new() };
    let mut found: Vec<(usize, Rect, Table)> = Vec::new();
    let mut largest_first = inner.to_vec();
    largest_first.sort_by(|a, b| b.rect.area().total_cmp(&a.rect.area()));
    for (position, candidate) in largest_first.iter().enumerate() {
        let (x, y) = (f32::midpoint(candidate.rect.x0, candidate.rect.x1), f32::midpoint(candidate.rect.y0, candidate.rect.y1));
        let within = |rect: &Rect| rect.contains(x, y) && candidate.rect.area() < rect.area();
        if found.iter().any(|(_, rect, _)| within(rect)) {
            continue;
        }
        let Some(cell) = grid.cells.iter().position(|cell| within(&cell.rect)) else { continue };
        let smaller: Vec<&Grid> =
            largest_first.iter().skip(position.saturating_add(1)).filter(|g| inside(&g.rect, &candidate.rect)).copied().collect();
        if let Some(table) = from_grid(candidate, &smaller, lines, deeper) {
            found.push((cell, candidate.rect, table));
        }
    }
    found.sort_by(|a, b| a.1.y0.total_cmp(&b.1.y0).then(a.1.x0.total_cmp(&b.1.x0)));
    found
}

/// The words of a cell from the top, line by line.
pub(crate) fn cell_text(mut words: Vec<&Word>) -> String {
    words.sort_by(|a, b| a.rect.y1.total_cmp(&b.rect.y1));
    let mut lines: Vec<Vec<&Word>> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.iter().any(|w| (w.rect.y1 - word.rect.y1).abs() < 0.4 * word.size.max(w.size)) => line.push(word),
            _ => lines.push(vec![word]),
        }
    }
    let mut out = String::new();
    for line in &mut lines {
        line.sort_by(|a, b| a.rect.x0.total_cmp(&b.rect.x0));
        for (i, word) in line.iter().enumerate() {
            if !out.is_empty() && (i == 0 || word.spaced || gap(line, i)) {
                out.push(' ');
            }
            out.push_str(&word.text);
        }
    }
    out
}

fn gap(line: &[&Word], i: usize) -> bool {
    let (Some(before), Some(word)) = (i.checked_sub(1).and_then(|b| line.get(b)), line.get(i)) else { return false };
    word.rect.x0 - before.rect.x1 > 0.16 * word.size
}
