//! A bounded reader of ZIP containers: OOXML, ODF, EPUB.
//!
//! Nothing declared by the archive is believed. The number of entries is checked before the directory is read, bytes
//! are counted as they come out of the decoder, names only serve to find parts the caller asks for, and no entry is
//! ever opened as an archive of its own.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use quarry_model::{DocumentCode, DocumentFailure, Limits};
use zip::ZipArchive;
use zip::result::ZipError;

/// Output below this size is never called a bomb: short runs of one byte compress a thousandfold.
const RATIO_FREE_BYTES: u64 = 1 << 20;
/// Bytes taken from the decoder at a time; the limits are checked between two such steps.
const STEP: usize = 64 << 10;
/// End-of-central-directory record without its comment.
const END_RECORD: usize = 22;

/// What decoding may still cost. One counter serves a whole document, however many of its parts are read, and however
/// often.
#[derive(Debug, Clone)]
pub struct Expansion {
    used: u64,
    limit: u64,
    ratio: u64,
    source: u64,
}

impl Expansion {
    /// A fresh counter for a source of `source_bytes`.
    pub fn new(limits: &Limits, source_bytes: u64) -> Self {
        Self { used: 0, limit: limits.expanded_bytes, ratio: limits.expansion_ratio, source: source_bytes }
    }

    /// Bytes produced so far.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Counts `bytes` more of output against the document's total and its ratio.
    pub fn charge(&mut self, bytes: u64) -> Result<(), DocumentFailure> {
        self.used = self.used.saturating_add(bytes);
        if self.used > self.limit {
            return Err(DocumentFailure::new(DocumentCode::Bomb, format!("expands past {} bytes", self.limit)));
        }
        self.check_ratio(self.used, self.source)
    }

    /// Checks output against the input it came from.
    fn check_ratio(&self, output: u64, input: u64) -> Result<(), DocumentFailure> {
        if output > RATIO_FREE_BYTES && output > input.saturating_mul(self.ratio) {
            return Err(DocumentFailure::new(DocumentCode::Bomb, format!("expands more than {}:1", self.ratio)));
        }
        Ok(())
    }
}

/// An open archive.
pub struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    /// Folded name → index of the entry; ordered, so that listings are.
    parts: BTreeMap<String, usize>,
    expansion: Expansion,
    stream_bytes: u64,
    source_bytes: u64,
}

impl<'a> Archive<'a> {
    /// Reads the directory.
    ///
    /// Fails with `TOO_MANY_ENTRIES` when any directory record declares more entries than allowed, `CORRUPT` when
    /// there is no readable directory.
    pub fn open(bytes: &'a [u8], limits: &Limits) -> Result<Self, DocumentFailure> {
        check_declared_entries(bytes, limits.archive_entries)?;
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| failure("the archive's directory", &error))?;
        if zip.len() as u64 > limits.archive_entries {
            return Err(too_many(zip.len() as u64));
        }
        let mut parts = BTreeMap::new();
        for index in 0..zip.len() {
            let Ok(entry) = zip.by_index_data(index) else { continue };
            if entry.is_dir() || entry.is_symlink() {
                continue;
            }
            if let Some(name) = entry.name().ok().and_then(|name| part_name(&name)) {
                parts.entry(name).or_insert(index);
            }
        }
        let source_bytes = bytes.len() as u64;
        Ok(Self { zip, parts, expansion: Expansion::new(limits, source_bytes), stream_bytes: limits.stream_bytes, source_bytes })
    }

    /// Whether there is such a part. Names are compared without regard to case.
    pub fn contains(&self, name: &str) -> bool {
        part_name(name).is_some_and(|name| self.parts.contains_key(&name))
    }

    /// Names of all usable parts, folded to lower case, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.keys().map(String::as_str)
    }

    /// The bytes of one part, or `None` when there is none of that name.
    ///
    /// Fails with `BOMB` while decoding, not after; with `TOO_LARGE` when this part alone is too large; `ENCRYPTED`;
    /// `UNSUPPORTED` for a compression method other than stored and deflated; `CORRUPT` when the data is damaged or
    /// fails its checksum.
    pub fn read(&mut self, name: &str) -> Result<Option<Vec<u8>>, DocumentFailure> {
        let Some(mut stream) = self.stream(name)? else { return Ok(None) };
        let mut out = Vec::with_capacity(stream.declared);
        let mut step = vec![0_u8; STEP.min(stream.declared.saturating_add(1).max(512))];
        loop {
            match stream.step(&mut step)? {
                0 => return Ok(Some(out)),
                count => out.extend_from_slice(step.get(..count).unwrap_or_default()),
            }
        }
    }

    /// One part as it comes out of the decoder, under the same limits as [`Archive::read`]; for parts that need not be
    /// held whole.
    pub fn stream(&mut self, name: &str) -> Result<Option<PartStream<'_>>, DocumentFailure> {
        let Some(&index) = part_name(name).as_ref().and_then(|name| self.parts.get(name)) else { return Ok(None) };
        if self.zip.by_index_data(index).is_ok_and(|entry| entry.encrypted()) {
            return Err(DocumentFailure::new(DocumentCode::Encrypted, format!("entry {name}")));
        }
        let entry = self.zip.by_index(index).map_err(|error| failure(name, &error))?;
        let input = entry.compressed_size().min(self.source_bytes);
        let declared = usize::try_from(entry.size().min(RATIO_FREE_BYTES)).unwrap_or_default();
        Ok(Some(PartStream {
            name: name.to_owned(),
            entry: Box::new(entry),
            expansion: &mut self.expansion,
            stream_bytes: self.stream_bytes,
            input,
            declared,
            length: 0,
        }))
    }

    /// What has been decoded so far.
    pub fn expansion(&self) -> &Expansion {
        &self.expansion
    }
}

/// A part that is being decoded.
///
/// As a [`Read`] it reports a crossed limit as an I/O error that holds the [`DocumentFailure`] (see [`failure_of`]).
pub struct PartStream<'z> {
    name: String,
    entry: Box<dyn Read + 'z>,
    expansion: &'z mut Expansion,
    stream_bytes: u64,
    /// Compressed bytes of this part.
    input: u64,
    /// What the archive says of its size, within reason.
    declared: usize,
    length: u64,
}

impl PartStream<'_> {
    /// Decodes the next bytes; 0 at the end.
    fn step(&mut self, into: &mut [u8]) -> Result<usize, DocumentFailure> {
        let count = loop {
            match self.entry.read(into) {
                Ok(count) => break count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(DocumentFailure::new(DocumentCode::Corrupt, format!("entry {}: {error}", self.name))),
            }
        };
        self.length = self.length.saturating_add(count as u64);
        self.expansion.charge(count as u64).map_err(|bomb| within(&self.name, &bomb))?;
        self.expansion.check_ratio(self.length, self.input).map_err(|bomb| within(&self.name, &bomb))?;
        if self.length > self.stream_bytes {
            let detail = format!("entry {} is larger than {} bytes", self.name, self.stream_bytes);
            return Err(DocumentFailure::new(DocumentCode::TooLarge, detail));
        }
        Ok(count)
    }
}

impl Read for PartStream<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let most = into.len().min(STEP);
        self.step(into.get_mut(..most).unwrap_or_default()).map_err(std::io::Error::other)
    }
}

/// The failure that an I/O error of a [`PartStream`] holds; damage for any other.
pub fn failure_of(error: &std::io::Error) -> DocumentFailure {
    let held = error.get_ref().and_then(|held| held.downcast_ref::<DocumentFailure>()).cloned();
    held.unwrap_or_else(|| DocumentFailure::new(DocumentCode::Corrupt, error.to_string()))
}

/// A relationship's target as a part name: relative to the part that names it, or to the root when it begins with
/// `/`. `None` when it leaves the archive or is no part name at all.
pub fn resolve_target(from_part: &str, target: &str) -> Option<String> {
    let target = target.split(['#', '?']).next().filter(|target| !target.is_empty())?;
    let mut segments: Vec<&str> = if target.starts_with('/') {
        Vec::new()
    } else {
        from_part.rsplit_once('/').map(|(folder, _)| folder.split('/').collect()).unwrap_or_default()
    };
    for segment in target.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop()?;
            }
            segment => segments.push(segment),
        }
    }
    part_name(&segments.join("/"))
}

/// The relationships part of a part: `word/document.xml` → `word/_rels/document.xml.rels`; of the package when there is no part.
pub fn relationships_of(part: &str) -> String {
    match part.rsplit_once('/') {
        Some((folder, file)) => format!("{folder}/_rels/{file}.rels"),
        None => format!("_rels/{part}.rels"),
    }
}

/// A name as parts are compared by, or `None` for a name that could mean a place outside.
fn part_name(name: &str) -> Option<String> {
    let bad = name.is_empty()
        || name.starts_with('/')
        || name.contains(['\\', '\0', ':'])
        || name.split('/').any(|segment| matches!(segment, "" | "." | ".."));
    (!bad).then(|| name.to_lowercase())
}

/// Looks at every directory record the reader might believe, before it allocates for any of them.
fn check_declared_entries(bytes: &[u8], limit: u64) -> Result<(), DocumentFailure> {
    let tail_start = bytes.len().saturating_sub(END_RECORD.saturating_add(usize::from(u16::MAX)).saturating_add(4));
    let tail = bytes.get(tail_start..).unwrap_or_default();
    let mut large = false;
    for record in records(tail, *b"PK\x05\x06", END_RECORD) {
        let (here, total) = (number::<2>(record, 8), number::<2>(record, 10));
        let saturated = [number::<2>(record, 4), number::<2>(record, 6), here, total].contains(&0xffff)
            || [number::<4>(record, 12), number::<4>(record, 16)].contains(&0xffff_ffff);
        large |= saturated;
        if !saturated && here.max(total) > limit {
            return Err(too_many(here.max(total)));
        }
    }
    if !large {
        return Ok(());
    }
    let declared = records(bytes, *b"PK\x06\x06", 56).map(|record| number::<8>(record, 24).max(number::<8>(record, 32))).max();
    match declared.unwrap_or(u64::from(u16::MAX)) {
        count if count > limit => Err(too_many(count)),
        _ => Ok(()),
    }
}

/// All places in `bytes` where a record of this signature and size may stand.
fn records(bytes: &[u8], signature: [u8; 4], size: usize) -> impl Iterator<Item = &[u8]> {
    bytes.windows(size).filter(move |window| window.starts_with(&signature))
}

/// A little-endian number of `N` bytes; zero outside the record.
fn number<const N: usize>(record: &[u8], at: usize) -> u64 {
    let field = record.get(at..at.saturating_add(N)).unwrap_or_default();
    field.iter().rev().fold(0, |value, byte| (value << 8) | u64::from(*byte))
}

fn too_many(count: u64) -> DocumentFailure {
    DocumentFailure::new(DocumentCode::TooManyEntries, format!("{count} entries"))
}

fn within(name: &str, failure: &DocumentFailure) -> DocumentFailure {
    DocumentFailure::new(failure.code, format!("entry {name}: {}", failure.detail))
}

fn failure(place: &str, error: &ZipError) -> DocumentFailure {
    let code = match error {
        ZipError::InvalidPassword => DocumentCode::Encrypted,
        ZipError::CompressionMethodNotSupported(_) => DocumentCode::Unsupported,
        _ => DocumentCode::Corrupt,
    };
    DocumentFailure::new(code, format!("{place}: {error}"))
}

#[cfg(test)]
#[path = "archive_tests.rs"]
mod tests;
