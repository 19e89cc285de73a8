//! What a query asks for.

use std::collections::HashSet;

use crate::detect::detect;
use crate::fold::fold_surface;
use crate::script::{is_ideographic, is_unspaced, is_word_char};
use crate::segment::{RUN_MAX_CHARS, inner_words, is_paired, parts};
use crate::stop::is_stop;
use crate::surface::{normalize, runs, surface};

/// The most concepts and units taken from one query: a longer one is cut after so many different words.
pub const QUERY_MAX_WORDS: usize = 64;
/// The longest query that is looked at, in bytes.
const QUERY_MAX_BYTES: usize = 16 * 1024;

/// One thing a ranked channel looks for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Concept {
    /// Surface form.
    pub text: String,
    /// What kind of thing it is: forms and weights differ.
    pub kind: ConceptKind,
}

/// Kinds of [`Concept`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConceptKind {
    /// A word; its folded and stemmed forms count as well.
    Word,
    /// A run with signs in it (`c++`, `a-12/b`), as a whole.
    Run,
    /// Two ideographs in a row.
    Pair,
    /// A single ideograph that is a query of its own.
    Ideograph,
}

/// A query as the index sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// The whole query in surface form: what the exact channel looks for first.
    pub surface: String,
    /// For the ranked channels, in order of first appearance, each once.
    pub concepts: Vec<Concept>,
    /// For the exact channel: runs and words, in order of first appearance, each once.
    pub units: Vec<String>,
    /// Language of the query (ISO 639-1), or `und`.
    pub lang: &'static str,
}

impl Query {
    /// Analyses `text`. `corpus_languages` are those of the documents asked, the most frequent first: where the query
    /// itself is too short to tell, its stop words are taken to be of the first.
    /// Stop words are left out unless there is nothing else. Never empty for a text with a letter or digit in it.
    pub fn new(text: &str, corpus_languages: &[&str]) -> Self {
        let text = &text[..text.floor_char_boundary(QUERY_MAX_BYTES)];
        let lang = detect(text);
        let stop_lang = if lang == "und" { corpus_languages.first().copied().unwrap_or("en") } else { lang };
        let mut query = Self::collect(text, |word| is_stop(&fold_surface(word), stop_lang));
        if query.concepts.is_empty() {
            query = Self::collect(text, |_| false);
        }
        query.lang = lang;
        query
    }

    fn collect(text: &str, is_stop: impl Fn(&str) -> bool) -> Self {
        let mut query = Self { surface: surface(text), concepts: Vec::new(), units: Vec::new(), lang: "und" };
        let (mut concepts, mut units) = (HashSet::new(), HashSet::new());
        let mut concept = |text: &str, kind| {
            let concept = Concept { text: text.to_owned(), kind };
            if query.concepts.len() < QUERY_MAX_WORDS && concepts.insert(concept.clone()) {
                query.concepts.push(concept);
            }
        };
        let mut unit = |text: &str| {
            if query.units.len() < QUERY_MAX_WORDS && units.insert(text.to_owned()) {
                query.units.push(text.to_owned());
            }
        };
        let normalized = normalize(text);
        for run in runs(&normalized) {
            if is_paired(run) {
                paired(run, &is_stop, &mut concept, &mut unit);
            } else if run.chars().all(is_word_char) {
                if !is_stop(run) {
                    concept(run, ConceptKind::Word);
                    unit(run);
                }
            } else if run.chars().any(is_word_char) {
                // A run of stop words only ("what's") is none of our business either.
                if parts(run).all(|part| is_stop(part) || part.chars().nth(1).is_none() && part.chars().all(char::is_alphabetic))
                    && parts(run).any(&is_stop)
                {
                    continue;
                }
                concept(run, ConceptKind::Run);
                unit(run);
                for part in parts(run).filter(|part| !is_stop(part)) {
                    concept(part, ConceptKind::Word);
                    if part.chars().nth(1).is_some() {
                        unit(part);
                    }
                }
            }
        }
        query
    }
}

/// Words of unspaced scripts; ideographs also as pairs, where no stop word stands between them.
fn paired(run: &str, is_stop: &impl Fn(&str) -> bool, concept: &mut impl FnMut(&str, ConceptKind), unit: &mut impl FnMut(&str)) {
    let words = inner_words(run);
    let alone = run.chars().nth(1).is_none();
    let mut stretch = String::new();
    let flush = |stretch: &mut String, concept: &mut dyn FnMut(&str, ConceptKind)| {
        let starts: Vec<usize> = stretch.char_indices().map(|(at, _)| at).chain([stretch.len()]).collect();
        for window in starts.windows(3) {
            concept(&stretch[window[0]..window[2]], ConceptKind::Pair);
        }
        if starts.len() == 2 {
            concept(stretch, ConceptKind::Ideograph);
        }
        stretch.clear();
    };
    for word in words {
        let stop = is_stop(word) && !alone;
        let ideographic = word.chars().all(is_ideographic);
        if stop || !ideographic {
            flush(&mut stretch, concept);
        }
        if stop || word.chars().nth(RUN_MAX_CHARS).is_some() {
            continue;
        }
        unit(word);
        if ideographic {
            stretch.push_str(word);
        }
        if !ideographic || word.chars().nth(2).is_some() {
            concept(word, ConceptKind::Word);
        }
        debug_assert!(ideographic || !word.chars().all(is_unspaced) || !word.is_empty());
    }
    flush(&mut stretch, concept);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(query: &str) -> Vec<String> {
        Query::new(query, &["en"]).concepts.into_iter().map(|concept| concept.text).collect()
    }

    #[test]
    fn stop_words_go_unless_alone() {
        assert_eq!(texts("What is the torque of the pump?"), ["torque", "pump"]);
        assert_eq!(texts("to be or not to be"), ["to", "be", "or", "not"]);
        assert_eq!(texts("C++ or C#"), ["c++", "c", "c#"]);
    }

    #[test]
    fn ideographs_give_words_and_pairs() {
        let query = Query::new("阿拉伯国家的支持", &["zh"]);
        assert!(query.units.contains(&"阿拉伯".to_owned()), "{query:?}");
        assert!(query.concepts.iter().any(|c| c.text == "支持" && c.kind == ConceptKind::Pair), "{query:?}");
        assert!(!query.concepts.iter().any(|c| c.text.contains('的')), "{query:?}");
        assert_eq!(Query::new("水", &["zh"]).concepts[0].kind, ConceptKind::Ideograph);
    }

    proptest! {
        #[test]
        fn never_empty_with_a_letter(text in "[a-z0-9äπж中のก'?+. -]{0,20}") {
            let query = Query::new(&text, &[]);
            prop_assert_eq!(query.concepts.is_empty(), !text.chars().any(is_word_char), "{:?}", query);
            prop_assert_eq!(query.units.is_empty(), query.concepts.is_empty());
        }
    }

    #[test]
    fn a_huge_query_is_cut() {
        let text = (0..10_000).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ");
        assert_eq!(Query::new(&text, &[]).concepts.len(), QUERY_MAX_WORDS);
    }
}
