//! Paragraphs as they are stored: where they stand, how they end, what their properties say.

use super::sprm::{self, sprms};
use super::text::{Runs, Text};
use crate::binary::numbers::{part, u16_at};

/// Deepest nesting of tables that is followed.
const DEPTH: u32 = 32;

/// What the properties of a paragraph say, as far as it is read.
#[derive(Debug, Clone, Default)]
pub(super) struct Properties<'a> {
    pub style: u16,
    /// Of the outline, from 0; 9 is ordinary text.
    pub outline: Option<u8>,
    pub list: Option<i16>,
    pub list_level: Option<u8>,
    /// How many tables it stands in.
    pub depth: u32,
    pub ends_inner_cell: bool,
    pub ends_row: bool,
    /// Of the row that it ends: edges and cells of a table definition.
    pub row: &'a [u8],
    /// Cells of that row and how they merge downwards, where it is said apart.
    pub merges: Vec<(u8, u8)>,
    pub row_is_header: bool,
}

impl<'a> Properties<'a> {
    /// Of a list as it is stored with paragraphs. `data` is the stream that holds lists which are too long for that.
    fn read(list: &'a [u8], data: &'a [u8]) -> Self {
        let mut out = Self { style: u16_at(list, 0).unwrap_or_default(), ..Self::default() };
        out.take(part(list, 2, usize::MAX), data, true);
        out
    }

    fn take(&mut self, list: &'a [u8], data: &'a [u8], follow: bool) {
        let mut in_table = false;
        for sprm in sprms(list) {
            match sprm.code {
                sprm::STYLE => self.style = u16_at(sprm.operand, 0).unwrap_or_default(),
                sprm::OUTLINE => self.outline = Some(sprm.byte()),
                sprm::LIST => self.list = Some(sprm.short()),
                sprm::LIST_LEVEL => self.list_level = Some(sprm.byte()),
                sprm::IN_TABLE => in_table = sprm.byte() != 0,
                sprm::TABLE_DEPTH => self.depth = u32::try_from(sprm.long()).unwrap_or_default().min(DEPTH),
                sprm::INNER_CELL => self.ends_inner_cell = sprm.byte() != 0,
                sprm::ROW_END | sprm::INNER_ROW_END => self.ends_row = sprm.byte() != 0,
                sprm::TABLE_DEFINITION => self.row = sprm.operand,
                sprm::MERGE_DOWN => self.merges.extend(sprm.operand.first().copied().zip(sprm.operand.get(1).copied())),
                sprm::TABLE_HEADER => self.row_is_header = sprm.byte() != 0,
                sprm::HUGE | sprm::HUGE_OLD if follow => {
                    let at = usize::try_from(sprm.long()).unwrap_or(usize::MAX);
                    let length = usize::from(u16_at(data, at).unwrap_or_default());
                    self.take(part(data, at.saturating_add(2), length), data, false);
                }
                _ => {}
            }
        }
        if in_table {
            self.depth = self.depth.max(1);
        }
    }
}

/// A paragraph.
#[derive(Debug, Clone)]
pub(super) struct Stored<'a> {
    /// Characters before it, and before what ends it.
    pub from: u32,
    pub to: u32,
    /// Whether a cell's mark ends it.
    pub cell_mark: bool,
    pub properties: Properties<'a>,
}

impl Stored<'_> {
    /// Whether it ends a cell of the table of this depth.
    pub(super) fn ends_cell(&self, depth: u32) -> bool {
        self.properties.depth == depth
            && !self.properties.ends_row
            && if depth == 1 { self.cell_mark } else { self.properties.ends_inner_cell }
    }

    /// Whether it ends a row of the table of this depth.
    pub(super) fn ends_row(&self, depth: u32) -> bool {
        self.properties.depth == depth && self.properties.ends_row
    }
}

/// The paragraphs of a stretch of text.
pub(super) fn split<'a>(text: &Text<'_>, runs: &Runs<'a>, data: &'a [u8], from: u32, to: u32) -> Vec<Stored<'a>> {
    let mut out = Vec::new();
    let mut start = from;
    let mut last = None;
    for character in text.characters(from, to) {
        last = Some(character);
        // A page break ends a paragraph only where it is the mark of one; it is a white space otherwise.
        let ends = matches!(character.unit, 0x0d | 0x07) || (character.unit == 0x0c && ends_with(runs, character.at));
        if ends {
            let properties = Properties::read(runs.at(character.at).0, data);
            out.push(Stored { from: start, to: character.place, cell_mark: character.unit == 0x07, properties });
            start = character.place.saturating_add(1);
        }
    }
    if let Some(last) = last.filter(|last| last.place >= start) {
        let properties = Properties::read(runs.at(last.at).0, data);
        out.push(Stored { from: start, to: last.place.saturating_add(1), cell_mark: false, properties });
    }
    out
}

fn ends_with(runs: &Runs<'_>, at: u32) -> bool {
    let (_, end) = runs.at(at);
    end <= at.saturating_add(2)
}
