//! A place of its own for paragraphs: the body, a note, a comment, a text box, a header.

use quarry_document::flow::{Block, Paragraph, ParagraphBuilder};
use quarry_model::Limits;

use crate::table::{OpenTable, RowShape};

/// What a place is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Body,
    /// A note with its label.
    Note(String),
    TextBox,
    Header,
}

/// One place.
#[derive(Debug)]
pub(crate) struct Context {
    pub kind: Kind,
    blocks: Vec<Block>,
    /// The paragraph that is open.
    pub line: ParagraphBuilder,
    /// The label in front of it.
    pub label: Option<String>,
    tables: Vec<OpenTable>,
    pub dropped: u64,
}

impl Context {
    pub(crate) fn new(kind: Kind) -> Self {
        Self { kind, blocks: Vec::new(), line: ParagraphBuilder::default(), label: None, tables: Vec::new(), dropped: 0 }
    }

    /// Adds a paragraph that stands inside so many tables.
    pub(crate) fn paragraph(&mut self, paragraph: Paragraph, tables: usize, limits: &Limits) {
        self.close_to(tables, limits);
        while self.tables.len() < tables {
            self.tables.push(OpenTable::default());
        }
        if !paragraph.is_empty() {
            self.place().push(Block::Paragraph(Box::new(paragraph)));
        }
    }

    pub(crate) fn end_cell(&mut self, tables: usize, limits: &Limits) {
        self.close_to(tables, limits);
        if let Some(table) = self.tables.last_mut() {
            table.end_cell();
        }
    }

    pub(crate) fn end_row(&mut self, tables: usize, shape: &RowShape, limits: &Limits) {
        self.close_to(tables, limits);
        if let Some(table) = self.tables.last_mut() {
            table.end_row(shape);
        }
    }

    /// All blocks.
    pub(crate) fn finish(mut self, limits: &Limits) -> (Vec<Block>, u64) {
        self.close_to(0, limits);
        (self.blocks, self.dropped)
    }

    fn place(&mut self) -> &mut Vec<Block> {
        match self.tables.last_mut() {
            Some(table) => &mut table.current,
            None => &mut self.blocks,
        }
    }

    fn close_to(&mut self, tables: usize, limits: &Limits) {
        while self.tables.len() > tables {
            let Some(table) = self.tables.pop() else { break };
            let (blocks, dropped) = table.finish(limits);
            self.dropped = self.dropped.saturating_add(dropped);
            self.place().extend(blocks);
        }
    }
}
