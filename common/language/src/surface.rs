//! The surface of a text: what the exact ("term") channel compares.
//!
//! Surface text is compatibility-normalised (NFKC: ligatures, full-width forms and superscripts become plain), lower
//! case by character, without invisible characters, with every stretch of white space as one space, and without the
//! punctuation that opens or closes a run of characters. Two texts are compared as their surfaces, so `"Café,"`
//! finds `café` and `5 %` does not find `5%`.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Sentence punctuation, quotes and brackets: not part of a run when they stand at its edge.
/// Signs that carry meaning at an edge (`#`, `+`, `%`, `$`, `@`, `-`, a leading `.`) are not among them.
fn is_edge(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | ',' | ';' | ':' | '!' | '?' | '*' | '_' | '|' | '\u{2018}'
            ..='\u{201F}' | '«' | '»' | '‹' | '›' | '…' | '¿' | '¡' | '、' | '。' | '〈'
                ..='】' | '〔'..='〟' | '،' | '؛' | '؟' | '۔' | '।' | '॥' | '\u{5BE}' | '·' | '•'
    )
}

/// The run without the punctuation at its edges; empty when there is nothing else.
pub(crate) fn trim_run(run: &str) -> &str {
    run.trim_start_matches(is_edge).trim_end_matches(|c| is_edge(c) || c == '.')
}

/// Characters that nobody sees: they neither divide nor belong to words.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{61C}' | '\u{640}' | '\u{180E}' | '\u{200C}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}' | '\u{FE00}'..='\u{FE0F}')
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || c.is_control() || c == '\u{200B}'
}

fn lower(c: char, out: &mut String) {
    match c {
        // Context-free, so that a part of a word keeps its form: both small sigmas are one.
        'ς' => out.push('σ'),
        'İ' => out.push('i'),
        c => out.extend(c.to_lowercase()),
    }
}

/// Normalised, lower-case text with its white space still as it was.
pub(crate) fn normalize(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut out = String::with_capacity(text.len());
    let visible = text.chars().filter(|&c| !is_invisible(c));
    match is_nfkc_quick(visible.clone()) {
        IsNormalized::Yes => visible.for_each(|c| lower(c, &mut out)),
        // The normal form can bring an invisible character to light (the tatweel of an Arabic presentation form).
        _ => visible.nfkc().filter(|&c| !is_invisible(c)).for_each(|c| lower(c, &mut out)),
    }
    // Lowering can undo the normal form (İ); once more only where it did.
    if is_nfkc_quick(out.chars()) == IsNormalized::Yes { out } else { out.nfkc().collect() }
}

/// The runs of normalised text: stretches without white space, trimmed of edge punctuation, never empty.
pub(crate) fn runs(normalized: &str) -> impl Iterator<Item = &str> {
    normalized.split(is_space).map(trim_run).filter(|run| !run.is_empty())
}

/// The surface of `text`: its runs, one space between them.
pub fn surface(text: &str) -> String {
    let normalized = normalize(text);
    let mut out = String::with_capacity(normalized.len());
    for run in runs(&normalized) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(run);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn surfaces_compare_as_people_do() {
        assert_eq!(surface("  “The ﬁnal\u{ad}ist”, (née Ü)…\n"), "the finalist née ü");
        assert_eq!(surface("C++ vs. C#, .NET 5%; R&D!"), "c++ vs c# .net 5% r&d");
        assert_eq!(surface("ＡＢＣ　１２"), "abc 12");
        assert_eq!(surface("ΛΌΓΟΣ"), surface("λόγος"));
        assert_eq!(surface("Cafe\u{301}"), "café");
    }

    proptest! {
        #[test]
        fn a_surface_is_its_own_surface(text in "\\PC{0,40}") {
            let once = surface(&text);
            prop_assert_eq!(surface(&once), once);
        }
    }
}
