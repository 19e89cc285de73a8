//! Reads .doc and .ppt into rows.
//!
//! What this room is for: choosing the road for the binary formats of Office. Word and PowerPoint of 1997 to 2003 are read
//! by `common/office` itself; older ones are handed to LibreOffice when it is on the machine, and what it makes of them is
//! read by the reader of the modern form. What enters: the bytes of one document. What leaves:
//! [`quarry_model::Parsed`]; a warning says when it came by way of LibreOffice. What it must never do: run a macro, let a
//! converter outlive its time, let one document's converter see another's.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

mod convert;

pub use convert::LibreOffice;

use quarry_document::{Parser, Source};
use quarry_model::{DocumentCode, DocumentFailure, Format, Limits, Parsed, Warning};
use quarry_office::{binary, slides, word};

/// The parser of .doc and .ppt.
#[derive(Debug, Clone, Default)]
pub struct LegacyParser {
    converter: Option<LibreOffice>,
}

impl LegacyParser {
    /// With LibreOffice, where it is on this machine.
    pub fn detect() -> Self {
        Self { converter: LibreOffice::detect() }
    }

    /// With this converter.
    pub fn with(converter: LibreOffice) -> Self {
        Self { converter: Some(converter) }
    }

    fn converted(&self, source: &Source<'_>, limits: &Limits, older: DocumentFailure) -> Result<Parsed, DocumentFailure> {
        let Some(converter) = &self.converter else { return Err(older) };
        let presentation = source.profile.format == Format::Ppt;
        let (from, to) = if presentation { ("ppt", "pptx") } else { ("doc", "docx") };
        let bytes = converter.convert(source.bytes, from, to, limits)?;
        let mut parsed = if presentation { slides::read(&bytes, limits)? } else { word::read(&bytes, limits)? };
        let message = format!("{}; LibreOffice converted it to {to}, which was read", older.detail);
        parsed.warnings.insert(0, Warning::new(DocumentCode::Unsupported, message));
        Ok(parsed)
    }
}

impl Parser for LegacyParser {
    fn name(&self) -> &'static str {
        "parse-legacy"
    }

    fn version(&self) -> &'static str {
        "1"
    }

    fn parse(&self, source: &Source<'_>, limits: &Limits) -> Result<Parsed, DocumentFailure> {
        let read = match source.profile.format {
            Format::Ppt => binary::ppt::read(source.bytes, limits),
            _ => binary::doc::read(source.bytes, limits),
        };
        match read {
            Err(failure) if failure.code == DocumentCode::ConverterMissing => self.converted(source, limits, failure),
            read => read,
        }
    }
}
