//! What is in a compound file (OLE), from the names in its directory.

use quarry_model::{DocumentCode, Format};

use super::pieces::{Pieces, Stop, le16, le32};

/// A directory entry.
const ENTRY_BYTES: usize = 128;
/// Most directory sectors that are looked at; the streams we know stand among the first entries.
const MAX_SECTORS: usize = 64;
/// Marks the end of a chain; everything from here up is no sector.
const NO_SECTOR: u32 = 0xFFFF_FFFA;

/// The format of a compound file.
pub(super) fn format_of_compound(pieces: &Pieces) -> Result<Format, Stop> {
    let names = stream_names(pieces)?;
    let has = |name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    if has("EncryptedPackage") || has("EncryptionInfo") {
        return Err(Stop::failure(DocumentCode::Encrypted, "an encrypted Office document"));
    }
    if has("WordDocument") {
        return Ok(Format::Doc);
    }
    if has("PowerPoint Document") {
        return Ok(Format::Ppt);
    }
    if has("Workbook") || has("Book") {
        return Ok(Format::Xls);
    }
    let what = if names.iter().any(|name| name.starts_with("__substg1.0_") || name.starts_with("__properties_version1.0")) {
        "this is an Outlook message"
    } else if has("VisioDocument") {
        "this is a Visio drawing"
    } else {
        "this is a compound file of an unknown kind"
    };
    Err(Stop::failure(DocumentCode::Unsupported, what))
}

fn stream_names(pieces: &Pieces) -> Result<Vec<String>, Stop> {
    let header = pieces.get(0..512)?;
    let sector_bytes = match le16(header, 30) {
        Some(9) => 512u64,
        Some(12) => 4096,
        _ => return Err(damaged("sector size")),
    };
    let mut sector = le32(header, 48).ok_or_else(|| damaged("header"))?;
    let mut names = Vec::new();
    let mut visited = Vec::new();
    while sector < NO_SECTOR {
        if visited.contains(&sector) {
            return Err(damaged("the directory's sectors form a loop"));
        }
        visited.push(sector);
        if visited.len() > MAX_SECTORS {
            break;
        }
        let bytes = sector_at(pieces, sector, sector_bytes)?;
        names.extend(bytes.chunks_exact(ENTRY_BYTES).filter_map(entry_name));
        sector = next_sector(pieces, header, sector, sector_bytes)?;
    }
    if names.is_empty() { Err(damaged("the directory is empty")) } else { Ok(names) }
}

/// An entry's name: UTF-16, with its length in bytes, the closing NUL included.
fn entry_name(entry: &[u8]) -> Option<String> {
    let length = usize::from(le16(entry, 64)?).checked_sub(2).filter(|length| *length > 0 && *length <= 62)?;
    // 0 is an unused entry.
    (*entry.get(66)? != 0).then_some(())?;
    let units = entry.get(..length)?.chunks_exact(2).filter_map(|pair| le16(pair, 0));
    Some(char::decode_utf16(units).map(|unit| unit.unwrap_or('\u{FFFD}')).collect())
}

/// The sector after `sector` in its chain. Only the 109 table sectors named in the header are followed: they cover 7 MB
/// of 512-byte sectors, and directories stand near the beginning of what their writers wrote last; beyond that the chain
/// is taken to end.
fn next_sector(pieces: &Pieces, header: &[u8], sector: u32, sector_bytes: u64) -> Result<u32, Stop> {
    let per_table = u32::try_from(sector_bytes / 4).unwrap_or(u32::MAX);
    let table = usize::try_from(sector.checked_div(per_table).unwrap_or(0)).unwrap_or(usize::MAX);
    let place = table.checked_mul(4).and_then(|bytes| bytes.checked_add(76)).filter(|place| *place < 512);
    let Some(at) = place.and_then(|place| le32(header, place)).filter(|at| *at < NO_SECTOR) else {
        return Ok(u32::MAX);
    };
    let entries = sector_at(pieces, at, sector_bytes)?;
    let index = usize::try_from(sector.checked_rem(per_table).unwrap_or(0)).unwrap_or(usize::MAX);
    le32(entries, index.saturating_mul(4)).ok_or_else(|| damaged("the sector table ends early"))
}

/// A sector's bytes; the header takes the place of one.
fn sector_at(pieces: &Pieces, sector: u32, sector_bytes: u64) -> Result<&[u8], Stop> {
    let start = u64::from(sector).saturating_add(1).saturating_mul(sector_bytes);
    if start >= pieces.size() {
        return Err(damaged("a sector lies outside the file"));
    }
    pieces.get(start..start.saturating_add(sector_bytes))
}

fn damaged(what: &str) -> Stop {
    Stop::failure(DocumentCode::Corrupt, format!("compound file: {what}"))
}
