//! Pulls events out of a part that is decoded as it is read: sheets of millions of cells never stand in memory whole.
//!
//! Namespaces are not resolved: names are compared without their prefix. That is enough for parts of one vocabulary.

use std::borrow::Cow;
use std::io::{BufRead, Read};

use encoding_rs::{CoderResult, Decoder};
use quarry_model::{DocumentCode, DocumentFailure, Limits};
use quick_xml::events::{BytesEnd, BytesStart, Event as Raw};

use super::reader::{resolve, unescape};
use super::{corrupt, encoding_of};
use crate::archive::failure_of;

/// Bytes decoded at a time.
const BLOCK: usize = 64 << 10;
/// Longest start tag. A cell's has fifty bytes, a root element's with its namespaces three thousand.
const MAX_TAG: usize = 1 << 20;

/// What comes next.
#[derive(Debug)]
pub enum StreamEvent<'r> {
    /// An element begins. An empty element gives `Start` and then `End`.
    Start(Tag<'r>),
    /// Characters, entities and line ends resolved; one run of text may come in pieces.
    Text(Cow<'r, str>),
    /// An element ends.
    End(EndTag<'r>),
}

/// An end tag.
#[derive(Debug)]
pub struct EndTag<'r>(BytesEnd<'r>);

impl EndTag<'_> {
    /// The name without its prefix.
    pub fn name(&self) -> &str {
        local(self.0.name().into_inner())
    }
}

/// A start tag.
#[derive(Debug)]
pub struct Tag<'r> {
    start: BytesStart<'r>,
    max_attributes: usize,
}

impl Tag<'_> {
    /// The name without its prefix.
    pub fn name(&self) -> &str {
        local(self.start.name().into_inner())
    }

    /// The attributes, names without prefix, in order. Damaged ones are left out.
    pub fn attributes(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        let mut all = self.start.attributes();
        all.with_checks(false);
        all.take(self.max_attributes).filter_map(Result::ok).map(|attribute| {
            let key = attribute.key.into_inner();
            let value = match attribute.value {
                Cow::Borrowed(value) => unescape(value),
                Cow::Owned(value) => Cow::Owned(unescape(&value).into_owned()),
            };
            (local(key), value)
        })
    }

    /// The attribute of this name, whatever its prefix.
    pub fn attribute(&self, name: &str) -> Option<Cow<'_, str>> {
        self.attributes().find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}

/// A bounded pull reader over bytes as they come.
pub struct Stream<R> {
    inner: quick_xml::Reader<Decoded<R>>,
    buffer: Vec<u8>,
    depth: usize,
    max_depth: usize,
    max_attributes: usize,
}

impl<R: Read> Stream<R> {
    /// A reader over the bytes of one part, in whatever encoding it says it is.
    pub fn new(bytes: R, limits: &Limits) -> Result<Self, DocumentFailure> {
        let mut inner = quick_xml::Reader::from_reader(Decoded::new(bytes)?);
        inner.config_mut().allow_dangling_amp = true;
        inner.config_mut().expand_empty_elements = true;
        let (max_depth, max_attributes) = (limits.xml_depth as usize, limits.xml_attributes as usize);
        Ok(Self { inner, buffer: Vec::new(), depth: 0, max_depth, max_attributes })
    }

    /// The next event, or `None` at the end of a well-formed part. What a part holds beside elements and text (comments,
    /// declarations) is an empty run of text.
    ///
    /// Fails with `TOO_DEEP`, `TOO_LARGE` (a start tag), `CORRUPT`, or with what reading the bytes fails with.
    #[allow(clippy::should_implement_trait, reason = "it lends from the reader, which an iterator cannot")]
    pub fn next(&mut self) -> Result<Option<StreamEvent<'_>>, DocumentFailure> {
        let at = self.inner.buffer_position();
        self.buffer.clear();
        let event = match self.inner.read_event_into(&mut self.buffer) {
            Ok(event) => event,
            Err(quick_xml::Error::Io(error)) => return Err(failure_of(&error)),
            Err(error) => return Err(corrupt(at, error)),
        };
        Ok(Some(match event {
            Raw::Start(start) | Raw::Empty(start) => {
                self.depth = self.depth.saturating_add(1);
                if self.depth > self.max_depth {
                    let detail = format!("XML elements nested deeper than {}", self.max_depth);
                    return Err(DocumentFailure::new(DocumentCode::TooDeep, detail));
                }
                if start.len() > MAX_TAG {
                    return Err(DocumentFailure::new(DocumentCode::TooLarge, format!("an XML start tag of more than {MAX_TAG} bytes")));
                }
                StreamEvent::Start(Tag { start, max_attributes: self.max_attributes })
            }
            Raw::End(end) => {
                self.depth = self.depth.saturating_sub(1);
                StreamEvent::End(EndTag(end))
            }
            Raw::Text(text) => StreamEvent::Text(text.xml10_content()),
            Raw::CData(text) => StreamEvent::Text(text.xml10_content()),
            Raw::GeneralRef(reference) => StreamEvent::Text(Cow::Owned(resolve(&reference))),
            Raw::Eof if self.depth == 0 => return Ok(None),
            Raw::Eof => return Err(corrupt(at, "ends inside an element")),
            Raw::Decl(_) | Raw::PI(_) | Raw::Comment(_) | Raw::DocType(_) => StreamEvent::Text(Cow::Borrowed("")),
        }))
    }
}

fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// Bytes in any encoding as valid UTF-8; what is not valid becomes U+FFFD.
struct Decoded<R> {
    inner: R,
    decoder: Decoder,
    raw: Box<[u8]>,
    /// Bytes of `raw` that wait for the decoder.
    waiting: std::ops::Range<usize>,
    text: String,
    /// Where reading stands in `text`.
    at: usize,
    ended: bool,
}

impl<R: Read> Decoded<R> {
    fn new(mut inner: R) -> Result<Self, DocumentFailure> {
        let mut raw = vec![0_u8; BLOCK].into_boxed_slice();
        let mut filled = 0_usize;
        // The declaration stands in the first bytes.
        while filled < 256 {
            match inner.read(raw.get_mut(filled..).unwrap_or_default()) {
                Ok(0) => break,
                Ok(count) => filled = filled.saturating_add(count),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failure_of(&error)),
            }
        }
        let decoder = encoding_of(raw.get(..filled).unwrap_or_default()).new_decoder();
        Ok(Self { inner, decoder, raw, waiting: 0..filled, text: String::new(), at: 0, ended: false })
    }

    fn refill(&mut self) -> std::io::Result<()> {
        self.text.clear();
        self.at = 0;
        while self.text.is_empty() && !self.ended {
            if self.waiting.is_empty() {
                let count = self.inner.read(&mut self.raw)?;
                self.waiting = 0..count;
                self.ended = count == 0;
            }
            let source = self.raw.get(self.waiting.clone()).unwrap_or_default();
            let room = self.decoder.max_utf8_buffer_length(source.len()).unwrap_or(BLOCK);
            self.text.reserve(room);
            let (result, read, _) = self.decoder.decode_to_string(source, &mut self.text, self.ended);
            self.waiting.start = self.waiting.start.saturating_add(read);
            debug_assert!(result == CoderResult::InputEmpty, "room was reserved for all of it");
        }
        Ok(())
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = self.fill_buf()?.read(into)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: Read> BufRead for Decoded<R> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if self.at >= self.text.len() {
            self.refill()?;
        }
        Ok(self.text.as_bytes().get(self.at..).unwrap_or_default())
    }

    fn consume(&mut self, amount: usize) {
        self.at = self.at.saturating_add(amount);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(bytes: &[u8], limits: &Limits) -> Result<String, DocumentFailure> {
        let mut stream = Stream::new(bytes, limits)?;
        let mut out = String::new();
        while let Some(event) = stream.next()? {
            match event {
                StreamEvent::Start(tag) => {
                    out.push_str(&format!("<{}", tag.name()));
                    for (name, value) in tag.attributes() {
                        out.push_str(&format!(" {name}={value}"));
                    }
                    out.push('>');
                }
                StreamEvent::Text(text) => out.push_str(&text),
                StreamEvent::End(tag) => out.push_str(&format!("</{}>", tag.name())),
            }
        }
        Ok(out)
    }

    #[test]
    fn events_without_prefixes() {
        let xml = br#"<?xml version="1.0"?><!-- c --><x:a r:id="1&amp;2"><b/>t&lt;&#65;<![CDATA[<c>]]></x:a>"#;
        assert_eq!(told(xml, &Limits::default()).unwrap(), "<a id=1&2><b></b>t<A<c></a>");
    }

    #[test]
    fn any_encoding_in_any_blocks() {
        /// Hands out one byte at a time.
        struct Slow<'a>(&'a [u8]);
        impl Read for Slow<'_> {
            fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
                let take = 1.min(self.0.len()).min(into.len());
                (&mut self.0).take(take as u64).read(into)
            }
        }
        let wide: Vec<u8> = "<a>größe 大小</a>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let mut stream = Stream::new(Slow(&wide), &Limits::default()).unwrap();
        let mut text = String::new();
        while let Some(event) = stream.next().unwrap() {
            if let StreamEvent::Text(piece) = event {
                text.push_str(&piece);
            }
        }
        assert_eq!(text, "größe 大小");
        assert_eq!(told(b"<a>caf\xe9</a>", &Limits::default()).unwrap(), "<a>caf\u{fffd}</a>");
        assert_eq!(told(b"<?xml version='1.0' encoding='ISO-8859-1'?><a>caf\xe9</a>", &Limits::default()).unwrap(), "<a>caf\u{e9}</a>");
    }

    #[test]
    fn damage_and_depth_have_their_codes() {
        let limits = Limits { xml_depth: 3, ..Limits::default() };
        for (xml, code) in
            [("<a><b><c><d/></c></b></a>", DocumentCode::TooDeep), ("<a><b></a>", DocumentCode::Corrupt), ("<a>", DocumentCode::Corrupt)]
        {
            assert_eq!(told(xml.as_bytes(), &limits).unwrap_err().code, code, "{xml}");
        }
        let wide = format!("<a {}/>", "x='1' ".repeat(200_000));
        assert_eq!(told(wide.as_bytes(), &limits).unwrap_err().code, DocumentCode::TooLarge);
    }
}
