//! Characters and words in reading order: ligatures resolved, right-to-left runs turned.

use unicode_normalization::UnicodeNormalization;

use crate::lines::Word;
use crate::page::Glyph;

/// The characters of a word in reading order.
pub(crate) fn word_text(glyphs: &[&Glyph], right_to_left: bool) -> String {
    let mut parts: Vec<&str> = glyphs.iter().map(|g| &*g.text).collect();
    if right_to_left && parts.iter().any(|part| part.chars().any(is_rtl)) {
        parts.reverse();
        // Numbers and Latin inside keep their own direction.
        let mut start = 0usize;
        while start < parts.len() {
            let run = parts.iter().skip(start).take_while(|part| !part.chars().any(is_rtl)).count();
            if run > 1
                && let Some(slice) = parts.get_mut(start..start.saturating_add(run))
            {
                slice.reverse();
            }
            start = start.saturating_add(run.max(1));
        }
    }
    resolve(&parts.concat())
}

/// Ligatures and presentation forms as their letters; soft hyphens, zero-width marks and controls removed.
fn resolve(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{fb00}'..='\u{fb06}' | '\u{fb13}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' => out.extend(std::iter::once(c).nfkc()),
            '\u{ad}' | '\u{200b}' | '\u{feff}' | '\u{200e}' | '\u{200f}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

fn is_rtl(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// Whether most letters of a line run from right to left.
pub(crate) fn is_right_to_left(glyphs: &[&Glyph]) -> bool {
    let (mut right, mut left) = (0usize, 0usize);
    for c in glyphs.iter().flat_map(|g| g.text.chars()) {
        if is_rtl(c) {
            right = right.saturating_add(1);
        } else if c.is_alphabetic() {
            left = left.saturating_add(1);
        }
    }
    right > left
}

/// Words from left to right → words in the order they are read, with runs of left-to-right words kept as they are.
pub(crate) fn logical_order(words: Vec<Word>) -> Vec<Word> {
    let mut out: Vec<Word> = Vec::with_capacity(words.len());
    let mut run: Vec<Word> = Vec::new();
    let mut spaced = true;
    for mut word in words.into_iter().rev() {
        std::mem::swap(&mut word.spaced, &mut spaced);
        if word.text.chars().any(is_rtl) {
            out.extend(run.drain(..).rev());
            out.push(word);
        } else {
            run.push(word);
        }
    }
    out.extend(run.drain(..).rev());
    out
}
