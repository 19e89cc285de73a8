//! UTF-16 without a byte order mark, and UTF-32.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

use super::{Charset, Decoded};

/// How much of a file the tests below look at.
const SAMPLE_BYTES: usize = 16 << 10;

/// UTF-16 by its NULs: in text the high byte of every space, digit and line end is zero, so zeros stand (nearly) on one
/// side of the pairs only. Chinese has characters with a zero low byte (一 is U+4E00); there the side is told by what
/// can be read: the wrong side lands among private and unassigned characters.
pub(super) fn utf16_by_nul_pattern(bytes: &[u8]) -> Option<&'static Encoding> {
    let sample = bytes.get(..SAMPLE_BYTES).unwrap_or(bytes);
    if is_eight_bit_text(sample) {
        return None;
    }
    let (mut first, mut second) = (0_usize, 0_usize);
    for pair in sample.chunks_exact(2) {
        first = first.saturating_add(usize::from(pair.first() == Some(&0)));
        second = second.saturating_add(usize::from(pair.last() == Some(&0)));
    }
    let even = sample.get(..sample.len() & !1).unwrap_or_default();
    let reads = |encoding: &'static Encoding| reads_as_text(&encoding.decode_without_bom_handling(even).0);
    match (first, second) {
        (0, 0) => None,
        (first, second) if second >= first.saturating_mul(20) => reads(UTF_16LE).then_some(UTF_16LE),
        (first, second) if first >= second.saturating_mul(20) => reads(UTF_16BE).then_some(UTF_16BE),
        (first, second) => match (reads(UTF_16LE), reads(UTF_16BE)) {
            (true, false) => Some(UTF_16LE),
            (false, true) => Some(UTF_16BE),
            (true, true) => Some(if second >= first { UTF_16LE } else { UTF_16BE }),
            (false, false) => None,
        },
    }
}

/// UTF-8 with a stray NUL here and there. UTF-16 of European scripts may pass for UTF-8 too, but then at least every
/// third byte is a control character.
fn is_eight_bit_text(sample: &[u8]) -> bool {
    let controls = sample.iter().filter(|b| matches!(b, 0..=8)).count();
    controls.saturating_mul(10) <= sample.len() && std::str::from_utf8(sample).is_ok_and(|text| !text.is_empty())
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
