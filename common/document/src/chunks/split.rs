//! Cutting text that is too large for one chunk: at sentences, and inside one only where that sentence alone is too
//! large. The pieces are contiguous and cover the text exactly.

use std::ops::Range;

use quarry_language::{sentences, tokens};
use unicode_segmentation::GraphemeCursor;

/// A piece of a text and its tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Bytes of the text.
    pub range: Range<usize>,
    /// Tokens of the piece by itself, never more than asked for.
    pub tokens: u32,
}

/// The sentences of a text, white space after each included; a sentence above `max` tokens in parts. Linear in the text.
pub(crate) fn sentence_pieces(text: &str, max: u32) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut start = 0_usize;
    let ends = sentences(text).into_iter().map(|sentence| sentence.end).chain([text.len()]);
    for end in ends {
        if end > start {
            cut_sentence(text, start..end, max, &mut pieces);
            start = end;
        }
    }
    pieces
}

/// A text in pieces of at most `max` tokens, as few as sentences allow.
pub(crate) fn split_text(text: &str, max: u32) -> Vec<Range<usize>> {
    if tokens::fits(text, max) {
        return std::iter::once(0..text.len()).collect();
    }
    let mut out: Vec<Piece> = Vec::new();
    for piece in sentence_pieces(text, max) {
        match out.last_mut() {
            Some(last) if last.tokens.saturating_add(piece.tokens) <= max => {
                last.range.end = piece.range.end;
                last.tokens = last.tokens.saturating_add(piece.tokens);
            }
            _ => out.push(piece),
        }
    }
    out.into_iter().map(|piece| piece.range).collect()
}

fn cut_sentence(text: &str, sentence: Range<usize>, max: u32, pieces: &mut Vec<Piece>) {
    let mut start = sentence.start;
    while let Some(rest) = text.get(start..sentence.end).filter(|rest| !rest.is_empty()) {
        let length = if tokens::fits(rest, max) { rest.len() } else { piece_length(rest, max) };
        let end = start.saturating_add(length);
        let tokens = text.get(start..end).map_or(0, tokens::count);
        pieces.push(Piece { range: start..end, tokens });
        start = end;
    }
}

/// How many bytes of a text make a piece of at most `max` tokens: up to the last white space, else the last grapheme,
/// else the last character that fits, provided that at least half of the piece is kept.
fn piece_length(text: &str, max: u32) -> usize {
    let head = tokens::truncate(text, max.max(1));
    let first = text.chars().next().map_or(1, char::len_utf8);
    let half = head.len() / 2;
    if let Some((at, space)) = head.char_indices().rev().take_while(|(at, _)| *at >= half).find(|(_, c)| c.is_whitespace()) {
        return at.saturating_add(space.len_utf8());
    }
    let mut cursor = GraphemeCursor::new(head.len(), text.len(), true);
    let cut = match cursor.is_boundary(text, 0) {
        Ok(true) => head.len(),
        _ => cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0),
    };
    if cut >= half.max(first) { cut } else { head.len().max(first) }
}
