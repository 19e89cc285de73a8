//! Merged cells by their top left corner.

use std::collections::BTreeMap;

use crate::cells::Area;
use crate::region;
use crate::sheet::Sheet;

/// The merges of a sheet, cut to the cells that are used.
#[derive(Debug, Default)]
pub(crate) struct Merges {
    by_corner: BTreeMap<(u32, u32), Area>,
}

impl Merges {
    pub(crate) fn of(sheet: &Sheet) -> Self {
        let Some(used) = region::used_area(&sheet.cells).filter(|_| !sheet.merges.is_empty()) else { return Self::default() };
        let inside = sheet.merges.iter().filter_map(|merge| merge.within(&used)).filter(|merge| merge.size() > 1);
        Self { by_corner: inside.map(|merge| ((merge.top, merge.left), merge)).collect() }
    }

    /// The merge that begins at a cell.
    pub(crate) fn at(&self, row: u32, column: u32) -> Option<Area> {
        if self.by_corner.is_empty() {
            return None;
        }
        self.by_corner.get(&(row, column)).copied()
    }

    /// Whether a merge begins at a cell.
    pub(crate) fn covers(&self, row: u32, column: u32) -> bool {
        self.at(row, column).is_some()
    }
}
