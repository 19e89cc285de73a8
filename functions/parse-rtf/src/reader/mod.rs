//! The loop over tokens.

mod groups;

use encoding_rs::Encoding;
use quarry_document::flow::{self, Block, ContentsEntry, Fields, Label, Purpose, Role, RunningText, Suffix};
use quarry_document::{Warnings, symbols};
use quarry_model::{Asset, DocumentCode, DocumentFailure, Evidence, Limits, Parsed};

use crate::charset::{self, code_page};
use crate::context::{Context, Kind};
use crate::picture::PictureData;
use crate::sheet::{Font, Sheet, Style, heading_level};
use crate::state::{Ends, State, Target};
use crate::table::RowShape;
use crate::token::{Token, Tokens};

/// Groups nest no deeper; Word writes about thirty.
const GROUP_DEPTH: usize = 2_048;

/// Reads a document.
pub(crate) fn read(bytes: &[u8], limits: &Limits) -> Result<Parsed, DocumentFailure> {
    if !bytes.trim_ascii_start().starts_with(b"{\\rtf") {
        return Err(DocumentFailure::new(DocumentCode::Corrupt, "this does not begin as RTF does"));
    }
    let mut reader = Reader::new(limits);
    for token in Tokens::new(bytes) {
        reader.token(token)?;
    }
    reader.finish()
}

/// Everything on the way.
pub(crate) struct Reader<'l> {
    pub limits: &'l Limits,
    pub state: State,
    stack: Vec<State>,
    pub sheet: Sheet,
    /// The font or style that is being described.
    pub described: i32,
    pub new_style: Style,
    name: String,
    default: &'static Encoding,
    pub default_font: i32,
    pending: Vec<u8>,
    /// What still stands in for the last `\u`.
    pub skip: i32,
    high_surrogate: Option<u16>,
    /// Whether the next word names a destination that may be skipped.
    pub optional: bool,
    pub contexts: Vec<Context>,
    pub fields: Fields,
    pub row: RowShape,
    pub nested_row: RowShape,
    pub picture: PictureData,
    label: String,
    title: String,
    author: String,
    bookmark: String,
    property: String,
    value: String,
    /// The description of the shape that is read.
    description: String,
    notes: [usize; 2],
    headers: Vec<Vec<Block>>,
    assets: Vec<Asset>,
    pub warnings: Warnings,
}

impl<'l> Reader<'l> {
    fn new(limits: &'l Limits) -> Self {
        Self {
            limits,
            state: State { fallback: 1, ..State::default() },
            stack: Vec::new(),
            sheet: Sheet::default(),
            described: 0,
            new_style: Style::default(),
            name: String::new(),
            default: encoding_rs::WINDOWS_1252,
            default_font: 0,
            pending: Vec::new(),
            skip: 0,
            high_surrogate: None,
            optional: false,
            contexts: vec![Context::new(Kind::Body)],
            fields: Fields::default(),
            row: RowShape::default(),
            nested_row: RowShape::default(),
            picture: PictureData::default(),
            label: String::new(),
            title: String::new(),
            author: String::new(),
            bookmark: String::new(),
            property: String::new(),
            value: String::new(),
            description: String::new(),
            notes: [0; 2],
            headers: Vec::new(),
            assets: Vec::new(),
            warnings: Warnings::default(),
        }
    }

    fn token(&mut self, token: Token<'_>) -> Result<(), DocumentFailure> {
        if self.skip > 0 && matches!(token, Token::Byte(_) | Token::Hex(_) | Token::Word(..) | Token::Symbol(_) | Token::Binary(_)) {
            self.skip = self.skip.saturating_sub(1);
            return Ok(());
        }
        match token {
            Token::Byte(byte) | Token::Hex(byte) => self.byte(byte),
            Token::Open => {
                self.flush();
                if self.stack.len() >= GROUP_DEPTH {
                    return Err(DocumentFailure::new(DocumentCode::TooDeep, format!("groups nested deeper than {GROUP_DEPTH}")));
                }
                self.stack.push(self.state);
                self.state.ends = Ends::Nothing;
                self.skip = 0;
                self.optional = false;
            }
            Token::Close => {
                self.flush();
                self.skip = 0;
                self.close();
            }
            Token::Word(name, number) => {
                self.flush();
                self.word(name, number);
                self.optional = false;
            }
            Token::Symbol(symbol) => {
                self.flush();
                self.symbol(symbol);
            }
            Token::Binary(data) => {
                if self.state.target == Target::Picture {
                    self.picture.binary(data, self.limits.stream_bytes);
                }
            }
        }
        Ok(())
    }

    fn byte(&mut self, byte: u8) {
        match self.state.target {
            Target::Skip => {}
            Target::Picture => self.picture.hex(byte, self.limits.stream_bytes),
            _ => self.pending.push(byte),
        }
    }

    /// Decodes the bytes gathered in the encoding in force.
    fn flush(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut self.pending);
        let font = self.sheet.fonts.get(&self.state.font).filter(|_| !matches!(self.state.target, Target::Fonts | Target::Styles));
        if let Some(font) = font.filter(|font| font.charset == charset::SYMBOL) {
            let name = font.name.clone();
            let text: String = bytes.iter().filter_map(|byte| symbols::character(&name, u32::from(*byte))).collect();
            return self.text(&text);
        }
        let encoding = font.and_then(|font| charset::of_font(font.charset)).unwrap_or(self.default);
        let (text, _) = encoding.decode_without_bom_handling(&bytes);
        self.text(&text);
    }

    /// The code page of the document.
    pub(crate) fn set_code_page(&mut self, number: i32) {
        match code_page(number) {
            Some(encoding) => self.default = encoding,
            None => self.warnings.note(DocumentCode::Unsupported, format!("code page {number} is read as Western European")),
        }
    }

    /// A UTF-16 unit.
    pub(crate) fn unicode(&mut self, unit: i32) {
        self.skip = self.state.fallback;
        let unit = u16::try_from(unit & 0xffff).unwrap_or(0xfffd);
        let high = self.high_surrogate.take();
        if (0xd800..0xdc00).contains(&unit) {
            self.high_surrogate = Some(unit);
            return;
        }
        let units: Vec<u16> = high.into_iter().chain([unit]).collect();
        let mut text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        if ('\u{f000}'..='\u{f0ff}').contains(&text.chars().next().unwrap_or_default()) {
            let font = self.sheet.fonts.get(&self.state.font).map(|font| font.name.clone());
            text = symbols::replace(&text, font.as_deref());
        }
        self.text(&text);
    }

    /// Text goes where the group says.
    pub(crate) fn text(&mut self, text: &str) {
        match self.state.target {
            Target::Skip | Target::Picture | Target::Info => {}
            Target::Body => self.body_text(text),
            Target::Fonts | Target::Styles => self.described_text(text),
            Target::Title => self.title.push_str(text),
            Target::CommentAuthor => self.author.push_str(text),
            Target::Label => self.label.push_str(text),
            Target::Instruction => self.fields.instruction(text),
            Target::Bookmark => self.bookmark.push_str(text),
            Target::PropertyName => self.property.push_str(text),
            Target::PropertyValue => self.value.push_str(text),
        }
    }

    fn body_text(&mut self, text: &str) {
        if self.state.deleted || !self.fields.shows() {
            return;
        }
        let (hidden, bold) = (self.state.hidden, self.state.bold);
        let (contents, directory, page) = (self.fields.in_contents(), self.fields.in_directory(), self.fields.in_page_number());
        let Some(context) = self.contexts.last_mut() else { return };
        if page {
            context.line.shows_page = true;
            if context.kind == Kind::Header {
                return;
            }
        }
        context.line.in_contents |= contents;
        context.line.in_directory |= directory;
        let text: String = text.chars().filter(|c| !c.is_control() || matches!(c, '\t' | '\n')).collect();
        if hidden { context.line.hidden(&text) } else { context.line.text(&text, bold) }
    }

    /// Names of fonts and styles end in a semicolon.
    fn described_text(&mut self, text: &str) {
        for c in text.chars() {
            if c != ';' {
                self.name.push(c);
                continue;
            }
            let name = std::mem::take(&mut self.name).trim().to_owned();
            if self.state.target == Target::Fonts {
                self.sheet.fonts.entry(self.described).or_default().name = name;
            } else {
                let style = std::mem::take(&mut self.new_style);
                self.sheet.styles.entry(self.described).or_insert(Style { name, ..style });
                // A style without a number is the first.
                self.described = 0;
            }
        }
    }

    pub(crate) fn font(&mut self) -> &mut Font {
        self.sheet.fonts.entry(self.described).or_default()
    }

    /// Ends the paragraph that is open.
    pub(crate) fn end_paragraph(&mut self) {
        let state = self.state.paragraph;
        let (level, purpose) = self.sheet.role(state.style);
        let level = state.outline.map_or(level, heading_level);
        let Some(context) = self.contexts.last_mut() else { return };
        let mut line = std::mem::take(&mut context.line);
        let label = context.label.take();
        let (anchor, sequence) = (line.anchor.take(), line.sequence.take());
        let (contents, directory) = (line.in_contents, line.in_directory);
        let mut paragraph = line.finish();
        let in_contents = matches!(purpose, Purpose::Contents(_) | Purpose::ContentsOther)
            || (contents || directory) && level.is_none() && (anchor.is_some() || flow::ends_in_page_number(&paragraph.text));
        paragraph.role = match level {
            _ if in_contents && (directory || purpose == Purpose::ContentsOther) => Role::ContentsOther,
            _ if in_contents => {
                let level = if let Purpose::Contents(level) = purpose { level } else { 1 };
                Role::Contents(ContentsEntry::read(&paragraph.text, level, anchor))
            }
            _ if paragraph.text.is_empty() => Role::Body,
            _ if purpose == Purpose::Title => Role::Title,
            Some(level) => Role::Heading(level, Evidence::Style),
            None if purpose == Purpose::Caption || sequence.is_some() => Role::Caption { sequence: sequence.unwrap_or_default() },
            None => Role::Body,
        };
        if !in_contents && !paragraph.text.is_empty() {
            let depth = usize::try_from(state.list_level.clamp(0, 8)).unwrap_or(0);
            paragraph.label = label.map(|text| list_label(&text, depth)).filter(|label| !label.bullet || level.is_none());
        }
        context.paragraph(paragraph, state.tables(), self.limits);
    }

    /// Ends a cell, and the paragraph in it.
    pub(crate) fn end_cell(&mut self, tables: usize) {
        self.in_tables(tables);
        self.end_paragraph();
        if let Some(context) = self.contexts.last_mut() {
            context.end_cell(tables, self.limits);
        }
    }

    /// Ends a row.
    pub(crate) fn end_row(&mut self, tables: usize) {
        let shape = if tables > 1 { self.nested_row.clone() } else { self.row.clone() };
        if let Some(context) = self.contexts.last_mut() {
            context.end_row(tables, &shape, self.limits);
        }
    }

    /// Cells say that there is a table even where the paragraph forgot to.
    fn in_tables(&mut self, tables: usize) {
        if self.state.paragraph.tables() != tables {
            self.state.paragraph.in_table = true;
            self.state.paragraph.depth = i32::try_from(tables).unwrap_or(1);
        }
    }

    fn tell_dropped(&mut self, dropped: u64) {
        if dropped > 0 {
            self.warnings.partial(DocumentCode::TooLarge, format!("{dropped} cells of tables are left out"));
        }
    }

    fn finish(mut self) -> Result<Parsed, DocumentFailure> {
        self.flush();
        if !self.stack.is_empty() {
            self.warnings.partial(DocumentCode::Corrupt, "the document ends in the middle");
        }
        // An instruction that never ends must not hide what follows it; notes that never end are still notes.
        while self.contexts.len() > 1 {
            self.end_context();
        }
        self.end_paragraph();
        let Some(body) = self.contexts.pop() else { return Err(DocumentFailure::new(DocumentCode::Empty, "nothing is left")) };
        let (mut blocks, dropped) = body.finish(self.limits);
        self.tell_dropped(dropped);
        flow::promote(&mut blocks);
        let mut running = RunningText::beside(&blocks);
        for header in std::mem::take(&mut self.headers) {
            running.keep_all(header);
        }
        let mut all = running.into_blocks();
        all.append(&mut blocks);
        let mut parsed = flow::assemble(all, self.assets);
        let title = self.title.split_whitespace().collect::<Vec<_>>().join(" ");
        parsed.title = Some(title).filter(|title| !title.is_empty());
        (parsed.warnings, parsed.partial) = self.warnings.finish();
        if parsed.rows.is_empty() && parsed.headings.is_empty() {
            return Err(DocumentFailure::new(DocumentCode::Empty, "the document holds no text"));
        }
        Ok(parsed)
    }
}

/// A label as the document spells it: with a letter or a figure a number, else a bullet.
fn list_label(text: &str, level: usize) -> Label {
    let bullet = !text.chars().any(char::is_alphanumeric) || text == "o";
    let text = if bullet { symbols::bullet(text) } else { text.split_whitespace().collect::<Vec<_>>().join(" ") };
    Label { text, suffix: Suffix::Space, bullet, level }
}
