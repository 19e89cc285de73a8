//! Mail and web archives (EML, MHTML) → rows.
//!
//! What this room is for: reading messages with everything in them, and web pages saved with their pictures. What enters:
//! the bytes of one message. What leaves: for a message its subject as a heading, who wrote to whom and when as its first
//! block, its text once (never both alternatives), the messages within it below it, its pictures, a list of its
//! attachments, and the text of those that are text; for a web archive the page. What it must never do: fetch what a
//! message names, use the name of an attachment for a path, run anything.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

mod archive;
mod attachment;
mod body;
mod envelope;
mod message;
mod part;

use mail_parser::MessageParser;
use quarry_document::{Parser, Source};
use quarry_model::{DocumentCode, DocumentFailure, Format, Limits, Parsed};

/// The parser of mail and web archives.
#[derive(Debug, Clone, Copy, Default)]
pub struct EmlParser;

impl Parser for EmlParser {
    fn name(&self) -> &'static str {
        "parse-eml"
    }

    fn version(&self) -> &'static str {
        "1"
    }

    fn parse(&self, source: &Source<'_>, limits: &Limits) -> Result<Parsed, DocumentFailure> {
        let bytes = without_envelope_line(source.bytes);
        let message = MessageParser::default().parse(bytes).filter(|message| !message.parts.is_empty());
        let message = message.ok_or_else(|| DocumentFailure::new(DocumentCode::Corrupt, "there are no headers of a message"))?;
        if source.profile.format == Format::Mhtml { archive::read(&message, limits) } else { message::read(&message, limits) }
    }
}

/// A message cut out of a mailbox begins with a line `From …` that is no header; some programs put empty lines before it.
fn without_envelope_line(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(bytes.len());
    let bytes = bytes.get(start..).unwrap_or_default();
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    if !bytes.starts_with(b"From ") {
        return bytes;
    }
    let end = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at.saturating_add(1));
    bytes.get(end..).unwrap_or_default()
}

#[cfg(test)]
mod tests;
