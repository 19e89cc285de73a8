//! Plain text and Markdown → rows.
//!
//! What this room is for: reading the two formats whose source is running text. What enters: one source's bytes, in
//! whatever encoding. What leaves: rows in reading order, headings with their evidence, pictures the text holds itself.
//! What it must never do: fetch what a text names, run what it holds, drop a word because of how it is written.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

pub mod markdown;
pub mod plain;

use quarry_document::encoding::{self, Declaration};
use quarry_document::{Parser, Source};
use quarry_model::{DocumentFailure, Format, Limits, Parsed};

/// Reads plain text and Markdown.
#[derive(Debug, Clone, Copy, Default)]
pub struct TextParser;

impl Parser for TextParser {
    fn name(&self) -> &'static str {
        "parse-text"
    }

    fn version(&self) -> &'static str {
        "1"
    }

    fn parse(&self, source: &Source<'_>, limits: &Limits) -> Result<Parsed, DocumentFailure> {
        let decoded = encoding::read(source.bytes, Declaration::Never)?;
        let mut parsed = if source.profile.format == Format::Markdown { markdown::read(&decoded, limits) } else { plain::read(&decoded) };
        parsed.warnings.extend(decoded.warning());
        Ok(parsed)
    }
}

#[cfg(test)]
mod tests;
