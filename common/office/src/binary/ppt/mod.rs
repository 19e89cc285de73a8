//! Presentations of `PowerPoint` 97 to 2003 ([MS-PPT]).
//!
//! The last edit names a directory of persistent objects, the document among them, and it its slides; each slide is a
//! drawing whose shapes hold text of their own or refer to the outline. What comes out are the same shapes as of PPTX,
//! and everything after them is shared. Bullets, levels and comments are not read; a warning says so.

mod shapes;

use std::collections::{BTreeMap, BTreeSet};

use quarry_document::Warnings;
use quarry_document::archive::Expansion;
use quarry_model::{DocumentCode, DocumentFailure, Limits, Parsed};

use super::compound::Compound;
use super::drawing::{self, Record, records};
use super::numbers::{part, u16_at, u32_at};
use crate::slides::rows::{Rows, Slide};
use crate::slides::text::Paragraph;
use shapes::{Shapes, Text};

/// Kinds of records (2.13.24).
const DOCUMENT: u16 = 0x03e8;
const DOCUMENT_ATOM: u16 = 0x03e9;
const SLIDE_ATOM: u16 = 0x03ef;
const SLIDE_REFERENCE: u16 = 0x03f3;
const SHOW: u16 = 0x03f9;
const DRAWING_GROUP: u16 = 0x040b;
const DRAWING: u16 = 0x040c;
const SLIDE_LIST: u16 = 0x0ff0;
const EDIT: u16 = 0x0ff5;
const DIRECTORY: u16 = 0x1772;

/// The user record of an encrypted presentation begins with this (2.3.2).
const ENCRYPTED: u32 = 0xf3d1_c4df;
/// Most edits of one file.
const MOST_EDITS: usize = 10_000;
/// Master units in a point: 576 in an inch.
const UNITS: f64 = 8.0;

/// Reads a presentation.
///
/// Fails with `CORRUPT`, `ENCRYPTED`, `EMPTY` for one without slides, and `CONVERTER_MISSING` for `PowerPoint` 95 and older.
pub fn read(bytes: &[u8], limits: &Limits) -> Result<Parsed, DocumentFailure> {
    let mut file = Compound::open(bytes, limits)?;
    let Some(stream) = file.stream("PowerPoint Document")? else {
        let old = file.stream("PP40")?.is_some();
        let code = if old { DocumentCode::ConverterMissing } else { DocumentCode::Corrupt };
        return Err(DocumentFailure::new(code, "no presentation of PowerPoint 97 or later"));
    };
    let user = file.required("Current User")?;
    if u32_at(&user, 12) == Some(ENCRYPTED) {
        return Err(DocumentFailure::new(DocumentCode::Encrypted, "a presentation with a password"));
    }
    let pictures = file.stream("Pictures")?.unwrap_or_default();
    let objects = Objects::read(&stream, u32_at(&user, 16).unwrap_or_default());
    let damaged = || DocumentFailure::new(DocumentCode::Corrupt, "the presentation's document is missing");
    let document = objects.document().filter(|record| record.kind == DOCUMENT).ok_or_else(damaged)?;
    let slides = references(document.body, 0);
    if slides.is_empty() {
        return Err(DocumentFailure::new(DocumentCode::Empty, "the presentation has no slides"));
    }
    let notes: BTreeMap<u32, u32> = references(document.body, 2).into_iter().map(|slide| (slide.id, slide.object)).collect();
    let group = records(document.body).find(|record| record.kind == DRAWING_GROUP).map(|record| record.body).unwrap_or_default();
    let mut warnings = Warnings::default();
    warnings.note(DocumentCode::Unsupported, "bullets, levels and comments of a .ppt are not read; saved as .pptx they are");
    let mut shapes = Shapes::new(drawing::store(group, &pictures), limits, Expansion::new(limits, bytes.len() as u64));
    let mut rows = Rows::default();
    let height = records(document.body)
        .find(|record| record.kind == DOCUMENT_ATOM)
        .and_then(|atom| u32_at(atom.body, 4))
        .map_or(540.0, |height| f64::from(height) / UNITS);
    for (index, reference) in slides.iter().enumerate() {
        let page = u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1);
        let mut slide = Slide::default();
        if let Some(record) = objects.get(reference.object) {
            slide.shapes = shapes.read(drawing_of(record), &reference.outline)?;
            let atoms = || records(record.body);
            slide.hidden = atoms().any(|atom| atom.kind == SHOW && u16_at(atom.body, 10).unwrap_or_default() & 0x4 != 0);
            let notes_id = atoms().find(|atom| atom.kind == SLIDE_ATOM).and_then(|atom| u32_at(atom.body, 16));
            let page = notes_id.filter(|id| *id != 0).and_then(|id| notes.get(&id)).and_then(|object| objects.get(*object));
            slide.notes = page.map(|page| shapes::notes(drawing_of(page))).unwrap_or_default();
        } else {
            warnings.partial(DocumentCode::Corrupt, format!("slide {page} is missing; its outline is read"));
            slide.shapes = shapes::outline(&reference.outline);
        }
        rows.slide(page, height, slide);
    }
    if shapes.dropped > 0 {
        warnings.partial(DocumentCode::TooLarge, format!("{} cells of tables are left out", shapes.dropped));
    }
    let mut parsed = rows.parsed;
    parsed.page_count = u32::try_from(slides.len()).ok();
    parsed.assets = shapes.assets;
    (parsed.warnings, parsed.partial) = warnings.finish();
    Ok(parsed)
}

fn drawing_of(object: Record<'_>) -> &[u8] {
    records(object.body).find(|record| record.kind == DRAWING).map(|record| record.body).unwrap_or_default()
}

/// The persistent objects: number → where its record stands.
struct Objects<'a> {
    stream: &'a [u8],
    places: BTreeMap<u32, u32>,
    document: u32,
}

impl<'a> Objects<'a> {
    /// Follows the edits from the last to the first; what a later one says holds.
    fn read(stream: &'a [u8], last_edit: u32) -> Self {
        let mut out = Self { stream, places: BTreeMap::new(), document: 0 };
        let mut seen = BTreeSet::new();
        let mut at = last_edit;
        while at != 0 && seen.len() < MOST_EDITS && seen.insert(at) {
            let Some(edit) = out.record(at).filter(|record| record.kind == EDIT) else { break };
            let number = |at| u32_at(edit.body, at).unwrap_or_default();
            if out.document == 0 {
                out.document = number(16);
            }
            if let Some(directory) = out.record(number(12)).filter(|record| record.kind == DIRECTORY) {
                out.directory(directory.body);
            }
            at = number(8);
        }
        out
    }

    fn directory(&mut self, directory: &[u8]) {
        let mut at = 0_usize;
        while let Some(head) = u32_at(directory, at) {
            at = at.saturating_add(4);
            let first = head & 0x000f_ffff;
            for index in 0..head >> 20 {
                let Some(place) = u32_at(directory, at) else { return };
                self.places.entry(first.saturating_add(index)).or_insert(place);
                at = at.saturating_add(4);
            }
        }
    }

    fn record(&self, at: u32) -> Option<Record<'a>> {
        records(part(self.stream, at as usize, usize::MAX)).next()
    }

    fn get(&self, object: u32) -> Option<Record<'a>> {
        self.record(*self.places.get(&object)?)
    }

    fn document(&self) -> Option<Record<'a>> {
        self.get(self.document)
    }
}

/// A slide or a notes page as the document lists it.
struct Reference {
    object: u32,
    id: u32,
    /// Its texts in the outline.
    outline: Vec<Text>,
}

/// The list of this kind: 0 for slides, 2 for notes pages.
fn references(document: &[u8], kind: u16) -> Vec<Reference> {
    let mut out: Vec<Reference> = Vec::new();
    for list in records(document).filter(|record| record.kind == SLIDE_LIST && record.instance == kind) {
        let mut texts = shapes::Texts::default();
        for record in records(list.body) {
            if record.kind == SLIDE_REFERENCE {
                if let Some(last) = out.last_mut() {
                    last.outline.extend(std::mem::take(&mut texts).finish());
                }
                let number = |at| u32_at(record.body, at).unwrap_or_default();
                out.push(Reference { object: number(0), id: number(12), outline: Vec::new() });
            } else {
                texts.take(record);
            }
        }
        if let Some(last) = out.last_mut() {
            last.outline.extend(texts.finish());
        }
    }
    out
}

/// Paragraphs of a text: the ends of paragraphs are carriage returns, of lines vertical tabs.
fn paragraphs(text: &str) -> Vec<Paragraph> {
    let lines = text.split(['\r', '\n']).map(|line| line.replace('\u{b}', "\n").trim().to_owned());
    lines.filter(|line| !line.is_empty()).map(|text| Paragraph { text, ..Paragraph::default() }).collect()
}
