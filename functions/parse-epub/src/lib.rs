//! Reads EPUB into rows.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

use quarry_document::{Parser, Source};
use quarry_model::{DocumentCode, DocumentFailure, Limits, Parsed};

/// The parser of EPUB.
#[derive(Debug, Clone, Copy, Default)]
pub struct EpubParser;

impl Parser for EpubParser {
    fn name(&self) -> &'static str {
        "parse-epub"
    }

    fn version(&self) -> &'static str {
        "1"
    }

    fn parse(&self, _source: &Source<'_>, _limits: &Limits) -> Result<Parsed, DocumentFailure> {
        Err(DocumentFailure::new(DocumentCode::Unsupported, "not read yet"))
    }
}
