//! The file of a split: segment files end to end, and a footer that says where they are.
//!
//! ```text
//! store pos idx | term vocab fast fieldnorm | footer
//! └ read by piece └ the tail: read whole, once └ read first, or carried by the manifest
//! ```
//! The footer is JSON, the *hot* bytes (every range of `store`, `pos` and `idx` that opening touches), and eight bytes:
//! the length of the JSON and a magic number.

use std::ops::Range;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// Files by extension, in their order.
pub(crate) const FILES: [&str; 7] = ["store", "pos", "idx", "term", "vocab", "fast", "fieldnorm"];
/// The first file of the tail.
const TAIL: usize = 3;
const MAGIC: u32 = 0x5152_5301;

/// The footer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Footer {
    /// Rules of analysis.
    pub(crate) analyzer: String,
    /// The segment library's own description, with canonical ids.
    pub(crate) meta: String,
    /// Chunks by language, most frequent first.
    pub(crate) languages: Vec<(String, u32)>,
    /// One per entry of [`FILES`].
    pub(crate) files: Vec<File>,
    /// Ranges of the bundle whose bytes follow the JSON.
    pub(crate) hot: Vec<(u64, u64)>,
    #[serde(skip)]
    hot_bytes: Bytes,
}

/// One file of the bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct File {
    /// First byte.
    pub(crate) start: u64,
    /// One past the last.
    pub(crate) end: u64,
    /// blake3 in hex; empty for files read by piece.
    pub(crate) hash: String,
}

impl Footer {
    /// A footer for files of these bytes (one per entry of [`FILES`]), without hot bytes yet.
    pub(crate) fn new(analyzer: &str, meta: String, languages: Vec<(String, u32)>, contents: &[Vec<u8>]) -> Self {
        let mut start = 0;
        let files = contents
            .iter()
            .enumerate()
            .map(|(at, content)| {
                let end = start + content.len() as u64;
                let hash = if at >= TAIL { blake3::hash(content).to_hex().to_string() } else { String::new() };
                let file = File { start, end, hash };
                start = end;
                file
            })
            .collect();
        Self { analyzer: analyzer.to_owned(), meta, languages, files, hot: Vec::new(), hot_bytes: Bytes::new() }
    }

    /// Takes the hot ranges, with their bytes out of `body`.
    pub(crate) fn set_hot(&mut self, ranges: Vec<Range<u64>>, body: &[u8]) {
        self.hot_bytes =
            ranges.iter().flat_map(|range| &body[range.start as usize..range.end as usize]).copied().collect::<Vec<u8>>().into();
        self.hot = ranges.into_iter().map(|range| (range.start, range.end)).collect();
    }

    /// Appends the footer to the body it describes.
    pub(crate) fn write(&self, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        let json = serde_json::to_vec(self)?;
        out.extend(&json);
        out.extend(&self.hot_bytes);
        out.extend((json.len() as u32).to_le_bytes());
        out.extend(MAGIC.to_le_bytes());
        Ok(())
    }

    /// Reads a footer; says what is wrong with one that is none.
    pub(crate) fn read(bytes: &Bytes) -> Result<Self, &'static str> {
        let (body, magic) = bytes.split_last_chunk::<4>().ok_or("footer too short")?;
        let (body, length) = body.split_last_chunk::<4>().ok_or("footer too short")?;
        if u32::from_le_bytes(*magic) != MAGIC {
            return Err("no footer");
        }
        let length = u32::from_le_bytes(*length) as usize;
        let (json, hot) = body.split_at_checked(length).ok_or("footer cut")?;
        let mut footer: Self = serde_json::from_slice(json).map_err(|_| "footer unreadable")?;
        footer.hot_bytes = bytes.slice_ref(hot);
        let hot_length: u64 = footer.hot.iter().map(|(start, end)| end.saturating_sub(*start)).sum();
        let contiguous =
            footer.files.windows(2).all(|pair| pair[0].end == pair[1].start) && footer.files.iter().all(|file| file.start <= file.end);
        if footer.files.len() != FILES.len() || !contiguous || hot_length != hot.len() as u64 {
            return Err("footer inconsistent");
        }
        Ok(footer)
    }

    /// Where a file is.
    pub(crate) fn file(&self, extension: &str) -> Option<&File> {
        FILES.iter().position(|known| *known == extension).and_then(|at| self.files.get(at))
    }

    /// Everything read whole when the split is opened.
    pub(crate) fn tail(&self) -> Range<u64> {
        self.files[TAIL].start..self.files[FILES.len() - 1].end
    }

    /// The hot ranges with their bytes.
    pub(crate) fn hot(&self) -> impl Iterator<Item = (u64, Bytes)> {
        let mut at = 0;
        self.hot.iter().map(move |&(start, end)| {
            let length = (end - start) as usize;
            let bytes = self.hot_bytes.slice(at..at + length);
            at += length;
            (start, bytes)
        })
    }

    /// Whether `tail` holds the bytes promised, file by file.
    pub(crate) fn verify_tail(&self, tail: &[u8]) -> Result<(), String> {
        let base = self.tail().start;
        for (file, name) in self.files.iter().zip(FILES).skip(TAIL) {
            let content = tail.get((file.start - base) as usize..(file.end - base) as usize).ok_or("tail cut")?;
            if blake3::hash(content).to_hex().as_str() != file.hash {
                return Err(format!("{name} differs from its hash"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_footer_survives_and_damage_is_seen() {
        let contents: Vec<Vec<u8>> = (0..7).map(|n| vec![n; 10 + usize::from(n)]).collect();
        let body = contents.concat();
        let mut footer = Footer::new("a", "{}".into(), vec![("en".into(), 3)], &contents);
        footer.set_hot(vec![2..5, 20..24], &body);
        let mut bytes = Vec::new();
        footer.write(&mut bytes).unwrap();
        let back = Footer::read(&Bytes::from(bytes.clone())).unwrap();
        assert_eq!(back, footer);
        assert_eq!(back.hot().map(|(at, hot)| (at, hot.len())).collect::<Vec<_>>(), [(2, 3), (20, 4)]);
        let tail = back.tail();
        assert!(back.verify_tail(&body[tail.start as usize..tail.end as usize]).is_ok());
        let mut damaged = body[tail.start as usize..].to_vec();
        damaged[3] ^= 1;
        assert!(back.verify_tail(&damaged).is_err());
        for cut in 0..bytes.len() {
            assert!(Footer::read(&Bytes::copy_from_slice(&bytes[..cut])).is_err(), "{cut}");
        }
    }
}
