//! Blocks and headings → rows, with pages, boxes and pictures.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use image::ImageEncoder;
use quarry_model::{Asset, DocumentCode, Evidence, Heading, Limits, Parsed, Row, Warning};
use quarry_pdf::{OutlineEntry, Pdf, PictureData};

use crate::blocks::{Block, TextBlock, begins_item, page_box};
use crate::headings::Found;

/// Puts everything together in reading order.
pub(crate) fn rows_of(blocks: Vec<Block>, found: Vec<Found>, pdf: &Pdf, limits: &Limits) -> Parsed {
    let mut parsed = Parsed::default();
    let mut pictures = Pictures::read(&blocks, pdf, limits);
    let mut section: Option<usize> = None;
    let total = blocks.len();
    let labels: BTreeSet<usize> = found.iter().filter_map(|f| f.label).collect();
    let mut found = found.into_iter().peekable();
    let mut item_before = false;
    let mut blocks = blocks.into_iter().enumerate().peekable();
    while let Some((index, block)) = blocks.next() {
        if labels.contains(&index) {
            continue;
        }
        let mut skip = 0usize;
        while let Some(here) = found.next_if(|f| f.block <= index) {
            section = Some(parsed.headings.len());
            if here.consumes && here.block == index {
                skip = here.lines;
            }
            parsed.headings.push(here.heading);
        }
        match block {
            Block::Text(text) => {
                let rest = without_lines(text, skip);
                if let Some(block) = rest {
                    let row = text_row(&block, section, item_before);
                    item_before = begins_item(&row.content);
                    parsed.rows.push(row);
                }
            }
            Block::Table(table, page) => {
                let next = blocks.peek().map(|(_, b)| b);
                let mut row = Row::table(section, table.table);
                row.pages = vec![page];
                row.boxes = vec![page_box(page, &table.rect)];
                let caption = caption_before(&mut parsed, section, page).or_else(|| caption_after(next));
                if let (Some(caption), Some(table)) = (caption, row.table.as_mut()) {
                    table.caption = caption;
                }
                parsed.rows.push(row);
                item_before = false;
            }
            Block::Figure(figure, page) => {
                let caption = blocks.peek().and_then(|(_, next)| match next {
                    Block::Text(text) if is_caption(&text.text()) => Some(text.text()),
                    _ => None,
                });
                match pictures.take(page, figure.object) {
                    Some(bytes) => {
                        let asset = parsed.assets.len();
                        parsed.assets.push(Asset { bytes, original_name: format!("page {page}") });
                        let mut row = Row::image(section, asset, caption.unwrap_or_default());
                        row.pages = vec![page];
                        row.boxes = vec![page_box(page, &figure.rect)];
                        parsed.rows.push(row);
                    }
                    None => parsed.warnings.push(Warning {
                        code: DocumentCode::Corrupt,
                        message: "a picture could not be decoded".to_owned(),
                        page: Some(page),
                    }),
                }
                item_before = false;
            }
        }
    }
    for late in found {
        if late.block >= total {
            parsed.headings.push(late.heading);
        }
    }
    parsed
}

fn without_lines(mut block: TextBlock, skip: usize) -> Option<TextBlock> {
    if skip >= block.lines.len() {
        return None;
    }
    block.lines.drain(..skip);
    Some(block)
}

fn text_row(block: &TextBlock, section: Option<usize>, item_before: bool) -> Row {
    let text = block.text();
    let tight = item_before && begins_item(&text);
    Row { pages: block.pages(), boxes: block.boxes(), tight, ..Row::text(section, text) }
}

fn is_caption(text: &str) -> bool {
    let head: String = text.chars().take(24).collect();
    let word: String = head.chars().take_while(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
    let known = [
        "figure",
        "fig",
        "abbildung",
        "abb",
        "figura",
        "image",
        "рис",
        "рисунок",
        "table",
        "tab",
        "tabelle",
        "tabla",
        "tableau",
        "таблица",
        "exhibit",
        "chart",
        "plate",
    ]
    .contains(&word.as_str())
        || ["图", "表", "圖"].iter().any(|c| head.starts_with(c));
    known && head.chars().any(char::is_numeric)
}

/// The caption standing right before a table stays where it is and is repeated as the table's own.
fn caption_before(parsed: &mut Parsed, section: Option<usize>, page: u32) -> Option<String> {
    let last = parsed.rows.last()?;
    (last.section == section && last.pages.contains(&page) && last.content.chars().count() < 400 && is_caption(&last.content))
        .then(|| last.content.clone())
}

fn caption_after(next: Option<&Block>) -> Option<String> {
    match next {
        Some(Block::Text(text)) if is_caption(&text.text()) => Some(text.text()),
        _ => None,
    }
}

/// The outline as the source's own table of contents.
pub(crate) fn outline_of(outline: &[OutlineEntry]) -> Vec<Heading> {
    outline
        .iter()
        .map(|entry| Heading {
            title: entry.title.clone(),
            level: entry.level,
            page: entry.page.and_then(|p| u32::try_from(p).ok()),
            evidence: Evidence::Outline,
        })
        .collect()
}

/// The bytes of all figures, read page by page.
struct Pictures {
    by_object: BTreeMap<(u32, i32), Vec<u8>>,
}

impl Pictures {
    fn read(blocks: &[Block], pdf: &Pdf, limits: &Limits) -> Self {
        let mut wanted: BTreeMap<u32, BTreeSet<(u32, i32)>> = BTreeMap::new();
        let mut known: BTreeSet<(u32, i32)> = BTreeSet::new();
        for block in blocks {
            if let Block::Figure(figure, page) = block
                && let Some(object) = figure.object.filter(|o| known.insert(*o))
            {
                wanted.entry(*page).or_default().insert(object);
            }
        }
        let mut by_object = BTreeMap::new();
        for (page, objects) in wanted {
            for (object, data) in pdf.pictures(page as usize, &objects, limits.image_pixels) {
                if let Some(bytes) = encoded(data) {
                    by_object.insert(object, bytes);
                }
            }
        }
        Self { by_object }
    }

    fn take(&mut self, _page: u32, object: Option<(u32, i32)>) -> Option<Vec<u8>> {
        self.by_object.get(&object?).cloned()
    }
}

fn encoded(data: PictureData) -> Option<Vec<u8>> {
    match data {
        PictureData::Jpeg(bytes) => Some(bytes),
        PictureData::Rgba { width, height, data } => {
            let mut out = Vec::new();
            let encoder = image::codecs::png::PngEncoder::new_with_quality(
                &mut out,
                image::codecs::png::CompressionType::Fast,
                image::codecs::png::FilterType::Adaptive,
            );
            encoder.write_image(&data, width, height, image::ExtendedColorType::Rgba8).ok()?;
            Some(out)
        }
    }
}
