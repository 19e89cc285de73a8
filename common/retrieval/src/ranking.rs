//! Orders candidates by what their text says.
//!
//! Ranks alone lose how well something matched: on the open question sets fused ranks score 0.72 (hotpot100) where the
//! best single channel scores 0.78. So the fusion decides who is looked at, and this decides the order. A candidate's
//! score is, with the request's channel weights relative to their defaults:
//!
//! - *content*: BM25 (k1 1.2, b 0.75) of the query's concepts over content and headings taken as one text, whatever
//!   field a word stands in (the idea of BM25F, Robertson and Zaragoza 2009, with equal field weights);
//! - *path*: a little BM25 over file name and headings alone, and half the weight of a title that the query spells out;
//! - *term*: a tenth of the best content score, by how well the exact channel found it.

use std::collections::HashMap;

use quarry_language::surface;
use quarry_model::retrieval::{Channel, ChannelWeights};

use crate::channels::Found;
use crate::corpus::ChunkKey;
use crate::passage::{Passage, Words};
use crate::query::{Root, Weighed};

const K1: f32 = 1.2;
const B: f32 = 0.75;
/// Share of the path's own BM25.
const PATH_SHARE: f32 = 0.15;
/// Share of a title's weight when the query spells it out.
const TITLE_SHARE: f32 = 0.5;
/// Share of the exact channel.
const TERM_SHARE: f32 = 0.1;

/// Words that stand close together: about a long sentence.
const CLOSE_WORDS: usize = 24;

/// How well the words of one query match texts of one publication.
pub struct Matcher<'a> {
    query: &'a Weighed,
    factors: ChannelWeights,
    mean_length: f32,
    roots: HashMap<String, HashMap<Root, usize>>,
    spelled: HashMap<String, Vec<Root>>,
    query_surface: String,
}

impl<'a> Matcher<'a> {
    /// A matcher for a query; `mean_length` is the publication's mean content length in words.
    pub fn new(text: &str, query: &'a Weighed, weights: &ChannelWeights, mean_length: f32) -> Self {
        let default = ChannelWeights::default();
        let factors = ChannelWeights {
            path: weights.path / default.path,
            content: weights.content / default.content,
            term: weights.term / default.term,
        };
        Self {
            query,
            factors,
            mean_length: mean_length.max(1.0),
            roots: HashMap::new(),
            spelled: HashMap::new(),
            query_surface: surface(text),
        }
    }

    /// Learns the forms of a language. Texts in a language that was not learnt match nothing.
    pub fn learn(&mut self, lang: &str) {
        if !self.roots.contains_key(lang) {
            self.roots.insert(lang.to_owned(), self.query.roots(lang));
            self.spelled.insert(lang.to_owned(), Words::of(&self.query_surface, lang).sequence);
        }
    }

    /// What a passage scores in content and path; see the module.
    pub fn score(&self, passage: &Passage) -> f32 {
        let [content, path, title] = self.components(passage);
        self.factors.content as f32 * content + self.factors.path as f32 * (PATH_SHARE * path + TITLE_SHARE * title)
    }

    /// The score's components: content, path, spelled title.
    pub fn components(&self, passage: &Passage) -> [f32; 3] {
        let lang = passage.lang();
        let Some(roots) = self.roots.get(lang) else { return [0.0; 3] };
        let mut in_content = vec![0_u32; self.query.weights.len()];
        let mut in_path = in_content.clone();
        count(&passage.words, roots, &mut in_content);
        count(&passage.path_words, roots, &mut in_path);
        let length = (passage.words.sequence.len() + passage.path_words.sequence.len()) as f32;
        let norm = K1 * (1.0 - B + B * length / self.mean_length);
        let mut content = 0.0;
        let mut path = 0.0;
        for (index, &weight) in self.query.weights.iter().enumerate() {
            let joined = if self.factors.path > 0.0 { in_path[index] } else { 0 };
            let both = (in_content[index] + joined) as f32;
            content += weight * both * (K1 + 1.0) / (both + norm);
            let tf = in_path[index] as f32;
            path += weight * tf * (K1 + 1.0) / (tf + K1);
        }
        let title = passage.titles.iter().map(|title| self.spelled_weight(title, roots, lang)).fold(0.0, f32::max);
        [content, path, title]
    }

    fn spelled_weight(&self, title: &crate::passage::Title, roots: &HashMap<Root, usize>, lang: &str) -> f32 {
        let spelled = self.spelled.get(lang).map(Vec::as_slice).unwrap_or_default();
        if !title.is_in(spelled, &self.query_surface) {
            return 0.0;
        }
        let mut concepts: Vec<usize> = title.words.iter().filter_map(|word| roots.get(word).copied()).collect();
        concepts.sort_unstable();
        concepts.dedup();
        concepts.into_iter().map(|index| self.query.weights[index]).sum()
    }

    /// How closely the query's words stand together: the largest share of its weight in any stretch of
    /// [`CLOSE_WORDS`] words, 0 to 1.
    pub fn closeness(&self, passage: &Passage) -> f32 {
        let Some(roots) = self.roots.get(passage.lang()) else { return 0.0 };
        let places: Vec<(usize, usize)> =
            passage.words.sequence.iter().enumerate().filter_map(|(at, word)| roots.get(word).map(|&index| (at, index))).collect();
        let mut best = 0.0_f32;
        for (from, &(start, _)) in places.iter().enumerate() {
            let mut near: Vec<usize> =
                places[from..].iter().take_while(|(at, _)| at - start < CLOSE_WORDS).map(|(_, index)| *index).collect();
            near.sort_unstable();
            near.dedup();
            best = best.max(near.into_iter().map(|index| self.query.weights[index]).sum());
        }
        best / self.query.total
    }

    /// The share of the query's weight that a text carries, 0 to 1.
    pub fn coverage(&self, words: &Words, lang: &str) -> f32 {
        let Some(roots) = self.roots.get(lang) else { return 0.0 };
        let mut counts = vec![0_u32; self.query.weights.len()];
        count(words, roots, &mut counts);
        let carried: f32 = counts.iter().zip(&self.query.weights).filter(|(n, _)| **n > 0).map(|(_, weight)| weight).sum();
        carried / self.query.total
    }

    /// The best score a text could have: every concept in abundance. What served scores are measured by.
    pub fn ceiling(&self) -> f32 {
        let share = self.factors.content as f32 + self.factors.path as f32 * PATH_SHARE;
        (self.query.total * (K1 + 1.0) * share.max(TERM_SHARE)).max(f32::MIN_POSITIVE)
    }

    /// What the exact channel adds: by key, its hits' scores relative to its best.
    pub fn exact(&self, found: &[Found], best: f32) -> HashMap<ChunkKey, f32> {
        let Some(list) = found.iter().find(|found| found.channel == Channel::Term) else { return HashMap::new() };
        let top = list.hits.first().map_or(1.0, |hit| hit.score).max(f32::MIN_POSITIVE);
        // Alone in the request, the exact channel decides by itself.
        let scale = if best > 0.0 { best * TERM_SHARE } else { self.ceiling() };
        list.hits.iter().map(|hit| ((hit.document_id.clone(), hit.ordinal), self.factors.term as f32 * scale * hit.score / top)).collect()
    }
}

fn count(words: &Words, roots: &HashMap<Root, usize>, counts: &mut [u32]) {
    for word in words.all() {
        if let Some(&index) = roots.get(&word) {
            counts[index] += 1;
        }
    }
}
