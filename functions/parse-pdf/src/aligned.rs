//! Tables without a drawn grid: rows whose cells line up in columns, between level rules or on their own.

use quarry_model::{Cell, Table};
use quarry_pdf::{Line, Rect, Word};

use crate::page::{PageText, inside};
use crate::tables::{FoundTable, cell_text};

/// Rows that a table without rules must have.
const MIN_ROWS: usize = 3;
/// Two level rules are of one table when their ends agree this well, in points.
const SAME_END: f32 = 6.0;

/// Takes aligned tables out of a page's lines.
pub(crate) fn take(page: &mut PageText) -> Vec<FoundTable> {
    let mut found = Vec::new();
    for region in between_rules(page) {
        let within: Vec<Line> = page.lines.iter().filter(|line| line.angle == 0 && inside(&line.rect, &region)).cloned().collect();
        if let Some(table) = build(&within, 2) {
            page.lines.retain(|line| !inside(&line.rect, &region));
            found.push(FoundTable { rect: region, table });
        }
    }
    for lines in runs(page) {
        let Some(first) = lines.first() else { continue };
        let rect = lines.iter().fold(first.rect, |rect, line| rect.union(&line.rect));
        if let Some(table) = build(&lines, MIN_ROWS) {
            page.lines.retain(|line| !lines.iter().any(|taken| taken.drawn == line.drawn && taken.rect == line.rect));
            found.push(FoundTable { rect, table });
        }
    }
    found
}

/// Regions between the first and the last of at least three level rules with common ends: how printed tables are set.
fn between_rules(page: &PageText) -> Vec<Rect> {
    let mut rules: Vec<Rect> = page.rules.iter().map(|r| r.rect).filter(|r| r.width() > 40.0).collect();
    rules.sort_by(|a, b| a.y0.total_cmp(&b.y0));
    let mut regions = Vec::new();
    let mut used = vec![false; rules.len()];
    for i in 0..rules.len() {
        let Some(top) = rules.get(i).copied() else { break };
        if used.get(i).copied().unwrap_or(true) {
            continue;
        }
        let mut members = vec![i];
        let mut bottom = top;
        for j in i.saturating_add(1)..rules.len() {
            let Some(rule) = rules.get(j).copied() else { break };
            let free = !used.get(j).copied().unwrap_or(true);
            let same = (rule.x0 - top.x0).abs() < SAME_END && (rule.x1 - top.x1).abs() < SAME_END;
            if free && same && rule.y0 - bottom.y1 < 0.5 * page.height {
                members.push(j);
                bottom = rule;
            }
        }
        if members.len() >= 3 && bottom.y1 - top.y0 > 20.0 {
            for member in members {
                if let Some(flag) = used.get_mut(member) {
                    *flag = true;
                }
            }
            regions.push(Rect { x0: top.x0 - 2.0, y0: top.y0 - 1.0, x1: top.x1 + 2.0, y1: bottom.y1 + 1.0 });
        }
    }
    regions
}

/// Lines grouped by baseline, from the top; within a row from left to right.
fn rows_of(lines: &[Line]) -> Vec<Vec<&Line>> {
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

/// Runs of neighbouring rows that each hold several short cells.
fn runs(page: &PageText) -> Vec<Vec<Line>> {
    let upright: Vec<Line> = page.lines.iter().filter(|line| line.angle == 0).cloned().collect();
    let rows = rows_of(&upright);
    let mut out = Vec::new();
    let mut run: Vec<&Vec<&Line>> = Vec::new();
    for row in &rows {
        let near = run
            .last()
            .and_then(|last| last.first())
            .is_none_or(|last| row.first().is_some_and(|l| l.baseline - last.baseline < 3.2 * l.size.max(last.size)));
        if is_cell_row(row) && near {
            run.push(row);
        } else {
            close(&mut run, &mut out);
            if is_cell_row(row) {
                run.push(row);
            }
        }
    }
    close(&mut run, &mut out);
    out
}

fn close(run: &mut Vec<&Vec<&Line>>, out: &mut Vec<Vec<Line>>) {
    if run.len() >= MIN_ROWS && lines_up(run) {
        out.push(run.iter().flat_map(|row| row.iter().map(|line| (*line).clone())).collect());
    }
    run.clear();
}

/// A row of a table: at least two cells, none of them running text, the first more than a bullet or a number.
fn is_cell_row(row: &[&Line]) -> bool {
    let cells = row.len();
    let long = row.iter().filter(|line| line.words.len() > 9).count();
    let marker = row.first().is_some_and(|line| is_marker(&line.text()));
    let leaders = row.iter().any(|line| line.words.iter().any(|w| w.text.len() > 3 && w.text.chars().all(|c| c == '.' || c == '…')));
    cells >= if marker { 3 } else { 2 } && long == 0 && !leaders
}

fn is_marker(text: &str) -> bool {
    let text = text.trim();
    let count = text.chars().count();
    count <= 1
        || (count <= 5 && text.ends_with(['.', ')', ':']) && text.chars().filter(|c| c.is_alphanumeric()).count() <= 3)
        || matches!(text, "•" | "–" | "—" | "◦" | "▪" | "·")
}

/// Whether cells begin, end or centre at the same places in most rows.
fn lines_up(run: &[&Vec<&Line>]) -> bool {
    let most = run.iter().map(|row| row.len()).max().unwrap_or(0);
    let full: Vec<&&Vec<&Line>> = run.iter().filter(|row| row.len() == most).collect();
    if full.len() < 2 || (full.len() as f32) < 0.5 * run.len() as f32 {
        return false;
    }
    (0..most).all(|column| {
        let cells: Vec<Rect> = full.iter().filter_map(|row| row.get(column)).map(|l| l.rect).collect();
        let agree = |value: &dyn Fn(&Rect) -> f32| {
            let mut values: Vec<f32> = cells.iter().map(value).collect();
            values.sort_by(f32::total_cmp);
            let middle = values.get(values.len() / 2).copied().unwrap_or(0.0);
            values.iter().filter(|v| (**v - middle).abs() < 5.0).count() as f32 >= 0.7 * values.len() as f32
        };
        agree(&|r| r.x0) || agree(&|r| r.x1) || agree(&|r| f32::midpoint(r.x0, r.x1))
    })
}

/// Builds the table of a region: columns are what lies between the gutters that most rows leave free.
pub(crate) fn build(lines: &[Line], least_rows: usize) -> Option<Table> {
    let rows = rows_of(lines);
    if rows.len() < least_rows.max(2) {
        return None;
    }
    let columns = columns_of(&rows)?;
    if columns.len() < 2 {
        return None;
    }
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
        let continues = cells.first().is_some_and(|c| c.0 > 0)
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
fn columns_of(rows: &[Vec<&Line>]) -> Option<Vec<(f32, f32)>> {
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
