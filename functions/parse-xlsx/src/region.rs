//! Where the tables of a sheet stand.
//!
//! Cells that touch, also at a corner, belong together; a merge and a named table are solid. So a table ends at an empty
//! row or column that nothing crosses. Pieces whose rectangles overlap are one. A sheet that is laid out as a form (its
//! rows are torn apart by empty columns, so that most pieces are one column of labels or values) is one table, with its
//! gaps. Everything is linear in the cells that hold something, whatever the distances between them.

use crate::cells::{Area, Cells};
use crate::sheet::{NamedTable, Sheet};

/// More pieces than this are no tables but a scatter; they are told cell by cell.
const MAX_PIECES: usize = 2_000;
/// Rows that all merges together may cover; what comes after is read as if it were not merged.
const MAX_COVERED_ROWS: u64 = 4_000_000;
/// A table has at most this many places for one cell that holds something, and some more for small ones.
const SPARSE: u64 = 16;
const SPARSE_FREE: u64 = 1_024;
/// A form, too, but less of either.
const FORM_SPARSE: u64 = 8;
const FORM_SPARSE_FREE: u64 = 64;

/// A part of a sheet that is told as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Region {
    pub area: Area,
    /// Cells in it that hold something.
    pub cells: u64,
    /// Header rows as its author declared them.
    pub named: Option<u32>,
    /// Too scattered for a grid: told cell by cell.
    pub scattered: bool,
}

/// Finds the regions of a sheet, from the top, and those side by side from the left. The cells must be sorted.
pub(crate) fn find(sheet: &Sheet) -> Vec<Region> {
    let Some(used) = used_area(&sheet.cells) else { return Vec::new() };
    let all = Region { area: used, cells: sheet.cells.len() as u64, named: None, scattered: false };
    if sheet.whole {
        return vec![all];
    }
    let named = named_tables(&sheet.tables, &used);
    let Some(pieces) = pieces(sheet, &used, &named) else { return vec![Region { scattered: true, ..all }] };
    if named.is_empty() && is_form(&pieces, &used) {
        return vec![all];
    }
    let mut regions = join_overlapping(named.into_iter().map(|table| count(&sheet.cells, table)).chain(pieces).collect());
    for region in &mut regions {
        region.scattered = region.area.size() > region.cells.saturating_mul(SPARSE).saturating_add(SPARSE_FREE);
    }
    regions.sort_by_key(|region| region.area);
    regions
}

/// The rectangle of all cells that hold something.
pub(crate) fn used_area(cells: &Cells) -> Option<Area> {
    cells.iter().map(|cell| Area::cell(cell.row, cell.column)).reduce(|all, one| all.union(&one))
}

fn named_tables(tables: &[NamedTable], used: &Area) -> Vec<NamedTable> {
    let mut out: Vec<NamedTable> = Vec::new();
    for table in tables.iter().take(MAX_PIECES) {
        let Some(area) = table.area.within(used) else { continue };
        if out.iter().all(|other| !other.area.intersects(&area)) {
            out.push(NamedTable { area, header_rows: table.header_rows });
        }
    }
    out
}

fn count(cells: &Cells, table: NamedTable) -> Region {
    let mut total = 0_u64;
    let mut at = 0_usize;
    for row in table.area.top..=table.area.bottom {
        at = cells.seek(at, row, table.area.left);
        let end = cells.seek(at, row, table.area.right.saturating_add(1));
        total = total.saturating_add(end.saturating_sub(at) as u64);
        at = end;
        if at >= cells.len() {
            break;
        }
    }
    Region { area: table.area, cells: total, named: Some(table.header_rows), scattered: false }
}

/// Touching cells of one row.
#[derive(Debug, Clone, Copy)]
struct Run {
    row: u32,
    left: u32,
    right: u32,
    /// How many of them hold something.
    cells: u64,
}

/// The pieces of touching cells outside the named tables; `None` when there are too many.
fn pieces(sheet: &Sheet, used: &Area, named: &[NamedTable]) -> Option<Vec<Region>> {
    let runs = runs(sheet, used, named);
    let mut sets = Sets::new(runs.len());
    let mut above = 0..0;
    let mut start = 0_usize;
    while let Some(first) = runs.get(start) {
        let length = runs.get(start..).unwrap_or_default().partition_point(|run| run.row == first.row);
        let here = start..start.saturating_add(length);
        if runs.get(above.start).is_some_and(|run| run.row.saturating_add(1) == first.row) {
            let mut upper = above.clone();
            for index in here.clone() {
                let Some(run) = runs.get(index) else { break };
                while let Some(other) = upper.clone().next().and_then(|at| runs.get(at)) {
                    if other.left <= run.right.saturating_add(1) && run.left <= other.right.saturating_add(1) {
                        sets.join(index, upper.start);
                    }
                    // The one that reaches further right may touch another one.
                    if other.right > run.right {
                        break;
                    }
                    upper.start = upper.start.saturating_add(1);
                }
            }
        }
        above = here.clone();
        start = here.end;
    }
    let mut found: std::collections::BTreeMap<usize, Region> = std::collections::BTreeMap::new();
    for (index, run) in runs.iter().enumerate() {
        let area = Area { top: run.row, left: run.left, bottom: run.row, right: run.right };
        let root = sets.root(index);
        let region = found.entry(root).or_insert(Region { area, cells: 0, named: None, scattered: false });
        region.area = region.area.union(&area);
        region.cells = region.cells.saturating_add(run.cells);
        if found.len() > MAX_PIECES {
            return None;
        }
    }
    Some(found.into_values().filter(|region| region.cells > 0).collect())
}

/// All runs in reading order: cells, and merges row by row, touching ones joined.
fn runs(sheet: &Sheet, used: &Area, named: &[NamedTable]) -> Vec<Run> {
    let mut solid: Vec<Run> = Vec::new();
    let mut covered = 0_u64;
    for merge in sheet.merges.iter().filter_map(|merge| merge.within(used)).filter(|merge| merge.size() > 1) {
        covered = covered.saturating_add(u64::from(merge.height()));
        if covered > MAX_COVERED_ROWS {
            break;
        }
        if named.iter().any(|table| table.area.contains(merge.top, merge.left)) {
            continue;
        }
        solid.extend((merge.top..=merge.bottom).map(|row| Run { row, left: merge.left, right: merge.right, cells: 0 }));
    }
    solid.sort_by_key(|run| (run.row, run.left));
    let mut solid = solid.into_iter().peekable();
    let mut out: Vec<Run> = Vec::new();
    let mut push = |run: Run| match out.last_mut() {
        Some(last) if last.row == run.row && run.left <= last.right.saturating_add(1) => {
            last.right = last.right.max(run.right);
            last.cells = last.cells.saturating_add(run.cells);
        }
        _ => out.push(run),
    };
    for cell in sheet.cells.iter() {
        if named.iter().any(|table| table.area.contains(cell.row, cell.column)) {
            continue;
        }
        while let Some(run) = solid.next_if(|run| (run.row, run.left) <= (cell.row, cell.column)) {
            push(run);
        }
        push(Run { row: cell.row, left: cell.column, right: cell.column, cells: 1 });
    }
    solid.for_each(push);
    out
}

/// Disjoint sets with path halving.
struct Sets {
    parent: Vec<u32>,
}

impl Sets {
    fn new(count: usize) -> Self {
        Self { parent: (0..u32::try_from(count).unwrap_or(u32::MAX)).collect() }
    }

    fn root(&mut self, index: usize) -> usize {
        let mut at = index;
        while let Some(&parent) = self.parent.get(at) {
            let parent = parent as usize;
            if parent == at {
                break;
            }
            let above = self.parent.get(parent).copied().unwrap_or_default();
            if let Some(slot) = self.parent.get_mut(at) {
                *slot = above;
            }
            at = above as usize;
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if let Some(slot) = self.parent.get_mut(a.max(b)) {
            *slot = u32::try_from(a.min(b)).unwrap_or_default();
        }
    }
}

/// Whether the pieces are one form: a quarter of the cells or more stand in pieces one column wide beside another
/// piece, and the whole is not mostly empty.
fn is_form(pieces: &[Region], used: &Area) -> bool {
    let total = pieces.iter().map(|piece| piece.cells).fold(0_u64, u64::saturating_add);
    if used.size() > total.saturating_mul(FORM_SPARSE).saturating_add(FORM_SPARSE_FREE) {
        return false;
    }
    let beside = |a: &Region, b: &Region| {
        a.area.top <= b.area.bottom && b.area.top <= a.area.bottom && (a.area.right < b.area.left || b.area.right < a.area.left)
    };
    let torn = pieces
        .iter()
        .filter(|piece| piece.area.width() == 1 && pieces.iter().any(|other| beside(piece, other)))
        .map(|piece| piece.cells)
        .fold(0_u64, u64::saturating_add);
    torn.saturating_mul(4) >= total && torn > 0
}

/// Joins regions until no two rectangles overlap.
fn join_overlapping(mut regions: Vec<Region>) -> Vec<Region> {
    let mut at = 0_usize;
    while let Some(region) = regions.get(at).cloned() {
        let hit = regions.iter().enumerate().position(|(index, other)| index != at && other.area.intersects(&region.area));
        let Some(hit) = hit else {
            at = at.saturating_add(1);
            continue;
        };
        let other = regions.swap_remove(hit);
        // The last one may have moved to where the other stood.
        let mine = if at == regions.len() { hit } else { at };
        if let Some(slot) = regions.get_mut(mine) {
            slot.area = region.area.union(&other.area);
            slot.cells = region.cells.saturating_add(other.cells);
            slot.named = region.named.or(other.named).filter(|_| region.area.top == slot.area.top || other.area.top == slot.area.top);
        }
        at = 0;
    }
    regions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::Kind;

    /// A sheet drawn with one letter a cell; `.` is empty.
    fn drawn(picture: &[&str]) -> Sheet {
        let mut sheet = Sheet::default();
        for (row, line) in picture.iter().enumerate() {
            for (column, letter) in line.chars().enumerate().filter(|(_, letter)| *letter != '.') {
                sheet.cells.push(row as u32, column as u32, Kind::Text, false, &letter.to_string());
            }
        }
        sheet
    }

    fn areas(sheet: &Sheet) -> Vec<String> {
        use crate::cells::name;
        let area = |r: &Region| format!("{}:{}", name(r.area.top, r.area.left), name(r.area.bottom, r.area.right));
        find(sheet).iter().map(|region| if region.scattered { format!("~{}", area(region)) } else { area(region) }).collect()
    }

    #[test]
    fn empty_rows_and_columns_part_tables() {
        let sheet = drawn(&["ab..xy", "cd..zw", "ef....", "......", "gh....", "ij...."]);
        assert_eq!(areas(&sheet), ["A1:B3", "E1:F2", "A5:B6"]);
    }

    #[test]
    fn corners_touch() {
        assert_eq!(areas(&drawn(&["ab..", "cd..", "..ef", "..gh"])), ["A1:D4"]);
    }

    #[test]
    fn a_merge_bridges_a_gap() {
        let mut sheet = drawn(&["t.......", "........", "ab..cd..", "ef..gh.."]);
        assert_eq!(areas(&sheet), ["A1:A1", "A3:B4", "E3:F4"]);
        sheet.merges.push(Area { top: 2, left: 1, bottom: 2, right: 4 });
        assert_eq!(areas(&sheet), ["A1:A1", "A3:F4"]);
    }

    #[test]
    fn a_form_is_one_table() {
        let form = drawn(&["T.......", "........", "1.Name.a", "2.Age..b", "3.Town.c", "........", "4.Mail.d"]);
        assert_eq!(areas(&form), ["A1:H7"]);
        // Two real tables side by side are not, however their notes stand.
        assert_eq!(areas(&drawn(&["ab.cd", "ef.gh", "ij.kl", "..n..", "mn.op"])).len(), 1, "the note touches both");
        assert_eq!(areas(&drawn(&["ab.cd", "ef.gh", "ij.kl"])), ["A1:B3", "D1:E3"]);
    }

    #[test]
    fn rectangles_that_overlap_are_one() {
        assert_eq!(areas(&drawn(&["abcde", "f...g", "h.x.i", "j...k", "lmnop"])), ["A1:E5"]);
    }

    #[test]
    fn named_tables_stand_alone() {
        let mut sheet = drawn(&["t..", "ab.", "cd.", "ef.", "g.."]);
        sheet.tables.push(NamedTable { area: Area { top: 1, left: 0, bottom: 3, right: 1 }, header_rows: 1 });
        assert_eq!(areas(&sheet), ["A1:A1", "A2:B4", "A5:A5"]);
        assert_eq!(find(&sheet)[1].named, Some(1));
    }

    #[test]
    fn two_far_corners_are_two_cells() {
        let mut sheet = drawn(&["a"]);
        sheet.cells.push(1_048_575, 16_383, Kind::Text, false, "z");
        assert_eq!(areas(&sheet), ["A1:A1", "XFD1048576:XFD1048576"]);
        // Whole rows and columns that are merged do not change that.
        sheet.merges = vec![Area { top: 0, left: 0, bottom: 0, right: 16_383 }, Area { top: 0, left: 0, bottom: 1_048_575, right: 0 }];
        assert_eq!(areas(&sheet), ["~A1:XFD1048576"]);
        assert_eq!(find(&sheet)[0].cells, 2);
    }

    #[test]
    fn a_diagonal_and_a_scatter_are_told_cell_by_cell() {
        let mut sheet = Sheet::default();
        (0..10_000).for_each(|n| assert!(sheet.cells.push(n, n, Kind::Text, false, "x")));
        assert!(find(&sheet)[0].scattered);
        let mut sheet = Sheet::default();
        (0..100_000).for_each(|n| assert!(sheet.cells.push(n / 100 * 2, n % 100 * 3, Kind::Text, false, "x")));
        assert_eq!(find(&sheet).len(), 1);
    }
}
