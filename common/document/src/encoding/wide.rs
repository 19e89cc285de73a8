//! UTF-16 without a byte order mark, and UTF-32.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

use super::{Charset, Decoded};

/// How much of a file the tests below look at.
const SAMPLE_BYTES: usize = 16 << 10;

/// UTF-16 by its NULs: in text the high byte of every space, digit and line end is zero, so zeros stand on one side of
/// the pairs only. What is then read must be text.
pub(super) fn utf16_by_nul_pattern(bytes: &[u8]) -> Option<&'static Encoding> {
    let sample = bytes.get(..SAMPLE_BYTES).unwrap_or(bytes);
    let mut first = 0_usize;
    let mut second = 0_usize;
    for pair in sample.chunks_exact(2) {
        first = first.saturating_add(usize::from(pair.first() == Some(&0)));
        second = second.saturating_add(usize::from(pair.last() == Some(&0)));
    }
    let encoding = match (first, second) {
        (0, 0) => return None,
        (first, second) if second >= first.saturating_mul(20) => UTF_16LE,
        (first, second) if first >= second.saturating_mul(20) => UTF_16BE,
        _ => return None,
    };
    let even = sample.len() & !1;
    let (text, _) = encoding.decode_without_bom_handling(sample.get(..even).unwrap_or_default());
    reads_as_text(&text).then_some(encoding)
}

/// Whether at most one character in fifty is one that text does not hold.
pub(super) fn reads_as_text(text: &str) -> bool {
    let (mut all, mut odd) = (0_usize, 0_usize);
    for c in text.chars() {
        all = all.saturating_add(1);
        odd = odd.saturating_add(usize::from(is_odd(c)));
    }
    all > 0 && odd.saturating_mul(50) <= all
}

fn is_odd(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' | '\u{c}' | '\u{1b}' | '\u{85}' => false,
        '\u{fffd}' | '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' => true,
        c => c.is_control() || u32::from(c) & 0xfffe == 0xfffe,
    }
}

/// Reads UTF-32 four bytes at a time.
pub(super) fn decode_utf32(bytes: &[u8], charset: Charset, read: fn([u8; 4]) -> u32) -> Decoded<'static> {
    let mut text = String::with_capacity(bytes.len() / 4);
    let mut replaced = 0_usize;
    for unit in bytes.chunks(4) {
        let c = <[u8; 4]>::try_from(unit).ok().map(read).and_then(char::from_u32);
        replaced = replaced.saturating_add(usize::from(c.is_none()));
        text.push(c.unwrap_or('\u{fffd}'));
    }
    Decoded { text: Cow::Owned(text), charset, replaced, source_offset: None }
}
