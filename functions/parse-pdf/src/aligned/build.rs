//! Lines that stand in rows and columns → a table.

use std::collections::BTreeMap;

use quarry_model::{Cell, Table};
use quarry_pdf::{Line, Word};

use crate::tables::cell_text;

/// Lines grouped by baseline, from the top; within a row from left to right.
pub(super) fn rows_of(lines: &[Line]) -> Vec<Vec<&Line>> {
    let mut sorted: Vec<&Line> = lines.iter().collect();
    sorted.sort_by(|a, b| a.baseline.total_cmp(&b.baseline));
    let mut rows: Vec<Vec<&Line>> = Vec::new();
    for line in sorted {
        match rows.last_mut() {
            Some(row) if row.iter().any(|l| (l.baseline - line.baseline).abs() <= 0.4 * l.size.max(line.size)) => row.push(line),
            _ => rows.push(vec![line]),
        }
    }
    for row in &mut rows {
        row.sort_by(|a, b| a.rect.x0.total_cmp(&b.rect.x0));
    }
    rows
}

/// Builds the table of a region: columns are what lies between the gutters that most rows leave free. `rules` are the
/// heights of the level rules in it.
pub(super) fn build(lines: &[Line], least_rows: usize, rules: &[f32]) -> Option<Table> {
    let rows = rows_of(lines);
    if rows.len() < least_rows.max(2) {
        return None;
    }
    let columns = columns_of(&rows)?;
    if columns.len() < 2 {
        return None;
    }
    let ruled = between(&rows, rules);
    let by_rule = ruled.is_some();
    let rows = ruled.unwrap_or(rows);
    let mut grid: Vec<Vec<(usize, usize, Vec<&Word>)>> = Vec::new();
    let mut tops: Vec<(f32, f32)> = Vec::new();
    for row in &rows {
        let mut cells: Vec<(usize, usize, Vec<&Word>)> = Vec::new();
        for line in row {
            for piece in pieces(line, &columns) {
                let first = column_at(&columns, piece.0);
                let last = column_at(&columns, piece.1).max(first);
                match cells.last_mut() {
                    Some((_, end, words)) if *end >= first => {
                        *end = last.max(*end);
                        words.extend(piece.2);
                    }
                    _ => cells.push((first, last, piece.2)),
                }
            }
        }
        let baseline = row.iter().map(|l| l.baseline).fold(f32::MIN, f32::max);
        let size = row.iter().map(|l| l.size).fold(f32::MIN, f32::max);
        // A row without a first cell, close under the one before, continues that row's cells.
        let continues = !by_rule
            && cells.first().is_some_and(|c| c.0 > 0)
            && cells.iter().all(|c| c.0 == c.1)
            && tops.last().is_some_and(|(above, above_size)| baseline - above < 1.3 * size.max(*above_size))
            && grid.len() > 1
            && cells.len() < columns.len().saturating_sub(1).max(2)
            && grid.last().is_some_and(|above| cells.iter().all(|c| above.iter().any(|a| a.0 <= c.0 && a.1 >= c.1)));
        if continues {
            if let Some(above) = grid.last_mut() {
                for (column, _, words) in cells {
                    if let Some(cell) = above.iter_mut().find(|a| a.0 <= column && a.1 >= column) {
                        cell.2.extend(words);
                    }
                }
            }
        } else {
            grid.push(cells);
        }
        tops.push((baseline, size));
    }
    let multi = grid.iter().filter(|row| row.len() >= 2).count();
    if grid.len() < 2 || multi < 2 || (multi as f32) < 0.5 * grid.len() as f32 {
        return None;
    }
    let out: Vec<Vec<Cell>> = grid.into_iter().map(|cells| full_row(cells, columns.len())).collect();
    let bold_head = rows.first().is_some_and(|row| row.iter().all(|line| line.bold))
        && rows.get(1).is_some_and(|row| !row.iter().all(|line| line.bold));
    Some(Table { rows: out, header_rows: u32::from(bold_head), header_columns: 0, caption: String::new() })
}

/// Rows that the rules themselves set apart: the lines between two rules are one row, when every such space holds no more
/// than one baseline with several cells on it. (Where rules only set off the header, the body between them holds many.)
fn between<'l>(rows: &[Vec<&'l Line>], rules: &[f32]) -> Option<Vec<Vec<&'l Line>>> {
    let mut bands: BTreeMap<usize, (Vec<&'l Line>, usize)> = BTreeMap::new();
    for row in rows {
        let baseline = row.first()?.baseline;
        let band = bands.entry(rules.iter().filter(|rule| **rule < baseline).count()).or_default();
        band.0.extend(row);
        band.1 = band.1.saturating_add(usize::from(row.len() >= 2));
    }
    if bands.len() < 3 || bands.len() >= rows.len() || bands.values().any(|(_, several)| *several > 1) {
        return None;
    }
    let mut out: Vec<Vec<&Line>> = bands.into_values().map(|(lines, _)| lines).collect();
    for row in &mut out {
        row.sort_by(|a, b| a.rect.x0.total_cmp(&b.rect.x0));
    }
    Some(out)
}

/// A row with every column in it: empty cells where nothing stands, spans where a cell covers several.
fn full_row(cells: Vec<(usize, usize, Vec<&Word>)>, columns: usize) -> Vec<Cell> {
    let mut row = Vec::new();
    let mut next = 0usize;
    for (first, last, words) in cells {
        while next < first {
            row.push(Cell::new(""));
            next = next.saturating_add(1);
        }
        let span = last.saturating_sub(first).saturating_add(1);
        row.push(Cell::spanning(cell_text(words), 1, u32::try_from(span).unwrap_or(1)));
        next = last.saturating_add(1);
    }
    while next < columns {
        row.push(Cell::new(""));
        next = next.saturating_add(1);
    }
    row
}

/// The columns, as extents: the places that no more than one row in six (a spanning title) crosses are gutters.
pub(super) fn columns_of(rows: &[Vec<&Line>]) -> Option<Vec<(f32, f32)>> {
    let left = rows.iter().flatten().map(|l| l.rect.x0).fold(f32::MAX, f32::min);
    let right = rows.iter().flatten().map(|l| l.rect.x1).fold(f32::MIN, f32::max);
    let width = (right - left).ceil();
    if !(10.0..=5_000.0).contains(&width) {
        return None;
    }
    let mut covered = vec![0usize; width as usize];
    for row in rows {
        let mut marks = vec![false; width as usize];
        for line in row {
            let from = (line.rect.x0 - left).max(0.0).floor() as usize;
            let to = (line.rect.x1 - left).max(0.0).ceil() as usize;
            for mark in marks.iter_mut().take(to).skip(from) {
                *mark = true;
            }
        }
        for (count, mark) in covered.iter_mut().zip(marks) {
            *count = count.saturating_add(usize::from(mark));
        }
    }
    let allowed = rows.len() / 6;
    let size = rows.iter().flatten().map(|l| l.size).fold(f32::MAX, f32::min);
    let least = (0.55 * size).max(3.0) as usize;
    let mut columns: Vec<(f32, f32)> = Vec::new();
    let mut start: Option<usize> = None;
    let mut free = 0usize;
    for (x, count) in covered.iter().enumerate() {
        if *count > allowed {
            if start.is_none() {
                start = Some(x);
            } else if free >= least {
                let end = x.saturating_sub(free);
                columns.push((start.unwrap_or(0) as f32 + left, end as f32 + left));
                start = Some(x);
            }
            free = 0;
        } else {
            free = free.saturating_add(1);
        }
    }
    let end = covered.len().saturating_sub(free);
    columns.push((start? as f32 + left, end as f32 + left));
    Some(columns)
}

/// The words of a line cut where a gutter lies between two of them: `(left, right, words)`.
fn pieces<'l>(line: &'l Line, columns: &[(f32, f32)]) -> Vec<(f32, f32, Vec<&'l Word>)> {
    let mut out: Vec<(f32, f32, Vec<&Word>)> = Vec::new();
    for word in &line.words {
        let fresh = out.last().is_none_or(|(_, right, _)| {
            let gap = word.rect.x0 - right;
            gap > 0.5 * word.size && column_at(columns, *right) != column_at(columns, word.rect.x0 + 0.5)
        });
        match out.last_mut() {
            Some((_, right, words)) if !fresh => {
                *right = word.rect.x1;
                words.push(word);
            }
            _ => out.push((word.rect.x0, word.rect.x1, vec![word])),
        }
    }
    out
}

/// The column a place belongs to: the one it lies in, else the nearest.
fn column_at(columns: &[(f32, f32)], x: f32) -> usize {
    let distance = |(from, to): &(f32, f32)| {
        if x < *from {
            from - x
        } else if x > *to {
            x - to
        } else {
            0.0
        }
    };
    columns.iter().enumerate().min_by(|a, b| distance(a.1).total_cmp(&distance(b.1))).map_or(0, |(i, _)| i)
}
