//! Tables: those of document vocabularies (HTML's and CALS), and those that like elements beside each other make.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use quarry_document::xml::{Child, Element, Ns};
use quarry_document::{BuiltTable, TableBuilder};
use quarry_model::{Cell, Limits};

use super::shape::{facts, folded, has_own_text, is_leaf, is_named, is_titled, spaced_text, title_element};

/// A longer value is prose: its record is not a row of a table.
const CELL_CHARS: usize = 500;
/// More columns than this are no table that a person reads.
const MAX_COLUMNS: usize = 64;
/// Of the cells of a table at least one in three is filled.
const FILLED: usize = 3;

/// Whether an element is a table of a document vocabulary.
pub(super) fn is_marked(element: Element<'_>) -> bool {
    is_named(element, &["table", "informaltable"]) && element.descendants().any(is_row)
}

fn is_row(element: Element<'_>) -> bool {
    is_named(element, &["tr", "row"]) && element.elements().any(is_cell)
}

fn is_cell(element: Element<'_>) -> bool {
    is_named(element, &["td", "th", "entry"])
}

/// A table of HTML or CALS markup.
pub(super) fn marked(table: Element<'_>, limits: &Limits) -> BuiltTable {
    let columns = column_names(table);
    let mut builder = TableBuilder::new(limits);
    let mut header_rows = 0_u32;
    let mut only_headers = true;
    for row in table.descendants().filter(|element| is_row(*element)) {
        builder.row();
        let cells: Vec<Element<'_>> = row.elements().filter(|element| is_cell(*element)).collect();
        let heads = cells.iter().all(|cell| cell.name().eq_ignore_ascii_case("th")) || in_head(table, row);
        only_headers &= heads;
        header_rows = header_rows.saturating_add(u32::from(heads && only_headers));
        for cell in cells {
            let number = |name: &str| cell.attribute(Ns::None, name).and_then(|value| value.trim().parse::<u32>().ok());
            let rows = number("rowspan").or_else(|| number("morerows").map(|more| more.saturating_add(1))).unwrap_or(1);
            let named = |name: &str| cell.attribute(Ns::None, name).and_then(|value| columns.get(value).copied());
            let wide = named("namest").zip(named("nameend")).map(|(first, last)| last.saturating_sub(first).saturating_add(1));
            let cell_wide = number("colspan").or(wide).unwrap_or(1);
            let header = cell.name().eq_ignore_ascii_case("th");
            builder.cell(Cell { header, ..Cell::spanning(folded(&spaced_text(cell)), rows, cell_wide) });
        }
    }
    let caption = table.elements().find(|element| is_named(*element, &["caption"])).or_else(|| title_element(table));
    builder.finish(header_rows, 0, caption.map(|caption| folded(&spaced_text(caption))).unwrap_or_default())
}

fn in_head(table: Element<'_>, row: Element<'_>) -> bool {
    table
        .descendants()
        .filter(|element| is_named(*element, &["thead"]))
        .any(|head| head.elements().any(|inner| inner.position() == row.position()))
}

/// Places of the columns that CALS names.
fn column_names(table: Element<'_>) -> HashMap<&str, u32> {
    let specifications = table.descendants().filter(|element| is_named(*element, &["colspec"]));
    (0_u32..).zip(specifications).filter_map(|(at, element)| Some((element.attribute(Ns::None, "colname")?, at))).collect()
}

/// One record: its columns and what each says.
fn record(element: Element<'_>) -> Option<Vec<(String, String)>> {
    if has_own_text(element) {
        return None;
    }
    let mut fields: Vec<(String, String)> = facts(element).map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    for child in element.elements() {
        let inner: Vec<Element<'_>> = child.elements().collect();
        if inner.is_empty() || has_own_text(child) {
            let said = folded(&spaced_text(child));
            if has_own_text(child) && !inner.is_empty() {
                return None;
            }
            add(&mut fields, child.name(), said);
        } else if inner.iter().all(|leaf| is_leaf(*leaf)) {
            for leaf in inner {
                add(&mut fields, &format!("{}.{}", child.name(), leaf.name()), folded(&leaf.text()));
            }
        } else {
            return None;
        }
        for (name, value) in facts(child) {
            add(&mut fields, &format!("{}.{name}", child.name()), value.to_owned());
        }
    }
    fields.iter().all(|(_, value)| value.len() <= CELL_CHARS).then_some(fields)
}

/// A field that comes twice says both.
fn add(fields: &mut Vec<(String, String)>, name: &str, value: String) {
    match fields.iter_mut().find(|(known, _)| known == name) {
        Some((_, said)) if said.is_empty() => *said = value,
        Some((_, said)) => *said = format!("{said}, {value}"),
        None => fields.push((name.to_owned(), value)),
    }
}

/// Two or more like elements that make a table; `None` when they do not. Several tables when one may not hold all rows.
pub(super) fn of_records(elements: &[Element<'_>], limits: &Limits) -> Option<Vec<BuiltTable>> {
    if elements.len() < 2 || elements.iter().any(|element| is_titled(*element)) {
        return None;
    }
    let mut names: Vec<String> = Vec::new();
    let mut place: HashMap<String, usize> = HashMap::new();
    let mut records: Vec<Vec<(String, String)>> = Vec::with_capacity(elements.len());
    let mut filled = 0_usize;
    for element in elements {
        let fields = record(*element)?;
        for (name, value) in &fields {
            filled = filled.saturating_add(usize::from(!value.is_empty()));
            if let Entry::Vacant(slot) = place.entry(name.clone()) {
                slot.insert(names.len());
                names.push(name.clone());
            }
        }
        if names.len() > MAX_COLUMNS {
            return None;
        }
        records.push(fields);
    }
    if names.len() < 2 || filled.saturating_mul(FILLED) < names.len().saturating_mul(records.len()) {
        return None;
    }
    let fit = usize::try_from(limits.table_cells).unwrap_or(usize::MAX).checked_div(names.len()).unwrap_or(1).saturating_sub(1).max(1);
    let table = |rows: &[Vec<(String, String)>]| {
        let mut builder = TableBuilder::new(limits);
        builder.row();
        for name in &names {
            builder.cell(Cell::new(name.as_str()));
        }
        for fields in rows {
            let mut row = vec![""; names.len()];
            for (name, value) in fields {
                if let Some(slot) = place.get(name).and_then(|at| row.get_mut(*at)) {
                    *slot = value;
                }
            }
            builder.row();
            for text in row {
                builder.cell(Cell::new(text));
            }
        }
        builder.finish(1, 0, "")
    };
    Some(records.chunks(fit).map(table).collect())
}

/// Whether all child elements have one name and none stands in text.
pub(super) fn are_alike(element: Element<'_>) -> bool {
    let mut names = element.elements().map(Element::name);
    let first = names.next();
    let text = element.children().any(|child| matches!(child, Child::Text(text) if !text.trim().is_empty()));
    !text && first.is_some() && names.all(|name| Some(name) == first)
}
