//! Headings by the outline: its entries at the blocks that carry their titles.

use std::collections::BTreeMap;

use quarry_model::{Evidence, Heading};
use quarry_pdf::OutlineEntry;

use super::{Found, bare};
use crate::blocks::{Block, TextBlock};

/// The outline's entries at the blocks that carry their titles.
pub(super) fn from_outline(blocks: &[Block], outline: &[OutlineEntry]) -> Vec<Found> {
    let mut by_page: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (index, block) in blocks.iter().enumerate() {
        let page = match block {
            Block::Text(text) => text.page(),
            Block::Table(_, page) | Block::Figure(_, page) => *page,
        };
        by_page.entry(page).or_default().push(index);
    }
    let mut found: Vec<Found> = Vec::new();
    let mut last = 0usize;
    let mut comparisons = MAX_COMPARISONS;
    for entry in outline {
        let Some(page) = entry.page.and_then(|p| u32::try_from(p).ok()) else { continue };
        let heading =
            Heading { number: None, title: entry.title.clone(), level: entry.level, page: Some(page), evidence: Evidence::Outline };
        let wanted = bare(&entry.title);
        let candidates = [page, page.saturating_add(1)].into_iter().filter_map(|p| by_page.get(&p)).flatten();
        let mut best: Option<(f32, usize, usize, String)> = None;
        for &index in candidates {
            let Some(Block::Text(block)) = blocks.get(index) else { continue };
            let Some((lines, title)) = title_lines(block, &wanted) else { continue };
            let far = match (entry.y, block.first()) {
                (Some(y), Some(line)) if block.page() == page => (line.rect.y0 - y).abs(),
                _ if block.page() != page => 5_000.0,
                _ => 0.0,
            };
            let far = if index < last { far + 2_000.0 } else { far };
            if best.as_ref().is_none_or(|(nearest, ..)| far < *nearest) {
                best = Some((far, index, lines, title));
            }
        }
        // A formula in a title is written in another way in the outline: then the nearest title that is much like it.
        if best.is_none() && comparisons > 0 {
            comparisons = comparisons.saturating_sub(1);
            best = by_page.get(&page).and_then(|indices| alike(blocks, indices, &wanted, last));
        }
        match best {
            Some((_, index, lines, title)) if found.last().is_none_or(|f| f.block < index || (f.block == index && !f.consumes)) => {
                last = index;
                let page = match blocks.get(index) {
                    Some(Block::Text(block)) => Some(block.page()),
                    _ => heading.page,
                };
                found.push(Found { block: index, consumes: true, lines, label: None, heading: Heading { title, page, ..heading } });
            }
            _ => {
                let at = before_place(blocks, by_page.get(&page), entry.y).max(last);
                last = at;
                found.push(Found { block: at, consumes: false, lines: 0, label: None, heading });
            }
        }
    }
    found.sort_by_key(|f| f.block);
    found
}

/// Entries that are looked for by likeness; a document that needs more has an outline of another document.
const MAX_COMPARISONS: u32 = 500;
/// Share of a title's characters that must agree, in order, for it to be the same title written in another way.
const ALIKE: f32 = 0.8;

/// The block of a page, not before `last`, that is most like a title: `(0, block, its lines, its text)`.
fn alike(blocks: &[Block], indices: &[usize], wanted: &str, last: usize) -> Option<(f32, usize, usize, String)> {
    let wanted: Vec<char> = wanted.chars().collect();
    let short = indices.iter().filter(|index| **index >= last).filter_map(|index| match blocks.get(*index) {
        Some(Block::Text(block)) if block.lines.len() <= 4 => Some((*index, block)),
        _ => None,
    });
    let scored = short.filter_map(|(index, block)| {
        let text = block.text();
        let have: Vec<char> = bare(&text).chars().collect();
        let longer = have.len().max(wanted.len());
        let near = have.first() == wanted.first() && have.len().min(wanted.len()).saturating_mul(10) >= longer.saturating_mul(7);
        if !near || !(8..=300).contains(&longer) {
            return None;
        }
        let share = common(&have, &wanted) as f32 * 2.0 / have.len().saturating_add(wanted.len()) as f32;
        (share >= ALIKE).then(|| (share, index, block.lines.len(), text.split_whitespace().collect::<Vec<_>>().join(" ")))
    });
    scored.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, index, lines, title)| (0.0, index, lines, title))
}

/// Length of the longest common subsequence.
fn common(a: &[char], b: &[char]) -> usize {
    let mut row = vec![0usize; b.len().saturating_add(1)];
    for x in a {
        let mut diagonal = 0usize;
        let mut left = 0usize;
        for (y, cell) in b.iter().zip(row.iter_mut().skip(1)) {
            let up = *cell;
            *cell = if x == y { diagonal.saturating_add(1) } else { up.max(left) };
            diagonal = up;
            left = *cell;
        }
    }
    row.last().copied().unwrap_or(0)
}

/// The first lines of a block that together are the title, and the title as shown with its numbering.
fn title_lines(block: &TextBlock, wanted: &str) -> Option<(usize, String)> {
    if wanted.is_empty() {
        return None;
    }
    let mut shown = String::new();
    for (count, (line, _)) in block.lines.iter().take(5).enumerate() {
        let text = line.text();
        if shown.is_empty() {
            shown = text;
        } else {
            crate::blocks::join_line(&mut shown, &text);
        }
        let have = bare(&shown);
        let matches = have == wanted
            || (have.ends_with(wanted) && have.len() <= wanted.len().saturating_add(14))
            || (wanted.ends_with(&have) && have.len().saturating_add(10) >= wanted.len() && have.len() > 3);
        if matches {
            return Some((count.saturating_add(1), shown));
        }
        if have.len() > wanted.len().saturating_add(14) {
            return None;
        }
    }
    None
}

/// The first block of a page at or below a height.
fn before_place(blocks: &[Block], on_page: Option<&Vec<usize>>, y: Option<f32>) -> usize {
    let Some(indices) = on_page else { return blocks.len() };
    let top = |index: usize| match blocks.get(index) {
        Some(Block::Text(text)) => text.first().map_or(0.0, |l| l.rect.y0),
        Some(Block::Table(table, _)) => table.rect.y0,
        Some(Block::Figure(figure, _)) => figure.rect.y0,
        None => 0.0,
    };
    let wanted = y.unwrap_or(0.0) - 6.0;
    indices.iter().copied().find(|i| top(*i) >= wanted).or_else(|| indices.first().copied()).unwrap_or(blocks.len())
}
