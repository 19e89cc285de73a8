//! JSON and JSON Lines → rows.
//!
//! What this room is for: reading data files the way a person would read them aloud. What enters: one source's bytes, in
//! whatever Unicode encoding they are. What leaves: a section for each object, by its key; a table for each array of like
//! objects, with the union of their keys; lines `key: value` for everything else; every number as it was written. What it
//! must never do: round a number, follow a `$ref` or an address, drop a line that is broken without saying so.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

mod records;
mod source;
mod value;
mod walk;

use quarry_document::encoding::{self, Declaration};
use quarry_document::prose::Collector;
use quarry_document::{Parser, Source};
use quarry_model::{DocumentFailure, Format, Limits, Parsed};

use walk::Walk;

/// The parser of JSON and JSON Lines.
#[derive(Debug, Clone, Copy, Default)]
pub struct JsonParser;

impl Parser for JsonParser {
    fn name(&self) -> &'static str {
        "parse-json"
    }

    fn version(&self) -> &'static str {
        "1"
    }

    fn parse(&self, source: &Source<'_>, limits: &Limits) -> Result<Parsed, DocumentFailure> {
        let decoded = encoding::read(source.bytes, Declaration::Never)?;
        let document = match source.profile.format {
            Format::Jsonl => source::lines(&decoded.text, limits)?,
            _ => source::document(&decoded.text, limits)?,
        };
        let title = document.value.title().map(str::to_owned);
        let mut walk = Walk::new(Collector::new(limits));
        walk.document(&document.value);
        for broken in document.broken {
            walk.text(broken);
        }
        let mut parsed = walk.finish();
        parsed.title = title;
        parsed.partial |= !document.warnings.is_empty();
        parsed.warnings.extend(document.warnings);
        parsed.warnings.extend(decoded.warning());
        Ok(parsed)
    }
}

#[cfg(test)]
mod tests;
