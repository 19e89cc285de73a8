//! Headings that no style marks: places the table of contents leads to, and, where a document has no other headings,
//! lines that number themselves or stand in bold.

use std::collections::{BTreeMap, BTreeSet};

use crate::numbering::{self, Shape};
use quarry_model::Evidence;

use super::block::{Block, Paragraph, Role};

/// A line in bold that is longer than this is emphasis, not a title.
const BOLD_CHARS: usize = 120;

/// Finds them among the blocks of the body and makes them headings.
pub fn promote(blocks: &mut [Block]) {
    by_contents_anchor(blocks);
    if has_headings(blocks) {
        return;
    }
    by_contents_title(blocks);
    if !has_headings(blocks) {
        by_line(blocks);
    }
}

fn has_headings(blocks: &[Block]) -> bool {
    paragraphs(blocks).any(|paragraph| matches!(paragraph.role, Role::Heading(..)))
}

fn paragraphs(blocks: &[Block]) -> impl Iterator<Item = &Paragraph> {
    blocks.iter().filter_map(|block| match block {
        Block::Paragraph(paragraph) => Some(&**paragraph),
        Block::Table(_) | Block::Note(_) => None,
    })
}

fn paragraphs_mut(blocks: &mut [Block]) -> impl Iterator<Item = &mut Paragraph> {
    blocks.iter_mut().filter_map(|block| match block {
        Block::Paragraph(paragraph) => Some(&mut **paragraph),
        Block::Table(_) | Block::Note(_) => None,
    })
}

/// A paragraph that holds the bookmark of a contents entry is that entry's heading.
fn by_contents_anchor(blocks: &mut [Block]) {
    let entries: BTreeMap<String, u32> = paragraphs(blocks)
        .filter_map(|paragraph| match &paragraph.role {
            Role::Contents(entry) => Some((entry.anchor.clone()?, entry.level)),
            _ => None,
        })
        .collect();
    if entries.is_empty() {
        return;
    }
    let mut used = BTreeSet::new();
    for paragraph in paragraphs_mut(blocks).filter(|paragraph| paragraph.role == Role::Body && !paragraph.text.is_empty()) {
        let Some(level) = paragraph.bookmarks.iter().find_map(|bookmark| entries.get_key_value(bookmark)) else { continue };
        if used.insert(level.0) {
            paragraph.role = Role::Heading(*level.1, Evidence::Toc);
        }
    }
}

/// A paragraph that reads like a contents entry is its heading, in a contents list without links.
fn by_contents_title(blocks: &mut [Block]) {
    let mut entries: BTreeMap<String, u32> = BTreeMap::new();
    for paragraph in paragraphs(blocks) {
        if let Role::Contents(entry) = &paragraph.role {
            entries.entry(key(&entry.title)).or_insert(entry.level);
        }
    }
    entries.remove("");
    for paragraph in paragraphs_mut(blocks).filter(|paragraph| paragraph.role == Role::Body) {
        let label = paragraph.label.as_ref().filter(|label| !label.bullet);
        let labelled = label.map(|label| key(&label.before(&paragraph.text)));
        let found = entries.get(&key(&paragraph.text)).or_else(|| entries.get(&labelled?));
        if let Some(level) = found {
            paragraph.role = Role::Heading(*level, Evidence::Toc);
        }
    }
}

/// Letters and digits alone: contents lists differ from their headings in spaces and dots.
fn key(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// What makes a line a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number(&'static str),
    Bold,
}

struct Candidate {
    place: usize,
    kind: Kind,
    depth: u32,
    value: Option<u32>,
    /// A word such as Chapter says what it is; figures, letters and bold do not.
    certain: bool,
}

/// Candidates become headings by what surrounds them: several of a kind, most of them followed by other text, their
/// numbers running on. That is what headings do and lists do not.
fn by_line(blocks: &mut [Block]) {
    let mut total = (0_usize, 0_usize);
    let mut candidates = Vec::new();
    for (place, block) in blocks.iter().enumerate() {
        let Block::Paragraph(paragraph) = block else { continue };
        let letters = paragraph.text.chars().count();
        total.0 = total.0.saturating_add(letters);
        if paragraph.bold {
            total.1 = total.1.saturating_add(letters);
        }
        candidates.extend(candidate(place, paragraph));
    }
    // Where half of the text is bold, bold says nothing.
    if total.1.saturating_mul(2) > total.0 {
        candidates.retain(|candidate| candidate.kind != Kind::Bold);
    }
    let mut kinds: Vec<Kind> = Vec::new();
    for candidate in &candidates {
        if !kinds.contains(&candidate.kind) && (candidate.certain || are_headings(candidate.kind, &candidates, blocks)) {
            kinds.push(candidate.kind);
        }
    }
    for candidate in candidates {
        let Some(rank) = kinds.iter().position(|kind| *kind == candidate.kind) else { continue };
        let level = (rank as u32).saturating_add(candidate.depth);
        let evidence = if candidate.kind == Kind::Bold { Evidence::Geometry } else { Evidence::Numbering };
        if let Some(Block::Paragraph(paragraph)) = blocks.get_mut(candidate.place) {
            paragraph.role = Role::Heading(level, evidence);
        }
    }
}

fn candidate(place: usize, paragraph: &Paragraph) -> Option<Candidate> {
    if paragraph.role != Role::Body || paragraph.text.is_empty() || paragraph.text.contains('\n') {
        return None;
    }
    let label = paragraph.label.as_ref();
    if label.is_some_and(|label| label.bullet) {
        return None;
    }
    let line = label.map_or_else(|| paragraph.text.clone(), |label| label.before(&paragraph.text));
    if let Some(number) = numbering::detect(&line) {
        let certain =
            matches!(number.pattern.shape, Shape::Word { .. } | Shape::OrdinalWord { .. } | Shape::Around { .. } | Shape::Alone { .. });
        let depth = number.depth.unwrap_or(1).max(1);
        return Some(Candidate { place, kind: Kind::Number(number.pattern.name), depth, value: number.value, certain });
    }
    let short = paragraph.text.chars().nth(BOLD_CHARS).is_none() && paragraph.text.chars().any(char::is_alphabetic);
    let bold = paragraph.bold && short && label.is_none() && !paragraph.text.ends_with([',', ';']);
    bold.then_some(Candidate { place, kind: Kind::Bold, depth: 1, value: None, certain: false })
}

fn are_headings(kind: Kind, candidates: &[Candidate], blocks: &[Block]) -> bool {
    let (mut count, mut followed, mut running, mut last) = (0_usize, 0_usize, 0_usize, None);
    for (index, candidate) in candidates.iter().enumerate().filter(|(_, candidate)| candidate.kind == kind) {
        let next = candidates.get(index.saturating_add(1));
        let adjacent = next.filter(|next| next.place == candidate.place.saturating_add(1));
        let last_block = candidate.place.saturating_add(1) >= blocks.len();
        let is_followed = !last_block && adjacent.is_none_or(|next| next.kind != kind || next.depth > candidate.depth);
        let is_running = candidate.value.is_none_or(|value| value <= 1 || last.is_some_and(|last| value > last));
        count = count.saturating_add(1);
        followed = followed.saturating_add(usize::from(is_followed));
        running = running.saturating_add(usize::from(is_running));
        last = candidate.value;
    }
    let most = |part: usize| part.saturating_mul(5) >= count.saturating_mul(3);
    count >= 2 && most(followed) && most(running)
}
