//! Tables without a drawn grid: rows whose cells line up in columns, between level rules or on their own.

mod build;

use quarry_pdf::{Line, Rect, bodies};

use crate::page::{PageText, inside};
use crate::tables::FoundTable;
use build::{build, columns_of, rows_of};

/// Rows that a table without rules must have.
const MIN_ROWS: usize = 3;
/// Two level rules are of one table when their ends agree this well, in points.
const SAME_END: f32 = 6.0;

/// Takes aligned tables out of a page's lines.
pub(crate) fn take(page: &mut PageText) -> Vec<FoundTable> {
    let mut found = Vec::new();
    for (region, rules) in between_rules(page) {
        let mut within: Vec<Line> = page.lines.iter().filter(|line| line.angle == 0 && inside(&line.rect, &region)).cloned().collect();
        let header = header_above(&page.lines, &region, &within);
        let rect = header.iter().fold(region, |rect, line| rect.union(&line.rect));
        within.extend(header);
        if let Some(table) = build(&within, 2, &rules) {
            page.lines.retain(|line| !inside(&line.rect, &rect));
            found.push(FoundTable::new(rect, table));
        }
    }
    // Columns of running text stand side by side as cells do: rows are looked for within each body of text only.
    let upright: Vec<Line> = page.lines.iter().filter(|line| line.angle == 0).cloned().collect();
    for lines in bodies(upright).iter().flat_map(|body| runs(body)) {
        let Some(first) = lines.first() else { continue };
        let rect = lines.iter().fold(first.rect, |rect, line| rect.union(&line.rect));
        if let Some(table) = build(&lines, MIN_ROWS, &[]) {
            page.lines.retain(|line| !lines.iter().any(|taken| taken.drawn == line.drawn && taken.rect == line.rect));
            found.push(FoundTable::new(rect, table));
        }
    }
    found
}

/// Regions between the first and the last of at least three level rules with common ends, and the heights of the rules: how
/// printed tables are set.
fn between_rules(page: &PageText) -> Vec<(Rect, Vec<f32>)> {
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
            let mut heights = Vec::with_capacity(members.len());
            for member in members {
                if let Some(flag) = used.get_mut(member) {
                    *flag = true;
                }
                heights.extend(rules.get(member).map(|rule| f32::midpoint(rule.y0, rule.y1)));
            }
            let region = Rect { x0: top.x0 - 2.0, y0: top.y0 - 1.0, x1: top.x1 + 2.0, y1: bottom.y1 + 1.0 };
            regions.push((region, heights));
        }
    }
    regions
}

/// Rows that a header above the first rule may have.
const MAX_HEADER_ROWS: usize = 4;

/// The header of a table whose first rule stands under it: rows right above the rule whose cells stand over its columns, at
/// least two of them on one baseline.
fn header_above(lines: &[Line], region: &Rect, within: &[Line]) -> Vec<Line> {
    let rows = rows_of(within);
    let Some(columns) = columns_of(&rows).filter(|columns| columns.len() >= 2) else { return Vec::new() };
    let above: Vec<Line> = lines
        .iter()
        .filter(|l| {
            l.angle == 0
                && l.rect.y1 <= region.y0 + 2.0
                && l.rect.y0 > region.y0 - 80.0
                && l.rect.x0 >= region.x0 - 2.0
                && l.rect.x1 <= region.x1 + 2.0
        })
        .cloned()
        .collect();
    let over = |line: &Line| {
        let near = |a: f32, b: f32| (a - b).abs() < SAME_END;
        let stands = |(from, to): &(f32, f32)| {
            near(line.rect.x0, *from)
                || near(line.rect.x1, *to)
                || near(f32::midpoint(line.rect.x0, line.rect.x1), f32::midpoint(*from, *to))
        };
        line.words.len() <= 9 && columns.iter().any(stands)
    };
    let mut taken: Vec<Line> = Vec::new();
    let mut pending: Vec<Line> = Vec::new();
    let mut below = region.y0;
    for row in rows_of(&above).into_iter().rev().take(MAX_HEADER_ROWS) {
        let bottom = row.iter().map(|l| l.baseline).fold(f32::MIN, f32::max);
        let size = row.iter().map(|l| l.size).fold(f32::MIN, f32::max);
        if below - bottom > 1.8 * size || !row.iter().all(|line| over(line)) {
            break;
        }
        below = bottom;
        pending.extend(row.iter().map(|line| (*line).clone()));
        if row.len() >= 2 {
            taken.append(&mut pending);
        }
    }
    taken
}

/// Runs of neighbouring rows that each hold several short cells.
fn runs(body: &[Line]) -> Vec<Vec<Line>> {
    let rows = rows_of(body);
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
    let column_of = |column: usize| full.iter().filter_map(move |row| row.get(column).copied());
    // Two columns that both read as running text are columns of a page.
    if (0..most).filter(|column| is_prose(&column_of(*column).collect::<Vec<_>>())).count() >= 2 {
        return false;
    }
    (0..most).all(|column| {
        let cells: Vec<Rect> = column_of(column).map(|l| l.rect).collect();
        let agree = |value: &dyn Fn(&Rect) -> f32| {
            let mut values: Vec<f32> = cells.iter().map(value).collect();
            values.sort_by(f32::total_cmp);
            let middle = values.get(values.len() / 2).copied().unwrap_or(0.0);
            values.iter().filter(|v| (**v - middle).abs() < 5.0).count() as f32 >= 0.7 * values.len() as f32
        };
        agree(&|r| r.x0) || agree(&|r| r.x1) || agree(&|r| f32::midpoint(r.x0, r.x1))
    })
}

/// Whether lines under each other fill their column, as running text does and the cells of a table do not.
fn is_prose(lines: &[&Line]) -> bool {
    let left = lines.iter().map(|l| l.rect.x0).fold(f32::MAX, f32::min);
    let right = lines.iter().map(|l| l.rect.x1).fold(f32::MIN, f32::max);
    let full = lines.iter().filter(|l| l.rect.width() > 0.9 * (right - left)).count();
    let words: usize = lines.iter().map(|l| l.words.len()).sum();
    // Set ragged, lines do not fill their column; but where a sentence goes on, the next line begins in the middle of it.
    let goes_on = |text: &str| text.starts_with(|c: char| c.is_lowercase() || crate::blocks::is_cjk(c));
    let on = lines.iter().skip(1).filter(|line| line.words.first().is_some_and(|word| goes_on(&word.text))).count();
    let fills = full.saturating_mul(10) >= lines.len().saturating_mul(7);
    let runs_on = on.saturating_mul(2) >= lines.len().saturating_sub(1);
    lines.len() >= 3 && (fills || runs_on) && words >= lines.len().saturating_mul(4)
}
