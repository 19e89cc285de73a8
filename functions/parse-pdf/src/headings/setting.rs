//! Headings by how they are set: numbered, larger, bolder or apart from the text they head.

use std::collections::{BTreeMap, BTreeSet};

use quarry_document::numbering;
use quarry_model::{Evidence, Heading};

use super::{Found, bare};
use crate::blocks::{Block, TextBlock};
use crate::caption;
use crate::page::Body;

/// How a heading is set: what decides its level where no number does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Setting {
    /// Half points, largest first.
    size: std::cmp::Reverse<u32>,
    light: bool,
    lower: bool,
    italic: bool,
}

/// How a block is set.
pub(super) fn setting_of(block: &TextBlock) -> Setting {
    let text = block.text();
    let upper = !text.chars().any(char::is_lowercase) && text.chars().filter(|c| c.is_alphabetic()).count() >= 4;
    Setting {
        size: std::cmp::Reverse((block.size() * 2.0).round() as u32),
        light: !block.all(|l| l.bold),
        lower: !upper,
        italic: block.all(|l| l.italic),
    }
}

/// A block that is set as a heading.
pub(super) struct Candidate {
    pub(super) block: usize,
    pub(super) title: String,
    pub(super) page: u32,
    pub(super) setting: Setting,
    depth: Option<u32>,
    evidence: Evidence,
    /// A second block that the heading takes.
    also: Option<usize>,
}

impl Candidate {
    /// The heading it is, at a level.
    pub(super) fn found(self, level: u32) -> Found {
        Found {
            // The heading stands at its last block; the label before it is taken too.
            block: self.also.unwrap_or(self.block),
            consumes: true,
            lines: usize::MAX,
            label: self.also.map(|_| self.block),
            heading: Heading { number: None, title: self.title, level, page: Some(self.page), evidence: self.evidence },
        }
    }
}

/// All candidates, in order.
pub(super) fn candidates(blocks: &[Block], body: Body, contents: &BTreeSet<u32>) -> Vec<Candidate> {
    let found = blocks.iter().enumerate().filter_map(|(i, block)| candidate(i, block, blocks.get(i.saturating_add(1)), body));
    let outside = found.filter(|c| !contents.contains(&c.page)).collect();
    without_labels(without_kickers(joined_chapters(outside)))
}

/// Candidates as headings with levels.
pub(super) fn from_setting(candidates: Vec<Candidate>) -> Vec<Found> {
    let levels = levels_of(&candidates);
    candidates.into_iter().zip(levels).map(|(candidate, level)| candidate.found(level)).collect()
}

/// A line right above a much larger heading heads nothing: it is part of that heading's setting (a client's name, a date,
/// "Annual report").
fn without_kickers(candidates: Vec<Candidate>) -> Vec<Candidate> {
    let kickers: BTreeSet<usize> = candidates
        .windows(2)
        .filter_map(|pair| {
            let [above, below] = pair else { return None };
            let next = above.block.saturating_add(1) == below.block && above.page == below.page;
            let larger = below.setting.size.0.saturating_mul(100) >= above.setting.size.0.saturating_mul(115);
            (next && larger && above.evidence != Evidence::Numbering).then_some(above.block)
        })
        .collect();
    candidates.into_iter().filter(|c| !kickers.contains(&c.block)).collect()
}

/// Titles without a number that come again and again are labels ("Note", "Tip"), not sections.
const LABEL_TIMES: usize = 3;

fn without_labels(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for c in &candidates {
        let count = times.entry(bare(&c.title)).or_insert(0);
        *count = count.saturating_add(1);
    }
    candidates.retain(|c| c.evidence == Evidence::Numbering || times.get(&bare(&c.title)).copied().unwrap_or(0) < LABEL_TIMES);
    candidates
}

/// A chapter's label on a line of its own ("Chapter 5") and the title under it are one heading.
fn joined_chapters(candidates: Vec<Candidate>) -> Vec<Candidate> {
    let mut out: Vec<Candidate> = Vec::with_capacity(candidates.len());
    for c in candidates {
        let label = out.last().is_some_and(|last| {
            last.block.saturating_add(1) == c.block
                && last.page == c.page
                && numbering::detect(&last.title)
                    .is_some_and(|n| n.rest.trim().is_empty() && n.number_text.chars().any(char::is_alphabetic))
        });
        match out.last_mut() {
            Some(last) if label => {
                last.title = format!("{} {}", last.title, c.title);
                last.also = Some(c.block);
                last.setting = last.setting.min(c.setting);
            }
            _ => out.push(c),
        }
    }
    out
}

/// Most characters of a heading: a question in a list of questions runs over three lines.
const LONGEST: usize = 420;

fn candidate(index: usize, block: &Block, next: Option<&Block>, body: Body) -> Option<Candidate> {
    let Block::Text(block) = block else { return None };
    if stands_in_cells(block) {
        return None;
    }
    let text = block.text();
    let title = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let number = numbering::detect(&title);
    // What is asked of a title is asked of its words: "5.6.1 dh" names a section.
    let named = number.as_ref().filter(|n| n.depth.is_some_and(|d| d >= 2) && !n.rest.trim().is_empty()).map_or(title.as_str(), |n| n.rest);
    let letters = named.chars().filter(|c| c.is_alphabetic()).count();
    let characters = title.chars().count();
    if letters < 2
        || letters.saturating_mul(2) < named.chars().filter(|c| *c != ' ').count()
        || characters > LONGEST
        || block.lines.len() > 4
    {
        return None;
    }
    if caption::names(&title).is_some() {
        return None;
    }
    if crate::blocks::begins_item(&title) && number.is_none() {
        return None;
    }
    let ratio = block.size() / body.size.max(1.0);
    let bold = block.all(|l| l.bold);
    let italic = block.all(|l| l.italic);
    let upper = !title.chars().any(char::is_lowercase) && letters >= 4;
    let depth = number.as_ref().and_then(|n| n.depth);
    let words = title.split(' ').count();
    let stops = title.ends_with(['.', ',', ';', ':']) && !title.ends_with("..");
    // "2. From the shell:" names what follows, as a heading does.
    let names = number.is_some() && title.ends_with(':');
    // A block that goes straight on into text of its own setting is the beginning of a paragraph.
    let alone = match next {
        Some(Block::Text(after)) => after
            .first()
            .zip(block.lines.last())
            .is_none_or(|(a, (b, _))| (a.baseline - b.baseline).abs() > 0.5 * a.size || a.rect.x0 < b.rect.x1),
        _ => true,
    };
    let roomy = block.above > body.leading * 1.25;
    let starts = title
        .chars()
        .next()
        .is_some_and(|c| c.is_alphanumeric() && !c.is_lowercase() || matches!(c, '¿' | '¡' | '"' | '“' | '«' | '„' | '('))
        && !title.ends_with(['-', '\u{2010}', '\u{2011}']);
    let large = ratio >= 1.1 && starts && (words <= 30 || words <= 70 && (bold || ratio >= 1.2)) && (words <= 30 || characters <= 420);
    let large = large && (ratio >= 1.2 || bold || characters <= 160 && !title.ends_with(['.', ',', ';', '。', '，', '；']));
    let strong = bold && !body.bold && ratio >= 0.93 && words <= 16 && (!stops || names) && starts && (roomy || number.is_some());
    let capitals = upper && ratio >= 0.78 && words <= 14 && roomy && (number.is_some() || block.centred) && !stops;
    let slanted = italic && ratio >= 0.95 && words <= 12 && roomy && number.is_some() && !stops;
    let numbered = depth.is_some_and(|d| d >= 2) && ratio >= 0.97 && words <= 14 && roomy && !stops && block.lines.len() <= 2;
    if !alone || !(large || strong || capitals || slanted || numbered) {
        return None;
    }
    let evidence = if number.is_some() { Evidence::Numbering } else { Evidence::Geometry };
    let setting = setting_of(block);
    Some(Candidate { block: index, title, page: block.page(), setting, depth, evidence, also: None })
}

/// Whether pieces stand on one baseline with wide gaps between them, as a table's header does. A number may stand apart
/// from its title.
fn stands_in_cells(block: &TextBlock) -> bool {
    block.lines.windows(2).enumerate().any(|(index, pair)| {
        let [(a, p), (b, q)] = pair else { return false };
        let level = p == q && (a.baseline - b.baseline).abs() < 0.4 * a.size && b.rect.x0 - a.rect.x1 > 1.5 * a.size;
        let text = a.text();
        let number = index == 0 && (text.chars().count() <= 4 || numbering::detect(&text).is_some_and(|n| n.rest.trim().is_empty()));
        level && !number
    })
}

/// Levels: settings from the largest down, at most six; a dotted number's depth moves a heading below its parent.
fn levels_of(candidates: &[Candidate]) -> Vec<u32> {
    let mut ranks: Vec<Setting> = candidates.iter().map(|c| c.setting).collect();
    ranks.sort_unstable();
    ranks.dedup();
    // What a numbered heading's setting says of its depth is what most of that setting's numbers say.
    let mut depths: BTreeMap<Setting, BTreeMap<u32, usize>> = BTreeMap::new();
    for c in candidates {
        if let Some(depth) = c.depth {
            let count = depths.entry(c.setting).or_default().entry(depth).or_insert(0);
            *count = count.saturating_add(1);
        }
    }
    let usual: BTreeMap<Setting, u32> =
        depths.iter().filter_map(|(setting, counts)| counts.iter().max_by_key(|(_, n)| **n).map(|(depth, _)| (*setting, *depth))).collect();
    let rank_of = |setting: &Setting| u32::try_from(ranks.iter().position(|s| s == setting).unwrap_or(0)).unwrap_or(0).saturating_add(1);
    // The rank of the setting that carries the highest level of numbers anchors all numbered ones.
    let anchor = usual.iter().map(|(setting, depth)| (*depth, rank_of(setting))).min();
    candidates
        .iter()
        .map(|c| {
            let level = match (c.depth, anchor) {
                (Some(depth), Some((highest, rank))) => rank.saturating_add(depth).saturating_sub(highest),
                _ => rank_of(&c.setting),
            };
            level.clamp(1, 6)
        })
        .collect()
}
