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
use tantivy::postings::Postings as _;
use tantivy::{DocSet as _, TERMINATED};

use crate::alias::{folded_key, joined, joined_key, stem_key};
use crate::error::IndexError;
use crate::open::{CONTENT, PATH};
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

/// Scores of one split's chunks; 0 where nothing matched.
pub(crate) type Scores = Vec<f32>;

/// Forms of a concept with their weights, the same for every split.
type Forms = BTreeMap<String, f32>;

/// How much a channel makes of each field, and the field that has to match at all.
pub(crate) struct Weights {
    /// By field.
    pub(crate) fields: [f32; 2],
    /// Chunks without a word in this field are left out.
    pub(crate) needs: Option<usize>,
}

/// Scores every chunk of every split. Chunks whose bytes are not here yet are noted as missing, and the result is
/// then worthless.
pub(crate) fn score(
    views: &[View],
    corpus: &Corpus,
    weights: &Weights,
    concepts: &[Concept],
    languages: &[&str],
    ranking: &Ranking,
) -> Result<Vec<Scores>, IndexError> {
    let mut scores: Vec<Scores> = views.iter().map(|view| vec![0.0; view.segment.chunks() as usize]).collect();
    let mut matched: Vec<Vec<bool>> = match weights.needs {
        Some(_) => views.iter().map(|view| vec![false; view.segment.chunks() as usize]).collect(),
        None => Vec::new(),
    };
    let lengths = [corpus.lengths(CONTENT, ranking.b), corpus.lengths(PATH, ranking.path_b)];
    for concept in concepts {
        let mut found: Vec<Vec<(u32, f32)>> = vec![Vec::new(); views.len()];
        for field in [CONTENT, PATH].into_iter().filter(|&field| weights.fields[field] > 0.0) {
            let forms = forms(views, field, concept, languages, ranking);
            for (at, view) in views.iter().enumerate() {
                let norms = &view.segment.words(field).norms;
                let in_field = frequencies(view, field, &forms)?;
                if weights.needs == Some(field) {
                    in_field.iter().for_each(|(doc, _)| matched[at][*doc as usize] = true);
                }
                let normal = |(doc, tf)| (doc, weights.fields[field] * tf / lengths[field][usize::from(norms.fieldnorm_id(doc))]);
                found[at] = merge(&found[at], in_field.into_iter().map(normal));
            }
        }
        let documents: usize = found.iter().zip(views).map(|(found, view)| live(found, view)).sum();
        let weight = if concept.kind == ConceptKind::Pair { ranking.pair } else { 1.0 };
        let idf = corpus.idf(documents as u64) * weight * (ranking.k1 + 1.0);
        for (found, scores) in found.iter().zip(&mut scores) {
            for &(doc, tf) in found {
                scores[doc as usize] += idf * tf / (tf + ranking.k1);
            }
        }
    }
    for (scores, matched) in scores.iter_mut().zip(matched) {
        scores.iter_mut().zip(matched).filter(|(_, matched)| !matched).for_each(|(score, _)| *score = 0.0);
    }
    Ok(scores)
}

/// Live chunks that hold each concept in any of its forms, in content or path. As with [`score`], worthless when some
/// bytes were missing.
pub(crate) fn holding(views: &[View], concepts: &[Concept], languages: &[&str], ranking: &Ranking) -> Result<Vec<u64>, IndexError> {
    let mut out = Vec::with_capacity(concepts.len());
    for concept in concepts {
        let forms = [CONTENT, PATH].map(|field| forms(views, field, concept, languages, ranking));
        let mut documents = 0;
        for view in views {
            let content = frequencies(view, CONTENT, &forms[CONTENT])?;
            let found = merge(&content, frequencies(view, PATH, &forms[PATH])?.into_iter());
            documents += live(&found, view) as u64;
        }
        out.push(documents);
    }
    Ok(out)
}

/// Adds the values of equal chunks of two lists sorted by chunk.
fn merge(left: &[(u32, f32)], right: impl Iterator<Item = (u32, f32)>) -> Vec<(u32, f32)> {
    if left.is_empty() {
        return right.collect();
    }
    let mut out = Vec::with_capacity(left.len());
    let mut rest = left.iter().copied().peekable();
    for (doc, value) in right {
        while let Some(before) = rest.next_if(|(other, _)| *other < doc) {
            out.push(before);
        }
        let same = rest.next_if(|(other, _)| *other == doc).map_or(0.0, |(_, value)| value);
        out.push((doc, same + value));
    }
    out.extend(rest);
    out
}

fn live(found: &[(u32, f32)], view: &View) -> usize {
    if view.all_alive() { found.len() } else { found.iter().filter(|(doc, _)| view.is_alive(*doc)).count() }
}

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

/// Chunks of a split that hold a form, with the weighted frequencies added up; by chunk.
pub(crate) fn frequencies(view: &View, field: usize, forms: &Forms) -> Result<Vec<(u32, f32)>, IndexError> {
    let vocabulary = &view.segment.words(field).vocabulary;
    let mut out: Vec<(u32, f32)> = Vec::new();
    let mut lists = 0;
    for (form, weight) in forms {
        let Some(ordinal) = vocabulary.find(form) else {
            continue;
        };
        let Some(mut postings) = view.segment.postings(field, ordinal, false)? else {
            continue;
        };
        lists += 1;
        let mut doc = postings.doc();
        while doc != TERMINATED {
            out.push((doc, weight * postings.term_freq() as f32));
            doc = postings.advance();
        }
    }
    if lists > 1 {
        // Stable, and forms come in one order: the sums are the same for every layout of splits.
        out.sort_by_key(|(doc, _)| *doc);
        out.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 += later.1;
            }
            same
        });
    }
    Ok(out)
}
