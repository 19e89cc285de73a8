//! Reads PPTX into rows.
//!
//! What this room is for: one `PresentationML` package (Transitional or Strict) becomes rows, one section and one page for
//! each slide; the reading itself is `common/office`'s, which the legacy parser shares. What enters: the bytes of one
//! presentation. What leaves: [`quarry_model::Parsed`]; what could not be read is a warning in it. What it must never do:
//! open an address, run a macro, use a name out of the package for a path, trust a size.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

use quarry_document::{Parser, Source};
use quarry_model::{DocumentFailure, Limits, Parsed};
use quarry_office::slides;

/// The parser of PPTX.
#[derive(Debug, Clone, Copy, Default)]
pub struct PptxParser;

impl Parser for PptxParser {
    fn name(&self) -> &'static str {
        "parse-pptx"
    }

    fn version(&self) -> &'static str {
        "1"
    }

    fn parse(&self, source: &Source<'_>, limits: &Limits) -> Result<Parsed, DocumentFailure> {
        slides::read(source.bytes, limits)
    }
}
