//! How much a document expands to, measured before anything else reads it: streams are decoded into nothing, layer by
//! layer where filters are stacked, and counted over the whole document.

use std::cell::Cell;
use std::io::{Error, Read};
use std::rc::Rc;

use flate2::read::ZlibDecoder;
use memchr::memmem;
use quarry_model::Limits;

use crate::filters::{Hex, RunLength, SixtyFour};

/// How far before its data a stream's dictionary is looked for.
const DICTIONARY_BYTES: usize = 1024;
/// Most layers that are followed; the reader refuses what is stacked higher.
const MAX_LAYERS: usize = 8;

/// Whether the document goes past its limits: one layer of one stream, or all of them together.
pub(crate) fn is_bomb(bytes: &[u8], limits: &Limits) -> bool {
    let mut left = limits.expanded_bytes;
    for at in memmem::find_iter(bytes, b"stream") {
        let Some(before) = bytes.get(at.saturating_sub(DICTIONARY_BYTES)..at) else { continue };
        if before.ends_with(b"end") {
            continue;
        }
        let start = before.windows(3).rposition(|w| w == b"obj").unwrap_or(0);
        let data = bytes.get(at.saturating_add(6)..).unwrap_or_default();
        let data = data.strip_prefix(b"\r\n").or_else(|| data.strip_prefix(b"\n")).unwrap_or(data);
        let data = data.get(..memmem::find(data, b"endstream").unwrap_or(data.len())).unwrap_or_default();
        let layers = layers(before.get(start..).unwrap_or_default(), data);
        if layers.len() > MAX_LAYERS {
            return true;
        }
        match expand(data, &layers, limits.stream_bytes.min(left)) {
            Some(used) => left = left.saturating_sub(used),
            None => return true,
        }
    }
    false
}

/// A filter that makes more of its data than it was given, or stands before one that does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    Flate,
    RunLength,
    Hex,
    SixtyFour,
}

/// The filters of a stream up to the first that only a picture has: what that makes is bounded by the picture's size.
fn layers(dictionary: &[u8], data: &[u8]) -> Vec<Layer> {
    let Some(at) = memmem::find(dictionary, b"/Filter") else { return Vec::new() };
    let rest = dictionary.get(at.saturating_add(7)..).unwrap_or_default().trim_ascii_start();
    if rest.first().is_some_and(u8::is_ascii_digit) {
        // Named elsewhere in the file: whatever looks like Flate is followed as far as it goes.
        return if data.first() == Some(&0x78) { vec![Layer::Flate; 2] } else { Vec::new() };
    }
    let names = if rest.first() == Some(&b'[') {
        rest.split(|b| *b == b']').next().unwrap_or_default()
    } else {
        // One name ends where the next begins, or the dictionary.
        let end = rest.iter().skip(1).position(|b| b"/<>[]() \r\n\t".contains(b)).map_or(rest.len(), |end| end.saturating_add(1));
        rest.get(..end).unwrap_or_default()
    };
    let mut layers = Vec::new();
    for name in names.split(|b| *b == b'/').skip(1) {
        let name = name.trim_ascii();
        layers.push(match name {
            b"FlateDecode" | b"Fl" => Layer::Flate,
            b"RunLengthDecode" | b"RL" => Layer::RunLength,
            b"ASCIIHexDecode" | b"AHx" => Layer::Hex,
            b"ASCII85Decode" | b"A85" => Layer::SixtyFour,
            _ => break,
        });
    }
    layers
}

/// Passes bytes on and counts them; past the limit it fails and says so.
struct Counted<R> {
    inner: R,
    left: u64,
    used: Rc<Cell<u64>>,
    over: Rc<Cell<bool>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.used.set(self.used.get().saturating_add(read as u64));
        let Some(left) = self.left.checked_sub(read as u64) else {
            self.over.set(true);
            return Err(Error::other("past the limit"));
        };
        self.left = left;
        Ok(read)
    }
}

/// Bytes that a stream expands to over its layers; `None` when one goes past `most`. Data that is not what its filter
/// promises (an encrypted file) expands to what could be read of it.
fn expand(data: &[u8], layers: &[Layer], most: u64) -> Option<u64> {
    if layers.is_empty() {
        return Some(0);
    }
    let (used, over) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(false)));
    let mut reader: Box<dyn Read + '_> = Box::new(data);
    for layer in layers {
        let decoded: Box<dyn Read + '_> = match layer {
            Layer::Flate => Box::new(ZlibDecoder::new(reader)),
            Layer::RunLength => Box::new(RunLength::new(reader)),
            Layer::Hex => Box::new(Hex::new(reader)),
            Layer::SixtyFour => Box::new(SixtyFour::new(reader)),
        };
        reader = Box::new(Counted { inner: decoded, left: most, used: Rc::clone(&used), over: Rc::clone(&over) });
    }
    // A broken end still counts what came before it.
    let _ = std::io::copy(&mut reader, &mut std::io::sink());
    (!over.get()).then(|| used.get())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    fn deflate(data: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn document(filters: &str, data: &[u8]) -> Vec<u8> {
        [format!("%PDF-1.4\n1 0 obj\n<</Filter[{filters}]/Length {}>>\nstream\n", data.len()).as_bytes(), data, b"\nendstream\nendobj\n"]
            .concat()
    }

    #[test]
    fn stacked_filters_are_followed() {
        let limits = Limits { stream_bytes: 10 << 20, ..Limits::default() };
        let inner = deflate(&vec![0; 64 << 20]);
        assert!(is_bomb(&document("/FlateDecode", &inner), &limits));
        assert!(is_bomb(&document("/FlateDecode/FlateDecode", &deflate(&inner)), &limits));
        assert!(!is_bomb(&document("/FlateDecode", &deflate(b"BT (hello) Tj ET")), &limits));
    }

    #[test]
    fn filters_are_read_as_they_are_written() {
        use Layer::{Flate, Hex, RunLength, SixtyFour};
        let of = |text: &str| layers(text.as_bytes(), &[0x78, 0x9c]);
        assert_eq!(of("<</Filter/FlateDecode/Length 9>>"), [Flate]);
        assert_eq!(of("<< /Filter [ /ASCII85Decode /FlateDecode ] /Length 9"), [SixtyFour, Flate]);
        assert_eq!(of("<</Filter[/AHx/RL]>>"), [Hex, RunLength]);
        assert_eq!(of("<</Filter[/FlateDecode/DCTDecode]>>"), [Flate]);
        assert_eq!(of("<</Filter/DCTDecode>>"), []);
        assert_eq!(of("<</Length 9>>"), []);
        assert_eq!(of("<</Filter 7 0 R/Length 9>>"), [Flate, Flate]);
        assert_eq!(layers(b"<</Filter 7 0 R>>", b"\xff\xd8"), []);
    }

    #[test]
    fn many_streams_count_together() {
        let limits = Limits { expanded_bytes: 8 << 20, ..Limits::default() };
        let one = document("/FlateDecode", &deflate(&vec![0; 1 << 20]));
        assert!(!is_bomb(&one.repeat(7), &limits));
        assert!(is_bomb(&one.repeat(9), &limits));
    }
}
