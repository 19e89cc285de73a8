//! How often chunks and documents were part of an answer, and the little that this may lift them.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;
use quarry_model::record::Hits;
use quarry_model::{RecordKey, Scope, Timestamp};
use quarry_ports::{Clock, Condition, Item, RecordError, Records};
use serde_json::{Map, json};

use crate::corpus::ChunkKey;

/// Counts known for this long are not read again.
const FRESH_MILLIS: i64 = 60_000;
/// Counts kept.
const KNOWN: usize = 50_000;
/// A query counts once in this time.
const REPEAT_MILLIS: i64 = 3_600_000;
/// After this time without a hit a count is worth half.
const HALF_LIFE_MILLIS: f64 = 30.0 * 86_400_000.0;
/// Hits of a chunk, and of a document, that give half the lift.
const CHUNK_HALF: f64 = 10.0;
const DOCUMENT_HALF: f64 = 30.0;

/// Reads and writes hit counts.
pub struct HitBook {
    records: Arc<dyn Records>,
    clock: Arc<dyn Clock>,
    known: Mutex<LruCache<RecordKey, (Hits, Timestamp)>>,
}

impl HitBook {
    /// Counts in `records`.
    pub fn new(records: Arc<dyn Records>, clock: Arc<dyn Clock>) -> Self {
        Self { records, clock, known: Mutex::new(LruCache::new(NonZeroUsize::new(KNOWN).unwrap_or(NonZeroUsize::MIN))) }
    }

    /// How popular each chunk is, 0 to 1: seven tenths for itself, three for its document.
    pub async fn popularity(&self, scope: &Scope, keys: &[ChunkKey]) -> Result<HashMap<ChunkKey, f32>, RecordError> {
        let now = self.clock.now();
        let wanted: Vec<RecordKey> = keys
            .iter()
            .flat_map(|(document, ordinal)| [RecordKey::hits(scope, document, Some(*ordinal)), RecordKey::hits(scope, document, None)])
            .collect();
        let hits = self.read(&wanted, now).await?;
        let worth = |key: RecordKey, half: f64| {
            let Some(hits) = hits.get(&key) else { return 0.0 };
            let age = now.millis().saturating_sub(hits.last_hit_at.millis()).max(0) as f64;
            let count = hits.hit_count as f64 * 0.5_f64.powf(age / HALF_LIFE_MILLIS);
            count / (count + half)
        };
        Ok(keys
            .iter()
            .map(|key| {
                let own = worth(RecordKey::hits(scope, &key.0, Some(key.1)), CHUNK_HALF);
                let document = worth(RecordKey::hits(scope, &key.0, None), DOCUMENT_HALF);
                (key.clone(), (0.7 * own + 0.3 * document) as f32)
            })
            .collect())
    }

    async fn read(&self, keys: &[RecordKey], now: Timestamp) -> Result<HashMap<RecordKey, Hits>, RecordError> {
        let mut found = HashMap::new();
        let mut unknown = Vec::new();
        {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            for key in keys {
                match known.get(key) {
                    Some((hits, at)) if now.millis() - at.millis() < FRESH_MILLIS => drop(found.insert(key.clone(), hits.clone())),
                    _ => unknown.push(key.clone()),
                }
            }
        }
        unknown.sort();
        unknown.dedup();
        if unknown.is_empty() {
            return Ok(found);
        }
        let items = self.records.get_many(&unknown).await?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for (key, item) in unknown.into_iter().zip(items) {
            let hits = item.map(|item| item.read::<Hits>()).transpose()?.unwrap_or_default();
            known.put(key.clone(), (hits.clone(), now));
            found.insert(key, hits);
        }
        Ok(found)
    }

    /// Counts an answer's chunks and their documents, unless the same query was counted within the hour.
    pub async fn count(&self, scope: &Scope, query_hash: &str, keys: &[ChunkKey]) -> Result<bool, RecordError> {
        if keys.is_empty() {
            return Ok(false);
        }
        let now = self.clock.now();
        let mark =
            Item { key: RecordKey::hits_counted(scope, query_hash), body: Map::new(), expires_at: Some(now.plus_millis(REPEAT_MILLIS)) };
        match self.records.put(mark, Condition::Absent).await {
            Ok(()) => {}
            Err(RecordError::Condition(_)) => return Ok(false),
            Err(error) => return Err(error),
        }
        let mut records: Vec<RecordKey> = keys.iter().map(|(document, ordinal)| RecordKey::hits(scope, document, Some(*ordinal))).collect();
        records.extend(keys.iter().map(|(document, _)| RecordKey::hits(scope, document, None)));
        records.sort();
        records.dedup();
        let set = Map::from_iter([("last_hit_at".to_owned(), json!(now))]);
        for key in records {
            self.records.add(&key, &[("hit_count", 1)], set.clone(), None).await?;
        }
        Ok(true)
    }
}

/// Lifts scores by at most the share `bound`. A result can pass another only if their scores lie within that share.
pub fn lift(score: f32, popularity: f32, bound: f32) -> f32 {
    score * (1.0 + bound * popularity.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_better_match_is_never_overtaken_by_a_popular_one(a in 0.0_f32..10.0, b in 0.0_f32..10.0, p in 0.0_f32..1.0, q in 0.0_f32..1.0) {
            let (a, b) = (a.max(b), a.min(b));
            prop_assume!(a > b * 1.1001);
            prop_assert!(lift(a, p, 0.1) > lift(b, q, 0.1));
            prop_assert_eq!(lift(a, p, 0.0), a);
        }
    }
}
