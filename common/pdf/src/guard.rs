//! How much a document expands to, measured before anything else reads it: streams are inflated into nothing, layer by
//! layer where filters are stacked, and counted over the whole document.

use std::io::Read;

use flate2::read::ZlibDecoder;
use memchr::memmem;
use quarry_model::Limits;

/// How far before its data a stream's dictionary is looked for.
const DICTIONARY_BYTES: usize = 1024;
/// Most layers that are followed; the reader refuses what is stacked higher.
const MAX_LAYERS: usize = 8;

/// Whether the document stays within its limits: one layer of one stream, and all of them together.
pub(crate) fn is_bomb(bytes: &[u8], limits: &Limits) -> bool {
    let mut left = limits.expanded_bytes;
    for at in memmem::find_iter(bytes, b"stream") {
        let Some(before) = bytes.get(at.saturating_sub(DICTIONARY_BYTES)..at) else { continue };
        if before.ends_with(b"end") {
            continue;
        }
        let start = before.windows(3).rposition(|w| w == b"obj").unwrap_or(0);
        let dictionary = before.get(start..).unwrap_or_default();
        let layers =
            count(dictionary, b"FlateDecode").saturating_add(count(dictionary, b"/Fl ")).saturating_add(count(dictionary, b"/Fl]"));
        let data = bytes.get(at.saturating_add(6)..).unwrap_or_default();
        let data = data.strip_prefix(b"\r\n").or_else(|| data.strip_prefix(b"\n")).unwrap_or(data);
        if layers > MAX_LAYERS {
            return true;
        }
        match expand(data, layers, limits.stream_bytes.min(left)) {
            Some(used) => left = left.saturating_sub(used),
            None => return true,
        }
    }
    false
}

fn count(haystack: &[u8], needle: &[u8]) -> usize {
    memmem::find_iter(haystack, needle).count()
}

/// Bytes that a stream expands to over its layers; `None` when one goes past `most`. Data that is no zlib stream (another
/// filter, an encrypted file) expands to nothing here.
fn expand(data: &[u8], layers: usize, most: u64) -> Option<u64> {
    let mut total = 0u64;
    let mut held: Vec<u8> = Vec::new();
    for layer in 0..layers {
        let source: &[u8] = if layer == 0 { data } else { &held };
        let mut decoder = ZlibDecoder::new(source).take(most.saturating_add(1));
        let last = layer.saturating_add(1) == layers;
        let mut next = Vec::new();
        // A broken end still counts what came before it.
        let read = if last {
            std::io::copy(&mut decoder, &mut std::io::sink()).ok()
        } else {
            decoder.read_to_end(&mut next).ok().map(|n| n as u64)
        };
        let size = read.unwrap_or(next.len() as u64);
        if size > most {
            return None;
        }
        total = total.saturating_add(size);
        held = next;
    }
    Some(total)
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
    fn many_streams_count_together() {
        let limits = Limits { expanded_bytes: 8 << 20, ..Limits::default() };
        let one = document("/FlateDecode", &deflate(&vec![0; 1 << 20]));
        assert!(!is_bomb(&one.repeat(7), &limits));
        assert!(is_bomb(&one.repeat(9), &limits));
    }
}
