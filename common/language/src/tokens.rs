//! Token counts: `o200k_base`, the one tokenizer behind every promise about "tokens".

use tiktoken_rs::{CoreBPE, o200k_base_singleton};

/// Text is counted in pieces of at most this many bytes, so that time is linear whatever the text looks like: the
/// tokenizer's pattern backtracks over runs of white space, and its merging is slower than linear on a long word.
const PIECE: usize = 4096;

fn tokenizer() -> &'static CoreBPE {
    o200k_base_singleton()
}

/// Builds the tokenizer now (about 0.2 s once per process) instead of at the first count.
pub fn warm() {
    let _ = tokenizer();
}

/// The number of `o200k_base` tokens of `text`; special tokens count as ordinary text. Exact for text whose words
/// are shorter than 4 KB; a longer unbroken stretch may count one token more per 4 KB.
pub fn count(text: &str) -> u32 {
    let total: usize = Pieces { rest: text }.map(|piece| tokenizer().count_ordinary(piece)).sum();
    u32::try_from(total).unwrap_or(u32::MAX)
}

/// Whether `text` has at most `max_tokens` tokens; looks no further than needed.
pub fn fits(text: &str, max_tokens: u32) -> bool {
    // A token is at least one byte: short texts fit without being counted.
    if text.len() <= max_tokens as usize {
        return true;
    }
    let mut left = max_tokens as usize;
    for piece in (Pieces { rest: text }) {
        let tokens = tokenizer().count_ordinary(piece);
        if tokens > left {
            return false;
        }
        left -= tokens;
    }
    true
}

/// The longest beginning of `text` that has at most `max_tokens` tokens, cut between characters.
pub fn truncate(text: &str, max_tokens: u32) -> &str {
    if text.len() <= max_tokens as usize {
        return text;
    }
    let mut left = max_tokens as usize;
    let mut end = 0;
    for piece in (Pieces { rest: text }) {
        let ranks = tokenizer().encode_ordinary(piece);
        if ranks.len() <= left {
            left -= ranks.len();
            end += piece.len();
            continue;
        }
        let kept = tokenizer().decode_bytes(&ranks[..left]).map_or(0, |bytes| bytes.len());
        let mut cut = text.floor_char_boundary(end + kept);
        // The shorter text may be divided differently; step back until the promise holds.
        while cut > end && tokenizer().count_ordinary(&text[end..cut]) > left {
            cut = text.floor_char_boundary(cut - 1);
        }
        return &text[..cut];
    }
    text
}

/// Cuts text where the tokenizer would cut as well: before a single space between two words.
struct Pieces<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        if self.rest.len() <= PIECE {
            return Some(std::mem::take(&mut self.rest));
        }
        let limit = self.rest.floor_char_boundary(PIECE);
        let bytes = &self.rest.as_bytes()[..limit];
        let solid = |b: u8| !b.is_ascii_whitespace() && b.is_ascii();
        let cut = (1..limit - 1).rev().find(|&i| bytes[i] == b' ' && solid(bytes[i - 1]) && solid(bytes[i + 1])).unwrap_or(limit);
        let (piece, rest) = self.rest.split_at(cut);
        self.rest = rest;
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn counts_known_texts() {
        assert_eq!(count(""), 0);
        assert_eq!(count("hello world"), 2);
        assert_eq!(count("<|endoftext|>"), tokenizer().encode_ordinary("<|endoftext|>").len() as u32);
    }

    #[test]
    fn pieces_do_not_change_the_count_of_ordinary_text() {
        let text =
            "Capacity grew by 12.5 % in 2025, to 3,400 units (see §4).\n\n\tNext: “quotes” – and über-words.  Two spaces.\n".repeat(300);
        assert_eq!(count(&text) as usize, tokenizer().encode_ordinary(&text).len());
    }

    #[test]
    fn truncation_keeps_its_promise_on_character_boundaries() {
        let text = "深圳市的水泵 pump №5 — ünïcödé 👩‍👩‍👧 ".repeat(400);
        for max in [0, 1, 7, 100, 1500, 2999] {
            let cut = truncate(&text, max);
            assert!(count(cut) <= max && text.starts_with(cut), "{max}");
            assert!(fits(cut, max));
        }
        assert_eq!(truncate(&text, u32::MAX), text);
        assert!(!fits(&text, 100));
    }

    #[test]
    fn hostile_lines_take_linear_time() {
        let start = Instant::now();
        for text in [" ".repeat(1 << 20), "a".repeat(1 << 20), "\n \t".repeat(1 << 18), "中".repeat(1 << 18), "-".repeat(1 << 20)] {
            assert!(count(&text) > 0);
        }
        assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    }
}
