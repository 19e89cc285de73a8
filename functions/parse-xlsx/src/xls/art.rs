//! Drawings ([MS-ODRAW]): the pictures of the workbook, and where each stands on a sheet.

use std::io::Read;

use flate2::read::ZlibDecoder;
use quarry_document::Warnings;
use quarry_document::archive::Expansion;
use quarry_model::{Asset, DocumentCode, Limits};

use crate::bytes::{u16_at, u32_at, wide};

/// A record: kind, instance, data; containers are entered, not skipped.
struct Atoms<'a> {
    rest: &'a [u8],
}

struct Atom<'a> {
    kind: u16,
    instance: u16,
    data: &'a [u8],
}

impl<'a> Iterator for Atoms<'a> {
    type Item = Atom<'a>;

    fn next(&mut self) -> Option<Atom<'a>> {
        let (head, kind, length) = (u16_at(self.rest, 0)?, u16_at(self.rest, 2)?, u32_at(self.rest, 4)? as usize);
        let is_container = head & 0xf == 0xf;
        let body = self.rest.get(8..)?;
        // A fragment may end before what it began does.
        let data = body.get(..length).unwrap_or(body);
        self.rest = if is_container { body } else { body.get(length..).unwrap_or_default() };
        Some(Atom { kind, instance: head >> 4, data: if is_container { &[] } else { data } })
    }
}

/// The pictures of the drawing group in order; for each its asset, if it could be read.
pub(super) fn pictures(group: &[u8], limits: &Limits, assets: &mut Vec<Asset>, warnings: &mut Warnings) -> Vec<Option<usize>> {
    let mut out = Vec::new();
    let mut expansion = Expansion::new(limits, group.len() as u64);
    for atom in (Atoms { rest: group }).filter(|atom| atom.kind == 0xf007) {
        let name = atom.data.get(33).copied().unwrap_or_default();
        let blip = atom.data.get(36_usize.saturating_add(usize::from(name))..).unwrap_or_default();
        // An empty place in the list: the picture was deleted.
        let bytes = if blip.is_empty() { None } else { picture(blip, &mut expansion) };
        if bytes.is_none() && !blip.is_empty() {
            warnings.partial(DocumentCode::Corrupt, format!("picture {} cannot be read", out.len().saturating_add(1)));
        }
        out.push(bytes.map(|(bytes, extension)| {
            assets.push(Asset { bytes, original_name: format!("picture.{extension}") });
            assets.len().saturating_sub(1)
        }));
    }
    out
}

/// The bytes of a picture as a file of its own.
fn picture(blip: &[u8], expansion: &mut Expansion) -> Option<(Vec<u8>, &'static str)> {
    let atom = Atoms { rest: blip }.next()?;
    // An odd instance has a second digest of sixteen bytes.
    let digests = if atom.instance & 1 == 1 { 32_usize } else { 16 };
    let plain = || atom.data.get(digests.saturating_add(1)..);
    match atom.kind {
        0xf01a => metafile(atom.data.get(digests..)?, expansion).map(|bytes| (bytes, "emf")),
        0xf01b => metafile(atom.data.get(digests..)?, expansion).map(|bytes| (bytes, "wmf")),
        0xf01c => metafile(atom.data.get(digests..)?, expansion).map(|bytes| (bytes, "pict")),
        0xf01d | 0xf02a => plain().map(|bytes| (bytes.to_vec(), "jpg")),
        0xf01e => plain().map(|bytes| (bytes.to_vec(), "png")),
        0xf01f => plain().and_then(bitmap).map(|bytes| (bytes, "bmp")),
        0xf029 => plain().map(|bytes| (bytes.to_vec(), "tiff")),
        _ => None,
    }
}

/// A metafile, deflated unless its header says otherwise.
fn metafile(data: &[u8], expansion: &mut Expansion) -> Option<Vec<u8>> {
    let body = data.get(34..)?;
    if data.get(32) == Some(&0xfe) {
        return Some(body.to_vec());
    }
    let mut decoder = ZlibDecoder::new(body);
    let (mut out, mut step) = (Vec::new(), vec![0_u8; 16 << 10]);
    loop {
        let count = decoder.read(&mut step).ok()?;
        if count == 0 {
            return Some(out);
        }
        expansion.charge(count as u64).ok()?;
        out.extend_from_slice(step.get(..count)?);
    }
}

/// A bitmap without its file header gets one.
fn bitmap(data: &[u8]) -> Option<Vec<u8>> {
    let header = u32_at(data, 0)?;
    let depth = u16_at(data, 14)?;
    let used = u32_at(data, 32).filter(|_| header >= 40).unwrap_or_default();
    let colours = if depth <= 8 && used == 0 { 1_u32.checked_shl(u32::from(depth))? } else { used };
    let start = 14_u32.checked_add(header)?.checked_add(colours.checked_mul(4)?)?;
    let size = u32::try_from(data.len()).ok()?.checked_add(14)?;
    let mut out = b"BM".to_vec();
    out.extend(size.to_le_bytes());
    out.extend([0; 4]);
    out.extend(start.to_le_bytes());
    out.extend_from_slice(data);
    Some(out)
}

/// A picture on a sheet.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Shape {
    pub row: u32,
    pub column: u32,
    /// Its number in the workbook's list, from 1; 0 for a shape that is no picture.
    pub picture: u32,
    /// What is said of it.
    pub said: String,
}

/// The shapes of a sheet, as their records come.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    list: Vec<Shape>,
}

impl Shapes {
    /// Reads a drawing record.
    pub(super) fn read(&mut self, data: &[u8]) {
        for atom in (Atoms { rest: data }) {
            match atom.kind {
                0xf00a => self.list.push(Shape::default()),
                0xf00b => self.properties(&atom),
                0xf010 => {
                    if let (Some(shape), Some(column), Some(row)) = (self.list.last_mut(), u16_at(atom.data, 2), u16_at(atom.data, 6)) {
                        (shape.row, shape.column) = (u32::from(row), u32::from(column));
                    }
                }
                _ => {}
            }
        }
    }

    fn properties(&mut self, atom: &Atom<'_>) {
        let Some(shape) = self.list.last_mut() else { return };
        let count = usize::from(atom.instance);
        let mut complex = count.saturating_mul(6);
        for entry in atom.data.chunks_exact(6).take(count) {
            let (Some(id), Some(value)) = (u16_at(entry, 0), u32_at(entry, 2)) else { continue };
            let is_complex = id & 0x8000 != 0;
            let more = if is_complex { atom.data.get(complex..complex.saturating_add(value as usize)) } else { None };
            match id & 0x3fff {
                0x104 if !is_complex => shape.picture = value,
                0x381 => shape.said = more.map(wide).unwrap_or_default().trim_end_matches('\0').trim().to_owned(),
                _ => {}
            }
            if is_complex {
                complex = complex.saturating_add(value as usize);
            }
        }
    }

    /// Where the last shape stands.
    pub(super) fn place(&self) -> (u32, u32) {
        self.list.last().map_or((0, 0), |shape| (shape.row, shape.column))
    }

    /// Those that are pictures.
    pub(super) fn pictures(self) -> Vec<Shape> {
        self.list.into_iter().filter(|shape| shape.picture > 0).collect()
    }
}
