//! Orders candidates by how well they match, not only by their ranks.
//!
//! Ranks alone lose how well something matched. So the fusion decides who is looked at, and this decides the order:
//!
//! 1. *Blend*: each channel's scores, divided by the best of them, joined with the weights of the fusion (a convex
//!    combination: Bruch, Gai and Ingber, *An Analysis of Fusion Functions for Hybrid Retrieval*, 2023), in the measure
//!    of the best content score. Asked beside others the path channel ranks by path and content; here it counts with
//!    what the path alone says.
//! 2. *Closeness*: up to twice as much where the query's words stand together.
//!
//! No other constant takes part. What was measured, and what did not earn its place: `infra/adr/0020`.

use std::collections::HashMap;

use quarry_model::retrieval::{Channel, ChannelWeights};

use crate::channels::Found;
use crate::corpus::ChunkKey;
use crate::passage::{Passage, Words};
use crate::query::{Root, Weighed};

/// Saturation of repeated words, as in the index.
const K1: f32 = 1.2;
/// Words that stand close together: about a long sentence.
const CLOSE_WORDS: usize = 24;

/// The channels' scores as one.
#[derive(Debug)]
pub struct Blend {
    content: HashMap<ChunkKey, f32>,
    term: HashMap<ChunkKey, f32>,
    /// What one unit of the path's own score is worth.
    path: f32,
    measure: f32,
}

impl Blend {
    /// Joins what was found among `passages` with the request's weights.
    pub fn new(found: &[Found], weights: &ChannelWeights, matcher: &Matcher<'_>, passages: &[std::sync::Arc<Passage>]) -> Self {
        let hits = |channel: Channel| found.iter().find(|list| list.channel == channel).map_or(&[][..], |list| list.hits.as_slice());
        let top = |channel: Channel| hits(channel).first().map_or(0.0, |hit| hit.score);
        let total = weights.sum().max(f64::MIN_POSITIVE);
        let share = |channel: Channel| (weights.of(channel) / total) as f32;
        let relative = |channel: Channel| -> HashMap<ChunkKey, f32> {
            let unit = share(channel) / top(channel).max(f32::MIN_POSITIVE);
            hits(channel).iter().map(|hit| ((hit.document_id.clone(), hit.ordinal), hit.score * unit)).collect()
        };
        let path = passages.iter().map(|passage| matcher.path(passage)).fold(0.0, f32::max);
        // The ranked channels score in one measure; the exact one, which puts the whole query above all, in its own.
        let measure = [Channel::Content, Channel::Path, Channel::Term].map(top).into_iter().find(|top| *top > 0.0).unwrap_or_default();
        Self {
            content: relative(Channel::Content),
            term: relative(Channel::Term),
            path: if path > 0.0 { share(Channel::Path) / path } else { 0.0 },
            measure: measure.min(matcher.abundance()),
        }
    }

    /// The blended score of a passage; 0 for one that nothing matches.
    pub fn of(&self, passage: &Passage, matcher: &Matcher<'_>) -> f32 {
        let key = passage.key();
        let hit = |channel: &HashMap<ChunkKey, f32>| channel.get(&key).copied().unwrap_or_default();
        self.measure * (hit(&self.content) + hit(&self.term) + self.path * matcher.path(passage))
    }
}

/// How the words of one query stand in texts.
pub struct Matcher<'a> {
    query: &'a Weighed,
    roots: HashMap<String, HashMap<Root, usize>>,
}

impl<'a> Matcher<'a> {
    /// A matcher for a query.
    pub fn new(query: &'a Weighed) -> Self {
        Self { query, roots: HashMap::new() }
    }

    /// Learns the forms of a language. Texts in a language that was not learnt match nothing.
    pub fn learn(&mut self, lang: &str) {
        if !self.roots.contains_key(lang) {
            self.roots.insert(lang.to_owned(), self.query.roots(lang));
        }
    }

    /// The score of a passage; see the module.
    pub fn score(&self, passage: &Passage, blend: &Blend) -> f32 {
        blend.of(passage, self) * (1.0 + self.closeness(passage))
    }

    /// What file name and headings alone say: the query's concepts in them, `weight · tf (k1 + 1) / (tf + k1)`.
    pub fn path(&self, passage: &Passage) -> f32 {
        let Some(roots) = self.roots.get(passage.lang()) else { return 0.0 };
        let mut counts: HashMap<usize, f32> = HashMap::new();
        for word in passage.path_words.all() {
            if let Some(&concept) = roots.get(&word) {
                *counts.entry(concept).or_default() += 1.0;
            }
        }
        let mut counts: Vec<(usize, f32)> = counts.into_iter().collect();
        counts.sort_unstable_by_key(|(concept, _)| *concept);
        counts.into_iter().map(|(concept, tf)| self.query.weights[concept] * tf * (K1 + 1.0) / (tf + K1)).sum()
    }

    /// How closely the query's words stand together: the largest share of its weight in any stretch of
    /// [`CLOSE_WORDS`] words, 0 to 1.
    pub fn closeness(&self, passage: &Passage) -> f32 {
        let Some(roots) = self.roots.get(passage.lang()) else { return 0.0 };
        let words = passage.words.sequence.iter().enumerate();
        let places: Vec<(usize, usize)> = words.filter_map(|(at, word)| roots.get(word).map(|&concept| (at, concept))).collect();
        let mut best = 0.0_f32;
        for (from, &(start, _)) in places.iter().enumerate() {
            let near = places[from..].iter().take_while(|(at, _)| at - start < CLOSE_WORDS).map(|(_, concept)| *concept);
            best = best.max(self.weight(near.collect()));
        }
        best / self.query.total
    }

    /// The share of the query's weight that a text carries, 0 to 1.
    pub fn coverage(&self, words: &Words, lang: &str) -> f32 {
        self.weight(self.concepts(words, lang)) / self.query.total
    }

    /// How much of what `known` leaves open of the query another passage says: a share of the open concepts' weight, 0 to
    /// 1; 0 where nothing is open.
    pub fn carried_of_open(&self, passage: &Passage, known: &Passage) -> f32 {
        let said = |passage: &Passage| -> Vec<usize> {
            [&passage.words, &passage.path_words].into_iter().flat_map(|words| self.concepts(words, passage.lang())).collect()
        };
        let (known, own) = (said(known), said(passage));
        let open: Vec<usize> = (0..self.query.weights.len()).filter(|concept| !known.contains(concept)).collect();
        let carried = self.weight(open.iter().copied().filter(|concept| own.contains(concept)).collect());
        carried / self.weight(open).max(f32::MIN_POSITIVE)
    }

    fn concepts(&self, words: &Words, lang: &str) -> Vec<usize> {
        let Some(roots) = self.roots.get(lang) else { return Vec::new() };
        words.all().filter_map(|word| roots.get(&word).copied()).collect()
    }

    /// The weight of some concepts, each counted once, always added in one order.
    fn weight(&self, mut concepts: Vec<usize>) -> f32 {
        concepts.sort_unstable();
        concepts.dedup();
        concepts.into_iter().map(|concept| self.query.weights[concept]).sum()
    }

    /// The most that a channel gives: every concept in abundance.
    fn abundance(&self) -> f32 {
        self.query.total * (K1 + 1.0)
    }

    /// The best score a text could have: first in every channel with every concept in abundance, all of them close
    /// together. What served scores are measured by.
    pub fn ceiling(&self) -> f32 {
        (2.0 * self.abundance()).max(f32::MIN_POSITIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MemoryCorpus, document, text_chunk};
    use quarry_index::Filter;
    use quarry_model::retrieval::ChannelWeights;

    async fn scores(query: &str, weights: &ChannelWeights, texts: &[(&str, &str)]) -> Vec<f32> {
        let mut corpus = MemoryCorpus::default();
        for (n, (file, text)) in texts.iter().enumerate() {
            corpus.add(n as u8, file, vec![text_chunk(0, text, file)]);
        }
        let reader = corpus.reader();
        let keys: Vec<ChunkKey> = (0..texts.len()).map(|n| (document(n as u8), 0)).collect();
        let passages = reader.passages(&keys).await.unwrap();
        let found = crate::channels::search(reader.corpus(), query, weights, &Filter::default(), 10).await.unwrap();
        let weighed = Weighed::new(query, reader.corpus()).await.unwrap();
        let mut matcher = Matcher::new(&weighed);
        passages.iter().for_each(|passage| matcher.learn(passage.lang()));
        let blend = Blend::new(&found, weights, &matcher, &passages);
        let scores: Vec<f32> = passages.iter().map(|passage| matcher.score(passage, &blend)).collect();
        assert!(scores.iter().all(|score| (0.0..=matcher.ceiling()).contains(score)), "{scores:?}");
        scores
    }

    #[tokio::test]
    async fn words_that_stand_together_count_more() {
        let filler = "and so it went on from one day to the next until nobody could say any more how it had begun or why they were there";
        let apart = format!("The rotor is old. {filler}. A blade was found.");
        let together = format!("The rotor blade was found. {filler}. It is old.");
        let scores = scores("rotor blade", &ChannelWeights::default(), &[("a.md", &apart), ("b.md", &together)]).await;
        assert!(scores[1] > scores[0], "{scores:?}");
    }

    #[tokio::test]
    async fn only_channels_that_are_asked_count() {
        let texts = [("rotor.md", "Nothing about it."), ("b.md", "The rotor turns."), ("c.md", "Nothing at all.")];
        let path = scores("rotor", &ChannelWeights { path: 1.0, content: 0.0, term: 0.0 }, &texts).await;
        assert!(path[0] > 0.0 && path[1] == 0.0 && path[2] == 0.0, "{path:?}");
        let content = scores("rotor", &ChannelWeights { path: 0.0, content: 1.0, term: 0.0 }, &texts).await;
        assert!(content[0] == 0.0 && content[1] > 0.0, "{content:?}");
        let both = scores("rotor", &ChannelWeights::default(), &texts).await;
        assert!(both[0] > 0.0 && both[1] > both[0] && both[2] == 0.0, "{both:?}");
    }
}
