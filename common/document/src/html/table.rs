//! `<table>` → the one grid model.

use ego_tree::NodeRef;
use quarry_model::{Cell, Limits};
use scraper::Node;
use scraper::node::Element;

use super::cell::{self, CellContent};
use super::element::heading_level;
use crate::grid::{BuiltTable, TableBuilder};
use crate::prose::Picture;

/// Tables nested deeper than this are text of their cell; also what bounds recursion here and wherever tables are written.
const NESTED_TABLES: u32 = 32;

/// How deep in other tables a table stands.
#[derive(Clone, Copy)]
pub(super) struct Nesting<'l> {
    limits: &'l Limits,
    depth: u32,
}

/// A table and the pictures in it.
pub(super) struct TableRead {
    pub(super) built: BuiltTable,
    pub(super) pictures: Vec<Picture>,
}

/// Reads a table; `None` when it only lays out what it holds, which is then read as blocks.
pub(super) fn read(table: NodeRef<'_, Node>, limits: &Limits) -> Option<TableRead> {
    read_nested(table, Nesting { limits, depth: 0 })
}

/// Reads a table that stands in a cell.
pub(super) fn read_nested(table: NodeRef<'_, Node>, nesting: Nesting<'_>) -> Option<TableRead> {
    if nesting.depth >= NESTED_TABLES {
        return None;
    }
    let parts = Parts::of(table);
    if parts.is_layout(table) {
        return None;
    }
    let inner = Nesting { depth: nesting.depth.saturating_add(1), ..nesting };
    let mut builder = TableBuilder::new(nesting.limits);
    let mut pictures = Vec::new();
    let mut dropped = 0_u64;
    let mut content = |node: NodeRef<'_, Node>, pictures: &mut Vec<Picture>| -> CellContent {
        let mut read = cell::read(node, inner);
        pictures.append(&mut read.pictures);
        dropped = dropped.saturating_add(read.dropped_cells);
        read
    };
    let caption = parts.caption.map(|node| content(node, &mut pictures).text).unwrap_or_default();
    for row in &parts.rows {
        builder.row();
        for (node, element) in &row.cells {
            let read = content(*node, &mut pictures);
            builder.cell(Cell {
                text: read.text,
                rowspan: span(element, "rowspan"),
                colspan: span(element, "colspan").max(1),
                tables: read.tables,
                header: element.name() == "th",
            });
        }
    }
    let mut built = builder.finish(parts.header_rows(), parts.header_columns(), caption.split_whitespace().collect::<Vec<_>>().join(" "));
    built.dropped_cells = built.dropped_cells.saturating_add(dropped);
    Some(TableRead { built, pictures })
}

struct TableRow<'a> {
    cells: Vec<(NodeRef<'a, Node>, &'a Element)>,
    in_head: bool,
}

impl TableRow<'_> {
    fn is_all_headers(&self) -> bool {
        !self.cells.is_empty() && self.cells.iter().all(|(_, element)| element.name() == "th")
    }
}

/// The rows of a table in the order they are shown: head, bodies, foot.
struct Parts<'a> {
    rows: Vec<TableRow<'a>>,
    caption: Option<NodeRef<'a, Node>>,
}

impl<'a> Parts<'a> {
    fn of(table: NodeRef<'a, Node>) -> Self {
        let (mut head, mut body, mut foot, mut caption) = (Vec::new(), Vec::new(), Vec::new(), None);
        for (part, element) in elements(table) {
            match element.name() {
                "caption" if caption.is_none() => caption = Some(part),
                "tr" => body.push(row(part, false)),
                // A second head is shown where it stands.
                "thead" if head.is_empty() && body.is_empty() => head = rows(part, true),
                "tfoot" if foot.is_empty() => foot = rows(part, false),
                "thead" | "tbody" | "tfoot" => body.append(&mut rows(part, false)),
                _ => {}
            }
        }
        head.append(&mut body);
        head.append(&mut foot);
        Self { rows: head, caption }
    }

    /// Whether the table is there for its looks: it says so itself, holds a single cell, or holds headings of the page
    /// where a table of data has header cells.
    fn is_layout(&self, table: NodeRef<'_, Node>) -> bool {
        let says_so = table.value().as_element().and_then(|element| element.attr("role"));
        if says_so.is_some_and(|role| matches!(role.trim(), "presentation" | "none")) {
            return true;
        }
        let cells = self.rows.iter().map(|row| row.cells.len()).sum::<usize>();
        let header_cells = self.rows.iter().flat_map(|row| &row.cells).any(|(_, element)| element.name() == "th");
        cells <= 1 || (!header_cells && holds_headings(table))
    }

    fn header_rows(&self) -> u32 {
        let in_head = self.rows.iter().take_while(|row| row.in_head).count();
        let leading = self.rows.iter().take_while(|row| row.is_all_headers()).count();
        let rows = if in_head > 0 { in_head } else { leading };
        // A table of headers only has no header.
        let rows = if rows == self.rows.len() { usize::from(rows > 1) } else { rows };
        u32::try_from(rows).unwrap_or(u32::MAX)
    }

    /// One when every row below the header begins with a `<th>`.
    fn header_columns(&self) -> u32 {
        let skip = self.header_rows() as usize;
        let mut below = self.rows.iter().skip(skip).filter(|row| !row.cells.is_empty()).peekable();
        let some = below.peek().is_some();
        let all = below.all(|row| row.cells.len() > 1 && row.cells.first().is_some_and(|(_, element)| element.name() == "th"));
        u32::from(some && all)
    }
}

fn elements(node: NodeRef<'_, Node>) -> impl Iterator<Item = (NodeRef<'_, Node>, &Element)> {
    node.children().filter_map(|child| child.value().as_element().map(|element| (child, element)))
}

fn rows(part: NodeRef<'_, Node>, in_head: bool) -> Vec<TableRow<'_>> {
    elements(part).filter(|(_, element)| element.name() == "tr").map(|(node, _)| row(node, in_head)).collect()
}

fn row(tr: NodeRef<'_, Node>, in_head: bool) -> TableRow<'_> {
    let cells = elements(tr).filter(|(_, element)| matches!(element.name(), "td" | "th")).collect();
    TableRow { cells, in_head }
}

/// A span as browsers read it; 0 rows mean "to the end".
fn span(element: &Element, name: &str) -> u32 {
    let Some(value) = element.attr(name) else { return 1 };
    let digits = value.trim().trim_start_matches('+');
    let digits = digits.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    match digits.parse::<u64>() {
        Ok(0) if name == "rowspan" => u32::MAX,
        Ok(number) => u32::try_from(number).unwrap_or(u32::MAX).max(1),
        // More digits than any number we know: as many as there are.
        Err(_) if digits.len() > 9 => u32::MAX,
        Err(_) => 1,
    }
}

fn holds_headings(table: NodeRef<'_, Node>) -> bool {
    table.descendants().any(|node| node.value().as_element().is_some_and(|element| heading_level(element).is_some()))
}
