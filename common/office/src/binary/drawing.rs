//! Office Art records ([MS-ODRAW]): shapes, their properties, stored pictures.

use std::io::Read;

use quarry_document::archive::Expansion;
use quarry_model::DocumentFailure;

use super::numbers::{part, u16_at, u32_at, utf16};
use crate::drawing;

/// Deepest nesting of records that is followed.
const DEPTH: usize = 32;

/// Containers, and the records in them that are read here (2.1.1 `OfficeArtRecordHeader`).
pub(super) const BLIP_STORE: u16 = 0xf001;
pub(super) const GROUP: u16 = 0xf003;
pub(super) const SHAPE: u16 = 0xf004;
const ENTRY: u16 = 0xf007;
pub(super) const SHAPE_ID: u16 = 0xf00a;
const PROPERTIES: u16 = 0xf00b;
const MORE_PROPERTIES: u16 = 0xf122;

/// Properties of a shape (2.3).
pub(super) const TEXT_ID: u16 = 0x0080;
pub(super) const PICTURE: u16 = 0x0104;
pub(super) const FILL_PICTURE: u16 = 0x0186;
const DESCRIPTION: u16 = 0x0381;
pub(super) const TABLE: u16 = 0x039f;

/// One record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    pub kind: u16,
    pub instance: u16,
    pub is_container: bool,
    pub body: &'a [u8],
}

/// The records that follow one another in `bytes`. One that claims more than there is ends with what there is.
pub(super) fn records(bytes: &[u8]) -> impl Iterator<Item = Record<'_>> {
    let mut at = 0_usize;
    std::iter::from_fn(move || {
        let head = u16_at(bytes, at)?;
        let kind = u16_at(bytes, at.saturating_add(2))?;
        let length = u32_at(bytes, at.saturating_add(4))? as usize;
        let body = part(bytes, at.saturating_add(8), length);
        at = at.saturating_add(8).saturating_add(length);
        Some(Record { kind, instance: head >> 4, is_container: head & 0xf == 0xf, body })
    })
}

/// All records of a kind below `bytes`, in order.
pub(super) fn all_of(bytes: &[u8], kind: u16) -> Vec<Record<'_>> {
    let mut out = Vec::new();
    collect(bytes, kind, 0, &mut out);
    out
}

fn collect<'a>(bytes: &'a [u8], kind: u16, depth: usize, out: &mut Vec<Record<'a>>) {
    for record in records(bytes) {
        if record.kind == kind {
            out.push(record);
        } else if record.is_container && depth < DEPTH {
            collect(record.body, kind, depth.saturating_add(1), out);
        }
    }
}

/// What the properties of a shape say, as far as it is read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Properties {
    simple: Vec<(u16, u32)>,
    /// What is said of it; empty when nothing is.
    pub said: String,
}

impl Properties {
    /// Of a shape container.
    pub(super) fn of(shape: &[u8]) -> Self {
        let mut out = Self::default();
        for table in records(shape).filter(|record| matches!(record.kind, PROPERTIES | MORE_PROPERTIES)) {
            let count = usize::from(table.instance);
            let mut complex = count.saturating_mul(6);
            for index in 0..count {
                let at = index.saturating_mul(6);
                let (Some(head), Some(value)) = (u16_at(table.body, at), u32_at(table.body, at.saturating_add(2))) else { break };
                let id = head & 0x3fff;
                if head & 0x8000 == 0 {
                    out.simple.push((id, value));
                    continue;
                }
                if id == DESCRIPTION {
                    let text = utf16(part(table.body, complex, value as usize));
                    out.said = drawing::description(text.trim_end_matches('\0')).unwrap_or_default();
                }
                complex = complex.saturating_add(value as usize);
            }
        }
        out
    }

    /// The value of a simple property.
    pub(super) fn get(&self, id: u16) -> Option<u32> {
        self.simple.iter().find(|(known, _)| *known == id).map(|(_, value)| *value)
    }

    /// The picture that a shape shows or is filled with, from 1.
    pub(super) fn picture(&self) -> Option<usize> {
        self.get(PICTURE).or_else(|| self.get(FILL_PICTURE)).map(|number| number as usize).filter(|number| *number > 0)
    }
}

/// The bytes of a stored picture (2.2.23 and following): as the file it was. Metafiles are unpacked; a bitmap without a
/// file header gets one.
pub(super) fn picture(blip: Record<'_>, expansion: &mut Expansion) -> Result<Option<Vec<u8>>, DocumentFailure> {
    let identities = |two: &[u16]| if two.contains(&blip.instance) { 32 } else { 16 };
    match blip.kind {
        0xf01a => metafile(part(blip.body, identities(&[0x3d5]), usize::MAX), &[], expansion),
        0xf01b => metafile(part(blip.body, identities(&[0x217]), usize::MAX), &[], expansion),
        // A Macintosh picture begins with 512 bytes that say nothing.
        0xf01c => metafile(part(blip.body, identities(&[0x543]), usize::MAX), &[0; 512], expansion),
        0xf01d | 0xf02a => Ok(bitmap(blip.body, identities(&[0x46b, 0x6e3]))),
        0xf01e => Ok(bitmap(blip.body, identities(&[0x6e1]))),
        0xf01f => Ok(bitmap(blip.body, identities(&[0x7a9])).map(with_header)),
        0xf029 => Ok(bitmap(blip.body, identities(&[0x6e5]))),
        _ => Ok(None),
    }
}

fn bitmap(body: &[u8], identities: usize) -> Option<Vec<u8>> {
    Some(part(body, identities.saturating_add(1), usize::MAX).to_vec()).filter(|bytes| !bytes.is_empty())
}

/// A device-independent bitmap as a file: its header says where the pixels begin.
fn with_header(bitmap: Vec<u8>) -> Vec<u8> {
    let header = u32_at(&bitmap, 0).unwrap_or(40);
    let bits = u16_at(&bitmap, 14).unwrap_or(24);
    let used = u32_at(&bitmap, 32).unwrap_or_default();
    let colours = match (used, bits) {
        (0, 1 | 4 | 8) => 1_u32 << bits,
        (used, _) => used.min(256),
    };
    let pixels = 14_u32.saturating_add(header).saturating_add(colours.saturating_mul(4));
    let size = u32::try_from(bitmap.len()).unwrap_or(u32::MAX).saturating_add(14);
    let mut out = b"BM".to_vec();
    out.extend(size.to_le_bytes());
    out.extend([0; 4]);
    out.extend(pixels.to_le_bytes());
    out.extend(bitmap);
    out
}

fn metafile(body: &[u8], before: &[u8], expansion: &mut Expansion) -> Result<Option<Vec<u8>>, DocumentFailure> {
    const HEADER: usize = 34;
    let packed = body.get(32) == Some(&0);
    let data = part(body, HEADER, usize::MAX);
    let mut out = before.to_vec();
    if !packed {
        out.extend_from_slice(data);
        return Ok((!data.is_empty()).then_some(out));
    }
    let mut decoder = flate2::read::ZlibDecoder::new(data);
    let mut step = [0_u8; 16 << 10];
    loop {
        match decoder.read(&mut step) {
            Ok(0) => break,
            Ok(count) => {
                expansion.charge(count as u64)?;
                out.extend_from_slice(step.get(..count).unwrap_or_default());
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            // What was unpacked before the damage is kept; nothing is no picture.
            Err(_) => break,
        }
    }
    Ok((out.len() > before.len()).then_some(out))
}

/// The stored pictures of a document: the entries of its store, in order. `delayed` is the stream that holds those which
/// do not stand in the store itself.
pub(super) fn store<'a>(drawing: &'a [u8], delayed: &'a [u8]) -> Vec<Option<Record<'a>>> {
    let store = all_of(drawing, BLIP_STORE).first().map(|store| store.body).unwrap_or_default();
    records(store).map(|entry| entry_blip(entry, delayed)).collect()
}

/// The picture of one entry of a store (2.2.32 `OfficeArtFBSE`), or the record itself when it is one.
pub(super) fn entry_blip<'a>(entry: Record<'a>, delayed: &'a [u8]) -> Option<Record<'a>> {
    if entry.kind != ENTRY {
        return (0xf018..=0xf117).contains(&entry.kind).then_some(entry);
    }
    let name = usize::from(entry.body.get(33).copied().unwrap_or_default());
    if let Some(inside) = records(part(entry.body, 36_usize.saturating_add(name), usize::MAX)).next() {
        return Some(inside);
    }
    let at = u32_at(entry.body, 28).filter(|at| *at != u32::MAX)?;
    records(delayed.get(at as usize..)?).next()
}
