//! Which encoding: the evidence in its order.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GBK, ISO_2022_JP, SHIFT_JIS, UTF_8};

use super::declared::declared_encoding;
use super::wide::{reads_as_text, utf16_by_nul_pattern};
use super::{Charset, Declaration};

/// Statistics settle long before this; feeding more only costs time.
const STATISTICS_BYTES: usize = 1 << 20;
/// Below this many bytes outside ASCII, statistics between the CJK encodings are noise.
const VERY_SHORT: usize = 24;
/// What the profiler looks at.
const PROFILE_BYTES: usize = 64 << 10;

/// The encoding, and the length of its byte order mark.
pub(super) fn detect(bytes: &[u8], declaration: Declaration) -> (Charset, usize) {
    if let Some(found) = by_mark(bytes) {
        return found;
    }
    (Charset::Standard(without_mark(bytes, declaration)), 0)
}

fn by_mark(bytes: &[u8]) -> Option<(Charset, usize)> {
    // UTF-32LE begins with the mark of UTF-16LE, so it is asked first.
    if bytes.starts_with(&[0xff, 0xfe, 0, 0]) {
        return Some((Charset::Utf32Le, 4));
    }
    if bytes.starts_with(&[0, 0, 0xfe, 0xff]) {
        return Some((Charset::Utf32Be, 4));
    }
    let (encoding, length) = Encoding::for_bom(bytes)?;
    Some((Charset::Standard(encoding), length))
}

fn without_mark(bytes: &[u8], declaration: Declaration) -> &'static Encoding {
    if bytes.contains(&0)
        && let Some(encoding) = utf16_by_nul_pattern(bytes)
    {
        return encoding;
    }
    if is_utf8_with_few_faults(bytes) {
        return if is_iso_2022_jp(bytes) { ISO_2022_JP } else { UTF_8 };
    }
    if declaration == Declaration::Markup
        && let Some(encoding) = declared_encoding(bytes)
        && (fits(bytes, encoding) || encoding == UTF_8 && is_utf8_for_the_most(bytes))
    {
        return encoding;
    }
    by_statistics(bytes)
}

/// Pages that say UTF-8 and are, but for pieces that something else put into them (a template, a field of a database).
fn is_utf8_for_the_most(bytes: &[u8]) -> bool {
    let (faults, sequences) = utf8_faults(bytes);
    sequences > faults
}

/// Valid UTF-8, or UTF-8 with so few faults against its multi-byte sequences that no other encoding explains it: text in
/// a legacy encoding holds valid sequences only by chance.
fn is_utf8_with_few_faults(bytes: &[u8]) -> bool {
    if std::str::from_utf8(bytes).is_ok() {
        return true;
    }
    let (faults, sequences) = utf8_faults(bytes);
    sequences >= faults.saturating_mul(4)
}

/// How many places are no UTF-8, and how many characters outside ASCII are.
fn utf8_faults(bytes: &[u8]) -> (usize, usize) {
    bytes.utf8_chunks().fold((0_usize, 0_usize), |(faults, sequences), chunk| {
        let here = chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        (faults.saturating_add(usize::from(!chunk.invalid().is_empty())), sequences.saturating_add(here))
    })
}

/// Seven bits with the escape sequences of Japanese mail.
fn is_iso_2022_jp(bytes: &[u8]) -> bool {
    bytes.is_ascii() && [&b"\x1b$B"[..], b"\x1b$@"].iter().any(|mark| memchr::memmem::find(bytes, mark).is_some())
}

/// Whether a declared encoding reads the bytes with at most one fault in a hundred characters.
fn fits(bytes: &[u8], encoding: &'static Encoding) -> bool {
    let sample = bytes.get(..STATISTICS_BYTES).unwrap_or(bytes);
    let (text, had_errors) = encoding.decode_without_bom_handling(sample);
    if !had_errors {
        return true;
    }
    let faults = text.matches('\u{fffd}').count();
    // A cut at the sample's end is one fault at most.
    faults <= 1 || faults.saturating_mul(100) <= text.chars().filter(|c| !c.is_ascii()).count()
}

fn by_statistics(bytes: &[u8]) -> &'static Encoding {
    let sample = bytes.get(..STATISTICS_BYTES).unwrap_or(bytes);
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(sample, true);
    let guess = detector.guess(None, Utf8Detection::Deny);
    let undecided = [EUC_KR, BIG5, SHIFT_JIS, EUC_JP].contains(&guess) || !bytes.iter().any(u8::is_ascii_alphabetic);
    if undecided && is_short_chinese(bytes) { GBK } else { guess }
}

/// A handful of bytes, all of them in pairs out of the 3,755 commonest Chinese characters (GB 2312 level 1, rows 0xB0 to
/// 0xD7) or its punctuation (rows 0xA1 to 0xA3).
fn is_short_chinese(bytes: &[u8]) -> bool {
    if bytes.iter().filter(|b| !b.is_ascii()).count() > VERY_SHORT {
        return false;
    }
    let mut bytes = bytes.iter().copied();
    let mut hanzi = 0_usize;
    while let Some(lead) = bytes.next() {
        if lead.is_ascii() {
            continue;
        }
        match (lead, bytes.next()) {
            (0xb0..=0xd7, Some(0xa1..=0xfe)) => hanzi = hanzi.saturating_add(1),
            (0xa1..=0xa3, Some(0xa1..=0xfe)) => {}
            _ => return false,
        }
    }
    hanzi > 0
}

/// Whether a file's bytes (or its first bytes) are text in any encoding; for the profiler, after the magic numbers. Empty
/// input is not text.
pub fn looks_like_text(bytes: &[u8]) -> bool {
    let sample = bytes.get(..PROFILE_BYTES).unwrap_or(bytes);
    if sample.is_empty() {
        return false;
    }
    if let Some((charset, mark)) = by_mark(sample) {
        let Charset::Standard(encoding) = charset else { return sample.len() > mark };
        let (text, _) = encoding.decode_without_bom_handling(sample.get(mark..).unwrap_or_default());
        return text.is_empty() || reads_as_text(&text);
    }
    if sample.contains(&0) && utf16_by_nul_pattern(sample).is_some() {
        return true;
    }
    let controls = sample.iter().filter(|&&b| matches!(b, 0..=8 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f)).count();
    if controls.saturating_mul(100) > sample.len() {
        return false;
    }
    let encoding = if is_utf8_with_few_faults(sample) { UTF_8 } else { by_statistics(sample) };
    let (text, _) = encoding.decode_without_bom_handling(sample);
    reads_as_text(&text)
}
