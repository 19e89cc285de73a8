//! Blocks → rows: sections open at headings, captions go to what they name, pictures stand behind their text.

use quarry_model::{Asset, Evidence, Heading, Parsed, Row, RowKind, RowRef};

use super::block::{Block, Note, Paragraph, Picture, Role, TableBlock};
use super::label;
use super::label::Label;

/// Turns the blocks of a document into rows.
pub fn assemble(blocks: Vec<Block>, assets: Vec<Asset>) -> Parsed {
    let mut rows = Rows { parsed: Parsed { assets, ..Parsed::default() }, ..Rows::default() };
    rows.blocks(blocks);
    rows.parsed
}

#[derive(Default)]
struct Rows {
    parsed: Parsed,
    section: Option<usize>,
    /// Whether the last row is an item of a list: the next item joins it without a gap.
    in_list: bool,
}

impl Rows {
    fn blocks(&mut self, blocks: Vec<Block>) {
        let mut rest = blocks.into_iter().peekable();
        while let Some(block) = rest.next() {
            match block {
                Block::Paragraph(paragraph) => {
                    let caption = as_caption(&paragraph);
                    let given = caption.is_some_and(|sequence| self.caption(&paragraph.text, sequence, rest.peek_mut()));
                    if !given {
                        self.paragraph(*paragraph);
                    }
                }
                Block::Table(table) => self.table(table),
                Block::Note(note) => self.note(note),
            }
        }
    }

    /// Gives a caption to the picture before it, or to the table or picture after it. Answers whether the caption is
    /// told with that: a table's stands in the table, a picture's stays in the text as well, which it is part of.
    fn caption(&mut self, text: &str, sequence: &str, next: Option<&mut Block>) -> bool {
        let for_table = names_tables(sequence);
        let table_follows = matches!(next.as_deref(), Some(Block::Table(_)));
        if !(for_table && table_follows) && self.caption_last_picture(text) {
            return false;
        }
        match next {
            Some(Block::Table(table)) if fold(text).contains(&fold(&table.table.caption)) => {
                table.table.caption = fold(text);
                true
            }
            Some(Block::Table(table)) => {
                // The table says something of itself already: both are kept.
                table.table.caption = format!("{} ({})", fold(text), table.table.caption);
                true
            }
            Some(Block::Paragraph(paragraph)) if paragraph.is_pictures() => match paragraph.pictures.first_mut() {
                Some(picture) => {
                    picture.alt = described(text, &picture.alt);
                    false
                }
                None => false,
            },
            _ => self.caption_last_table(text, for_table),
        }
    }

    fn caption_last_picture(&mut self, text: &str) -> bool {
        let Some(row) = self.parsed.rows.last_mut().filter(|row| row.kind == RowKind::Image) else { return false };
        row.content = described(text, &row.content);
        true
    }

    fn caption_last_table(&mut self, text: &str, for_table: bool) -> bool {
        let last = self.parsed.rows.last_mut().filter(|row| for_table && row.kind == RowKind::Table);
        let Some(table) = last.and_then(|row| row.table.as_mut()).filter(|table| table.caption.is_empty()) else { return false };
        table.caption = fold(text);
        true
    }

    fn paragraph(&mut self, paragraph: Paragraph) {
        let Paragraph { text, hidden, pictures, role, label, after, .. } = paragraph;
        let item = label.is_some();
        match role {
            Role::Contents(entry) => {
                let (title, level, page) = (entry.title, entry.level, entry.page);
                if !title.is_empty() {
                    self.parsed.outline.push(Heading { title, number: None, level, page, evidence: Evidence::Toc });
                }
            }
            Role::ContentsOther => {}
            Role::Title => self.heading(&text, (1, Evidence::Style), label.as_ref(), pictures),
            Role::Heading(level, evidence) => self.heading(&text, (level, evidence), label.as_ref(), pictures),
            Role::Body | Role::Caption { .. } => {
                let (text, shift) = label::item(label.as_ref(), &text);
                self.text(text, pictures, shift, item, false);
                self.in_list = item;
            }
        }
        if !hidden.is_empty() {
            self.text(hidden, Vec::new(), 0, false, true);
        }
        if !after.is_empty() {
            self.blocks(after);
            self.in_list = false;
        }
    }

    fn heading(&mut self, text: &str, (level, evidence): (u32, Evidence), label: Option<&Label>, pictures: Vec<Picture>) {
        let (title, number) = label::title(label, &fold(text));
        self.in_list = false;
        if !title.is_empty() {
            self.section = Some(self.parsed.headings.len());
            self.parsed.headings.push(Heading { title, number, level, page: None, evidence });
        }
        self.text(String::new(), pictures, 0, false, false);
    }

    /// A text row with its pictures behind it; without text only the pictures.
    fn text(&mut self, text: String, pictures: Vec<Picture>, shift: usize, item: bool, hidden: bool) {
        let tight = item && self.in_list;
        let host = (!text.is_empty()).then(|| {
            self.parsed.rows.push(Row { hidden, tight, ..Row::text(self.section, text) });
            self.parsed.rows.len().saturating_sub(1)
        });
        for picture in pictures {
            let row = self.parsed.rows.len();
            self.parsed.rows.push(Row { asset: picture.asset, ..Row::image(self.section, 0, picture.alt) });
            if let Some(host) = host.and_then(|host| self.parsed.rows.get_mut(host)) {
                host.refs.push(RowRef { row, at: picture.at.saturating_add(shift) });
            }
        }
    }

    fn table(&mut self, block: TableBlock) {
        self.in_list = false;
        self.parsed.rows.push(Row::table(self.section, block.table));
        self.blocks(block.after);
    }

    /// A note: its label in front of its first paragraph, the rest joined to it.
    fn note(&mut self, note: Note) {
        let mut label = Some(note.label);
        self.in_list = false;
        for block in note.blocks {
            match block {
                Block::Paragraph(paragraph) => {
                    let Paragraph { text, hidden, pictures, label: number, after, .. } = *paragraph;
                    let (mut text, mut shift) = label::item(number.as_ref(), &text);
                    let first = label.is_some();
                    if let Some(mark) = label.take() {
                        shift = shift.saturating_add(mark.chars().count()).saturating_add(1);
                        text = if text.is_empty() { mark } else { format!("{mark} {text}") };
                    }
                    self.in_list = !first;
                    self.text(text, pictures, shift, !first, false);
                    self.in_list = false;
                    if !hidden.is_empty() {
                        self.text(hidden, Vec::new(), 0, false, true);
                    }
                    self.blocks(after);
                }
                Block::Table(table) => self.table(table),
                Block::Note(note) => self.note(note),
            }
        }
    }
}

/// The counter of a paragraph that is a caption and nothing else.
fn as_caption(paragraph: &Paragraph) -> Option<&str> {
    match &paragraph.role {
        Role::Caption { sequence } if paragraph.pictures.is_empty() && paragraph.after.is_empty() && paragraph.hidden.is_empty() => {
            (!paragraph.text.is_empty()).then_some(sequence.as_str())
        }
        _ => None,
    }
}

/// Counters of tables, in the languages Word is sold in most.
fn names_tables(sequence: &str) -> bool {
    let name = sequence.to_lowercase();
    ["tab", "tbl", "cuadro", "quadro", "таб", "表", "표"].iter().any(|stem| name.starts_with(stem))
}

/// A caption, and the description when it says something else.
fn described(caption: &str, alt: &str) -> String {
    let caption = fold(caption);
    if alt.is_empty() || caption.contains(alt) { caption } else { format!("{caption}\n{alt}") }
}

fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
