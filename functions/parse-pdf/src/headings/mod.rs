//! Which blocks are headings: the outline first, then numbering and how the text is set.

mod outline;
mod setting;

use std::collections::{BTreeMap, BTreeSet};

use quarry_model::{Evidence, Heading};
use quarry_pdf::OutlineEntry;

use crate::blocks::{Block, TextBlock};
use crate::page::Body;
use outline::from_outline;
use setting::{Candidate, Setting, candidates, from_setting, setting_of};

/// A heading found at a block; `block` is the index it stands before or at.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) block: usize,
    /// Whether the block itself is the heading's text (else it only stands before the block).
    pub(crate) consumes: bool,
    /// Lines of the block that the heading takes.
    pub(crate) lines: usize,
    /// A block before it that the heading takes whole.
    pub(crate) label: Option<usize>,
    pub(crate) heading: Heading,
}

/// Headings of a document, in order. What stands on its contents pages is said again where it stands.
pub(crate) fn headings_of(blocks: &[Block], outline: &[OutlineEntry], body: Body, pages: usize, contents: &BTreeSet<u32>) -> Vec<Found> {
    let told = from_outline(blocks, outline);
    let set = candidates(blocks, body, contents);
    // An outline of a few entries for many pages names parts only; how the text is set says the rest.
    let found = if told.len() >= 3 && told.len().saturating_mul(12) >= pages {
        with_left_out(told, set, blocks)
    } else {
        let set = from_setting(set);
        if told.is_empty() { set } else { merge(told, set) }
    };
    with_title(found, blocks, body)
}

/// Outline headings of one setting from which that setting says the level of a heading the outline leaves out.
const ALIKE: usize = 2;

/// The outline's headings with those it leaves out though they are set as its own: unnumbered sections ("References",
/// "Acknowledgements") seldom get an entry.
fn with_left_out(mut told: Vec<Found>, set: Vec<Candidate>, blocks: &[Block]) -> Vec<Found> {
    let mut levels: BTreeMap<Setting, BTreeMap<u32, usize>> = BTreeMap::new();
    let mut edges: BTreeMap<Setting, f32> = BTreeMap::new();
    for found in told.iter().filter(|f| f.consumes) {
        let Some(Block::Text(block)) = blocks.get(found.block) else { continue };
        if found.lines >= block.lines.len() {
            let setting = setting_of(block);
            let count = levels.entry(setting).or_default().entry(found.heading.level).or_insert(0);
            *count = count.saturating_add(1);
            let edge = edges.entry(setting).or_insert(f32::MIN);
            *edge = edge.max(left_of(block));
        }
    }
    let taken: BTreeSet<usize> = told.iter().filter(|f| f.consumes).map(|f| f.block).collect();
    let titles: Vec<(Option<u32>, String)> = told.iter().map(|f| (f.heading.page, bare(&f.heading.title))).collect();
    let first = told.first().and_then(|f| f.heading.page).unwrap_or(0);
    for candidate in set {
        // What stands before the first entry is a cover or front matter, unless it opens the same page.
        if candidate.page < first {
            continue;
        }
        // An entry that was not found word by word (a formula in it) is this one when either holds the other.
        let title = bare(&candidate.title);
        let said = |(page, told): &(Option<u32>, String)| {
            page.is_some_and(|p| p.abs_diff(candidate.page) <= 1) && (told.contains(&title) || title.contains(told.as_str()))
        };
        if titles.iter().any(said) {
            continue;
        }
        let Some(counts) = levels.get(&candidate.setting) else { continue };
        let (all, most) = (counts.values().sum::<usize>(), counts.iter().max_by_key(|(level, n)| (**n, std::cmp::Reverse(**level))));
        let Some((level, count)) = most else { continue };
        let sure = *count >= ALIKE && count.saturating_mul(2) > all;
        if sure && !taken.contains(&candidate.block) {
            // One that stands further in than every one the outline names is a part of those: an item set as a heading.
            let further_in = match (blocks.get(candidate.block), edges.get(&candidate.setting)) {
                (Some(Block::Text(block)), Some(edge)) => !block.centred && left_of(block) > edge + block.size(),
                _ => false,
            };
            told.push(candidate.found(level.saturating_add(u32::from(further_in))));
        }
    }
    // Entries without a block of their own stand before the block they were given, in the outline's order.
    told.sort_by_key(|f| f.block);
    told
}

fn left_of(block: &TextBlock) -> f32 {
    block.first().map_or(0.0, |line| line.rect.x0)
}

/// Characters of running text on the first page that make it the first page of the text and not a cover.
const FIRST_PAGE_CHARACTERS: usize = 300;

/// An article's title heads its text: the largest text of a first page that also holds running text, before every other
/// heading. On a cover it heads nothing.
fn with_title(mut found: Vec<Found>, blocks: &[Block], body: Body) -> Vec<Found> {
    let first_page: Vec<(usize, &TextBlock)> = blocks
        .iter()
        .enumerate()
        .filter_map(|(i, b)| if let Block::Text(t) = b { Some((i, t)) } else { None })
        .take_while(|(_, t)| t.page() == 1)
        .collect();
    let running: usize =
        first_page.iter().filter(|(_, t)| t.lines.len() > 1 && t.size() <= body.size * 1.06).map(|(_, t)| t.text().chars().count()).sum();
    if running < FIRST_PAGE_CHARACTERS {
        return found;
    }
    // A chapter's label ("Chapter 1" over its title) is part of that heading.
    let first_heading = found.first().map_or(usize::MAX, |f| f.label.unwrap_or(f.block));
    let title = first_page
        .iter()
        .take(8)
        .filter(|(i, t)| {
            *i < first_heading
                && t.lines.len() <= 5
                && t.all(|line| line.angle == 0)
                && t.size() >= body.size * 1.18
                && t.text().chars().filter(|c| c.is_alphabetic()).count() >= 3
        })
        .fold(
            None,
            |best: Option<&(usize, &TextBlock)>, this| {
                if best.is_none_or(|b| this.1.size() > b.1.size() + 0.3) { Some(this) } else { best }
            },
        );
    let Some((index, block)) = title else { return found };
    // A heading set as large as the title is the title's equal, and the title only the first of them.
    let equal = found.iter().any(|f| matches!(blocks.get(f.block), Some(Block::Text(t)) if f.consumes && t.size() >= block.size() - 0.3));
    let shown = block.text().split_whitespace().collect::<Vec<_>>().join(" ");
    if !equal {
        for below in &mut found {
            below.heading.level = below.heading.level.saturating_add(1);
        }
    }
    let heading = Heading { number: None, title: shown, level: 1, page: Some(1), evidence: Evidence::Geometry };
    found.insert(0, Found { block: *index, consumes: true, lines: usize::MAX, label: None, heading });
    found
}

/// Letters and digits alone, lower case: how titles are compared.
pub(crate) fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The outline's headings with those of the setting between them, one level below the part they stand in.
fn merge(told: Vec<Found>, set: Vec<Found>) -> Vec<Found> {
    let deepest = told.iter().map(|f| f.heading.level).max().unwrap_or(0);
    let mut out = told;
    for mut found in set {
        if out.iter().any(|f| f.block == found.block && f.consumes) {
            continue;
        }
        found.heading.level = found.heading.level.saturating_add(deepest);
        out.push(found);
    }
    out.sort_by_key(|f| (f.block, f.consumes));
    out
}
