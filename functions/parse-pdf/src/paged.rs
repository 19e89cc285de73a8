//! One paragraph → rows: one, or one for each page it runs over, so that what is cited by page is what stands on it.

use std::ops::Range;

use quarry_language::sentences;
use quarry_model::Row;

use crate::blocks::{TextBlock, boxes_of, pages_of};

/// Most of a sentence, in bytes, that is kept with its beginning on the page before; what is longer is cut where the page
/// ends.
const LONGEST_END: usize = 60;

/// The rows of a block.
pub(crate) fn text_rows(block: &TextBlock, section: Option<usize>) -> Vec<Row> {
    let (text, starts) = block.laid();
    let cuts = cuts(block, &text, &starts);
    let mut rows = Vec::with_capacity(cuts.len().saturating_add(1));
    let mut from = 0usize;
    for to in cuts.into_iter().chain([text.len()]) {
        let Some(content) = text.get(from..to).filter(|content| !content.trim().is_empty()) else { continue };
        let lines = lines_within(&starts, text.len(), &(from..to));
        let lines = block.lines.get(lines).unwrap_or_default();
        rows.push(Row { pages: pages_of(lines), boxes: boxes_of(lines), continues: from > 0, ..Row::text(section, content) });
        from = to;
    }
    rows
}

/// Where the text is cut: at each page's end, or after the sentence that runs over it.
fn cuts(block: &TextBlock, text: &str, starts: &[usize]) -> Vec<usize> {
    let breaks: Vec<usize> = block
        .lines
        .windows(2)
        .zip(starts.iter().skip(1))
        .filter_map(|(pair, start)| matches!(pair, [(_, before), (_, after)] if before != after).then_some(*start))
        .collect();
    if breaks.is_empty() {
        return breaks;
    }
    let ends: Vec<Range<usize>> = if block.is_listing() { Vec::new() } else { sentences(text) };
    let mut cuts: Vec<usize> = Vec::with_capacity(breaks.len());
    for at in breaks {
        let end = ends.iter().find(|sentence| sentence.start < at && sentence.end > at).map(|sentence| sentence.end);
        let cut = match end {
            Some(end) if end.saturating_sub(at) <= LONGEST_END => end,
            _ => word_end(text, at),
        };
        if cut > cuts.last().copied().unwrap_or(0) {
            cuts.push(cut);
        }
    }
    cuts
}

/// A word broken over the page's end stays whole on the page where it begins.
fn word_end(text: &str, at: usize) -> usize {
    let inside = text.get(..at).is_some_and(|before| before.ends_with(char::is_alphanumeric));
    let tail = text.get(at..).unwrap_or_default();
    if !inside || tail.starts_with(crate::blocks::is_cjk) {
        return at;
    }
    at.saturating_add(tail.find(char::is_whitespace).unwrap_or(tail.len()))
}

/// The lines that a part of the text stands on.
fn lines_within(starts: &[usize], length: usize, part: &Range<usize>) -> Range<usize> {
    let ends = starts.iter().skip(1).copied().chain([length]);
    let touching = |(start, end): (&usize, usize)| *start < part.end && end > part.start;
    let flags: Vec<bool> = starts.iter().zip(ends).map(touching).collect();
    let first = flags.iter().position(|f| *f).unwrap_or(0);
    let last = flags.iter().rposition(|f| *f).map_or(0, |last| last.saturating_add(1));
    first..last.max(first)
}
