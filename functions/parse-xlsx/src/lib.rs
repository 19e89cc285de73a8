//! Reads spreadsheets (XLSX, XLSB, XLS, ODS, CSV, TSV) into rows.
//!
//! What this room is for: a workbook of any of these formats becomes one section a sheet, each with its tables as grids,
//! values as they are shown, and whatever floats over the cells. What enters: the bytes of one workbook. What leaves:
//! [`quarry_model::Parsed`]; what could not be read is a warning in it. What it must never do: compute a formula, follow
//! a link, run a macro, size anything by what a file says of itself.
//!
//! Every format fills a [`sheet::Sheet`](self): the cells that hold something, in a sparse list, and what else stands on
//! it. From there on all formats are one: [`region`](self) finds the tables, [`header`](self) their headers,
//! [`assemble`](self) writes the rows.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]
// A match with an arm for what is missing reads better than a chain of conditions.
#![allow(clippy::single_match_else, clippy::collapsible_match)]

mod assemble;
mod bytes;
mod cells;
mod delimited;
mod formats;
mod header;
mod iso;
mod merges;
mod ods;
mod region;
mod sheet;
mod strings;
mod values;
mod xls;
mod xlsb;
mod xlsx;

use quarry_document::{Parser, Source, Warnings};
use quarry_model::{DocumentCode, DocumentFailure, Format, Limits, Parsed};

use crate::cells::Budget;

/// The parser of spreadsheets (XLSX, XLSB, XLS, ODS, CSV, TSV).
#[derive(Debug, Clone, Copy, Default)]
pub struct XlsxParser;

impl Parser for XlsxParser {
    fn name(&self) -> &'static str {
        "parse-xlsx"
    }

    fn version(&self) -> &'static str {
        "1"
    }

    fn parse(&self, source: &Source<'_>, limits: &Limits) -> Result<Parsed, DocumentFailure> {
        match source.profile.format {
            Format::Xlsx => xlsx::read(source.bytes, limits),
            Format::Xlsb => xlsb::read(source.bytes, limits),
            Format::Xls => xls::read(source.bytes, limits),
            Format::Ods => ods::read(source.bytes, limits),
            Format::Csv | Format::Tsv => delimited::read(source, limits),
            other => Err(DocumentFailure::new(DocumentCode::Unsupported, format!("{} is no spreadsheet", other.name()))),
        }
    }
}

/// What every format ends with: what was left out is said, and a workbook of which nothing could be read fails.
fn finish(mut parsed: Parsed, budget: &Budget, mut warnings: Warnings, limits: &Limits) -> Result<Parsed, DocumentFailure> {
    if budget.exceeded {
        warnings.partial(DocumentCode::TooLarge, format!("only the first {} cells are read", limits.workbook_cells));
    }
    (parsed.warnings, parsed.partial) = warnings.finish();
    match parsed.warnings.first() {
        Some(warning) if parsed.rows.is_empty() && parsed.partial => Err(DocumentFailure::new(warning.code, warning.message.clone())),
        _ => Ok(parsed),
    }
}
