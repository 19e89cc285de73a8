//! Blocks and headings → rows, with pages, boxes and pictures.

use std::collections::BTreeSet;

use quarry_model::{Asset, DocumentCode, Evidence, Heading, Limits, PageBox, Parsed, Row, RowKind, TablePart, Warning};
use quarry_pdf::{OutlineEntry, Pdf};

use crate::blocks::{Block, TextBlock, begins_item, boxes_of, page_box};
use crate::caption::{self, Names};
use crate::figures::Figure;
use crate::furniture::Running;
use crate::headings::{Found, bare};
use crate::paged::text_rows;
use crate::pictures::Pictures;
use crate::tables::FoundTable;

/// Puts everything together in reading order.
pub(crate) fn rows_of(blocks: Vec<Block>, found: Vec<Found>, running: Vec<Running>, pdf: &Pdf, limits: &Limits) -> Parsed {
    let pictures = Pictures::read(&blocks, pdf, limits);
    let total = blocks.len();
    let mut taken: BTreeSet<usize> = found.iter().filter_map(|f| f.label).collect();
    let heads: BTreeSet<usize> = found.iter().filter(|f| f.consumes).map(|f| f.block).collect();
    let mut writer = Writer { parsed: Parsed::default(), section: None, item_before: false, pictures };
    writer.running(running, &found);
    let mut found = found.into_iter().peekable();
    let mut blocks = blocks.into_iter().enumerate().peekable();
    while let Some((index, block)) = blocks.next() {
        if taken.contains(&index) {
            continue;
        }
        let mut skip = 0usize;
        while let Some(here) = found.next_if(|f| f.block <= index) {
            writer.section = Some(writer.parsed.headings.len());
            if here.consumes && here.block == index {
                skip = here.lines;
            }
            writer.parsed.headings.push(here.heading);
        }
        let next = match blocks.peek() {
            Some((at, Block::Text(text))) if !heads.contains(at) => Some((*at, text)),
            _ => None,
        };
        let used = match block {
            Block::Text(text) => {
                writer.text(text, skip);
                None
            }
            Block::Table(table, page) => writer.table(table, page, next),
            Block::Figure(figure, page) => {
                writer.figure(figure, page, next);
                None
            }
        };
        taken.extend(used);
    }
    for late in found.filter(|late| late.block >= total) {
        writer.parsed.headings.push(late.heading);
    }
    writer.parsed
}

/// What is written so far.
struct Writer {
    parsed: Parsed,
    section: Option<usize>,
    item_before: bool,
    pictures: Pictures,
}

/// A caption's text and where it stands.
struct Caption {
    text: String,
    boxes: Vec<PageBox>,
}

impl Writer {
    /// Running titles and footers, each once, before the body; one that names a section or the document says nothing more.
    fn running(&mut self, running: Vec<Running>, found: &[Found]) {
        let titles: Vec<String> = found.iter().map(|f| bare(&f.heading.title)).collect();
        for line in running {
            let key = bare(&line.text);
            if titles.iter().any(|title| title.contains(&key) || (title.chars().count() > 3 && key.contains(title.as_str()))) {
                continue;
            }
            let boxes = vec![page_box(line.page, &line.rect)];
            self.parsed.rows.push(Row { pages: vec![line.page], boxes, tight: true, ..Row::text(None, line.text) });
        }
    }

    fn text(&mut self, mut block: TextBlock, skip: usize) {
        if skip >= block.lines.len() {
            return;
        }
        block.lines.drain(..skip);
        let mut rows = text_rows(&block, self.section);
        if let Some(first) = rows.first_mut() {
            let item = begins_item(&first.content);
            first.tight = self.item_before && item;
            self.item_before = item;
        }
        self.parsed.rows.append(&mut rows);
    }

    /// Writes a table; answers the block it takes as its caption.
    fn table(&mut self, table: FoundTable, page: u32, next: Option<(usize, &TextBlock)>) -> Option<usize> {
        let mut row = Row::table(self.section, table.table);
        row.pages = vec![page];
        row.boxes = vec![page_box(page, &table.rect)];
        if !table.further.is_empty() {
            row.parts.push(TablePart { row: 0, place: page_box(page, &table.rect) });
        }
        for (page, rect, from) in &table.further {
            let place = page_box(*page, rect);
            row.pages.push(*page);
            row.boxes.push(place);
            row.parts.push(TablePart { row: *from, place });
        }
        row.pages.dedup();
        let before = self.caption_before(page, Names::Table);
        let used = if before.is_some() { None } else { caption_after(next, page, Names::Table) };
        let caption = before.or_else(|| next.filter(|(at, _)| used == Some(*at)).map(|(_, text)| Caption::of(text)));
        if let (Some(caption), Some(table)) = (caption, row.table.as_mut()) {
            table.caption = caption.text;
            row.boxes.extend(caption.boxes);
        }
        self.parsed.rows.push(row);
        self.item_before = false;
        used
    }

    /// Writes a figure. Its caption stays in the text, where it is read in its place.
    fn figure(&mut self, figure: Figure, page: u32, next: Option<(usize, &TextBlock)>) {
        self.item_before = false;
        let Some(bytes) = self.pictures.of(figure.object) else {
            let message = "a picture could not be decoded".to_owned();
            self.parsed.warnings.push(Warning { code: DocumentCode::Corrupt, message, page: Some(page) });
            return;
        };
        let after = caption_after(next, page, Names::Figure).and(next).map(|(_, text)| Caption::of(text));
        let caption = after.or_else(|| {
            let row = self.parsed.rows.last().filter(|row| self.is_caption(row, page, Names::Figure))?;
            Some(Caption { text: row.content.clone(), boxes: row.boxes.clone() })
        });
        let asset = self.parsed.assets.len();
        self.parsed.assets.push(Asset { bytes, original_name: format!("page {page}") });
        let mut row = Row::image(self.section, asset, "");
        row.pages = vec![page];
        row.boxes = vec![page_box(page, &figure.rect)];
        if let Some(caption) = caption {
            row.content = caption.text;
            row.boxes.extend(caption.boxes);
        }
        self.parsed.rows.push(row);
    }

    fn is_caption(&self, row: &Row, page: u32, wanted: Names) -> bool {
        row.kind == RowKind::Text && row.section == self.section && row.pages == [page] && caption::names(&row.content) == Some(wanted)
    }

    /// Takes the row just written when it is a caption on this page for what comes next.
    fn caption_before(&mut self, page: u32, wanted: Names) -> Option<Caption> {
        self.parsed.rows.last().filter(|row| self.is_caption(row, page, wanted))?;
        self.parsed.rows.pop().map(|row| Caption { text: row.content, boxes: row.boxes })
    }
}

impl Caption {
    fn of(block: &TextBlock) -> Self {
        Self { text: block.text(), boxes: boxes_of(&block.lines) }
    }
}

/// The next block, when it is a caption on this page for what stands before it.
fn caption_after(next: Option<(usize, &TextBlock)>, page: u32, wanted: Names) -> Option<usize> {
    let (at, text) = next?;
    (text.lines.iter().all(|(_, p)| *p == page) && caption::names(&text.text()) == Some(wanted)).then_some(at)
}

/// The outline as the source's own table of contents.
pub(crate) fn outline_of(outline: &[OutlineEntry]) -> Vec<Heading> {
    outline
        .iter()
        .map(|entry| Heading {
            number: None,
            title: entry.title.clone(),
            level: entry.level,
            page: entry.page.and_then(|p| u32::try_from(p).ok()),
            evidence: Evidence::Outline,
        })
        .collect()
}
