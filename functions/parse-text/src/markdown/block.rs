//! What a block that is being read holds so far.

use pulldown_cmark::CowStr;
use quarry_document::TableBuilder;
use quarry_document::prose::{Inline, Picture};
use quarry_model::{Cell, Limits};
use std::ops::Range;

/// The block that is being read.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) text: Inline,
    pub(super) pictures: Vec<Picture>,
    /// Labels of the notes called in it.
    pub(super) calls: Vec<String>,
    /// Bytes of the source it was read from.
    pub(super) range: Option<Range<usize>>,
}

impl Block {
    /// Widens the block's range.
    pub(super) fn covers(&mut self, range: &Range<usize>) {
        self.range = Some(match self.range.take() {
            Some(own) => own.start.min(range.start)..own.end.max(range.end),
            None => range.clone(),
        });
    }
}

/// A picture whose alternative text is being read.
#[derive(Debug)]
pub(super) struct OpenPicture {
    pub(super) source: String,
    pub(super) title: String,
    pub(super) alternative: Inline,
    /// Pictures inside the alternative text: only their words count.
    pub(super) nested: usize,
}

impl OpenPicture {
    pub(super) fn new(source: &CowStr<'_>, title: &CowStr<'_>) -> Self {
        Self { source: source.to_string(), title: title.to_string(), alternative: Inline::default(), nested: 0 }
    }

    pub(super) fn close(mut self) -> Picture {
        let alternative = self.alternative.take();
        let description = match (alternative.is_empty(), self.title.is_empty()) {
            (true, _) => self.title,
            (false, false) if !alternative.contains(&self.title) => format!("{alternative}\n{}", self.title),
            _ => alternative,
        };
        Picture { source: self.source, description }
    }
}

/// A table that is being read.
#[derive(Debug)]
pub(super) struct OpenTable {
    pub(super) builder: TableBuilder,
    pub(super) in_head: bool,
    /// Where the last cell ends.
    read_until: usize,
}

impl OpenTable {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { builder: TableBuilder::new(limits), in_head: false, read_until: 0 }
    }

    pub(super) fn cell(&mut self, text: String, end: usize) {
        self.read_until = end;
        self.builder.cell(Cell { header: self.in_head, ..Cell::new(text) });
    }

    /// A row may have more cells than its table has columns (often a `|` in code). Renderers drop them; we keep what they say.
    pub(super) fn end_row(&mut self, source: &str, end: usize) {
        let rest = source.get(self.read_until..end).unwrap_or_default();
        for text in rest.split('|').map(str::trim).filter(|text| !text.is_empty()) {
            self.builder.cell(Cell::new(text));
        }
    }
}

/// A piece of raw HTML that is being read.
#[derive(Debug)]
pub(super) struct OpenHtml {
    pub(super) html: String,
    pub(super) range: Range<usize>,
}
