//! Charts: the data they were drawn from, as a table.

use std::collections::BTreeMap;

use quarry_document::xml::{Element, Ns};
use quarry_document::{TableBuilder, Warnings};
use quarry_model::{Cell, DocumentCode, DocumentFailure, Limits, Table};

use crate::drawing;
use crate::package::{Package, Relationships};

/// No chart shows more points; a larger index is damage.
const MAX_POINTS: usize = 100_000;

#[derive(Default)]
struct Series {
    name: String,
    categories: BTreeMap<usize, String>,
    values: BTreeMap<usize, String>,
    sizes: BTreeMap<usize, String>,
}

/// What a chart says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chart {
    /// The data it was drawn from: one row for each category, one column for each series, its title as caption.
    Table(Table),
    /// It holds no data, but a title or a description.
    Title(String),
    /// Nothing.
    Empty,
}

/// Reads the chart that a drawing refers to; `alt` stands in for a title that is missing. Values that did not fit are a
/// warning.
pub fn find(
    reference: Element<'_>,
    alt: &str,
    package: &mut Package<'_>,
    relationships: &Relationships,
    limits: &Limits,
    warnings: &mut Warnings,
) -> Result<Chart, DocumentFailure> {
    let Some(part) = reference.attribute(Ns::R, "id").and_then(|id| relationships.part(id)) else {
        warnings.partial(DocumentCode::Corrupt, "a chart's relationship is missing");
        return Ok(Chart::Empty);
    };
    let Some(tree) = package.linked_tree(part, warnings)? else { return Ok(Chart::Empty) };
    let (chart, dropped) = read(tree.root(), alt, limits);
    if dropped > 0 {
        warnings.partial(DocumentCode::TooLarge, format!("{dropped} values of a chart are left out"));
    }
    Ok(chart)
}

/// Reads a chart part; also answers how many cells did not fit.
fn read(space: Element<'_>, alt: &str, limits: &Limits) -> (Chart, u64) {
    let title = title(space).or_else(|| (!alt.is_empty()).then(|| alt.to_owned())).unwrap_or_default();
    let series: Vec<Series> = space.descendants().filter(|element| element.name() == "ser").map(one_series).collect();
    let series: Vec<Series> = series.into_iter().filter(|series| !series.values.is_empty() || !series.categories.is_empty()).collect();
    let Some(first) = series.first() else {
        return (if title.is_empty() { Chart::Empty } else { Chart::Title(title) }, 0);
    };
    // Series of one chart usually share their categories; those of a scatter plot have their own.
    let shared = series.iter().all(|series| series.categories.is_empty() || series.categories == first.categories);
    let mut builder = TableBuilder::new(limits);
    builder.row();
    builder.cell(Cell::new(""));
    for (index, one) in series.iter().enumerate() {
        if !shared && index > 0 {
            builder.cell(Cell::new(""));
        }
        let name = if one.name.is_empty() { format!("Series {}", index.saturating_add(1)) } else { one.name.clone() };
        builder.cell(Cell::new(name));
        if !one.sizes.is_empty() {
            builder.cell(Cell::new("size"));
        }
    }
    let points = series.iter().flat_map(|series| series.categories.keys().chain(series.values.keys())).max().copied();
    for point in 0..=points.unwrap_or_default() {
        let at = |map: &BTreeMap<usize, String>| Cell::new(map.get(&point).cloned().unwrap_or_default());
        builder.row();
        for (index, one) in series.iter().enumerate() {
            if !shared || index == 0 {
                builder.cell(at(&one.categories));
            }
            builder.cell(at(&one.values));
            if !one.sizes.is_empty() {
                builder.cell(at(&one.sizes));
            }
        }
    }
    let built = builder.finish(1, u32::from(shared), title);
    (Chart::Table(built.table), built.dropped_cells)
}

fn title(space: Element<'_>) -> Option<String> {
    let title = space.descendants().find(|element| matches!(element.ns(), Ns::C | Ns::Cx) && element.name() == "title")?;
    let lines: Vec<String> = title.descendants().filter(|paragraph| paragraph.is(Ns::A, "p")).map(drawing::text).collect();
    let rich = lines.join(" ");
    let text = if rich.trim().is_empty() { point_text(title).unwrap_or_default() } else { rich };
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The first cached value below an element.
fn point_text(element: Element<'_>) -> Option<String> {
    element.descendants().find(|value| value.is(Ns::C, "v")).map(|value| value.text().trim().to_owned())
}

fn one_series(series: Element<'_>) -> Series {
    let mut out = Series::default();
    for child in series.elements().filter(|child| child.ns() == Ns::C) {
        match child.name() {
            "tx" => out.name = point_text(child).unwrap_or_default(),
            "cat" | "xVal" => out.categories = points(child),
            "val" | "yVal" => out.values = points(child),
            "bubbleSize" => out.sizes = points(child),
            _ => {}
        }
    }
    out
}

/// Cached points by index. Levels of a category with several are joined, outermost first.
fn points(source: Element<'_>) -> BTreeMap<usize, String> {
    let mut levels: Vec<BTreeMap<usize, String>> = Vec::new();
    for cache in source.descendants() {
        if !matches!(cache.name(), "strCache" | "numCache" | "lvl" | "strLit" | "numLit") || cache.ns() != Ns::C {
            continue;
        }
        let mut level = BTreeMap::new();
        for point in cache.elements().filter(|point| point.is(Ns::C, "pt")) {
            let index = point.attribute(Ns::None, "idx").and_then(|index| index.parse::<usize>().ok()).filter(|index| *index < MAX_POINTS);
            if let (Some(index), Some(value)) = (index, point.child(Ns::C, "v")) {
                level.insert(index, value.text().trim().to_owned());
            }
        }
        levels.push(level);
    }
    let Some(innermost) = levels.first() else { return BTreeMap::new() };
    let mut out = innermost.clone();
    for outer in levels.iter().skip(1) {
        for (index, text) in &mut out {
            // An outer level names only the first point of each of its groups.
            if let Some((_, group)) = outer.range(..=*index).next_back() {
                *text = format!("{group} / {text}");
            }
        }
    }
    out
}
