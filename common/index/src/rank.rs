//! The ranked channels: BM25 over the forms of each word, with the statistics of the whole namespace.
//!
//! A concept of the query stands for all its forms in the vocabulary: the word itself, words that fold to the same,
//! words of the same stem, runs that are it without signs. Their frequencies are added, each with its weight, and the
//! concept is one term of BM25F, `Σ idf · tf (k1 + 1) / (tf + k1)` with
//! `tf = Σ over fields: weight · frequency / (1 − b + b · length / average)`
//! (Robertson and Zaragoza, *The Probabilistic Relevance Framework*, 2009), where
//! `idf = ln(1 + (N − df + 0.5) / (df + 0.5))` and `N`, `df` and the average length count live chunks only.

use std::collections::BTreeMap;

use quarry_language::query::ConceptKind;
use quarry_language::segment::PAIR_MARK;
use quarry_language::{Concept, fold, stem};
use tantivy::fieldnorm::FieldNormReader;

use crate::alias::{folded_key, joined, joined_key, stem_key};
use crate::view::View;

/// Weights of ranking. The defaults are those measured best over several collections.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranking {
    /// Saturation of repeated words.
    pub k1: f32,
    /// Influence of the length of the content, 0 to 1.
    pub b: f32,
    /// Influence of the length of the path, 0 to 1.
    pub path_b: f32,
    /// Weight of a word that folds to the same.
    pub folded: f32,
    /// Weight of a word of the same stem.
    pub stemmed: f32,
    /// Weight of a word that differs by the signs in it.
    pub joined: f32,
    /// Weight of two ideographs in a row beside dictionary words.
    pub pair: f32,
    /// Weight of words of the path in the content channel: a chunk is also about what its headings say.
    pub content_path: f32,
    /// Weight of words of the content in the path channel: it orders the chunks that one heading stands over.
    pub path_content: f32,
    /// Influence of the length of the content in the exact channel, 0 to 1.
    pub term_b: f32,
}

impl Default for Ranking {
    fn default() -> Self {
        Self {
            k1: 1.2,
            b: 0.75,
            path_b: 0.75,
            folded: 1.0,
            stemmed: 0.8,
            joined: 0.8,
            pair: 0.4,
            content_path: 2.0,
            path_content: 0.4,
            term_b: 0.5,
        }
    }
}

/// What all live splits together say.
#[derive(Debug, Default)]
pub(crate) struct Corpus {
    /// Live chunks.
    pub(crate) chunks: u64,
    /// Words in them, by field.
    pub(crate) tokens: [u64; 2],
    /// Languages, most frequent first.
    pub(crate) languages: Vec<String>,
}

impl Corpus {
    /// Adds up the splits.
    pub(crate) fn of(views: &[View]) -> Self {
        let mut languages: BTreeMap<&str, u64> = BTreeMap::new();
        let mut out = Self::default();
        for view in views {
            out.chunks += view.chunks;
            for field in 0..2 {
                out.tokens[field] += view.tokens[field];
            }
            for (lang, chunks) in view.segment.languages() {
                *languages.entry(lang).or_default() += u64::from(*chunks);
            }
        }
        let mut languages: Vec<_> = languages.into_iter().collect();
        languages.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        out.languages = languages.into_iter().map(|(lang, _)| lang.to_owned()).collect();
        out
    }

    /// Inverse document frequency of something in `documents` of the live chunks.
    pub(crate) fn idf(&self, documents: u64) -> f32 {
        let (n, df) = (self.chunks as f32, documents as f32);
        (1.0 + (n - df + 0.5).max(0.0) / (df + 0.5)).ln()
    }

    fn average(&self, field: usize) -> f32 {
        if self.chunks == 0 { 1.0 } else { (self.tokens[field] as f32 / self.chunks as f32).max(1.0) }
    }

    /// `1 − b + b · length / average` for every length byte of a field.
    pub(crate) fn lengths(&self, field: usize, b: f32) -> [f32; 256] {
        let average = self.average(field);
        std::array::from_fn(|id| 1.0 - b + b * FieldNormReader::id_to_fieldnorm(id as u8) as f32 / average)
    }
}

/// Forms of a concept with their weights, the same for every split.
pub(crate) type Forms = BTreeMap<String, f32>;

/// All forms of a concept that any split knows.
pub(crate) fn forms(views: &[View], field: usize, concept: &Concept, languages: &[&str], ranking: &Ranking) -> Forms {
    let mut forms = Forms::new();
    let mut add = |form: &str, weight: f32| {
        let known = forms.entry(form.to_owned()).or_insert(weight);
        *known = known.max(weight);
    };
    add(&concept.text, 1.0);
    let aliases = |key: &str, weight: f32, add: &mut dyn FnMut(&str, f32)| {
        for view in views {
            let words = view.segment.words(field);
            for &ordinal in words.aliases.get(key) {
                if ordinal < words.vocabulary.len() {
                    add(&String::from_utf8_lossy(words.vocabulary.word(ordinal)), weight);
                }
            }
        }
    };
    let folded = fold(&concept.text);
    match concept.kind {
        ConceptKind::Pair => return forms,
        ConceptKind::Ideograph => {
            for prefix in [concept.text.clone(), format!("{PAIR_MARK}{}", concept.text)] {
                for view in views {
                    let vocabulary = &view.segment.words(field).vocabulary;
                    for ordinal in vocabulary.with_prefix(&prefix) {
                        let word = String::from_utf8_lossy(vocabulary.word(ordinal));
                        if word.trim_start_matches(PAIR_MARK).chars().count() == 2 {
                            add(&word, 1.0);
                        }
                    }
                }
            }
            return forms;
        }
        ConceptKind::Word => {
            for lang in languages {
                for form in [concept.text.as_str(), folded.as_str()] {
                    if let Some(stemmed) = stem::stem(form, lang) {
                        add(&stemmed, ranking.stemmed);
                        aliases(&stem_key(lang, &stemmed), ranking.stemmed, &mut add);
                    }
                }
            }
            aliases(&joined_key(&folded), ranking.joined, &mut add);
        }
        ConceptKind::Run => {
            if let Some(joined) = joined(&folded) {
                add(&joined, ranking.joined);
                aliases(&joined_key(&joined), ranking.joined, &mut add);
            }
        }
    }
    add(&folded, ranking.folded);
    aliases(&folded_key(&folded), ranking.folded, &mut add);
    forms
}
