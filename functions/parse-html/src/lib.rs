//! HTML and XML → rows.
//!
//! What this room is for: reading web pages and XML documents. What enters: one source's bytes, in whatever encoding they
//! are, whatever they declare. What leaves: rows in reading order with headings, tables and pictures; the document's own
//! title. What it must never do: fetch what a page names, run what it holds, expand an entity, leave out a word because
//! of where on the page it stands.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

mod xml;

use quarry_document::encoding::{self, Declaration};
use quarry_document::prose::Collector;
use quarry_document::{Parser, Source, html};
use quarry_model::{DocumentCode, DocumentFailure, Format, Limits, Parsed, Row};

/// Reads HTML and XML.
#[derive(Debug, Clone, Copy, Default)]
pub struct HtmlParser;

impl Parser for HtmlParser {
    fn name(&self) -> &'static str {
        "parse-html"
    }

    fn version(&self) -> &'static str {
        "1"
    }

    fn parse(&self, source: &Source<'_>, limits: &Limits) -> Result<Parsed, DocumentFailure> {
        if source.profile.format == Format::Xml {
            return xml::read(source.bytes, limits);
        }
        let decoded = encoding::read(source.bytes, Declaration::Markup)?;
        let mut out = Collector::new(limits);
        let title = html::read_document(&decoded.text, &mut out)?;
        let mut parsed = out.finish();
        if parsed.rows.is_empty() && parsed.headings.is_empty() {
            // A page that is built by its scripts has a title at most.
            let Some(title) = &title else {
                return Err(DocumentFailure::new(DocumentCode::Empty, "the page holds no text that can be read without running it"));
            };
            parsed.rows.push(Row::text(None, title.clone()));
        }
        parsed.title = title;
        parsed.warnings.extend(decoded.warning());
        Ok(parsed)
    }
}

#[cfg(test)]
mod tests;
