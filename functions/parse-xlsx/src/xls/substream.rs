//! The records of one sheet.

use std::collections::BTreeMap;

use quarry_model::{DocumentCode, DocumentFailure};

use super::art::{Shape, Shapes};
use super::globals::Globals;
use super::record::{BOF, EOF, Pieces, Record, Records};
use crate::bytes::{error, f64_at, rk, u16_at, u32_at};
use crate::cells::{Area, Budget, Kind};
use crate::sheet::{Float, Floating, Sheet};

/// Reads a sheet; answers its pictures.
///
/// Fails with `CORRUPT` when the records do not begin, or are cut off; what was read stays in the sheet.
pub(super) fn read(stream: &[u8], globals: &Globals, budget: &mut Budget, sheet: &mut Sheet) -> Result<Vec<Shape>, DocumentFailure> {
    let mut records = Records::new(stream);
    if records.next().is_none_or(|first| first.kind != BOF) {
        return Err(DocumentFailure::new(DocumentCode::Corrupt, "its records are not where they should be"));
    }
    let mut reader = Reader {
        globals,
        budget,
        sheet,
        shapes: Shapes::default(),
        pending: None,
        object: (0, 0),
        texts: BTreeMap::new(),
        notes: Vec::new(),
        chart: Vec::new(),
        shown: String::new(),
        more: true,
    };
    let mut depth = 1_usize;
    while let Some(record) = records.next().filter(|_| reader.more) {
        match record.kind {
            // A chart on the sheet has its records inside the sheet's.
            BOF => depth = depth.saturating_add(1),
            EOF => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Ok(reader.finish());
                }
                reader.end_chart();
            }
            0x100d => reader.chart.extend(globals.dialect.text(record.data, 2, 1)),
            0xec => reader.shapes.read(record.data),
            0x1b6 if globals.dialect.unicode => {
                let pieces = records.continued();
                reader.text(record.data, pieces);
            }
            _ if depth == 1 => reader.record(record)?,
            _ => {}
        }
    }
    let cut = reader.more;
    let shapes = reader.finish();
    if cut { Err(DocumentFailure::new(DocumentCode::Corrupt, "its records are cut off")) } else { Ok(shapes) }
}

struct Reader<'r> {
    globals: &'r Globals,
    budget: &'r mut Budget,
    sheet: &'r mut Sheet,
    shapes: Shapes,
    /// The cell of a formula whose text comes in a record of its own.
    pending: Option<(u32, u32, usize)>,
    /// Kind and number of the last object.
    object: (u16, u16),
    /// Texts of objects: where the object stands, whether it is a note, what it says.
    texts: BTreeMap<u16, (u32, u32, String)>,
    notes: Vec<(u32, u32, u16, String)>,
    /// Titles and names of the chart being read.
    chart: Vec<String>,
    shown: String,
    more: bool,
}

impl Reader<'_> {
    fn record(&mut self, record: Record<'_>) -> Result<(), DocumentFailure> {
        let data = record.data;
        let Some((row, column)) = u16_at(data, 0).zip(u16_at(data, 2)).map(|(row, column)| (u32::from(row), u32::from(column))) else {
            return Ok(());
        };
        let style = usize::from(u16_at(data, 4).unwrap_or_default());
        match record.kind {
            0x203 => self.number(row, column, style, f64_at(data, 6))?,
            0x27e => self.number(row, column, style, u32_at(data, 6).map(rk))?,
            0xbd => {
                for (index, pair) in data.get(4..).unwrap_or_default().chunks_exact(6).enumerate() {
                    let style = usize::from(u16_at(pair, 0).unwrap_or_default());
                    let column = column.saturating_add(u32::try_from(index).unwrap_or(u32::MAX));
                    self.number(row, column, style, u32_at(pair, 2).map(rk))?;
                }
            }
            0xfd => {
                let index = u32_at(data, 6).unwrap_or(u32::MAX) as usize;
                let text = self.globals.strings.get(index).unwrap_or("\u{fffd}").to_owned();
                self.label(row, column, style, &text)?;
            }
            0x204 | 0xd6 => {
                let text = self.globals.dialect.text(data, 6, 2).unwrap_or_default();
                self.label(row, column, style, &text)?;
            }
            0x205 => self.bool_or_error(row, column, style, data.get(6).copied(), data.get(7) == Some(&1))?,
            0x06 | 0x206 | 0x406 => self.formula(row, column, style, data)?,
            0x207 => {
                if let Some((row, column, style)) = self.pending.take() {
                    let text = self.globals.dialect.text(data, 0, 2).unwrap_or_default();
                    self.label(row, column, style, &text)?;
                }
            }
            0x208 if u16_at(data, 12).is_some_and(|flags| flags & 0x20 != 0) => self.sheet.hidden_rows.push((row, row)),
            0x7d if u16_at(data, 8).is_some_and(|flags| flags & 1 != 0) => {
                // Of this record the first two fields are the columns.
                self.sheet.hidden_columns.push((row, column.max(row)));
            }
            0xe5 => {
                for area in data.get(2..).unwrap_or_default().chunks_exact(8) {
                    let at = |place| u32::from(u16_at(area, place).unwrap_or_default());
                    let (top, bottom, left, right) = (at(0), at(2), at(4), at(6));
                    if top <= bottom && left <= right {
                        self.sheet.merges.push(Area { top, left, bottom, right });
                    }
                }
            }
            0x5d => self.object = (u16_at(data, 4).unwrap_or_default(), u16_at(data, 6).unwrap_or_default()),
            0x1c if self.globals.dialect.unicode => {
                let author = self.globals.dialect.text(data, 8, 2).unwrap_or_default();
                self.notes.push((row, column, u16_at(data, 6).unwrap_or_default(), author));
            }
            _ => {}
        }
        Ok(())
    }

    fn number(&mut self, row: u32, column: u32, style: usize, value: Option<f64>) -> Result<(), DocumentFailure> {
        let Some(value) = value else { return Ok(()) };
        self.shown.clear();
        let kind = self.globals.formats.number(style, value, &mut self.shown);
        self.keep(row, column, style, kind)
    }

    fn label(&mut self, row: u32, column: u32, style: usize, text: &str) -> Result<(), DocumentFailure> {
        self.shown.clear();
        self.globals.formats.text(style, text, &mut self.shown);
        self.keep(row, column, style, Kind::Text)
    }

    fn bool_or_error(&mut self, row: u32, column: u32, style: usize, value: Option<u8>, is_error: bool) -> Result<(), DocumentFailure> {
        let value = value.unwrap_or_default();
        self.shown.clear();
        self.shown.push_str(if is_error {
            error(value)
        } else if value != 0 {
            "TRUE"
        } else {
            "FALSE"
        });
        self.keep(row, column, style, Kind::Other)
    }

    /// A formula's cached value ([MS-XLS] 2.5.133).
    fn formula(&mut self, row: u32, column: u32, style: usize, data: &[u8]) -> Result<(), DocumentFailure> {
        self.pending = None;
        if u16_at(data, 12) != Some(0xffff) {
            return self.number(row, column, style, f64_at(data, 6));
        }
        match data.get(6) {
            Some(0) => self.pending = Some((row, column, style)),
            Some(1) => self.bool_or_error(row, column, style, data.get(8).copied(), false)?,
            Some(2) => self.bool_or_error(row, column, style, data.get(8).copied(), true)?,
            _ => {}
        }
        Ok(())
    }

    fn keep(&mut self, row: u32, column: u32, style: usize, kind: Kind) -> Result<(), DocumentFailure> {
        if self.shown.trim().is_empty() {
            return Ok(());
        }
        self.more = self.budget.cell(self.shown.len())?;
        if self.more {
            self.sheet.cells.push(row, column, kind, self.globals.formats.bold(style), &self.shown);
        }
        Ok(())
    }

    /// The text of an object: characters in the records that continue it, the last of which holds its runs.
    fn text(&mut self, data: &[u8], pieces: Vec<&[u8]>) {
        let count = usize::from(u16_at(data, 10).unwrap_or_default());
        let mut pieces = Pieces::new(pieces);
        let Some(flags) = pieces.byte().filter(|_| count > 0) else { return };
        let text = pieces.characters(count, flags & 1 != 0).replace('\r', "\n").trim().to_owned();
        if !text.is_empty() {
            let (row, column) = self.shapes.place();
            self.texts.insert(self.object.1, (row, column, text));
        }
    }

    fn end_chart(&mut self) {
        let told = std::mem::take(&mut self.chart);
        let told: Vec<String> = told.into_iter().filter(|text| !text.trim().is_empty()).collect();
        if !told.is_empty() {
            let (row, column) = self.shapes.place();
            self.sheet.floats.push(Float { row, column, what: Floating::Chart(told.join("\n")) });
        }
    }

    fn finish(mut self) -> Vec<Shape> {
        self.end_chart();
        for (row, column, object, author) in std::mem::take(&mut self.notes) {
            let Some((_, _, text)) = self.texts.remove(&object) else { continue };
            let text = text.strip_prefix(&format!("{author}:")).filter(|_| !author.is_empty()).unwrap_or(&text).trim().to_owned();
            self.sheet.floats.push(Float { row, column, what: Floating::Note { author, text } });
        }
        for (row, column, text) in std::mem::take(&mut self.texts).into_values() {
            self.sheet.floats.push(Float { row, column, what: Floating::Text(text) });
        }
        self.shapes.pictures()
    }
}
