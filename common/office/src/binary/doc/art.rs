//! Pictures and drawn shapes.

use std::collections::BTreeMap;

use quarry_document::archive::Expansion;
use quarry_model::{Asset, DocumentFailure, Limits};

use super::fib::{Fib, Table};
use crate::binary::drawing::{self, Properties, SHAPE, SHAPE_ID, TEXT_ID, all_of, records};
use crate::binary::numbers::{part, positions, u16_at, u32_at};

/// A picture's head ([MS-DOC] 2.9.190 `PICF`) names a file in this mode.
const NAMES_A_FILE: u16 = 0x66;

/// What an anchor in the text stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Anchored {
    /// Index into the assets.
    pub picture: Option<usize>,
    /// Which text box, from 0.
    pub text_box: Option<usize>,
    pub said: String,
}

/// Everything drawn.
pub(super) struct Art<'a> {
    data: &'a [u8],
    /// Place of an anchor → number of its shape.
    anchors: BTreeMap<u32, u32>,
    /// Number of a shape → its container.
    shapes: BTreeMap<u32, &'a [u8]>,
    store: Vec<Option<drawing::Record<'a>>>,
    /// Asset of each picture that was shown.
    shown: BTreeMap<Key, Option<usize>>,
    pub assets: Vec<Asset>,
    expansion: Expansion,
}

/// A picture of the store, or one at a place of the data stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Stored(usize),
    Data(u32),
}

impl<'a> Art<'a> {
    pub(super) fn read(fib: &Fib<'_>, main: &'a [u8], tables: &'a [u8], data: &'a [u8], limits: &Limits) -> Self {
        let drawings = fib.table(tables, Table::Drawings);
        let anchors = positions(fib.table(tables, Table::Anchors), 26);
        let anchors = anchors.filter_map(|(place, _, record)| Some((place, u32_at(record, 0)?))).collect();
        let mut shapes = BTreeMap::new();
        // The group of all drawings, then each drawing behind one byte that says where it belongs.
        let group = 8_usize.saturating_add(u32_at(drawings, 4).unwrap_or_default() as usize);
        let mut at = group;
        while let Some(length) = u32_at(drawings, at.saturating_add(5)) {
            let whole = part(drawings, at.saturating_add(1), 8_usize.saturating_add(length as usize));
            for shape in all_of(whole, SHAPE) {
                let id = records(shape.body).find(|record| record.kind == SHAPE_ID).and_then(|record| u32_at(record.body, 0));
                if let Some(id) = id {
                    shapes.insert(id, shape.body);
                }
            }
            at = at.saturating_add(9).saturating_add(length as usize);
        }
        let store = drawing::store(part(drawings, 0, group), main);
        let expansion = Expansion::new(limits, main.len().saturating_add(data.len()) as u64);
        Self { data, anchors, shapes, store, shown: BTreeMap::new(), assets: Vec::new(), expansion }
    }

    /// What the anchor at this place stands for.
    pub(super) fn anchored(&mut self, place: u32) -> Result<Anchored, DocumentFailure> {
        let Some(shape) = self.anchors.get(&place).and_then(|id| self.shapes.get(id)).copied() else { return Ok(Anchored::default()) };
        let properties = Properties::of(shape);
        let text_box = properties.get(TEXT_ID).map(|id| id >> 16).and_then(|number| number.checked_sub(1)).map(|number| number as usize);
        let picture = match properties.picture() {
            Some(number) => {
                let index = number.saturating_sub(1);
                self.asset(Key::Stored(index), self.store.get(index).copied().flatten())?
            }
            None => None,
        };
        Ok(Anchored { picture, text_box, said: properties.said })
    }

    /// The picture at a place of the data stream: `None` when there is none. Also what is said of it.
    pub(super) fn inline(&mut self, at: u32) -> Result<Option<(Option<usize>, String)>, DocumentFailure> {
        let bytes = self.data.get(at as usize..).unwrap_or_default();
        let (Some(length), Some(head), Some(mode)) = (u32_at(bytes, 0), u16_at(bytes, 4), u16_at(bytes, 6)) else { return Ok(None) };
        let picture = part(bytes, 0, length as usize);
        let mut from = usize::from(head);
        if mode == NAMES_A_FILE {
            from = from.saturating_add(1).saturating_add(usize::from(picture.get(from).copied().unwrap_or_default()));
        }
        let art = part(picture, from, usize::MAX);
        let said = records(art).find(|record| record.kind == SHAPE).map(|shape| Properties::of(shape.body).said).unwrap_or_default();
        let blip = records(art).filter(|record| record.kind != SHAPE).find_map(|record| drawing::entry_blip(record, self.data));
        if blip.is_none() && said.is_empty() {
            return Ok(None);
        }
        Ok(Some((self.asset(Key::Data(at), blip)?, said)))
    }

    fn asset(&mut self, key: Key, blip: Option<drawing::Record<'a>>) -> Result<Option<usize>, DocumentFailure> {
        if let Some(known) = self.shown.get(&key) {
            return Ok(*known);
        }
        let bytes = match blip {
            Some(blip) => drawing::picture(blip, &mut self.expansion)?,
            None => None,
        };
        let asset = bytes.map(|bytes| {
            self.assets.push(Asset { bytes, original_name: String::new() });
            self.assets.len().saturating_sub(1)
        });
        self.shown.insert(key, asset);
        Ok(asset)
    }
}
