//! What is in a ZIP container, from its directory alone: nothing is decompressed.

use quarry_model::{DocumentCode, Format, Limits};

use super::pieces::{Pieces, Stop, le16, le32, le64};

/// End record (22 bytes) with the longest comment.
const END_BYTES: u64 = 22 + 65_535;
/// Largest directory that is read: 10,000 entries with long names fit several times.
const DIRECTORY_BYTES: u64 = 8 << 20;
/// Longest entry name that is looked at; every name we know is far shorter.
const NAME_BYTES: usize = 512;

/// What an entry `mimetype` says, the longer of two with the same beginning first.
const MIMETYPES: [(&[u8], Format); 6] = [
    (b"application/epub+zip", Format::Epub),
    (b"application/vnd.oasis.opendocument.text-template", Format::Odt),
    (b"application/vnd.oasis.opendocument.text-master", Format::Odt),
    (b"application/vnd.oasis.opendocument.text", Format::Odt),
    (b"application/vnd.oasis.opendocument.spreadsheet-template", Format::Ods),
    (b"application/vnd.oasis.opendocument.spreadsheet", Format::Ods),
];

/// An entry of the directory.
struct Entry<'a> {
    name: &'a [u8],
    encrypted: bool,
    crc: u32,
    size: u32,
}

/// The format of a ZIP container.
pub(super) fn format_of_zip(pieces: &Pieces, limits: &Limits) -> Result<Format, Stop> {
    if let Some(format) = by_mimetype(pieces.head()?) {
        // The directory is still looked at: a file cut off after its first entry is damaged, whatever it says.
        directory(pieces, limits)?;
        return Ok(format);
    }
    let entries = directory(pieces, limits)?;
    let has = |name: &str| entries.iter().any(|entry| entry.name.eq_ignore_ascii_case(name.as_bytes()));
    let below = |prefix: &str| {
        entries.iter().any(|entry| entry.name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes())))
    };
    let format = if has("xl/workbook.bin") {
        Some(Format::Xlsb)
    } else if has("word/document.xml") {
        Some(Format::Docx)
    } else if has("ppt/presentation.xml") {
        Some(Format::Pptx)
    } else if has("xl/workbook.xml") {
        Some(Format::Xlsx)
    } else if let Some(format) = by_packed_mimetype(&entries) {
        Some(format)
    } else if has("META-INF/container.xml") {
        Some(Format::Epub)
    } else if has("[Content_Types].xml") {
        // A main part under another name is legal; its folder still says what it is.
        [("word/", Format::Docx), ("ppt/", Format::Pptx), ("xl/", Format::Xlsx)].into_iter().find(|(p, _)| below(p)).map(|(_, f)| f)
    } else {
        None
    };
    let Some(format) = format else {
        return Err(Stop::failure(DocumentCode::Unsupported, "this is a ZIP archive"));
    };
    if entries.iter().any(|entry| entry.encrypted) {
        return Err(Stop::failure(DocumentCode::Encrypted, "entries of the container are encrypted"));
    }
    Ok(format)
}

/// `OpenDocument` and EPUB say what they are in a first entry `mimetype`, stored without compression.
fn by_mimetype(head: &[u8]) -> Option<Format> {
    if !head.starts_with(b"PK\x03\x04") || le16(head, 8) != Some(0) || head.get(30..38) != Some(b"mimetype") {
        return None;
    }
    let extra = usize::from(le16(head, 28)?);
    let content = head.get(38usize.checked_add(extra)?..)?;
    MIMETYPES.into_iter().find(|(name, _)| content.starts_with(name)).map(|(_, format)| format)
}

/// The same for a container that was packed again, so that its `mimetype` comes later or is compressed: its length and
/// checksum say which of the few words it is.
fn by_packed_mimetype(entries: &[Entry<'_>]) -> Option<Format> {
    let entry = entries.iter().find(|entry| entry.name == b"mimetype")?;
    let is = |name: &[u8]| name.len() as u64 == u64::from(entry.size) && checksum(name) == entry.crc;
    MIMETYPES.into_iter().find(|(name, _)| is(name) || is(&[*name, &b"\n"[..]].concat())).map(|(_, format)| format)
}

/// CRC-32 as ZIP has it, bit by bit: it is asked of a few words only.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { (sum >> 1) ^ 0xEDB8_8320 } else { sum >> 1 })
    })
}

fn directory<'a>(pieces: &'a Pieces, limits: &Limits) -> Result<Vec<Entry<'a>>, Stop> {
    let (count, start, length) = find_directory(pieces)?;
    if count > limits.archive_entries {
        return Err(Stop::failure(DocumentCode::TooManyEntries, format!("{count} entries")));
    }
    if length > DIRECTORY_BYTES {
        return Err(Stop::failure(DocumentCode::TooManyEntries, format!("a directory of {length} bytes")));
    }
    let bytes = pieces.get(start..start.saturating_add(length))?;
    let mut entries = Vec::new();
    let mut at = 0usize;
    // Real entries are counted, not the declared number.
    while let Some(rest) = bytes.get(at..).filter(|rest| rest.starts_with(b"PK\x01\x02")) {
        if entries.len() as u64 >= limits.archive_entries {
            return Err(Stop::failure(DocumentCode::TooManyEntries, format!("more than {} entries", limits.archive_entries)));
        }
        let lengths = [28, 30, 32].map(|place| usize::from(le16(rest, place).unwrap_or(u16::MAX)));
        let [name, extra, comment] = lengths;
        let full = rest.get(46..46usize.saturating_add(name)).ok_or_else(damaged)?;
        let number = |place| le32(rest, place).unwrap_or_default();
        entries.push(Entry {
            name: full.get(..NAME_BYTES).unwrap_or(full),
            encrypted: le16(rest, 8).is_some_and(|flags| flags & 1 != 0),
            crc: number(16),
            size: number(24),
        });
        at = at.saturating_add(46).saturating_add(name).saturating_add(extra).saturating_add(comment);
    }
    if entries.is_empty() && count > 0 {
        return Err(damaged());
    }
    Ok(entries)
}

/// Number of entries, offset and length of the directory, from the end record.
fn find_directory(pieces: &Pieces) -> Result<(u64, u64, u64), Stop> {
    // Nearly always the record is the last thing in the file; only a comment makes a longer look needed.
    for length in [1024, END_BYTES] {
        let tail = pieces.tail(length)?;
        let Some(at) = tail.windows(4).rposition(|window| window == b"PK\x05\x06") else { continue };
        let record = tail.get(at..).filter(|record| record.len() >= 22).ok_or_else(damaged)?;
        let (Some(count), Some(size), Some(offset)) = (le16(record, 10), le32(record, 12), le32(record, 16)) else { continue };
        let base = pieces.size().saturating_sub(tail.len() as u64).saturating_add(at as u64);
        if count == u16::MAX || size == u32::MAX || offset == u32::MAX {
            return find_large_directory(pieces, base);
        }
        let (size, offset) = (u64::from(size), u64::from(offset));
        // Bytes put before the archive shift everything: the directory ends where the end record begins.
        let start = if offset.saturating_add(size) == base { offset } else { base.checked_sub(size).ok_or_else(damaged)? };
        return Ok((u64::from(count), start, size));
    }
    Err(damaged())
}

/// The ZIP64 records before the end record.
fn find_large_directory(pieces: &Pieces, end_record: u64) -> Result<(u64, u64, u64), Stop> {
    let locator = pieces.get(end_record.saturating_sub(20)..end_record)?;
    if !locator.starts_with(b"PK\x06\x07") {
        return Err(damaged());
    }
    let at = le64(locator, 8).ok_or_else(damaged)?;
    let record = pieces.get(at..at.saturating_add(56))?;
    if !record.starts_with(b"PK\x06\x06") {
        return Err(damaged());
    }
    match (le64(record, 32), le64(record, 40), le64(record, 48)) {
        (Some(count), Some(size), Some(offset)) => Ok((count, offset, size)),
        _ => Err(damaged()),
    }
}

fn damaged() -> Stop {
    Stop::failure(DocumentCode::Corrupt, "the container's directory cannot be read")
}
