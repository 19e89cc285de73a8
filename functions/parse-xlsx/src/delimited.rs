//! Separated values: CSV and TSV, whatever their separator and encoding.

use csv_core::{ReadFieldResult, Reader, ReaderBuilder};
use quarry_document::encoding::{self, Declaration};
use quarry_document::{Source, Warnings};
use quarry_model::{DocumentCode, DocumentFailure, Format, Limits, Parsed};

use crate::assemble;
use crate::cells::{Budget, Kind, MAX_COLUMNS, MAX_ROWS};
use crate::sheet::Sheet;
use crate::values;

/// Separators there are; where two explain a file equally well the earlier one does: a comma also stands in numbers and
/// sentences.
const SEPARATORS: [u8; 4] = [b'\t', b';', b'|', b','];
/// Text looked at to find the separator.
const SAMPLE_BYTES: usize = 64 << 10;
const SAMPLE_ROWS: usize = 200;

pub(crate) fn read(source: &Source<'_>, limits: &Limits) -> Result<Parsed, DocumentFailure> {
    let decoded = encoding::read(source.bytes, Declaration::Never)?;
    let mut warnings = Warnings::default();
    let (text, declared) = declared_separator(&decoded.text);
    let separator = declared.unwrap_or_else(|| find_separator(text, source.profile.format));
    let mut budget = Budget::of_text(limits);
    let mut sheet = Sheet { whole: true, ..Sheet::default() };
    let mut outside = fill(&mut sheet, text, separator, true, &mut budget)?;
    if outside.open_quote {
        // A quote that nothing closes would make one cell of the rest: it is a character like any other.
        warnings.note(DocumentCode::Corrupt, "a quotation mark has no end; quotation marks are read as text");
        budget = Budget::of_text(limits);
        sheet = Sheet { whole: true, ..Sheet::default() };
        outside = fill(&mut sheet, text, separator, false, &mut budget)?;
    }
    if outside.cells > 0 {
        let message = format!("{} values beyond {MAX_COLUMNS} columns or {MAX_ROWS} rows are left out", outside.cells);
        warnings.partial(DocumentCode::TooLarge, message);
    }
    let mut parsed = Parsed::default();
    assemble::add(sheet, &mut parsed, limits);
    let mut parsed = crate::finish(parsed, &budget, warnings, limits)?;
    parsed.warnings.extend(decoded.warning());
    Ok(parsed)
}

/// `sep=;` in the first line, as Excel writes and reads it.
fn declared_separator(text: &str) -> (&str, Option<u8>) {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    match line.trim_end_matches('\r').strip_prefix("sep=").map(str::as_bytes) {
        Some([separator]) => (rest, Some(*separator)),
        _ => (text, None),
    }
}

/// The separator that gives most rows of the sample the same number of columns.
fn find_separator(text: &str, format: Format) -> u8 {
    let usual = if format == Format::Tsv { b'\t' } else { b',' };
    let end = text.floor_char_boundary(SAMPLE_BYTES.min(text.len()));
    let mut sample = text.get(..end).unwrap_or_default();
    if end < text.len() {
        // The last line is cut.
        sample = sample.rsplit_once('\n').map_or(sample, |(whole, _)| whole);
    }
    let mut best = (0_u64, usual);
    for separator in SEPARATORS {
        let score = evenness(sample, separator);
        if score > best.0 || (score == best.0 && score > 0 && separator == usual && format == Format::Tsv) {
            best = (score, separator);
        }
    }
    best.1
}

/// How evenly a separator parts the rows of a sample: the share of rows, in thousandths, that have the commonest number
/// of columns; nothing when that is one.
fn evenness(sample: &str, separator: u8) -> u64 {
    let mut counts: std::collections::BTreeMap<u64, u64> = std::collections::BTreeMap::new();
    let (mut rows, mut columns) = (0_usize, 0_u64);
    each_field(sample, separator, true, |_, ends_row| {
        columns = columns.saturating_add(1);
        if ends_row {
            let count = counts.entry(columns).or_default();
            *count = count.saturating_add(1);
            (rows, columns) = (rows.saturating_add(1), 0);
        }
        Ok(rows < SAMPLE_ROWS)
    })
    .ok();
    let all: u64 = counts.values().sum();
    let common = counts.iter().max_by_key(|(columns, rows)| (**rows, **columns));
    match common {
        Some((columns, rows)) if *columns > 1 => rows.saturating_mul(1_000).checked_div(all).unwrap_or_default(),
        // Few rows of a table, many of a preface: still better than no separator at all.
        _ => counts.iter().filter(|(columns, _)| **columns > 1).map(|(_, rows)| *rows).max().unwrap_or(0).min(1),
    }
}

/// What did not go into the grid.
#[derive(Debug, Default)]
struct Outside {
    cells: u64,
    open_quote: bool,
}

fn fill(sheet: &mut Sheet, text: &str, separator: u8, quotes: bool, budget: &mut Budget) -> Result<Outside, DocumentFailure> {
    let (mut row, mut column) = (0_u32, 0_u32);
    let mut outside = Outside::default();
    let open_quote = each_field(text, separator, quotes, |field, ends_row| {
        let field = String::from_utf8_lossy(field);
        let kept = field.trim();
        if !kept.is_empty() {
            if row >= MAX_ROWS || column >= MAX_COLUMNS {
                outside.cells = outside.cells.saturating_add(1);
            } else if !budget.cell(kept.len())? {
                return Ok(false);
            } else {
                sheet.cells.push(row, column, kind(kept), false, kept);
            }
        }
        column = column.saturating_add(1);
        if ends_row {
            (row, column) = (row.saturating_add(1), 0);
        }
        Ok(true)
    })?;
    outside.open_quote = open_quote;
    Ok(outside)
}

fn kind(text: &str) -> Kind {
    if values::is_number(text) {
        Kind::Number
    } else if crate::iso::serial(text).is_some() {
        Kind::Date
    } else {
        Kind::Text
    }
}

/// Calls `take` with each field and whether it ends its row, until it answers `false`. Answers whether the text ended
/// inside quotation marks.
fn each_field(
    text: &str,
    separator: u8,
    quotes: bool,
    mut take: impl FnMut(&[u8], bool) -> Result<bool, DocumentFailure>,
) -> Result<bool, DocumentFailure> {
    let mut reader: Reader = ReaderBuilder::new().delimiter(separator).quoting(quotes).build();
    let mut rest = text.as_bytes();
    let mut field: Vec<u8> = vec![0; 4 << 10];
    let mut filled = 0_usize;
    loop {
        let (result, read, written) = reader.read_field(rest, field.get_mut(filled..).unwrap_or_default());
        let ended = rest.len() == read;
        let last = read.checked_sub(1).and_then(|at| rest.get(at)).copied();
        rest = rest.get(read..).unwrap_or_default();
        filled = filled.saturating_add(written);
        match result {
            ReadFieldResult::OutputFull => field.resize(field.len().saturating_mul(2), 0),
            ReadFieldResult::Field { record_end } => {
                let value = field.get(..filled).unwrap_or_default();
                // At the end of the text without a line end: a field that was opened by a quotation mark and not closed
                // by one runs over what should be rows.
                if ended && quotes && last != Some(b'"') && last != Some(b'\n') && last != Some(b'\r') && is_runaway(value) {
                    return Ok(true);
                }
                if !take(value, record_end)? {
                    return Ok(false);
                }
                filled = 0;
            }
            // An empty input tells the reader that there is no more.
            ReadFieldResult::InputEmpty => {
                if ended && rest.is_empty() && read == 0 {
                    return Ok(false);
                }
            }
            ReadFieldResult::End => return Ok(false),
        }
    }
}

/// Whether a last field holds what looks like rows.
fn is_runaway(field: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', field).nth(1).is_some()
}
