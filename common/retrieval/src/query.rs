//! A query with the weight of each of its concepts in one publication.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use quarry_index::IndexError;
use quarry_language::query::ConceptKind;
use quarry_language::{Concept, Query, fold, stem};

use crate::corpus::Corpus;

/// What forms of one word share, as a number: the stem in the text's language, folded; else the folded form.
pub type Root = u64;

/// The root of a word in surface form.
pub fn root(word: &str, lang: &str) -> Root {
    let mut hasher = DefaultHasher::new();
    match stem::stem(word, lang) {
        Some(stem) => stem.hash(&mut hasher),
        None => fold(word).hash(&mut hasher),
    }
    hasher.finish()
}

/// An analysed query and what its concepts weigh.
#[derive(Debug)]
pub struct Weighed {
    /// As the index sees it.
    pub query: Query,
    /// Of each concept: `ln(1 + (N - n + 0.5) / (n + 0.5))` for N live chunks of which n hold it.
    pub weights: Vec<f32>,
    /// Sum of the weights; never 0 for a query with a concept.
    pub total: f32,
}

impl Weighed {
    /// Weighs the concepts of `text` by how rare they are in `corpus`.
    pub async fn new(text: &str, corpus: &dyn Corpus) -> Result<Self, IndexError> {
        let languages: Vec<&str> = corpus.languages().iter().map(String::as_str).collect();
        let query = Query::new(text, &languages);
        let frequencies = corpus.frequencies(&query.concepts, query.lang).await?;
        let all = corpus.count(&quarry_index::Filter::default());
        let weights: Vec<f32> = frequencies.iter().map(|&n| rarity(n, all)).collect();
        let total = weights.iter().sum::<f32>().max(f32::MIN_POSITIVE);
        Ok(Self { query, weights, total })
    }

    /// Concepts by their root in a language: what a text in that language is matched with.
    pub fn roots(&self, lang: &str) -> HashMap<Root, usize> {
        let mut roots = HashMap::with_capacity(self.query.concepts.len());
        for (index, concept) in self.query.concepts.iter().enumerate() {
            roots.entry(concept_root(concept, lang)).or_insert(index);
        }
        roots
    }
}

fn concept_root(concept: &Concept, lang: &str) -> Root {
    match concept.kind {
        ConceptKind::Word => root(&concept.text, lang),
        ConceptKind::Run | ConceptKind::Pair | ConceptKind::Ideograph => root(&concept.text, "und"),
    }
}

/// Inverse document frequency, always positive (Robertson; the form Lucene and Tantivy use).
pub fn rarity(holding: u64, all: u64) -> f32 {
    let (n, all) = (holding as f32, all.max(holding) as f32);
    (1.0 + (all - n + 0.5) / (n + 0.5)).ln()
}
