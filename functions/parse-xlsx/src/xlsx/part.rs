//! A sheet's own part, streamed: its cells, merges, hidden rows and columns, and where the rest of it stands.

use std::io::Read;

use quarry_document::Warnings;
use quarry_document::xml::{Stream, StreamEvent, Tag};
use quarry_model::{DocumentCode, DocumentFailure, Limits};
use quarry_office::package::Package;

use super::{Book, is_true};
use crate::cells::{Area, Budget, Kind, place};
use crate::iso;
use crate::sheet::Sheet;
use crate::xlsx::texts::unescape;

/// Merges of one sheet; programs that write more have lost their way.
const MAX_MERGES: usize = 1_000_000;

/// Relationship ids a sheet names.
#[derive(Debug, Default)]
pub(crate) struct Pointers {
    pub drawing: Option<String>,
    pub tables: Vec<String>,
}

/// Reads a sheet. Damage costs what comes after it.
pub(crate) fn read(
    package: &mut Package<'_>,
    part: &str,
    book: &Book,
    budget: &mut Budget,
    sheet: &mut Sheet,
    limits: &Limits,
    warnings: &mut Warnings,
) -> Result<Pointers, DocumentFailure> {
    let mut reader = SheetReader {
        book,
        budget,
        sheet,
        pointers: Pointers::default(),
        cell: Cell::default(),
        row: 0,
        column: 0,
        bad_strings: 0,
        outside: 0,
    };
    let result = match package.stream(part) {
        Ok(Some(bytes)) => Stream::new(bytes, limits).and_then(|stream| reader.read(stream)),
        Ok(None) => Err(DocumentFailure::new(DocumentCode::Corrupt, format!("part {part} is missing"))),
        Err(failure) => Err(failure),
    };
    let SheetReader { pointers, bad_strings, outside, .. } = reader;
    let name = &sheet.name;
    if bad_strings > 0 {
        warnings.partial(DocumentCode::Corrupt, format!("sheet {name}: {bad_strings} cells name texts that are missing"));
    }
    if outside > 0 {
        warnings.partial(DocumentCode::Corrupt, format!("sheet {name}: {outside} cells outside the grid are left out"));
    }
    match result {
        Err(failure) if failure.code == DocumentCode::Corrupt => {
            warnings.partial(failure.code, format!("sheet {name} is read in part: {}", failure.detail));
        }
        other => other?,
    }
    Ok(pointers)
}

/// The cell being read.
#[derive(Debug, Default)]
struct Cell {
    row: u32,
    column: u32,
    style: usize,
    kind: String,
    value: String,
    inline: String,
}

struct SheetReader<'b> {
    book: &'b Book,
    budget: &'b mut Budget,
    sheet: &'b mut Sheet,
    pointers: Pointers,
    cell: Cell,
    /// The row being read, and the column after the last cell: for cells that do not say where they stand.
    row: u32,
    column: u32,
    bad_strings: u64,
    outside: u64,
}

impl SheetReader<'_> {
    fn read<R: Read>(&mut self, mut stream: Stream<R>) -> Result<(), DocumentFailure> {
        #[derive(PartialEq)]
        enum In {
            Nothing,
            Value,
            Inline,
        }
        let (mut inside, mut reading) = (In::Nothing, false);
        let mut shown = String::new();
        let mut next_row = 0_u32;
        while let Some(event) = stream.next()? {
            match event {
                StreamEvent::Start(tag) => match tag.name() {
                    "c" => self.begin_cell(&tag),
                    "v" => inside = In::Value,
                    "t" if !reading => inside = In::Inline,
                    "rPh" => reading = true,
                    "row" => {
                        let said = tag.attribute("r").and_then(|row| row.parse::<u32>().ok()).and_then(|row| row.checked_sub(1));
                        (self.row, self.column) = (said.unwrap_or(next_row), 0);
                        next_row = self.row.saturating_add(1);
                        if tag.attribute("hidden").is_some_and(|hidden| is_true(&hidden)) {
                            self.hide_row();
                        }
                    }
                    _ => self.other(&tag),
                },
                StreamEvent::Text(text) => match inside {
                    In::Value => self.cell.value.push_str(&text),
                    In::Inline => self.cell.inline.push_str(&text),
                    In::Nothing => {}
                },
                StreamEvent::End(tag) => match tag.name() {
                    "c" => {
                        if !self.end_cell(&mut shown)? {
                            return Ok(());
                        }
                    }
                    "v" | "t" => inside = In::Nothing,
                    "rPh" => reading = false,
                    _ => {}
                },
            }
        }
        Ok(())
    }

    fn begin_cell(&mut self, tag: &Tag<'_>) {
        let cell = &mut self.cell;
        (cell.row, cell.column, cell.style) = (self.row, self.column, 0);
        cell.kind.clear();
        cell.value.clear();
        cell.inline.clear();
        for (name, value) in tag.attributes() {
            match name {
                "r" => match place(&value) {
                    Some((row, column)) => (cell.row, cell.column) = (row, column),
                    None => cell.row = u32::MAX,
                },
                "s" => cell.style = value.parse().unwrap_or_default(),
                "t" => cell.kind.push_str(&value),
                _ => {}
            }
        }
        self.column = cell.column.saturating_add(1);
    }

    /// Keeps the cell. Answers `false` when no more cells are kept.
    fn end_cell(&mut self, shown: &mut String) -> Result<bool, DocumentFailure> {
        let (cell, formats) = (&self.cell, &self.book.formats);
        shown.clear();
        let value = cell.value.trim();
        let kind = match cell.kind.as_str() {
            "s" if value.is_empty() => return Ok(true),
            "s" => {
                match value.parse::<usize>().ok().and_then(|index| self.book.strings.get(index)) {
                    Some(text) => formats.text(cell.style, text, shown),
                    None => {
                        self.bad_strings = self.bad_strings.saturating_add(1);
                        shown.push('\u{fffd}');
                    }
                }
                Kind::Text
            }
            "inlineStr" => {
                formats.text(cell.style, &unescape(&cell.inline), shown);
                Kind::Text
            }
            "str" => {
                formats.text(cell.style, &unescape(&cell.value), shown);
                Kind::Text
            }
            "b" => {
                shown.push_str(if is_true(value) { "TRUE" } else { "FALSE" });
                Kind::Other
            }
            "e" => {
                shown.push_str(value);
                Kind::Other
            }
            "d" => match iso::serial(value) {
                Some(serial) => formats.number(cell.style, serial, shown),
                None => {
                    shown.push_str(value);
                    Kind::Date
                }
            },
            _ if value.is_empty() => {
                formats.text(cell.style, &unescape(&cell.inline), shown);
                Kind::Text
            }
            _ => match value.parse::<f64>() {
                Ok(number) if number.is_finite() => formats.number(cell.style, number, shown),
                _ => {
                    shown.push_str(value);
                    Kind::Text
                }
            },
        };
        if shown.trim().is_empty() {
            return Ok(true);
        }
        if !self.budget.cell(shown.len())? {
            return Ok(false);
        }
        if !self.sheet.cells.push(cell.row, cell.column, kind, formats.bold(cell.style), shown) {
            self.outside = self.outside.saturating_add(1);
        }
        Ok(true)
    }

    fn hide_row(&mut self) {
        match self.sheet.hidden_rows.last_mut() {
            Some((_, last)) if last.saturating_add(1) == self.row => *last = self.row,
            _ => self.sheet.hidden_rows.push((self.row, self.row)),
        }
    }

    fn other(&mut self, tag: &Tag<'_>) {
        let id = || tag.attribute("id").map(std::borrow::Cow::into_owned);
        match tag.name() {
            "mergeCell" if self.sheet.merges.len() < MAX_MERGES => {
                self.sheet.merges.extend(tag.attribute("ref").and_then(|reference| Area::parse(&reference)));
            }
            "col" if tag.attribute("hidden").is_some_and(|hidden| is_true(&hidden)) => {
                let number = |name| tag.attribute(name).and_then(|value| value.parse::<u32>().ok()).and_then(|value| value.checked_sub(1));
                if let (Some(first), Some(last)) = (number("min"), number("max")) {
                    self.sheet.hidden_columns.push((first, last.max(first)));
                }
            }
            "drawing" => self.pointers.drawing = id(),
            "tablePart" => self.pointers.tables.extend(id()),
            _ => {}
        }
    }
}
