//! RTF → rows.
//!
//! What this room is for: Rich Text Format, as Word, `LibreOffice` and many others write it, becomes rows in reading
//! order, with headings by outline level, labels of lists, merged and nested tables, notes, comments, text boxes and
//! pictures. What enters: the bytes of one document. What leaves: [`quarry_model::Parsed`]; what could not be read is a
//! warning in it. What it must never do: run or open an object, follow a link, trust a length.
//!
//! The reader is a loop over tokens with a stack of group states: nothing in it recurses.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

mod charset;
mod context;
mod control;
mod picture;
mod reader;
mod sheet;
mod state;
mod table;
mod token;

use quarry_document::{Parser, Source};
use quarry_model::{DocumentFailure, Limits, Parsed};

/// The parser of RTF.
#[derive(Debug, Clone, Copy, Default)]
pub struct RtfParser;

impl Parser for RtfParser {
    fn name(&self) -> &'static str {
        "parse-rtf"
    }

    fn version(&self) -> &'static str {
        "1"
    }

    fn parse(&self, source: &Source<'_>, limits: &Limits) -> Result<Parsed, DocumentFailure> {
        reader::read(source.bytes, limits)
    }
}

#[cfg(test)]
mod tests;
