//! From stored paragraphs to blocks.

use quarry_document::flow::{
    Block, ContentsEntry, Fields, Note, Paragraph, ParagraphBuilder, Purpose, Role, anchor, ends_in_page_number, sequence,
};
use quarry_document::{Warnings, symbols};
use quarry_model::{DocumentFailure, Evidence, Limits};

use super::art::Art;
use super::lists::Lists;
use super::notes::{self, Notes};
use super::paragraph::{self, Stored};
use super::sprm::{self, sprms};
use super::styles::{Resolved, Styles};
use super::text::{Character, Runs, Text};
use crate::binary::numbers::{u16_at, u32_at};

/// What a walk reads from.
pub(super) struct Source<'a> {
    pub text: Text<'a>,
    pub paragraphs: Runs<'a>,
    pub characters: Runs<'a>,
    pub data: &'a [u8],
    pub styles: Styles,
    pub notes: Notes,
    /// The texts of text boxes: first character, character behind the last.
    pub boxes: Vec<(u32, u32)>,
}

/// A walk through one stretch of text after another.
pub(super) struct Walk<'w, 'a> {
    pub source: &'w Source<'a>,
    pub limits: &'w Limits,
    pub warnings: &'w mut Warnings,
    pub art: &'w mut Art<'a>,
    pub lists: Lists,
    pub fields: Fields,
    /// Text boxes that some anchor showed.
    pub boxes_told: Vec<bool>,
    /// Notes and text boxes do not hold others of their kind.
    inside: bool,
}

/// How a character is shown.
#[derive(Debug, Clone, Copy, Default)]
struct Look {
    bold: bool,
    hidden: bool,
    deleted: bool,
    special: bool,
    /// It stands for data that is no picture.
    data: bool,
    picture: Option<u32>,
    symbol: Option<u16>,
}

impl<'w, 'a> Walk<'w, 'a> {
    pub(super) fn new(source: &'w Source<'a>, limits: &'w Limits, warnings: &'w mut Warnings, art: &'w mut Art<'a>, lists: Lists) -> Self {
        let boxes_told = vec![false; source.boxes.len()];
        Self { source, limits, warnings, art, lists, fields: Fields::default(), boxes_told, inside: false }
    }

    /// The blocks from one place to another.
    pub(super) fn blocks(&mut self, from: u32, to: u32) -> Result<Vec<Block>, DocumentFailure> {
        let stored = paragraph::split(&self.source.text, &self.source.paragraphs, self.source.data, from, to);
        self.level(&stored, 0)
    }

    /// The blocks of paragraphs that stand in this many tables, or in more.
    pub(super) fn level(&mut self, stored: &[Stored<'a>], depth: u32) -> Result<Vec<Block>, DocumentFailure> {
        let mut out = Vec::new();
        let mut rest = stored;
        while let Some(first) = rest.first() {
            if first.properties.depth <= depth {
                let paragraph = self.paragraph(first)?;
                push(&mut out, paragraph);
                rest = rest.get(1..).unwrap_or_default();
                continue;
            }
            let end = rest.iter().position(|stored| stored.properties.depth <= depth).unwrap_or(rest.len());
            let (table, after) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            out.extend(self.table(table, depth.saturating_add(1))?);
            rest = after;
        }
        Ok(out)
    }

    /// Blocks of a text apart from the one around it.
    fn apart(&mut self, from: u32, to: u32) -> Result<Vec<Block>, DocumentFailure> {
        let fields = std::mem::take(&mut self.fields);
        let inside = std::mem::replace(&mut self.inside, true);
        let blocks = self.blocks(from, to);
        (self.fields, self.inside) = (fields, inside);
        blocks
    }

    /// Blocks of a text box: its paragraphs are no headings of the document.
    pub(super) fn box_blocks(&mut self, index: usize) -> Result<Vec<Block>, DocumentFailure> {
        let Some((from, to)) = self.source.boxes.get(index).copied() else { return Ok(Vec::new()) };
        match self.boxes_told.get_mut(index) {
            Some(told) if !*told => *told = true,
            _ => return Ok(Vec::new()),
        }
        let mut blocks = self.apart(from, to)?;
        for block in &mut blocks {
            if let Block::Paragraph(paragraph) = block
                && matches!(paragraph.role, Role::Heading(..) | Role::Title)
            {
                paragraph.role = Role::Body;
            }
        }
        Ok(blocks)
    }

    fn paragraph(&mut self, stored: &Stored<'a>) -> Result<Paragraph, DocumentFailure> {
        let properties = &stored.properties;
        let style = self.source.styles.get(properties.style);
        let mut builder = ParagraphBuilder::default();
        builder.in_contents |= self.fields.in_contents();
        builder.in_directory |= self.fields.in_directory();
        self.inline(stored.from, stored.to, &style, &mut builder)?;
        let contents = is_contents(&style, &builder);
        let list = properties.list.or(style.list).filter(|list| *list > 0);
        let label = match list {
            Some(list) if !contents && !builder.is_empty() => {
                self.lists.label(list, properties.list_level.or(style.list_level).unwrap_or_default())
            }
            _ => None,
        };
        let (anchor, sequence, directory) = (builder.anchor.take(), builder.sequence.take(), builder.in_directory);
        let mut paragraph = builder.finish();
        paragraph.label = label;
        let level = match properties.outline {
            Some(level) => (level < 9).then(|| u32::from(level).saturating_add(1)),
            None => style.heading,
        };
        paragraph.role = match level {
            _ if contents => match style.purpose {
                Purpose::ContentsOther => Role::ContentsOther,
                _ if directory => Role::ContentsOther,
                Purpose::Contents(level) => Role::Contents(ContentsEntry::read(&paragraph.text, level, anchor)),
                _ => Role::Contents(ContentsEntry::read(&paragraph.text, 1, anchor)),
            },
            _ if style.purpose == Purpose::Title => Role::Title,
            Some(level) => Role::Heading(level, Evidence::Style),
            None if style.purpose == Purpose::Caption || sequence.is_some() => Role::Caption { sequence: sequence.unwrap_or_default() },
            None => Role::Body,
        };
        Ok(paragraph)
    }

    fn inline(&mut self, from: u32, to: u32, style: &Resolved, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        let source = self.source;
        let mut look = Look::default();
        // Bytes of the main stream that this look holds for.
        let mut known = 0..0;
        // Characters outside the first plane are two units.
        let mut high = None;
        for character in source.text.characters(from, to) {
            if !known.contains(&character.at) {
                let (list, end) = source.characters.at(character.at);
                look = self.look(list, style);
                known = character.at..end;
            }
            if look.deleted {
                continue;
            }
            if let Some(symbol) = look.symbol.filter(|_| look.special && character.unit == 0x28) {
                let shown = symbols::character("symbol", u32::from(symbol)).unwrap_or(char::REPLACEMENT_CHARACTER);
                self.text(shown.encode_utf8(&mut [0; 4]), look, out);
                continue;
            }
            match character.unit {
                0x13 => self.fields.begin(),
                0x14 => self.fields.separate(),
                0x15 => {
                    if let Some(instruction) = self.fields.end() {
                        if out.anchor.is_none() {
                            out.anchor = anchor(&instruction).map(str::to_owned);
                        }
                        if out.sequence.is_none() {
                            out.sequence = sequence(&instruction).map(str::to_owned);
                        }
                    }
                }
                0x01 if look.special || look.picture.is_some() => self.inline_picture(look, out)?,
                0x08 if look.special => self.anchored(character, out)?,
                0x02 | 0x05 if look.special => self.note(character.place, out)?,
                0x09 => self.text("\t", look, out),
                0x0b => self.text("\n", look, out),
                0x0c | 0x0e => self.text(" ", look, out),
                0x1e => self.text("-", look, out),
                // A note's own mark is told with its label; soft hyphens and what else controls is not shown.
                0x00..=0x1f => {}
                unit => {
                    let units = match (high.take(), unit) {
                        (None, 0xd800..=0xdbff) => {
                            high = Some(unit);
                            continue;
                        }
                        (Some(first), _) => vec![first, unit],
                        (None, _) => vec![unit],
                    };
                    let shown: String = char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
                    // A custom mark of a note is a character like others, but its note is told all the same.
                    self.text(&shown, look, out);
                    if source.notes.at(character.place).is_some() {
                        self.note(character.place, out)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn text(&mut self, text: &str, look: Look, out: &mut ParagraphBuilder) {
        if !self.fields.shows() {
            self.fields.instruction(text);
            return;
        }
        if self.fields.in_page_number() {
            out.shows_page = true;
        }
        out.in_contents |= self.fields.in_contents();
        out.in_directory |= self.fields.in_directory();
        let replaced;
        let text = if text.contains(|c| ('\u{f000}'..='\u{f0ff}').contains(&c)) {
            replaced = symbols::replace(text, None);
            replaced.as_str()
        } else {
            text
        };
        if look.hidden {
            out.hidden(text);
        } else {
            out.text(text, look.bold);
        }
    }

    fn look(&self, list: &[u8], style: &Resolved) -> Look {
        let mut look = Look { bold: style.bold, hidden: style.hidden, ..Look::default() };
        let toggled = |value: u8, inherited: bool| match value {
            0 => false,
            0x80 => inherited,
            0x81 => !inherited,
            _ => true,
        };
        for sprm in sprms(list) {
            match sprm.code {
                sprm::CHARACTER_STYLE => {
                    let own = self.source.styles.get(u16_at(sprm.operand, 0).unwrap_or_default());
                    look.bold |= own.bold;
                    look.hidden |= own.hidden;
                }
                sprm::BOLD => look.bold = toggled(sprm.byte(), style.bold),
                sprm::HIDDEN => look.hidden = toggled(sprm.byte(), style.hidden),
                sprm::DELETED => look.deleted = sprm.byte() != 0,
                sprm::SPECIAL => look.special = sprm.byte() != 0,
                sprm::DATA => look.data = sprm.byte() != 0,
                sprm::PICTURE => {
                    look.picture = u32_at(sprm.operand, 0);
                    look.special = true;
                }
                sprm::SYMBOL => {
                    look.symbol = u16_at(sprm.operand, 2);
                    look.special = true;
                }
                _ => {}
            }
        }
        look
    }

    fn inline_picture(&mut self, look: Look, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        let Some(at) = look.picture.filter(|_| !look.data && self.fields.shows()) else { return Ok(()) };
        if let Some((asset, said)) = self.art.inline(at)? {
            out.picture_at(asset, &said);
        }
        Ok(())
    }

    fn anchored(&mut self, character: Character, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        if self.inside {
            return Ok(());
        }
        let anchored = self.art.anchored(character.place)?;
        if anchored.picture.is_some() || !anchored.said.is_empty() {
            out.picture_at(anchored.picture, &anchored.said);
        }
        if let Some(index) = anchored.text_box {
            let blocks = self.box_blocks(index)?;
            out.after.extend(blocks);
        }
        Ok(())
    }

    fn note(&mut self, place: u32, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        let source = self.source;
        let Some(note) = source.notes.at(place).filter(|_| !self.inside && self.fields.shows()) else { return Ok(()) };
        let label = match note.kind {
            notes::Kind::Comment if note.author.is_empty() => "Comment:".to_owned(),
            notes::Kind::Comment => format!("Comment ({}):", note.author),
            notes::Kind::Footnote | notes::Kind::Endnote => {
                let prefix = if note.kind == notes::Kind::Endnote { "e" } else { "" };
                out.push(&format!("[^{prefix}{}]", note.number));
                format!("[^{prefix}{}]:", note.number)
            }
        };
        let blocks = self.apart(note.from, note.to)?;
        if !blocks.is_empty() {
            out.after.push(Block::Note(Note { label, blocks }));
        }
        Ok(())
    }
}

fn is_contents(style: &Resolved, paragraph: &ParagraphBuilder) -> bool {
    if matches!(style.purpose, Purpose::Contents(_) | Purpose::ContentsOther) {
        return true;
    }
    let inside = paragraph.in_contents || paragraph.in_directory;
    inside && style.heading.is_none() && (paragraph.anchor.is_some() || ends_in_page_number(paragraph.peek()))
}

pub(super) fn push(list: &mut Vec<Block>, paragraph: Paragraph) {
    let numbered_heading = matches!(paragraph.role, Role::Heading(..)) && paragraph.label.is_some();
    if !paragraph.is_empty() || numbered_heading {
        list.push(Block::Paragraph(Box::new(paragraph)));
    }
}
