//! The records of one sheet.

use std::io::Read;

use quarry_document::Warnings;
use quarry_model::{DocumentCode, DocumentFailure};
use quarry_office::package::Package;

use super::record::{Records, text};
use crate::bytes::{error, f64_at, rk, u32_at};
use crate::cells::{Area, Budget, Kind};
use crate::formats::Formats;
use crate::sheet::Sheet;
use crate::strings::Strings;
use crate::xlsx::part::Pointers;

/// Reads a sheet. Damage costs what comes after it.
pub(super) fn read(
    package: &mut Package<'_>,
    part: &str,
    strings: &Strings,
    formats: &Formats,
    budget: &mut Budget,
    sheet: &mut Sheet,
    warnings: &mut Warnings,
) -> Result<Pointers, DocumentFailure> {
    let mut reader =
        Reader { strings, formats, budget, sheet, pointers: Pointers::default(), row: 0, bad_strings: 0, shown: String::new() };
    let result = match package.stream(part) {
        Ok(Some(stream)) => reader.read(Records::new(stream)),
        Ok(None) => Err(DocumentFailure::new(DocumentCode::Corrupt, format!("part {part} is missing"))),
        Err(failure) => Err(failure),
    };
    let Reader { pointers, bad_strings, .. } = reader;
    let name = &sheet.name;
    if bad_strings > 0 {
        warnings.partial(DocumentCode::Corrupt, format!("sheet {name}: {bad_strings} cells name texts that are missing"));
    }
    match result {
        Err(failure) if failure.code == DocumentCode::Corrupt => {
            warnings.partial(failure.code, format!("sheet {name} is read in part: {}", failure.detail));
        }
        other => other?,
    }
    Ok(pointers)
}

struct Reader<'r> {
    strings: &'r Strings,
    formats: &'r Formats,
    budget: &'r mut Budget,
    sheet: &'r mut Sheet,
    pointers: Pointers,
    row: u32,
    bad_strings: u64,
    shown: String,
}

impl Reader<'_> {
    fn read<R: Read>(&mut self, mut records: Records<R>) -> Result<(), DocumentFailure> {
        while let Some((kind, data)) = records.next()? {
            match kind {
                0 => {
                    self.row = u32_at(data, 0).unwrap_or(u32::MAX);
                    if data.get(11).is_some_and(|flags| flags & 0x10 != 0) {
                        self.sheet.hidden_rows.push((self.row, self.row));
                    }
                }
                2..=11 | 62 => {
                    if !self.cell(kind, data)? {
                        return Ok(());
                    }
                }
                176 => self.sheet.merges.extend(area(data)),
                60 if data.get(16).is_some_and(|flags| flags & 1 != 0) => {
                    if let (Some(first), Some(last)) = (u32_at(data, 0), u32_at(data, 4)) {
                        self.sheet.hidden_columns.push((first, last.max(first)));
                    }
                }
                550 => self.pointers.drawing = text(data, 0).map(|(id, _)| id),
                661 => self.pointers.tables.extend(text(data, 0).map(|(id, _)| id)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Keeps a cell. Answers `false` when no more cells are kept.
    fn cell(&mut self, kind: u16, data: &[u8]) -> Result<bool, DocumentFailure> {
        let (Some(column), Some(style)) = (u32_at(data, 0), u32_at(data, 4)) else { return Ok(true) };
        let style = (style & 0x00ff_ffff) as usize;
        let byte = data.get(8).copied().unwrap_or_default();
        self.shown.clear();
        let shown = &mut self.shown;
        let what = match kind {
            2 => self.formats.number(style, u32_at(data, 8).map(rk).unwrap_or_default(), shown),
            5 | 9 => self.formats.number(style, f64_at(data, 8).unwrap_or_default(), shown),
            3 | 11 => {
                shown.push_str(error(byte));
                Kind::Other
            }
            4 | 10 => {
                shown.push_str(if byte == 0 { "FALSE" } else { "TRUE" });
                Kind::Other
            }
            7 => {
                match u32_at(data, 8).and_then(|index| self.strings.get(index as usize)) {
                    Some(text) => self.formats.text(style, text, shown),
                    None => {
                        self.bad_strings = self.bad_strings.saturating_add(1);
                        shown.push('\u{fffd}');
                    }
                }
                Kind::Text
            }
            // A rich text has a byte of flags before it.
            _ => {
                let at = if kind == 62 { 9 } else { 8 };
                self.formats.text(style, &text(data, at).map(|(text, _)| text).unwrap_or_default(), shown);
                Kind::Text
            }
        };
        if shown.trim().is_empty() {
            return Ok(true);
        }
        if !self.budget.cell(shown.len())? {
            return Ok(false);
        }
        self.sheet.cells.push(self.row, column, what, self.formats.bold(style), shown);
        Ok(true)
    }
}

/// First and last row, first and last column.
pub(super) fn area(data: &[u8]) -> Option<Area> {
    let (top, bottom, left, right) = (u32_at(data, 0)?, u32_at(data, 4)?, u32_at(data, 8)?, u32_at(data, 12)?);
    (top <= bottom && left <= right).then_some(Area { top, left, bottom, right })
}
