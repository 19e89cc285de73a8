//! Reciprocal rank fusion (Cormack, Clarke, Büttcher 2009): `Σ weight / (60 + rank + 1)`, rank from 0.

use std::collections::HashMap;

use crate::corpus::ChunkKey;

/// Damps the difference between neighbouring ranks.
const K: f64 = 60.0;

/// A candidate of at least one channel.
#[derive(Debug, Clone, PartialEq)]
pub struct Fused {
    /// Which chunk.
    pub key: ChunkKey,
    /// The fused score.
    pub score: f64,
}

/// Joins ranked lists, each with its weight. Ties: document, then ordinal. A list with weight 0 counts nothing.
pub fn fuse<'a>(lists: impl IntoIterator<Item = (f64, &'a [ChunkKey])>) -> Vec<Fused> {
    let mut scores: HashMap<&ChunkKey, f64> = HashMap::new();
    for (weight, keys) in lists {
        if weight <= 0.0 {
            continue;
        }
        for (rank, key) in keys.iter().enumerate() {
            *scores.entry(key).or_default() += weight / (K + rank as f64 + 1.0);
        }
    }
    let mut fused: Vec<Fused> = scores.into_iter().map(|(key, score)| Fused { key: key.clone(), score }).collect();
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.key.cmp(&b.key)));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use quarry_model::DocumentId;

    fn key(document: u8, ordinal: u32) -> ChunkKey {
        (DocumentId::from_random([document; 6]), ordinal)
    }

    #[test]
    fn the_formula_and_its_ties() {
        let (a, b, c) = (key(1, 0), key(2, 0), key(1, 1));
        let (path, content) = ([b.clone(), a.clone()], [a.clone(), b.clone()]);
        let fused = fuse([(1.0, &path[..]), (2.0, &content[..])]);
        assert_eq!(fused[0].key, a);
        assert!((fused[0].score - (1.0 / 62.0 + 2.0 / 61.0)).abs() < 1e-12);
        let tied = fuse([(1.0, &[c.clone()][..]), (1.0, &[b.clone()][..]), (1.0, &[a.clone()][..])]);
        assert_eq!(tied.into_iter().map(|f| f.key).collect::<Vec<_>>(), [a, c, b]);
    }

    #[test]
    fn the_same_ordinal_of_two_documents_stays_two() {
        let lists = [key(1, 0), key(2, 0)];
        assert_eq!(fuse([(1.0, &lists[..])]).len(), 2);
    }

    proptest! {
        #[test]
        fn the_order_of_lists_does_not_matter(lists in prop::collection::vec(prop::collection::vec((0_u8..4, 0_u32..4), 0..8), 1..4)) {
            let lists: Vec<Vec<ChunkKey>> = lists.into_iter().map(|list| {
                let mut seen = std::collections::HashSet::new();
                list.into_iter().map(|(d, o)| key(d, o)).filter(|k| seen.insert(k.clone())).collect()
            }).collect();
            let forward = fuse(lists.iter().map(|l| (1.0, l.as_slice())));
            let backward = fuse(lists.iter().rev().map(|l| (1.0, l.as_slice())));
            let keys = |f: &[Fused]| f.iter().map(|x| x.key.clone()).collect::<Vec<_>>();
            prop_assert_eq!(keys(&forward).len(), keys(&backward).len());
            prop_assert!(forward.windows(2).all(|w| w[0].score > w[1].score || (w[0].score == w[1].score && w[0].key < w[1].key)));
        }
    }
}
