//! Rows as units of packing: a paragraph, or a sentence of one that is too large, with the marks that stand in it.

use std::collections::HashMap;

use quarry_language::tokens;
use quarry_model::{Limits, Row, RowKind};

use super::split::{Piece, sentence_pieces};

/// How a unit follows the one before it in the same chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// A paragraph of its own.
    Paragraph,
    /// On the next line.
    Line,
    /// The same paragraph goes on; its white space is in the text.
    Continue,
}

/// A part of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// Text as it stands in its row.
    Text(&'a str),
    /// The place of an asset: its row.
    Mark(usize),
}

/// What is packed whole.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unit<'a> {
    /// The row it comes from.
    pub row: usize,
    /// Text and marks in order.
    pub parts: Vec<Part<'a>>,
    /// Tokens of text and marks.
    pub tokens: u32,
    /// How it follows.
    pub joint: Joint,
    /// The page its text begins on; `None` for marks, and when the format has no pages.
    pub page: Option<u32>,
}

impl Unit<'_> {
    /// An asset that stands between paragraphs.
    pub(super) fn mark(row: usize, tokens: u32) -> Self {
        Self { row, parts: vec![Part::Mark(row)], tokens, joint: Joint::Paragraph, page: None }
    }

    /// The assets that stand in it.
    pub(super) fn marks(&self) -> impl Iterator<Item = usize> + '_ {
        self.parts.iter().filter_map(|part| if let Part::Mark(row) = part { Some(*row) } else { None })
    }

    /// Whether it holds anything but marks.
    pub(super) fn has_text(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Text(text) if !text.trim().is_empty()))
    }
}

/// The longest mark there can be: ordinals have at most six digits, stored pictures extensions of at most four letters.
pub(super) fn mark_tokens() -> u32 {
    tokens::count("\n[images/image-999999.jpeg]\n")
}

/// Which rows are assets that stand in a text row's `refs`; a row named twice stands where it is named first.
pub(super) fn embedded_rows(rows: &[Row]) -> HashMap<usize, usize> {
    let mut hosts = HashMap::new();
    for (host, row) in rows.iter().enumerate().filter(|(_, row)| row.kind == RowKind::Text) {
        for reference in &row.refs {
            if rows.get(reference.row).is_some_and(|target| target.asset.is_some() || target.table.is_some() || target.packed.is_some()) {
                hosts.entry(reference.row).or_insert(host);
            }
        }
    }
    hosts
}

/// The units of one text row.
pub(super) fn text_units<'a>(
    index: usize,
    row: &'a Row,
    hosts: &HashMap<usize, usize>,
    left_out: &[bool],
    limits: &Limits,
    mark: u32,
) -> Vec<Unit<'a>> {
    let mut marks = marks_in(index, row, hosts);
    marks.retain(|(_, asset)| !left_out.get(*asset).copied().unwrap_or(false));
    let whole = tokens::fits(&row.content, limits.chunk_tokens).then(|| tokens::count(&row.content));
    let pieces = match whole {
        Some(tokens) => vec![Piece { range: 0..row.content.len(), tokens }],
        None => sentence_pieces(&row.content, limits.chunk_tokens),
    };
    let mut units: Vec<Unit<'a>> = Vec::with_capacity(pieces.len());
    let mut marks = marks.into_iter().peekable();
    for piece in pieces {
        let joint = match (units.is_empty() && !row.continues, row.tight) {
            (false, _) => Joint::Continue,
            (true, true) => Joint::Line,
            (true, false) => Joint::Paragraph,
        };
        let mut unit = Unit { row: index, parts: Vec::new(), tokens: piece.tokens, joint, page: row.pages.first().copied() };
        let mut overflow = Vec::new();
        let mut start = piece.range.start;
        while let Some((at, asset)) = marks.next_if(|(at, _)| *at <= piece.range.end) {
            if unit.tokens.saturating_add(mark) > limits.chunk_tokens {
                overflow.push(Unit { row: index, parts: vec![Part::Mark(asset)], tokens: mark, joint: Joint::Line, page: None });
                continue;
            }
            push_text(&mut unit, row.content.get(start..at));
            unit.parts.push(Part::Mark(asset));
            unit.tokens = unit.tokens.saturating_add(mark);
            start = at;
        }
        push_text(&mut unit, row.content.get(start..piece.range.end));
        units.push(unit);
        units.extend(overflow);
    }
    units
}

fn push_text<'a>(unit: &mut Unit<'a>, text: Option<&'a str>) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        unit.parts.push(Part::Text(text));
    }
}

/// The assets that stand in a row, with the byte each stands at, in order.
fn marks_in(index: usize, row: &Row, hosts: &HashMap<usize, usize>) -> Vec<(usize, usize)> {
    if row.refs.is_empty() {
        return Vec::new();
    }
    let mut seen = std::collections::HashSet::new();
    let mut refs: Vec<(usize, usize)> =
        row.refs.iter().filter(|r| hosts.get(&r.row) == Some(&index) && seen.insert(r.row)).map(|r| (r.at, r.row)).collect();
    refs.sort_by_key(|(at, _)| *at);
    let mut characters = row.content.char_indices().map(|(byte, _)| byte).chain([row.content.len()]).enumerate();
    let mut last = (0, 0);
    refs.into_iter()
        .map(|(at, asset)| {
            while last.0 < at
                && let Some(next) = characters.next()
            {
                last = next;
            }
            (if at == 0 { 0 } else { last.1 }, asset)
        })
        .collect()
}
