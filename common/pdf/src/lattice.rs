//! Grids drawn with rules: the lines and filled rectangles of a page → cells with spans.

use serde::{Deserialize, Serialize};

use crate::geometry::{Rect, Rule};
use crate::page::{Fill, Page};

/// Edges closer than this are one, in points.
const SNAP: f32 = 3.0;
/// A rule may end this far from the one it meets. Less than the padding between a cell and a table inside it: nested tables
/// are grids of their own.
const TOUCH: f32 = 2.0;
/// Most rules of one grid; drawings beyond it are not tables.
const MAX_GRID_RULES: usize = 6_000;

/// A grid of cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grid {
    /// Its extent.
    pub rect: Rect,
    /// Left edges of the columns, and the right edge of the last.
    pub columns: Vec<f32>,
    /// Top edges of the rows, and the bottom edge of the last.
    pub rows: Vec<f32>,
    /// Cells in row order.
    pub cells: Vec<GridCell>,
}

/// A cell of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct GridCell {
    /// Row, from 0.
    pub row: usize,
    /// Column, from 0.
    pub column: usize,
    /// Rows covered.
    pub rowspan: usize,
    /// Columns covered.
    pub colspan: usize,
    /// Its extent.
    pub rect: Rect,
}

/// All grids of a page with at least two cells, from the top.
pub fn grids_of(page: &Page) -> Vec<Grid> {
    let rules = all_rules(page);
    let mut grids: Vec<Grid> = connected(&rules)
        .into_iter()
        .flat_map(without_inner)
        .filter_map(|group| grid(&group))
        .filter(|grid| grid.cells.len() >= 2)
        .collect();
    grids.sort_by(|a, b| a.rect.y0.total_cmp(&b.rect.y0).then(a.rect.x0.total_cmp(&b.rect.x0)));
    grids
}

/// Rules, and the edges of filled rectangles that stand side by side as shaded cells do.
fn all_rules(page: &Page) -> Vec<Rule> {
    let mut rules = page.rules.clone();
    let cell_like = |fill: &&Fill| fill.rect.width() > 8.0 && fill.rect.height() > 6.0 && fill.rect.area() < 0.4 * page.width * page.height;
    let fills: Vec<&Fill> = page.fills.iter().filter(cell_like).take(2_000).collect();
    for fill in &fills {
        let beside = fills.iter().any(|other| {
            !std::ptr::eq(*other, *fill)
                && ((other.rect.x0 - fill.rect.x1).abs() < SNAP || (other.rect.x1 - fill.rect.x0).abs() < SNAP)
                && other.rect.vertical_overlap(&fill.rect) > 0.8 * fill.rect.height()
        });
        if !beside {
            continue;
        }
        let r = fill.rect;
        for (rect, horizontal) in [
            (Rect { y1: r.y0, ..r }, true),
            (Rect { y0: r.y1, ..r }, true),
            (Rect { x1: r.x0, ..r }, false),
            (Rect { x0: r.x1, ..r }, false),
        ] {
            rules.push(Rule { rect, horizontal });
        }
    }
    rules.retain(|rule| rule.rect.width().max(rule.rect.height()) > 5.0);
    rules.truncate(MAX_GRID_RULES);
    rules
}

/// Groups of rules that touch each other.
fn connected(rules: &[Rule]) -> Vec<Vec<Rule>> {
    let mut parent: Vec<usize> = (0..rules.len()).collect();
    fn root(parent: &mut [usize], mut at: usize) -> usize {
        while let Some(up) = parent.get(at).copied() {
            if up == at {
                break;
            }
            let above = parent.get(up).copied().unwrap_or(up);
            if let Some(slot) = parent.get_mut(at) {
                *slot = above;
            }
            at = above;
        }
        at
    }
    // Sorted by their left edge, a rule need be compared only with those that begin before it ends.
    let mut order: Vec<usize> = (0..rules.len()).collect();
    let rect_of = |i: usize| rules.get(i).map(|r| r.rect).unwrap_or_default();
    order.sort_by(|a, b| rect_of(*a).x0.total_cmp(&rect_of(*b).x0));
    for (position, &i) in order.iter().enumerate() {
        let a = rect_of(i);
        for &j in order.iter().skip(position.saturating_add(1)) {
            let b = rect_of(j);
            if b.x0 > a.x1 + TOUCH {
                break;
            }
            if a.vertical_overlap(&b) >= -TOUCH && a.horizontal_overlap(&b) >= -TOUCH {
                let (x, y) = (root(&mut parent, i), root(&mut parent, j));
                if let Some(slot) = parent.get_mut(x.max(y)) {
                    *slot = x.min(y);
                }
            }
        }
    }
    let mut groups: std::collections::BTreeMap<usize, Vec<Rule>> = std::collections::BTreeMap::new();
    for (i, rule) in rules.iter().enumerate() {
        groups.entry(root(&mut parent, i)).or_default().push(*rule);
    }
    groups.into_values().filter(|group| group.len() >= 4).collect()
}

/// Most rules of a group in which tables inside cells are looked for.
const MAX_NESTED_RULES: usize = 800;
/// Most tables that are taken out of one group.
const MAX_INNER: usize = 64;
/// Widest padding between a cell's side and that of the table that fills it, in points.
const PADDING: f32 = 12.0;

/// A table that fills its cell touches the cell's rules, and yet is a grid of its own: its first or last rule runs right along
/// a longer one, and each of its sides stands a little in from a side of the cell. Answers the group without such tables, and each of
/// them.
fn without_inner(mut rules: Vec<Rule>) -> Vec<Vec<Rule>> {
    let mut out = Vec::new();
    while out.len() < MAX_INNER && rules.len() <= MAX_NESTED_RULES {
        let Some(rect) = rules.iter().find_map(|top| inner_frame(top, &rules)) else { break };
        let (inner, rest): (Vec<Rule>, Vec<Rule>) = rules.iter().partition(|rule| holds(&rect, &rule.rect));
        if inner.len() < 4 || rest.len() < 4 {
            break;
        }
        out.push(inner);
        rules = rest;
    }
    out.push(rules);
    out
}

fn holds(outer: &Rect, inner: &Rect) -> bool {
    inner.x0 >= outer.x0 - 0.6 && inner.x1 <= outer.x1 + 0.6 && inner.y0 >= outer.y0 - 0.6 && inner.y1 <= outer.y1 + 0.6
}

/// The frame whose first rule is `top`, when `top` runs along a longer rule and a side goes down from each of its ends to one
/// rule below.
fn inner_frame(top: &Rule, rules: &[Rule]) -> Option<Rect> {
    let near = |a: f32, b: f32| (a - b).abs() <= 1.0;
    let r = top.rect;
    let runs_along = |edge: f32| {
        rules.iter().any(|rule| {
            let far = (f32::midpoint(rule.rect.y0, rule.rect.y1) - edge).abs();
            rule.horizontal && (0.2..=SNAP).contains(&far) && rule.rect.x0 < r.x0 - SNAP && rule.rect.x1 > r.x1 + SNAP
        })
    };
    if !top.horizontal || !runs_along(f32::midpoint(r.y0, r.y1)) {
        return None;
    }
    let side = |x: f32| {
        let mut sides = rules.iter().filter(|rule| !rule.horizontal && near(f32::midpoint(rule.rect.x0, rule.rect.x1), x));
        sides.find(|rule| near(rule.rect.y0, r.y0) && rule.rect.y1 > r.y1 + SNAP).map(|rule| rule.rect)
    };
    let (left, right) = (side(r.x0)?, side(r.x1)?);
    // The cell's own side stands right outside, over the whole height.
    let padded = |inner: &Rect, outwards: f32| {
        rules.iter().any(|rule| {
            let gap = (rule.rect.x0 - inner.x0) * outwards;
            !rule.horizontal && (1.5..=PADDING).contains(&gap) && rule.rect.y0 <= inner.y0 + 1.0 && rule.rect.y1 >= inner.y1 - 1.0
        })
    };
    if !padded(&left, -1.0) || !padded(&right, 1.0) {
        return None;
    }
    let closes = |rule: &&Rule| {
        rule.horizontal && near(rule.rect.x0, r.x0) && near(rule.rect.x1, r.x1) && near(rule.rect.y1, left.y1) && near(left.y1, right.y1)
    };
    rules.iter().find(closes).map(|bottom| Rect { x0: left.x0.min(r.x0), y0: r.y0, x1: right.x1.max(r.x1), y1: bottom.rect.y1 })
}

/// Values closer than [`SNAP`] as one, their mean; sorted.
fn edges(mut values: Vec<f32>) -> Vec<f32> {
    values.sort_by(f32::total_cmp);
    let mut out: Vec<(f32, f32)> = Vec::new();
    for value in values {
        match out.last_mut() {
            Some((sum, count)) if value - *sum / *count <= SNAP => {
                *sum += value;
                *count += 1.0;
            }
            _ => out.push((value, 1.0)),
        }
    }
    out.into_iter().map(|(sum, count)| sum / count).collect()
}

fn grid(rules: &[Rule]) -> Option<Grid> {
    let mid =
        |rule: &Rule| if rule.horizontal { f32::midpoint(rule.rect.y0, rule.rect.y1) } else { f32::midpoint(rule.rect.x0, rule.rect.x1) };
    let rows = edges(rules.iter().filter(|r| r.horizontal).map(mid).collect());
    let columns = edges(rules.iter().filter(|r| !r.horizontal).map(mid).collect());
    if rows.len() < 2 || columns.len() < 2 {
        return None;
    }
    let (height, width) = (rows.len().saturating_sub(1), columns.len().saturating_sub(1));
    if height.saturating_mul(width) > 20_000 {
        return None;
    }
    // Whether a rule stands on an edge between two neighbouring crossing edges.
    let drawn = |horizontal: bool, edge: f32, from: f32, to: f32| {
        let middle = f32::midpoint(from, to);
        rules.iter().any(|r| {
            r.horizontal == horizontal
                && (mid(r) - edge).abs() <= SNAP
                && if horizontal {
                    r.rect.x0 - TOUCH <= middle && r.rect.x1 + TOUCH >= middle
                } else {
                    r.rect.y0 - TOUCH <= middle && r.rect.y1 + TOUCH >= middle
                }
        })
    };
    let at = |values: &[f32], i: usize| values.get(i).copied().unwrap_or(0.0);
    let mut taken = vec![false; height.saturating_mul(width)];
    let index = |row: usize, column: usize| row.saturating_mul(width).saturating_add(column);
    let mut cells = Vec::new();
    for row in 0..height {
        for column in 0..width {
            if taken.get(index(row, column)).copied().unwrap_or(true) {
                continue;
            }
            let mut colspan = 1usize;
            while column.saturating_add(colspan) < width
                && !taken.get(index(row, column.saturating_add(colspan))).copied().unwrap_or(true)
                && !drawn(false, at(&columns, column.saturating_add(colspan)), at(&rows, row), at(&rows, row.saturating_add(1)))
            {
                colspan = colspan.saturating_add(1);
            }
            let mut rowspan = 1usize;
            'down: while row.saturating_add(rowspan) < height {
                for step in 0..colspan {
                    let c = column.saturating_add(step);
                    let edge = at(&rows, row.saturating_add(rowspan));
                    if drawn(true, edge, at(&columns, c), at(&columns, c.saturating_add(1))) {
                        break 'down;
                    }
                }
                rowspan = rowspan.saturating_add(1);
            }
            for r in row..row.saturating_add(rowspan) {
                for c in column..column.saturating_add(colspan) {
                    if let Some(slot) = taken.get_mut(index(r, c)) {
                        *slot = true;
                    }
                }
            }
            let rect = Rect {
                x0: at(&columns, column),
                y0: at(&rows, row),
                x1: at(&columns, column.saturating_add(colspan)),
                y1: at(&rows, row.saturating_add(rowspan)),
            };
            cells.push(GridCell { row, column, rowspan, colspan, rect });
        }
    }
    let rect =
        Rect { x0: at(&columns, 0), y0: at(&rows, 0), x1: columns.last().copied().unwrap_or(0.0), y1: rows.last().copied().unwrap_or(0.0) };
    Some(Grid { rect, columns, rows, cells })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(rules: Vec<Rule>) -> Page {
        Page { width: 600.0, height: 800.0, rules, ..Page::default() }
    }

    fn across(x0: f32, x1: f32, y: f32) -> Rule {
        Rule { rect: Rect { x0, y0: y - 0.5, x1, y1: y + 0.5 }, horizontal: true }
    }

    fn down(x: f32, y0: f32, y1: f32) -> Rule {
        Rule { rect: Rect { x0: x - 0.5, y0, x1: x + 0.5, y1 }, horizontal: false }
    }

    #[test]
    fn missing_rules_are_spans() {
        // Two rows of two columns; the first row has no rule between its cells.
        let rules = vec![
            across(0.0, 200.0, 10.0),
            across(0.0, 200.0, 30.0),
            across(0.0, 200.0, 50.0),
            down(0.0, 10.0, 50.0),
            down(100.0, 30.0, 50.0),
            down(200.0, 10.0, 50.0),
        ];
        let grids = grids_of(&page(rules));
        assert_eq!(grids.len(), 1);
        let spans: Vec<(usize, usize, usize, usize)> = grids[0].cells.iter().map(|c| (c.row, c.column, c.rowspan, c.colspan)).collect();
        assert_eq!(spans, [(0, 0, 1, 2), (1, 0, 1, 1), (1, 1, 1, 1)]);
    }

    #[test]
    fn a_table_that_fills_its_cell_is_a_grid_of_its_own() {
        let mut rules = vec![across(0.0, 300.0, 10.0), across(0.0, 300.0, 50.0), across(0.0, 300.0, 70.0)];
        rules.extend([0.0, 150.0, 300.0].map(|x| down(x, 10.0, 70.0)));
        rules.extend([10.6, 30.0, 49.4].map(|y| across(155.0, 295.0, y)));
        rules.extend([155.0, 220.0, 295.0].map(|x| down(x, 10.4, 49.6)));
        let grids = grids_of(&page(rules));
        let cells: Vec<usize> = grids.iter().map(|grid| grid.cells.len()).collect();
        assert_eq!(cells, [4, 4]);
        assert!(grids[0].cells.iter().all(|cell| cell.colspan == 1 && cell.rowspan == 1));
    }

    #[test]
    fn a_single_underline_is_no_grid() {
        assert!(grids_of(&page(vec![across(0.0, 200.0, 10.0)])).is_empty());
    }
}
