//! Bytes of a text file → text, whatever they were written in.
//!
//! The order of evidence: byte order mark; NUL pattern (UTF-16 without a mark); valid UTF-8; for markup what the file says
//! of itself (`<meta charset>`, XML declaration); statistics (chardetng), with a prior for Chinese when the text is very
//! short. A byte that does not fit is replaced by U+FFFD and counted: one bad byte never fails a document.

mod declared;
mod detect;
mod wide;

use std::borrow::Cow;

use encoding_rs::Encoding;
use quarry_model::{DocumentCode, DocumentFailure, Warning};

pub use detect::looks_like_text;

/// Whether the bytes may declare their own encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Declaration {
    /// Plain text and Markdown: nothing in the text speaks of its encoding.
    Never,
    /// HTML and XML: `<meta charset>`, `<?xml encoding="…"?>`.
    Markup,
}

/// What the bytes are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charset {
    /// An encoding of the WHATWG standard.
    Standard(&'static Encoding),
    /// UTF-32, little endian: outside that standard, but written by some editors.
    Utf32Le,
    /// UTF-32, big endian.
    Utf32Be,
}

impl Charset {
    /// Its label: `UTF-8`, `GBK`, `UTF-16LE`, …
    pub fn label(self) -> &'static str {
        match self {
            Self::Standard(encoding) => encoding.name(),
            Self::Utf32Le => "UTF-32LE",
            Self::Utf32Be => "UTF-32BE",
        }
    }
}

/// Text read from bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// The text, without a byte order mark.
    pub text: Cow<'a, str>,
    /// What the bytes were written in.
    pub charset: Charset,
    /// How many malformed sequences were replaced by U+FFFD.
    pub replaced: usize,
    /// What to add to an offset into `text` to get the offset into the source; `None` when the two do not run in step.
    pub source_offset: Option<u64>,
}

impl Decoded<'_> {
    /// What to tell the reader of the manifest, when something had to be replaced.
    pub fn warning(&self) -> Option<Warning> {
        (self.replaced > 0).then(|| {
            let label = self.charset.label();
            Warning::new(
                DocumentCode::Corrupt,
                format!("{} byte sequences are not valid {label} and were replaced by U+FFFD", self.replaced),
            )
        })
    }

    /// A byte range of `text` as a byte range of the source, when they run in step.
    pub fn source_span(&self, range: std::ops::Range<usize>) -> Option<(u64, u64)> {
        let offset = self.source_offset?;
        Some((offset.saturating_add(range.start as u64), offset.saturating_add(range.end as u64)))
    }
}

/// Reads a document of text: what holds no text at all is refused, `EMPTY` for nothing but white space, `CORRUPT` for
/// nothing but NULs and other controls.
pub fn read(bytes: &[u8], declaration: Declaration) -> Result<Decoded<'_>, DocumentFailure> {
    let decoded = decode(bytes, declaration);
    if decoded.text.chars().any(|c| !c.is_whitespace() && !c.is_control() && c != '\u{feff}') {
        return Ok(decoded);
    }
    let controls = decoded.text.chars().any(|c| c.is_control() && !c.is_whitespace());
    let (code, detail) = if controls {
        (DocumentCode::Corrupt, "the file holds no text, only control characters")
    } else {
        (DocumentCode::Empty, "the file holds no text")
    };
    Err(DocumentFailure::new(code, detail))
}

/// Finds out what `bytes` are written in, and reads them.
pub fn decode(bytes: &[u8], declaration: Declaration) -> Decoded<'_> {
    let (charset, mark) = detect::detect(bytes, declaration);
    let body = bytes.get(mark..).unwrap_or_default();
    let encoding = match charset {
        Charset::Standard(encoding) => encoding,
        Charset::Utf32Le => return wide::decode_utf32(body, charset, u32::from_le_bytes),
        Charset::Utf32Be => return wide::decode_utf32(body, charset, u32::from_be_bytes),
    };
    let (text, had_errors) = encoding.decode_without_bom_handling(body);
    let replaced = if had_errors { text.matches('\u{fffd}').count().max(1) } else { 0 };
    let in_step = encoding == encoding_rs::UTF_8 && !had_errors;
    Decoded { text, charset, replaced, source_offset: in_step.then_some(mark as u64) }
}

#[cfg(test)]
mod tests;
