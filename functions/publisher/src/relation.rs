//! The graph's arithmetic: what a document is about, and when two documents are related. Pure functions of the
//! documents themselves, so that an edge is the same whichever document came first.

use std::collections::{BTreeMap, BTreeSet};

use quarry_model::Chunk;
use quarry_model::DocumentId;
use quarry_model::record::GraphEdge;

/// A document's keywords, at most.
pub(crate) const KEYWORDS: usize = 30;
/// An edge shares at least this many.
pub(crate) const SHARED_MIN: usize = 3;
/// An edge scores at least this much.
pub(crate) const SCORE_MIN: f64 = 0.8;

/// A document's keywords with their weights, heaviest first: the [`KEYWORDS`] words with the largest
/// `tf · (ln(N / df) + 1)`, where N counts the document's distinct chunks, df those of them with the word, and tf the
/// word's occurrences in them. Words are the chunks' own content words; numbers and single letters say nothing.
///
/// Weights are rounded to 1e-6, so that the last bit of a logarithm cannot decide an order.
pub(crate) fn keywords(chunks: &[Chunk]) -> Vec<(String, f64)> {
    let mut distinct = BTreeSet::new();
    let mut words: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for chunk in chunks.iter().filter(|chunk| distinct.insert(&chunk.chunk_id)) {
        let mut here: BTreeMap<&str, u32> = BTreeMap::new();
        for token in chunk.metadata.tokens.iter().filter(|token| is_keyword(token)) {
            *here.entry(token).or_default() += 1;
        }
        for (word, count) in here {
            let (tf, df) = words.entry(word).or_default();
            *tf += count;
            *df += 1;
        }
    }
    let n = f64::from(u32::try_from(distinct.len()).unwrap_or(u32::MAX));
    let mut weighted: Vec<(String, f64)> =
        words.into_iter().map(|(word, (tf, df))| (word.to_owned(), rounded(f64::from(tf) * ((n / f64::from(df)).ln() + 1.0)))).collect();
    weighted.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    weighted.truncate(KEYWORDS);
    weighted
}

fn is_keyword(token: &str) -> bool {
    let mut chars = token.chars();
    let first = chars.next();
    let single_letter = chars.next().is_none() && first.is_none_or(|c| c.is_ascii() || !c.is_alphabetic());
    !single_letter && !token.chars().all(|c| c.is_numeric() || matches!(c, '.' | ',' | '-' | '+' | '%' | ':' | '/'))
}

fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// The edge between two documents, if they are related.
///
/// `score = Σ m(shared) / min(Σ m(a), Σ m(b))`, where m(word) is the mean of the word's weight on both sides (0 where
/// it is absent). Each side's weights are first scaled to sum to one: a long document counts its words in hundreds,
/// and would otherwise drown what a short one is about.
pub(crate) fn edge(a: (&DocumentId, &[(String, f64)]), b: (&DocumentId, &[(String, f64)])) -> Option<GraphEdge> {
    let (a, b) = if a.0 <= b.0 { (a, b) } else { (b, a) };
    let (left, right) = (scaled(a.1), scaled(b.1));
    let mean = |word: &str| f64::midpoint(left.get(word).copied().unwrap_or(0.0), right.get(word).copied().unwrap_or(0.0));
    let mut shared: Vec<(&str, f64)> = left.keys().filter(|word| right.contains_key(*word)).map(|word| (*word, mean(word))).collect();
    if shared.len() < SHARED_MIN {
        return None;
    }
    let total = |side: &BTreeMap<&str, f64>| side.keys().map(|word| mean(word)).sum::<f64>();
    let score = rounded(shared.iter().map(|(_, weight)| weight).sum::<f64>() / total(&left).min(total(&right)));
    if score < SCORE_MIN {
        return None;
    }
    shared.sort_by(|x, y| y.1.total_cmp(&x.1).then_with(|| x.0.cmp(y.0)));
    Some(GraphEdge { a: a.0.clone(), b: b.0.clone(), shared: shared.into_iter().map(|(word, _)| word.to_owned()).collect(), score })
}

fn scaled(keywords: &[(String, f64)]) -> BTreeMap<&str, f64> {
    let sum: f64 = keywords.iter().map(|(_, weight)| weight).sum();
    let sum = if sum > 0.0 { sum } else { 1.0 };
    keywords.iter().map(|(word, weight)| (word.as_str(), weight / sum)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use quarry_model::{ChunkId, ChunkMetadata, ChunkType, SectionId};

    use super::*;

    fn chunk(ordinal: u32, words: &[&str]) -> Chunk {
        Chunk {
            chunk_id: ChunkId::text(&words.join(" ")),
            kind: ChunkType::Text,
            ordinal,
            content: words.join(" "),
            path: "a.md".into(),
            metadata: ChunkMetadata {
                length: 0,
                token_count: 0,
                summary: String::new(),
                page_nums: vec![],
                tokens: words.iter().map(|&w| w.to_owned()).collect(),
                keywords: vec![],
                lang: "en".into(),
                file_path: None,
                section_id: SectionId::for_path(&["a"], 0),
                boxes: vec![],
                connect_to: vec![],
                rows: None,
                hidden: false,
                document_top_summary: String::new(),
            },
        }
    }

    fn id(n: u8) -> DocumentId {
        DocumentId::from_random([n; 6])
    }

    fn set(words: &[(&str, f64)]) -> Vec<(String, f64)> {
        words.iter().map(|(w, x)| ((*w).to_owned(), *x)).collect()
    }

    #[test]
    fn a_word_of_one_chunk_weighs_more_than_one_of_all() {
        let words = keywords(&[chunk(0, &["pump", "valve"]), chunk(1, &["pump", "seal"])]);
        let weight = |w: &str| words.iter().find(|(word, _)| word == w).unwrap().1;
        assert!((weight("pump") - 2.0).abs() < 1e-9, "2 · (ln(2/2) + 1)");
        assert!((weight("valve") - (2f64.ln() + 1.0)).abs() < 1e-6, "1 · (ln(2/1) + 1)");
        assert_eq!(words.iter().map(|(w, _)| w.as_str()).collect::<Vec<_>>(), ["pump", "seal", "valve"], "ties by word");
    }

    #[test]
    fn equal_chunks_count_once_and_numbers_never() {
        let once = keywords(&[chunk(0, &["pump", "2025", "5%", "x", "泵"])]);
        let twice = keywords(&[chunk(0, &["pump", "2025", "5%", "x", "泵"]), chunk(1, &["pump", "2025", "5%", "x", "泵"])]);
        assert_eq!(once, twice);
        assert_eq!(once.iter().map(|(w, _)| w.as_str()).collect::<Vec<_>>(), ["pump", "泵"]);
    }

    #[test]
    fn related_documents_share_enough_of_what_weighs() {
        let a = set(&[("pump", 5.0), ("valve", 4.0), ("pressure", 4.0), ("seal", 1.0)]);
        let b = set(&[("pump", 50.0), ("valve", 40.0), ("pressure", 40.0), ("bolt", 10.0)]);
        let edge = super::edge((&id(2), &b), (&id(1), &a)).unwrap();
        assert_eq!((edge.a, edge.b), (id(1), id(2)));
        assert_eq!(edge.shared, ["pump", "pressure", "valve"]);
        assert!(edge.score >= 0.9 && edge.score < 1.0, "{}", edge.score);
        assert!(super::edge((&id(1), &a[..2]), (&id(2), &b[..2])).is_none(), "two shared words are too few");
    }

    #[test]
    fn a_heavy_document_does_not_pull_in_every_short_one() {
        let long = set(&[("film", 900.0), ("music", 800.0), ("city", 700.0), ("river", 600.0), ("king", 500.0)]);
        let mut short = set(&[("film", 1.0), ("music", 1.0), ("city", 1.0)]);
        short.extend((0..27).map(|n| (format!("other{n}"), 1.0)));
        assert!(super::edge((&id(1), &long), (&id(2), &short)).is_none());
    }

    proptest! {
        #[test]
        fn an_edge_does_not_know_who_came_first(
            a in prop::collection::btree_map("[a-f]", 0.1f64..9.0, 1..6),
            b in prop::collection::btree_map("[a-f]", 0.1f64..9.0, 1..6),
        ) {
            let (a, b): (Vec<_>, Vec<_>) = (a.into_iter().collect(), b.into_iter().collect());
            let one = super::edge((&id(1), &a), (&id(2), &b));
            let other = super::edge((&id(2), &b), (&id(1), &a));
            prop_assert_eq!(&one, &other);
            if let Some(edge) = one {
                prop_assert!(edge.score >= SCORE_MIN && edge.score <= 1.0 + 1e-6);
                prop_assert!(edge.shared.len() >= SHARED_MIN);
            }
        }
    }
}
