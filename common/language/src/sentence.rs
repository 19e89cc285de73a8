//! Sentences: where text may be cut.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// The boundary rules look ahead; longer stretches are examined in pieces so that time stays linear.
const STRETCH: usize = 16 * 1024;

/// Words that end in a full stop without ending a sentence, folded, without the stop.
const ABBREVIATIONS: &[&str] = &[
    "mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "gen", "col", "lt", "capt", "sgt", "rev", "hon", "vs", "etc", "e.g", "i.e", "cf",
    "al", "approx", "ca", "fig", "figs", "eq", "eqs", "no", "nos", "vol", "pp", "p", "ed", "eds", "sec", "ch", "inc", "ltd", "co", "corp",
    "dept", "est", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "u.s", "u.k", "a.m", "p.m", "b.c",
    "a.d", "z.b", "d.h", "u.a", "bzw", "usw", "vgl", "nr", "abs", "art", "bd", "str", "hr", "fr", "sra", "srta", "ud", "uds", "pag", "num",
    "ee.uu", "p.ej", "sig", "dott", "ecc", "av", "mme", "mlle", "min", "max", "tab", "ref", "refs", "т.е", "т.д", "т.п", "г", "гг", "рис",
    "табл", "стр", "см", "др",
];

/// The sentences of `text` as byte ranges: contiguous, in order, covering everything (trailing white space belongs to
/// the sentence before it). Boundaries are those of UAX #29 (CJK stops included), except that a line break inside a
/// paragraph, an abbreviation and an initial end nothing, and an empty line ends everything.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    // A single line break is a space as far as sentences are concerned; offsets stay the same.
    let flat: String = text.chars().map(|c| if matches!(c, '\n' | '\r') { ' ' } else { c }).collect();
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for paragraph in paragraphs(text) {
        let mut at = paragraph.start;
        while at < paragraph.end {
            let stop = stretch_end(&flat, at, paragraph.end);
            for (offset, piece) in flat[at..stop].split_sentence_bound_indices() {
                let end = at + offset + piece.len();
                if end == paragraph.end || (end < stop && !ends_in_abbreviation(&flat[start..end])) {
                    out.push(start..end);
                    start = end;
                }
            }
            at = stop;
        }
    }
    if start < text.len() {
        out.push(start..text.len());
    }
    out
}

/// Ranges that end after an empty line.
fn paragraphs(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let (mut start, mut at, mut blank_end) = (0, 0, None);
    for line in text.split_inclusive('\n') {
        let is_blank = line.trim().is_empty();
        if let (false, Some(end)) = (is_blank, blank_end.take()) {
            out.push(start..end);
            start = end;
        }
        at += line.len();
        if is_blank && at > line.len() {
            blank_end = Some(at);
        }
    }
    if start < text.len() {
        out.push(start..text.len());
    }
    out
}

/// The end of the next stretch to examine: at a space where possible.
fn stretch_end(text: &str, from: usize, end: usize) -> usize {
    if end - from <= STRETCH {
        return end;
    }
    let limit = text.floor_char_boundary(from + STRETCH);
    text[from..limit].rfind(' ').map_or(limit, |space| from + space + 1)
}

fn ends_in_abbreviation(sentence: &str) -> bool {
    let Some(body) = sentence.trim_end().strip_suffix('.') else {
        return false;
    };
    let word = body.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    let mut letters = word.chars();
    // An initial: one capital letter.
    if let (Some(first), None) = (letters.next(), letters.next())
        && first.is_uppercase()
    {
        return true;
    }
    word.len() <= 12 && ABBREVIATIONS.contains(&crate::fold(word).as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(text: &str) -> Vec<&str> {
        sentences(text).into_iter().map(|range| text[range].trim()).collect()
    }

    #[test]
    fn sentences_end_where_people_end_them() {
        assert_eq!(
            split("Dr. J. Smith came. He paid 3.50, e.g. in coins! Why?"),
            ["Dr. J. Smith came.", "He paid 3.50, e.g. in coins!", "Why?"]
        );
        assert_eq!(split("水泵坏了。请检查！好吗？是"), ["水泵坏了。", "请检查！", "好吗？", "是"]);
        assert_eq!(split("A line\nbroken here. Next one\n\nNew paragraph"), ["A line\nbroken here.", "Next one", "New paragraph"]);
        assert_eq!(split("¿Qué pasó? Nada."), ["¿Qué pasó?", "Nada."]);
        assert!(split("").is_empty());
    }

    proptest! {
        #[test]
        fn sentences_cover_the_text(text in "[a-zA-Z .!?\n\r。é中]{0,80}") {
            let mut at = 0;
            for range in sentences(&text) {
                prop_assert_eq!(range.start, at);
                prop_assert!(range.end > range.start);
                at = range.end;
            }
            prop_assert_eq!(at, text.len());
        }
    }

    #[test]
    fn long_input_takes_linear_time() {
        let start = std::time::Instant::now();
        for text in [".".repeat(1 << 19), "a.".repeat(1 << 18), " ".repeat(1 << 19), "x".repeat(1 << 19)] {
            assert_eq!(sentences(&text).last().map(|range| range.end), Some(text.len()));
        }
        assert!(start.elapsed().as_secs() < 60);
    }
}
