//! A bounded reader of XML parts.
//!
//! Two forms over one core: [`Reader`] pulls events, [`Tree`] holds a whole part in flat arrays, so that neither
//! building nor dropping it ever recurses. [`Stream`] pulls events out of a part that is never held whole. Depth, attributes per element, live namespace bindings and nodes are
//! limited. A document type is skipped: no entity is ever expanded beyond the five built-in ones and character
//! references; any other reference stays in the text as it is written. Nothing is fetched.
//!
//! Namespaces are compared by meaning ([`Ns`]): Strict OOXML reads as Transitional, whatever the prefixes are.

mod namespace;
mod reader;
mod stream;
mod tree;

pub use namespace::Ns;
pub use reader::{Attributes, Event, Reader};
pub use stream::{EndTag, Stream, StreamEvent, Tag};
pub use tree::{Child, Children, Element, Tree};

use quarry_model::{DocumentCode, DocumentFailure};

/// Decodes a part: by its byte order mark, else by the encoding its declaration names, else UTF-8 (or UTF-16 where the
/// first bytes show it). Bytes that are not valid become U+FFFD; that never fails a document.
pub fn decode(bytes: Vec<u8>) -> String {
    let encoding = encoding_of(&bytes);
    if encoding == encoding_rs::UTF_8 && encoding_rs::Encoding::for_bom(&bytes).is_none() {
        return String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    }
    let (text, _, _) = encoding.decode(&bytes);
    text.into_owned()
}

/// The encoding of a part that begins so; a byte order mark still overrules it.
fn encoding_of(head: &[u8]) -> &'static encoding_rs::Encoding {
    if encoding_rs::Encoding::for_bom(head).is_some() {
        return encoding_rs::UTF_8;
    }
    match head.get(..4) {
        Some([b'<', 0, _, 0]) => encoding_rs::UTF_16LE,
        Some([0, b'<', 0, _]) => encoding_rs::UTF_16BE,
        _ => declared_encoding(head).unwrap_or(encoding_rs::UTF_8),
    }
}

/// The encoding named in the XML declaration of a part in an ASCII-compatible encoding.
fn declared_encoding(bytes: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    let head = bytes.get(..bytes.len().min(256))?;
    let head = head.strip_prefix(b"<?xml")?;
    let head = String::from_utf8_lossy(head.get(..head.windows(2).position(|pair| pair == b"?>")?)?).into_owned();
    let (_, value) = head.split_once("encoding")?;
    let value = value.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let label = value.get(1..)?.split(quote).next()?;
    // A part that reached this line is readable as ASCII, so a claim of UTF-16 is a leftover.
    encoding_rs::Encoding::for_label(label.as_bytes()).filter(|encoding| encoding.is_ascii_compatible())
}

/// A damaged part, at a byte offset.
fn corrupt(at: u64, what: impl std::fmt::Display) -> DocumentFailure {
    DocumentFailure::new(DocumentCode::Corrupt, format!("XML at byte {at}: {what}"))
}

#[cfg(test)]
mod tests;
