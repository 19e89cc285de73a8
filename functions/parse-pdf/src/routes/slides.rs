//! Slides: every page is a section under its title, and no text runs on from one to the next.

use quarry_model::{Evidence, Heading};

use crate::blocks::{Block, TextBlock};
use crate::headings::Found;

/// A title stands in this share of its page, from the top.
const TITLE_SHARE: f32 = 0.45;
/// A title is at least this much larger than the page's usual text, where it stands above other text.
const LARGER: f32 = 1.12;
/// Longest title, in characters.
const TITLE_CHARACTERS: usize = 160;
/// Longest first text that stands in for a title, in characters.
const STAND_IN: usize = 80;

/// One heading a page. `heights` are the pages', in points, page by page.
pub(crate) fn headings_of(blocks: &[Block], heights: &[f32]) -> Vec<Found> {
    let mut found = Vec::new();
    for (index, height) in heights.iter().enumerate() {
        let Ok(number) = u32::try_from(index.saturating_add(1)) else { break };
        let own: Vec<(usize, &Block)> = blocks.iter().enumerate().filter(|(_, block)| page_of(block) == number).collect();
        let Some((first, _)) = own.first() else { continue };
        let texts: Vec<(usize, &TextBlock)> =
            own.iter().filter_map(|(i, block)| if let Block::Text(text) = block { Some((*i, text)) } else { None }).collect();
        let heading = |title: String| Heading { title, level: 1, page: Some(number), evidence: Evidence::Slide, number: None };
        found.push(match title(&texts, *height) {
            // A title that is not the first block (a date stands above it) still heads all of its slide.
            Some((at, text)) if at == *first => {
                Found { block: at, consumes: true, lines: text.lines.len(), label: None, heading: heading(folded(&text.text())) }
            }
            Some((_, text)) => Found { block: *first, consumes: false, lines: 0, label: None, heading: heading(folded(&text.text())) },
            None => Found { block: *first, consumes: false, lines: 0, label: None, heading: heading(stand_in(&texts, number)) },
        });
    }
    found
}

fn page_of(block: &Block) -> u32 {
    match block {
        Block::Text(text) => text.page(),
        Block::Table(_, page) | Block::Figure(_, page) => *page,
    }
}

/// The largest text of the upper part; on a slide of one size, none.
fn title<'b>(texts: &[(usize, &'b TextBlock)], height: f32) -> Option<(usize, &'b TextBlock)> {
    let mut sizes: Vec<f32> = texts.iter().flat_map(|(_, text)| &text.lines).map(|(line, _)| line.size).collect();
    sizes.sort_by(f32::total_cmp);
    let usual = sizes.get(sizes.len() / 2).copied()?;
    let upper = |text: &TextBlock| text.first().is_some_and(|line| line.rect.y0 < height * TITLE_SHARE);
    let short = |text: &TextBlock| (1..=TITLE_CHARACTERS).contains(&text.text().chars().count());
    let worded = |text: &TextBlock| text.text().chars().any(char::is_alphabetic);
    let best = texts.iter().filter(|(_, text)| upper(text) && short(text) && worded(text)).fold(
        None,
        |best: Option<&(usize, &TextBlock)>, this| match best {
            Some(best) if this.1.size() <= best.1.size() + 0.3 => Some(best),
            _ => Some(this),
        },
    )?;
    (best.1.size() >= LARGER * usual || texts.len() == 1).then_some(*best)
}

fn stand_in(texts: &[(usize, &TextBlock)], number: u32) -> String {
    let first = texts.iter().map(|(_, text)| folded(&text.text())).find(|text| text.chars().any(char::is_alphabetic));
    match first {
        Some(text) if text.chars().count() <= STAND_IN => text,
        _ => format!("Slide {number}"),
    }
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
