//! Reading order: lines of a page → lines in the order in which they are read.
//!
//! A page is cut where white space runs from top to bottom between two bodies of text (a gutter), and only there: gaps
//! between paragraphs never cut, for in two columns they often fall side by side. Lines that stand across the gutter
//! (titles, wide captions) cut the columns into strips.

use crate::geometry::Rect;
use crate::lines::Line;

/// A gutter is at least this wide, in points.
const MIN_GUTTER: f32 = 7.0;
/// A column has at least this many lines.
const MIN_LINES: usize = 4;
/// Deepest nesting of columns within columns.
const MAX_DEPTH: u32 = 6;

/// Sorts lines into reading order. Lines written at an angle come last, in the order in which they are drawn.
pub fn reading_order(lines: Vec<Line>) -> Vec<Line> {
    let (upright, mut turned): (Vec<Line>, Vec<Line>) = lines.into_iter().partition(|line| line.angle == 0);
    let mut out: Vec<Line> = bodies(upright).into_iter().flatten().collect();
    turned.sort_by_key(|line| line.drawn);
    out.extend(turned);
    out
}

/// Upright lines by the body of text they stand in, in reading order: a column, or what stands across columns.
pub fn bodies(lines: Vec<Line>) -> Vec<Vec<Line>> {
    let mut out = Vec::new();
    arrange(lines, MAX_DEPTH, &mut out);
    out
}

fn arrange(mut lines: Vec<Line>, depth: u32, out: &mut Vec<Vec<Line>>) {
    let enough = depth > 0 && lines.len() >= MIN_LINES.saturating_mul(2);
    let Some(gutter) = enough.then(|| find_gutter(&lines)).flatten() else {
        top_down(&mut lines);
        out.push(lines);
        return;
    };
    lines.sort_by(|a, b| a.rect.y0.total_cmp(&b.rect.y0).then(a.rect.x0.total_cmp(&b.rect.x0)));
    let (mut left, mut right, mut across): (Vec<Line>, Vec<Line>, Vec<Line>) = (Vec::new(), Vec::new(), Vec::new());
    for line in lines {
        let next_depth = depth.saturating_sub(1);
        if crosses(&line.rect, gutter) {
            flush_columns(&mut left, &mut right, next_depth, out);
            across.push(line);
            continue;
        }
        if !across.is_empty() {
            let mut strip = std::mem::take(&mut across);
            top_down(&mut strip);
            out.push(strip);
        }
        if line.rect.x1 <= gutter + 1.0 { left.push(line) } else { right.push(line) }
    }
    flush_columns(&mut left, &mut right, depth.saturating_sub(1), out);
    top_down(&mut across);
    out.push(across);
}

fn flush_columns(left: &mut Vec<Line>, right: &mut Vec<Line>, depth: u32, out: &mut Vec<Vec<Line>>) {
    for column in [left, right] {
        if !column.is_empty() {
            arrange(std::mem::take(column), depth, out);
        }
    }
}

fn crosses(rect: &Rect, gutter: f32) -> bool {
    rect.x0 < gutter - 1.0 && rect.x1 > gutter + 1.0
}

/// One body of text: by baseline, and from left to right where baselines are level.
fn top_down(lines: &mut [Line]) {
    lines.sort_by(|a, b| a.baseline.total_cmp(&b.baseline).then(a.rect.x0.total_cmp(&b.rect.x0)));
    // Baselines within a third of a line are level: then the order is from left to right.
    let mut start = 0usize;
    while start < lines.len() {
        let Some(first) = lines.get(start) else { return };
        let (baseline, size) = (first.baseline, first.size);
        let level = lines.iter().skip(start).take_while(|line| line.baseline - baseline <= 0.33 * size.max(line.size)).count().max(1);
        if let Some(row) = lines.get_mut(start..start.saturating_add(level)) {
            row.sort_by(|a, b| a.rect.x0.total_cmp(&b.rect.x0));
        }
        start = start.saturating_add(level);
    }
}

/// The place of the best gutter, if the lines stand in columns.
///
/// Candidates are the left edges that many lines share. A gutter must leave enough lines on both sides, level with each
/// other over a good part of their height, must be crossed by few lines, and the sides must hold prose: cells of a table
/// are short, lines of a column fill it.
fn find_gutter(lines: &[Line]) -> Option<f32> {
    let left_most = lines.iter().map(|l| l.rect.x0).fold(f32::MAX, f32::min);
    let right_most = lines.iter().map(|l| l.rect.x1).fold(f32::MIN, f32::max);
    let width = right_most - left_most;
    let mut edges: Vec<f32> = lines.iter().map(|l| l.rect.x0).filter(|x| *x > left_most + 0.15 * width).collect();
    edges.sort_by(f32::total_cmp);
    let mut best: Option<(f32, f32)> = None;
    let mut at = 0usize;
    while at < edges.len() {
        let Some(edge) = edges.get(at).copied() else { break };
        let same = edges.iter().skip(at).take_while(|x| **x <= edge + 3.0).count().max(1);
        if same >= MIN_LINES.saturating_sub(1)
            && let Some(score) = score(lines, edge - 1.5)
            && best.is_none_or(|(most, _)| score > most)
        {
            best = Some((score, edge - 1.5));
        }
        at = at.saturating_add(same);
    }
    best.map(|(_, gutter)| gutter)
}

fn score(lines: &[Line], gutter: f32) -> Option<f32> {
    let left: Vec<&Line> = lines.iter().filter(|l| l.rect.x1 <= gutter + 1.0).collect();
    let right: Vec<&Line> = lines.iter().filter(|l| l.rect.x0 >= gutter - 1.0).collect();
    let across = lines.len().saturating_sub(left.len()).saturating_sub(right.len());
    if left.len() < MIN_LINES || right.len() < MIN_LINES {
        return None;
    }
    let sides = left.len().saturating_add(right.len());
    if across as f32 > 0.6 * sides as f32 {
        return None;
    }
    let extent = |side: &[&Line]| {
        let first = side.first().map(|l| l.rect).unwrap_or_default();
        side.iter().fold(first, |rect, line| rect.union(&line.rect))
    };
    let (a, b) = (extent(&left), extent(&right));
    if a.vertical_overlap(&b) < 0.35 * a.height().min(b.height()) {
        return None;
    }
    // Only the left lines level with right ones say how wide the gutter is.
    let level = left.iter().filter(|l| l.rect.vertical_overlap(&b) > 0.0).map(|l| l.rect.x1).fold(f32::MIN, f32::max);
    if gutter - level < MIN_GUTTER - 1.5 {
        return None;
    }
    if !is_prose(&left, &a) || !is_prose(&right, &b) {
        return None;
    }
    Some(sides as f32 - 1.5 * across as f32)
}

/// Whether lines fill their column as running text does.
fn is_prose(lines: &[&Line], extent: &Rect) -> bool {
    let long = lines.iter().filter(|l| l.rect.width() > 0.6 * extent.width()).count();
    let words: usize = lines.iter().map(|l| l.words.len()).sum();
    let characters: usize = lines.iter().flat_map(|l| &l.words).map(|w| w.text.chars().count()).sum();
    let cjk = lines
        .iter()
        .flat_map(|l| &l.words)
        .flat_map(|w| w.text.chars())
        .filter(|c| matches!(c, '\u{3040}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'))
        .count();
    let wordy = words as f32 >= 3.2 * lines.len() as f32 || cjk.saturating_mul(2) > characters;
    long as f32 >= 0.45 * lines.len() as f32 && wordy && characters as f32 >= 14.0 * lines.len() as f32
}
