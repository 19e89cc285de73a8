//! Walks through content.xml once, sheet by sheet.

use std::io::Read;

use quarry_document::xml::{Stream, StreamEvent, Tag};
use quarry_model::DocumentFailure;

use super::cell::Cell;
use super::styles::Styles;
use crate::cells::{Area, Budget, MAX_COLUMNS, MAX_ROWS};
use crate::sheet::{Float, Floating, Sheet};

/// Where the pictures and objects of the sheets stand in the package: (sheet, float) → part.
#[derive(Debug, Default)]
pub(super) struct Pictures {
    pub parts: Vec<(usize, usize, String)>,
}

/// Something that is pinned to a cell or floats over the sheet, while it is read.
#[derive(Debug)]
struct Open {
    depth: usize,
    kind: OpenKind,
    text: String,
    author: String,
    said: String,
    href: String,
}

#[derive(Debug, PartialEq)]
enum OpenKind {
    Annotation,
    Frame,
    Shape,
}

/// What the characters that come belong to.
#[derive(Debug, Clone, Copy, PartialEq)]
enum In {
    Nothing,
    Text,
    Author,
    Said,
}

pub(super) fn read<R: Read>(
    mut stream: Stream<R>,
    budget: &mut Budget,
    sheets: &mut Vec<Sheet>,
    pictures: &mut Pictures,
) -> Result<(), DocumentFailure> {
    let mut walk = Walk {
        budget,
        sheets,
        pictures,
        styles: Styles::default(),
        depth: 0,
        skip_from: None,
        cell: None,
        open: Vec::new(),
        inside: Vec::new(),
        row: 0,
        row_repeated: 1,
        row_start: 0,
        column: 0,
        definition: 0,
        tables: 0,
    };
    let result = loop {
        match stream.next() {
            Ok(Some(StreamEvent::Start(tag))) => walk.start(&tag),
            Ok(Some(StreamEvent::Text(text))) => walk.text(&text),
            Ok(Some(StreamEvent::End(tag))) => {
                if !walk.end(tag.name())? {
                    break Ok(());
                }
            }
            Ok(None) => break Ok(()),
            Err(failure) => break Err(failure),
        }
    };
    // What was open when damage came is kept.
    result
}

struct Walk<'w> {
    budget: &'w mut Budget,
    sheets: &'w mut Vec<Sheet>,
    pictures: &'w mut Pictures,
    styles: Styles,
    depth: usize,
    /// Depth of an element that is left out with all it holds.
    skip_from: Option<usize>,
    cell: Option<Cell>,
    open: Vec<Open>,
    /// For each open element that changes it: its depth, and what characters were before.
    inside: Vec<(usize, In)>,
    row: u32,
    row_repeated: u32,
    /// Cells of the sheet before the current row.
    row_start: usize,
    column: u32,
    /// Column that the next column definition describes.
    definition: u32,
    /// Open tables: one inside another is a cell's own.
    tables: usize,
}

impl Walk<'_> {
    fn start(&mut self, tag: &Tag<'_>) {
        self.depth = self.depth.saturating_add(1);
        if self.skip_from.is_some() {
            return;
        }
        let number = |name: &str| tag.attribute(name).and_then(|value| value.parse::<u32>().ok()).unwrap_or(1).max(1);
        let collapsed = || tag.attribute("visibility").is_some_and(|value| value == "collapse" || value == "filter");
        match tag.name() {
            "tracked-changes" | "forms" | "scenario" | "content-validations" => self.skip_from = Some(self.depth),
            "table" => {
                self.tables = self.tables.saturating_add(1);
                if self.tables == 1 {
                    let name = tag.attribute("name").unwrap_or_default().into_owned();
                    let hidden = tag.attribute("style-name").is_some_and(|style| self.styles.hides(&style));
                    self.sheets.push(Sheet { name, hidden, ..Sheet::default() });
                    (self.row, self.definition) = (0, 0);
                }
            }
            _ if self.tables > 1 => {
                // A table inside a cell: its words are the cell's.
                if matches!(tag.name(), "p" | "h") {
                    self.paragraph();
                }
            }
            "table-column" => {
                let count = number("number-columns-repeated");
                let last = self.definition.saturating_add(count).saturating_sub(1).min(MAX_COLUMNS);
                if let Some(sheet) = self.sheets.last_mut().filter(|_| collapsed()) {
                    sheet.hidden_columns.push((self.definition, last));
                }
                self.definition = self.definition.saturating_add(count);
            }
            "table-row" => {
                (self.column, self.row_repeated) = (0, number("number-rows-repeated"));
                self.row_start = self.sheets.last().map_or(0, |sheet| sheet.cells.len());
                let last = self.row.saturating_add(self.row_repeated).saturating_sub(1).min(MAX_ROWS);
                if let Some(sheet) = self.sheets.last_mut().filter(|_| collapsed()) {
                    sheet.hidden_rows.push((self.row, last));
                }
            }
            "table-cell" | "covered-table-cell" => self.cell = Some(Cell::of(tag)),
            "annotation" => self.open(OpenKind::Annotation),
            "frame" => self.open(OpenKind::Frame),
            "custom-shape" | "rect" | "ellipse" | "line" | "connector" | "caption" if self.tables > 0 => self.open(OpenKind::Shape),
            "image" | "object" | "object-ole" => {
                let href = tag.attribute("href").unwrap_or_default().into_owned();
                if let Some(open) = self.open.last_mut().filter(|open| open.href.is_empty()) {
                    open.href = href;
                }
            }
            "creator" => self.enter(In::Author),
            "title" | "desc" => self.enter(In::Said),
            "p" | "h" => self.paragraph(),
            "s" => {
                let count = tag.attribute("c").and_then(|count| count.parse::<usize>().ok()).unwrap_or(1).clamp(1, 1_000);
                self.text(&" ".repeat(count));
            }
            "tab" => self.text("\t"),
            "line-break" => self.text("\n"),
            // The day of an annotation.
            "date" if !self.open.is_empty() => self.enter(In::Nothing),
            _ if self.tables == 0 => self.styles.start(tag),
            _ => {}
        }
    }

    fn open(&mut self, kind: OpenKind) {
        let (text, author, said, href) = Default::default();
        self.open.push(Open { depth: self.depth, kind, text, author, said, href });
    }

    fn enter(&mut self, what: In) {
        self.inside.push((self.depth, what));
    }

    fn paragraph(&mut self) {
        self.enter(In::Text);
        let target = self.target();
        if let Some(text) = target.filter(|text| !text.is_empty()) {
            text.push('\n');
        }
    }

    /// Where text goes: the innermost open thing, or the cell.
    fn target(&mut self) -> Option<&mut String> {
        match self.open.last_mut() {
            Some(open) => Some(&mut open.text),
            None => self.cell.as_mut().map(|cell| &mut cell.text),
        }
    }

    fn text(&mut self, text: &str) {
        if self.skip_from.is_some() {
            return;
        }
        match self.inside.last().map_or(In::Nothing, |(_, inside)| *inside) {
            In::Nothing => {}
            In::Text => {
                if let Some(target) = self.target() {
                    target.push_str(text);
                }
            }
            In::Author => self.open.iter_mut().for_each(|open| open.author.push_str(text)),
            In::Said => {
                if let Some(open) = self.open.last_mut() {
                    if !open.said.is_empty() {
                        open.said.push(' ');
                    }
                    open.said.push_str(text);
                }
            }
        }
    }

    /// Answers `false` when no more cells are kept.
    fn end(&mut self, name: &str) -> Result<bool, DocumentFailure> {
        let depth = self.depth;
        self.depth = self.depth.saturating_sub(1);
        if let Some(from) = self.skip_from {
            if from == depth {
                self.skip_from = None;
            }
            return Ok(true);
        }
        if self.inside.last().is_some_and(|(at, _)| *at == depth) {
            self.inside.pop();
        }
        if self.open.last().is_some_and(|open| open.depth == depth)
            && let Some(open) = self.open.pop()
        {
            self.close(open);
        }
        match name {
            "table" => self.tables = self.tables.saturating_sub(1),
            _ if self.tables > 1 => {}
            "table-cell" | "covered-table-cell" => {
                if let Some(cell) = self.cell.take() {
                    return self.keep(&cell, name == "covered-table-cell");
                }
            }
            "table-row" => return self.repeat_row(),
            _ => {}
        }
        Ok(true)
    }

    /// A finished annotation, frame or shape.
    fn close(&mut self, open: Open) {
        let Some(sheet) = self.sheets.last_mut() else { return };
        let (row, column) = if self.cell.is_some() { (self.row, self.column) } else { (0, 0) };
        let text = open.text.trim().to_owned();
        let said = open.said.split_whitespace().collect::<Vec<_>>().join(" ");
        let what = match open.kind {
            OpenKind::Annotation if text.is_empty() => return,
            OpenKind::Annotation => Floating::Note { author: open.author.trim().to_owned(), text },
            OpenKind::Frame if !open.href.is_empty() => {
                let index = self.sheets.len().saturating_sub(1);
                let sheet = self.sheets.last_mut();
                let float = sheet.as_ref().map_or(0, |sheet| sheet.floats.len());
                self.pictures.parts.push((index, float, open.href));
                if let Some(sheet) = sheet {
                    sheet.floats.push(Float { row, column, what: Floating::Picture(None, said) });
                }
                return;
            }
            _ if text.is_empty() && said.is_empty() => return,
            _ if text.is_empty() => Floating::Text(said),
            _ => Floating::Text(text),
        };
        sheet.floats.push(Float { row, column, what });
    }

    fn keep(&mut self, cell: &Cell, covered: bool) -> Result<bool, DocumentFailure> {
        let (row, first) = (self.row, self.column);
        self.column = self.column.saturating_add(cell.repeated);
        let Some(sheet) = self.sheets.last_mut() else { return Ok(true) };
        if cell.columns > 1 || cell.rows > 1 {
            let (bottom, right) = (row.saturating_add(cell.rows).saturating_sub(1), first.saturating_add(cell.columns).saturating_sub(1));
            sheet.merges.push(Area { top: row, left: first, bottom: bottom.min(MAX_ROWS), right: right.min(MAX_COLUMNS) });
        }
        let shown = cell.shown();
        // What a merge covers is not shown.
        if covered || shown.trim().is_empty() {
            return Ok(true);
        }
        let bold = self.styles.is_bold(&cell.style);
        for column in first..first.saturating_add(cell.repeated).min(MAX_COLUMNS) {
            if !self.budget.cell(shown.len())? {
                return Ok(false);
            }
            sheet.cells.push(row, column, cell.kind(), bold, &shown);
        }
        Ok(true)
    }

    /// Equal rows are written once: what the row holds is repeated, and an empty one only counted.
    fn repeat_row(&mut self) -> Result<bool, DocumentFailure> {
        let first = self.row;
        self.row = self.row.saturating_add(self.row_repeated);
        let Some(sheet) = self.sheets.last_mut() else { return Ok(true) };
        let held = self.row_start..sheet.cells.len();
        if held.is_empty() {
            return Ok(true);
        }
        for row in first.saturating_add(1)..self.row.min(MAX_ROWS) {
            for index in held.clone() {
                let Some(bytes) = sheet.cells.get(index).map(|cell| cell.text.len()) else { continue };
                if !self.budget.cell(bytes)? {
                    return Ok(false);
                }
                sheet.cells.repeat(index, row);
            }
        }
        Ok(true)
    }
}
