//! The content words of a text, as metadata and keywords show them.

use std::collections::HashSet;

use crate::fold::fold_surface;
use crate::script::{is_unspaced, is_word_char};
use crate::segment::{RUN_MAX_CHARS, inner_words, is_paired, parts};
use crate::stop::is_stop;
use crate::surface::{normalize, runs};

/// The content words of `text` in reading order, repeats included: folded, without stop words of `lang`.
/// Spaced words count whole (`c++`, `a-12/b`, with their parts when these are words of two letters or more);
/// words of unspaced scripts come from the dictionaries, two characters or longer.
pub fn content_tokens(text: &str, lang: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut push = |word: &str| {
        let folded = if word.is_ascii() { word.to_owned() } else { fold_surface(word) };
        if folded.chars().any(is_word_char) && !is_stop(&folded, lang) && folded.chars().nth(RUN_MAX_CHARS).is_none() {
            out.push(folded);
        }
    };
    let normalized = normalize(text);
    for run in runs(&normalized) {
        if is_paired(run) {
            inner_words(run).into_iter().filter(|word| !word.chars().all(is_unspaced) || word.chars().nth(1).is_some()).for_each(&mut push);
            continue;
        }
        push(run);
        parts(run).filter(|part| part.len() < run.len() && part.chars().nth(1).is_some()).for_each(&mut push);
    }
    out
}

/// As [`content_tokens`], each word once, at its first place: what `metadata.tokens` holds.
pub fn content_words(text: &str, lang: &str) -> Vec<String> {
    let mut seen = HashSet::new();
    content_tokens(text, lang).into_iter().filter(|word| seen.insert(word.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_words_are_folded_ordered_and_unique() {
        assert_eq!(content_words("The Café and the café of R&D", "en"), ["cafe", "r&d"]);
        assert_eq!(content_words("Die Pumpe und die Ventile", "de"), ["pumpe", "ventile"]);
        assert_eq!(content_words("叙利亚和埃及发动突然袭击", "zh"), ["叙利亚", "埃及", "发动", "突然袭击"]);
        assert_eq!(content_tokens("pump pump", "en").len(), 2);
        assert!(content_words("--- ... !", "en").is_empty());
    }
}
