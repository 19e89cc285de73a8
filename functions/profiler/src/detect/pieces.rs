//! The parts of a file that have been read so far.

use std::collections::BTreeMap;
use std::ops::Range;

use bytes::Bytes;
use quarry_model::{DocumentCode, DocumentFailure};

/// Bytes looked at first; enough for every signature and for telling kinds of text apart.
pub const HEAD_BYTES: u64 = 64 << 10;

/// Why detection stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// These bytes must be known first.
    Missing(Range<u64>),
    /// The file cannot be read.
    Failure(DocumentFailure),
}

impl Stop {
    pub(super) fn failure(code: DocumentCode, detail: impl Into<String>) -> Self {
        Self::Failure(DocumentFailure::new(code, detail))
    }
}

/// A file's size and the pieces of it that are known.
#[derive(Debug, Clone, Default)]
pub struct Pieces {
    size: u64,
    known: BTreeMap<u64, Bytes>,
}

impl Pieces {
    /// A file of `size` bytes of which nothing is known.
    pub fn new(size: u64) -> Self {
        Self { size, known: BTreeMap::new() }
    }

    /// A file that is known whole.
    pub fn whole(bytes: Bytes) -> Self {
        let mut pieces = Self::new(bytes.len() as u64);
        pieces.add(0, bytes);
        pieces
    }

    /// Adds what stands at `offset`.
    pub fn add(&mut self, offset: u64, bytes: Bytes) {
        self.known.insert(offset, bytes);
    }

    /// Bytes of the file.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The first [`HEAD_BYTES`], or the whole file.
    pub(super) fn head(&self) -> Result<&[u8], Stop> {
        self.get(0..HEAD_BYTES.min(self.size))
    }

    /// The last `length` bytes, or the whole file.
    pub(super) fn tail(&self, length: u64) -> Result<&[u8], Stop> {
        self.get(self.size.saturating_sub(length)..self.size)
    }

    /// A range inside the file; what lies beyond its end is cut off.
    pub(super) fn get(&self, range: Range<u64>) -> Result<&[u8], Stop> {
        let range = range.start.min(self.size)..range.end.min(self.size);
        for (offset, bytes) in self.known.range(..=range.start).rev() {
            let start = usize::try_from(range.start.saturating_sub(*offset)).unwrap_or(usize::MAX);
            let end = usize::try_from(range.end.saturating_sub(*offset)).unwrap_or(usize::MAX);
            if let Some(found) = bytes.get(start..end) {
                return Ok(found);
            }
        }
        if range.is_empty() { Ok(&[]) } else { Err(Stop::Missing(range)) }
    }
}

/// A little-endian number at `at`, or `None` outside.
pub(super) fn le16(bytes: &[u8], at: usize) -> Option<u16> {
    let field = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(field.try_into().ok()?))
}

/// A little-endian number at `at`, or `None` outside.
pub(super) fn le32(bytes: &[u8], at: usize) -> Option<u32> {
    let field = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(field.try_into().ok()?))
}

/// A little-endian number at `at`, or `None` outside.
pub(super) fn le64(bytes: &[u8], at: usize) -> Option<u64> {
    let field = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(field.try_into().ok()?))
}
