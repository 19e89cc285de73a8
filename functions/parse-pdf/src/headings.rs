//! Which blocks are headings: the outline first, then numbering and how the text is set.

use std::collections::BTreeMap;

use quarry_document::numbering;
use quarry_model::{Evidence, Heading};
use quarry_pdf::OutlineEntry;

use crate::blocks::{Block, TextBlock};
use crate::page::Body;

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

/// Headings of a document, in order.
pub(crate) fn headings_of(blocks: &[Block], outline: &[OutlineEntry], body: Body, pages: usize) -> Vec<Found> {
    let told = from_outline(blocks, outline);
    // An outline of a few entries for many pages names parts only; how the text is set says the rest.
    let found = if told.len() >= 3 && told.len().saturating_mul(12) >= pages {
        told
    } else {
        let set = from_setting(blocks, body);
        if told.is_empty() { set } else { merge(told, set) }
    };
    with_title(found, blocks, body)
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
    let first_heading = found.first().map_or(usize::MAX, |f| f.block);
    let title = first_page
        .iter()
        .take(8)
        .filter(|(i, t)| {
            *i < first_heading
                && t.lines.len() <= 5
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
    let heading = Heading { title: shown, level: 1, page: Some(1), evidence: Evidence::Geometry };
    found.insert(0, Found { block: *index, consumes: true, lines: usize::MAX, label: None, heading });
    found
}

/// Letters and digits alone, lower case: how titles are compared.
fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The outline's entries at the blocks that carry their titles.
fn from_outline(blocks: &[Block], outline: &[OutlineEntry]) -> Vec<Found> {
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
    for entry in outline {
        let Some(page) = entry.page.and_then(|p| u32::try_from(p).ok()) else { continue };
        let heading = Heading { title: entry.title.clone(), level: entry.level, page: Some(page), evidence: Evidence::Outline };
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

/// How a heading is set: what decides its level where no number does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Setting {
    /// Half points, largest first.
    size: std::cmp::Reverse<u32>,
    light: bool,
    lower: bool,
    italic: bool,
}

struct Candidate {
    block: usize,
    title: String,
    page: u32,
    setting: Setting,
    depth: Option<u32>,
    evidence: Evidence,
    /// A second block that the heading takes.
    also: Option<usize>,
}

fn from_setting(blocks: &[Block], body: Body) -> Vec<Found> {
    let candidates: Vec<Candidate> =
        blocks.iter().enumerate().filter_map(|(i, block)| candidate(i, block, blocks.get(i.saturating_add(1)), body)).collect();
    let candidates = without_labels(joined_chapters(candidates));
    let levels = levels_of(&candidates);
    candidates
        .into_iter()
        .zip(levels)
        .map(|(c, level)| Found {
            // The heading stands at its last block; the label before it is taken too.
            block: c.also.unwrap_or(c.block),
            consumes: true,
            lines: usize::MAX,
            label: c.also.map(|_| c.block),
            heading: Heading { title: c.title, level, page: Some(c.page), evidence: c.evidence },
        })
        .collect()
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

/// Words that open captions, not sections.
const CAPTIONS: &[&str] = &[
    "figure",
    "fig",
    "table",
    "tab",
    "abb",
    "abbildung",
    "tabelle",
    "tabla",
    "figura",
    "tableau",
    "algorithm",
    "listing",
    "图",
    "表",
    "рис",
    "таблица",
];

fn candidate(index: usize, block: &Block, next: Option<&Block>, body: Body) -> Option<Candidate> {
    let Block::Text(block) = block else { return None };
    let text = block.text();
    let title = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let letters = title.chars().filter(|c| c.is_alphabetic()).count();
    let characters = title.chars().count();
    if letters < 2
        || letters.saturating_mul(2) < characters.saturating_sub(title.matches(' ').count())
        || characters > 220
        || block.lines.len() > 4
    {
        return None;
    }
    let first_word: String = title.chars().take_while(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
    let followed = title.chars().nth(first_word.chars().count());
    if CAPTIONS.contains(&first_word.as_str())
        && followed.is_some_and(|c| c == ' ' || c == '.' || c.is_numeric())
        && title.chars().take(24).any(char::is_numeric)
    {
        return None;
    }
    if crate::blocks::begins_item(&title) && numbering::detect(&title).is_none() {
        return None;
    }
    let ratio = block.size() / body.size.max(1.0);
    let bold = block.all(|l| l.bold);
    let italic = block.all(|l| l.italic);
    let upper = !title.chars().any(char::is_lowercase) && letters >= 4;
    let number = numbering::detect(&title);
    let depth = number.as_ref().and_then(|n| n.depth);
    let words = title.split(' ').count();
    let stops = title.ends_with(['.', ',', ';', ':']) && !title.ends_with("..");
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
        && !title.ends_with(['-', '\u{2010}']);
    let large = ratio >= 1.1 && starts && (words <= 30 || words <= 70 && (bold || ratio >= 1.2)) && (words <= 30 || characters <= 420);
    let large = large && (ratio >= 1.2 || bold || characters <= 160 && !title.ends_with(['.', ',', ';', '。', '，', '；']));
    let strong = bold && !body.bold && ratio >= 0.93 && words <= 16 && !stops && starts && (roomy || number.is_some());
    let capitals = upper && ratio >= 0.78 && words <= 14 && roomy && (number.is_some() || block.centred) && !stops;
    let slanted = italic && ratio >= 0.95 && words <= 12 && roomy && number.is_some() && !stops;
    let numbered = depth.is_some_and(|d| d >= 2) && ratio >= 0.97 && words <= 14 && roomy && !stops && block.lines.len() <= 2;
    if !alone || !(large || strong || capitals || slanted || numbered) {
        return None;
    }
    let evidence = if number.is_some() { Evidence::Numbering } else { Evidence::Geometry };
    let setting = Setting { size: std::cmp::Reverse((block.size() * 2.0).round() as u32), light: !bold, lower: !upper, italic };
    Some(Candidate { block: index, title, page: block.page(), setting, depth, evidence, also: None })
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
    // The rank of the setting that carries the first level of numbers anchors the numbered ones.
    let anchor = usual.iter().filter(|(_, depth)| **depth == 1).map(|(setting, _)| rank_of(setting)).min();
    candidates
        .iter()
        .map(|c| {
            let level = match (c.depth, anchor) {
                (Some(depth), Some(anchor)) => anchor.saturating_add(depth).saturating_sub(1),
                _ => rank_of(&c.setting),
            };
            level.clamp(1, 6)
        })
        .collect()
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
