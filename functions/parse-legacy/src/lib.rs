//! Reads legacy Office files (DOC, PPT) into rows.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

use quarry_document::{Parser, Source};
use quarry_model::{DocumentCode, DocumentFailure, Limits, Parsed};

/// The parser of legacy Office files (DOC, PPT).
#[derive(Debug, Clone, Copy, Default)]
pub struct LegacyParser;

impl Parser for LegacyParser {
    fn name(&self) -> &'static str {
        "parse-legacy"
    }

    fn version(&self) -> &'static str {
        "1"
    }

    fn parse(&self, _source: &Source<'_>, _limits: &Limits) -> Result<Parsed, DocumentFailure> {
        Err(DocumentFailure::new(DocumentCode::Unsupported, "not read yet"))
    }
}
