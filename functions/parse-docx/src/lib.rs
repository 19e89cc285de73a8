//! Reads DOCX into rows.
//!
//! What this room is for: one `WordprocessingML` package (Transitional or Strict) becomes rows in reading order, with the
//! heading tree's evidence, tables as grids, pictures, notes, formulas and the numbers that Word computes; the reading
//! itself is `common/office`'s, which the legacy parser shares. What enters: the bytes of one document. What leaves:
//! [`quarry_model::Parsed`]; what could not be read is a warning in it. What it must never do: open an address, run a
//! macro or a field, use a name out of the package for a path, trust a size.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

use quarry_document::{Parser, Source};
use quarry_model::{DocumentFailure, Limits, Parsed};
use quarry_office::word;

/// The parser of DOCX.
#[derive(Debug, Clone, Copy, Default)]
pub struct DocxParser;

impl Parser for DocxParser {
    fn name(&self) -> &'static str {
        "parse-docx"
    }

    fn version(&self) -> &'static str {
        "1"
    }

    fn parse(&self, source: &Source<'_>, limits: &Limits) -> Result<Parsed, DocumentFailure> {
        word::read(source.bytes, limits)
    }
}
