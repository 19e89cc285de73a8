//! How an array is told: as a table, as records, or as a list.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use quarry_document::{BuiltTable, TableBuilder};
use quarry_model::{Cell, Limits};

use crate::value::Value;

/// A longer value, or one of several lines, is prose: its record is not a row of a table.
const CELL_CHARS: usize = 500;
/// More columns than this are no table that a person reads.
const MAX_COLUMNS: usize = 64;
/// Of the cells of a table at least one in three is filled.
const FILLED: usize = 3;

/// The columns of a table made of objects: the union of their keys, nested ones joined by a dot, in order of first use.
#[derive(Debug, Default)]
pub(crate) struct Columns<'v> {
    names: Vec<Cow<'v, str>>,
    place: HashMap<Cow<'v, str>, usize>,
}

/// The columns of `items` when they make a table; `None` when they do not.
pub(crate) fn columns<'v>(items: &'v [Value<'v>]) -> Option<Columns<'v>> {
    let mut columns = Columns::default();
    let mut filled = 0_usize;
    for item in items {
        let Value::Object(members) = item else { return None };
        for (name, value) in fields(members) {
            if !fits_a_cell(value) {
                return None;
            }
            filled = filled.saturating_add(usize::from(!value.is_empty()));
            if let Entry::Vacant(place) = columns.place.entry(name) {
                columns.names.push(place.key().clone());
                place.insert(columns.names.len().saturating_sub(1));
            }
        }
        if columns.names.len() > MAX_COLUMNS {
            return None;
        }
    }
    let cells = columns.names.len().saturating_mul(items.len());
    (cells > 0 && filled.saturating_mul(FILLED) >= cells).then_some(columns)
}

/// The members of an object, those of objects directly in it one by one.
fn fields<'v>(members: &'v [(Cow<'v, str>, Value<'v>)]) -> impl Iterator<Item = (Cow<'v, str>, &'v Value<'v>)> {
    members.iter().flat_map(|(key, value)| {
        let inner = match value {
            Value::Object(inner) if !inner.is_empty() => inner.as_slice(),
            _ => &[],
        };
        let own = inner.is_empty().then_some((Cow::Borrowed(key.as_ref()), value));
        own.into_iter().chain(inner.iter().map(move |(name, value)| (Cow::Owned(format!("{key}.{name}")), value)))
    })
}

fn fits_a_cell(value: &Value<'_>) -> bool {
    match value {
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.iter().all(|item| item.scalar().is_some()) && list(items).len() <= CELL_CHARS,
        scalar => scalar.scalar().is_some_and(|text| text.len() <= CELL_CHARS && !text.contains('\n')),
    }
}

/// Scalars in one line.
pub(crate) fn list(items: &[Value<'_>]) -> String {
    items.iter().filter_map(Value::scalar).collect::<Vec<_>>().join(", ")
}

/// What a cell says; nothing for `null`.
fn cell(value: &Value<'_>) -> String {
    match value {
        Value::Null | Value::Object(_) => String::new(),
        Value::Array(items) => list(items),
        scalar => scalar.scalar().unwrap_or_default().to_owned(),
    }
}

impl<'v> Columns<'v> {
    /// The tables, each with the header and at most as many cells as one may hold.
    pub(crate) fn tables(&self, items: &'v [Value<'v>], limits: &Limits) -> Vec<BuiltTable> {
        let width = self.names.len().max(1);
        let fit = usize::try_from(limits.table_cells).unwrap_or(usize::MAX).checked_div(width).unwrap_or(1).saturating_sub(1).max(1);
        items.chunks(fit).map(|rows| self.table(rows, limits)).collect()
    }

    fn table(&self, items: &'v [Value<'v>], limits: &Limits) -> BuiltTable {
        let mut table = TableBuilder::new(limits);
        table.row();
        for name in &self.names {
            table.cell(Cell::new(name.as_ref()));
        }
        for item in items {
            let mut row = vec![String::new(); self.names.len()];
            if let Value::Object(members) = item {
                for (name, value) in fields(members) {
                    // A key that an object holds twice says both.
                    if let Some(slot) = self.place.get(&name).and_then(|place| row.get_mut(*place)) {
                        let text = cell(value);
                        *slot = if slot.is_empty() || text.is_empty() { format!("{slot}{text}") } else { format!("{slot}\n{text}") };
                    }
                }
            }
            table.row();
            for text in row {
                table.cell(Cell::new(text));
            }
        }
        table.finish(1, 0, "")
    }
}

/// A table of numbers and words without names: arrays of scalars, all of one length.
pub(crate) fn matrix(items: &[Value<'_>], limits: &Limits) -> Option<Vec<BuiltTable>> {
    let width = match items.first() {
        Some(Value::Array(first)) if (2..=MAX_COLUMNS).contains(&first.len()) && items.len() > 1 => first.len(),
        _ => return None,
    };
    let is_row = |item: &Value<'_>| match item {
        Value::Array(cells) => cells.len() == width && cells.iter().all(|value| fits_a_cell(value) && value.scalar().is_some()),
        _ => false,
    };
    if !items.iter().all(is_row) {
        return None;
    }
    let fit = usize::try_from(limits.table_cells).unwrap_or(usize::MAX).checked_div(width).unwrap_or(1).max(1);
    let tables = items.chunks(fit).map(|rows| {
        let mut table = TableBuilder::new(limits);
        for row in rows {
            table.row();
            if let Value::Array(cells) = row {
                for value in cells {
                    table.cell(Cell::new(cell(value)));
                }
            }
        }
        table.finish(0, 0, "")
    });
    Some(tables.collect())
}
