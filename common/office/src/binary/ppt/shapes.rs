//! The shapes of a drawing: text, tables, pictures, groups.

use std::collections::BTreeMap;

use quarry_document::TableBuilder;
use quarry_document::archive::Expansion;
use quarry_model::{Asset, Cell, DocumentFailure, Limits};

use super::{UNITS, paragraphs};
use crate::binary::drawing::{self, GROUP, Properties, Record, SHAPE, TABLE, all_of, records};
use crate::binary::numbers::{i16_at, i32_at, u32_at, utf16};
use crate::slides::geometry::Rect;
use crate::slides::shape::{Content, Shape};
use crate::slides::template::Purpose;
use crate::slides::text::Paragraph;

const GROUP_FRAME: u16 = 0xf009;
const TEXT_BOX: u16 = 0xf00d;
const CHILD_ANCHOR: u16 = 0xf00f;
const ANCHOR: u16 = 0xf010;
const OUTLINE_REFERENCE: u16 = 0x0f9e;
const TEXT_HEADER: u16 = 0x0f9f;
const CHARACTERS: u16 = 0x0fa0;
const BYTES: u16 = 0x0fa8;
/// Deepest nesting of groups that is followed.
const DEPTH: usize = 32;
/// Edges this near to one another, in points, are one.
const SAME_EDGE: f64 = 3.0;

/// A text and what it is for ([MS-PPT] 2.13.33 `TextTypeEnum`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Text {
    kind: u32,
    text: String,
}

impl Text {
    fn purpose(&self) -> Option<Purpose> {
        match self.kind {
            0 | 6 => Some(Purpose::Title),
            1 | 5 | 7 | 8 => Some(Purpose::Body),
            _ => None,
        }
    }
}

/// Collects texts from the records that hold them.
#[derive(Debug, Default)]
pub(super) struct Texts(Vec<Text>);

impl Texts {
    pub(super) fn take(&mut self, record: Record<'_>) {
        let text = match record.kind {
            TEXT_HEADER => {
                self.0.push(Text { kind: u32_at(record.body, 0).unwrap_or(4), text: String::new() });
                return;
            }
            CHARACTERS => utf16(record.body),
            BYTES => record.body.iter().map(|byte| char::from(*byte)).collect(),
            _ => return,
        };
        match self.0.last_mut() {
            Some(last) => last.text.push_str(&text),
            None => self.0.push(Text { kind: 4, text }),
        }
    }

    pub(super) fn finish(self) -> Vec<Text> {
        self.0
    }
}

/// Reads the drawings of a presentation.
pub(super) struct Shapes<'a> {
    store: Vec<Option<Record<'a>>>,
    shown: BTreeMap<usize, Option<usize>>,
    limits: &'a Limits,
    expansion: Expansion,
    pub assets: Vec<Asset>,
    /// Cells that did not fit into their tables.
    pub dropped: u64,
}

/// How the coordinates of a group become points: scale and offset on each axis.
type Frame = ((f64, f64), (f64, f64));

impl<'a> Shapes<'a> {
    pub(super) fn new(store: Vec<Option<Record<'a>>>, limits: &'a Limits, expansion: Expansion) -> Self {
        Self { store, shown: BTreeMap::new(), limits, expansion, assets: Vec::new(), dropped: 0 }
    }

    /// The shapes of a drawing. A title or a body that no shape shows is told all the same.
    pub(super) fn read(&mut self, drawing: &[u8], outline: &[Text]) -> Result<Vec<Shape>, DocumentFailure> {
        let mut out = Vec::new();
        let mut told = vec![false; outline.len()];
        for whole in records(drawing) {
            // Of the groups below the drawing, the first holds all shapes.
            for group in records(whole.body).filter(|record| record.kind == GROUP) {
                self.group(group.body, ((1.0 / UNITS, 0.0), (1.0 / UNITS, 0.0)), outline, &mut told, 0, &mut out)?;
            }
        }
        for (text, _) in outline.iter().zip(told).filter(|(_, told)| !told) {
            out.extend(shape_of(text, None));
        }
        Ok(out)
    }

    fn group(
        &mut self,
        group: &[u8],
        frame: Frame,
        outline: &[Text],
        told: &mut [bool],
        depth: usize,
        out: &mut Vec<Shape>,
    ) -> Result<(), DocumentFailure> {
        // The first shape of a group is the group itself.
        for record in records(group).skip(1) {
            match record.kind {
                SHAPE => self.shape(record.body, frame, outline, told, out)?,
                GROUP if depth < DEPTH => {
                    let own = records(record.body).next().map(|own| own.body).unwrap_or_default();
                    let place = place(own, frame);
                    let inner_frame = place.and_then(|place| inside(own, place)).unwrap_or(frame);
                    let mut inner = Vec::new();
                    self.group(record.body, inner_frame, outline, told, depth.saturating_add(1), &mut inner)?;
                    let is_table = Properties::of(own).get(TABLE).is_some_and(|flags| flags & 1 != 0);
                    let content = if is_table { self.table(inner) } else { Content::Group(inner) };
                    out.push(Shape { place, hidden: false, content });
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn shape(
        &mut self,
        shape: &[u8],
        frame: Frame,
        outline: &[Text],
        told: &mut [bool],
        out: &mut Vec<Shape>,
    ) -> Result<(), DocumentFailure> {
        let place = place(shape, frame);
        let properties = Properties::of(shape);
        if let Some(number) = properties.picture() {
            let asset = self.picture(number.saturating_sub(1))?;
            if asset.is_some() || !properties.said.is_empty() {
                out.push(Shape { place, hidden: false, content: Content::Picture(asset, properties.said) });
            }
        }
        for text_box in records(shape).filter(|record| record.kind == TEXT_BOX) {
            let mut texts = Texts::default();
            for record in records(text_box.body) {
                if record.kind == OUTLINE_REFERENCE {
                    let index = u32_at(record.body, 0).unwrap_or(u32::MAX) as usize;
                    if let (Some(text), Some(told)) = (outline.get(index), told.get_mut(index)) {
                        *told = true;
                        out.extend(shape_of(text, place));
                    }
                } else {
                    texts.take(record);
                }
            }
            out.extend(texts.finish().iter().filter_map(|text| shape_of(text, place)));
        }
        Ok(())
    }

    fn picture(&mut self, index: usize) -> Result<Option<usize>, DocumentFailure> {
        if let Some(known) = self.shown.get(&index) {
            return Ok(*known);
        }
        let bytes = match self.store.get(index).copied().flatten() {
            Some(blip) => drawing::picture(blip, &mut self.expansion)?,
            None => None,
        };
        let asset = bytes.map(|bytes| {
            self.assets.push(Asset { bytes, original_name: String::new() });
            self.assets.len().saturating_sub(1)
        });
        self.shown.insert(index, asset);
        Ok(asset)
    }

    /// A table is a group of rectangles: their edges are its rows and columns.
    fn table(&mut self, shapes: Vec<Shape>) -> Content {
        let cells: Vec<(Rect, String)> = shapes
            .into_iter()
            .filter_map(|shape| match (shape.place, shape.content) {
                (Some(place), Content::Text(_, paragraphs)) => {
                    Some((place, paragraphs.iter().map(Paragraph::line).collect::<Vec<_>>().join("\n")))
                }
                _ => None,
            })
            .collect();
        let columns = edges(cells.iter().map(|(place, _)| place.x0));
        let rows = edges(cells.iter().map(|(place, _)| place.y0));
        let mut placed: Vec<(usize, usize, Rect, String)> =
            cells.into_iter().map(|(place, text)| (nearest(&rows, place.y0), nearest(&columns, place.x0), place, text)).collect();
        placed.sort_by_key(|(row, column, _, _)| (*row, *column));
        let mut builder = TableBuilder::new(self.limits);
        let mut cells = placed.into_iter().peekable();
        for row in 0..rows.len() {
            builder.row();
            while let Some((_, column, place, text)) = cells.next_if(|(at, _, _, _)| *at == row) {
                let span = |edges: &[f64], from: usize, end: f64| {
                    edges.iter().skip(from).take_while(|edge| **edge < end - SAME_EDGE).count().max(1) as u32
                };
                let cell = Cell::spanning(text, span(&rows, row, place.y1), span(&columns, column, place.x1));
                builder.cell_at(column as u32, cell);
            }
        }
        let built = builder.finish(0, 0, "");
        self.dropped = self.dropped.saturating_add(built.dropped_cells);
        Content::Table(built.table)
    }
}

fn edges(all: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut all: Vec<f64> = all.collect();
    all.sort_by(f64::total_cmp);
    all.dedup_by(|next, kept| *next - *kept < SAME_EDGE);
    all
}

fn nearest(edges: &[f64], at: f64) -> usize {
    edges.partition_point(|edge| *edge <= at).saturating_sub(1)
}

/// Where a shape stands: in its slide ([MS-PPT] 2.9.66: top, left, right, bottom) or in its group ([MS-ODRAW] 2.2.39).
fn place(shape: &[u8], frame: Frame) -> Option<Rect> {
    records(shape).find_map(|record| {
        let (x0, y0, x1, y1) = match (record.kind, record.body.len()) {
            (ANCHOR, 8) => {
                let at = |at| i16_at(record.body, at).map(f64::from);
                (at(2)?, at(0)?, at(4)?, at(6)?)
            }
            (ANCHOR, 16) => {
                let at = |at| i32_at(record.body, at).map(f64::from);
                (at(4)?, at(0)?, at(8)?, at(12)?)
            }
            (CHILD_ANCHOR, _) => {
                let at = |at| i32_at(record.body, at).map(f64::from);
                (at(0)?, at(4)?, at(8)?, at(12)?)
            }
            _ => return None,
        };
        let ((sx, dx), (sy, dy)) = frame;
        Some(Rect { x0: x0 * sx + dx, y0: y0 * sy + dy, x1: x1 * sx + dx, y1: y1 * sy + dy })
    })
}

/// The frame inside a group that stands at `place`.
fn inside(group: &[u8], place: Rect) -> Option<Frame> {
    let own = records(group).find(|record| record.kind == GROUP_FRAME)?;
    let at = |at| i32_at(own.body, at).map(f64::from);
    let axis = |from: f64, to: f64, start: f64, end: f64| {
        let scale = if to > from { (end - start) / (to - from) } else { 1.0 };
        (scale, start - from * scale)
    };
    Some((axis(at(0)?, at(8)?, place.x0, place.x1), axis(at(4)?, at(12)?, place.y0, place.y1)))
}

fn shape_of(text: &Text, place: Option<Rect>) -> Option<Shape> {
    let paragraphs = paragraphs(&text.text);
    (!paragraphs.is_empty()).then(|| Shape { place, hidden: false, content: Content::Text(text.purpose(), paragraphs) })
}

/// Shapes of an outline alone.
pub(super) fn outline(outline: &[Text]) -> Vec<Shape> {
    outline.iter().filter_map(|text| shape_of(text, None)).collect()
}

/// What a notes page says.
pub(super) fn notes(drawing: &[u8]) -> Vec<Paragraph> {
    let mut texts = Texts::default();
    for text_box in all_of(drawing, TEXT_BOX) {
        for record in records(text_box.body) {
            texts.take(record);
        }
    }
    texts.finish().iter().filter(|text| text.kind == 2).flat_map(|text| paragraphs(&text.text)).collect()
}
