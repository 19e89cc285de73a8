//! Answers kept while they are true. The namespace's version is part of the key, so a publication empties the cache by
//! itself; equal requests in flight run once.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;
use quarry_language::ANALYZER_ID;
use quarry_model::{NormalizedRequest, RecordKey, RetrievalAnswer, Scope, Timestamp};
use quarry_ports::{Item, RecordError, Records};
use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;

use crate::CODE_VERSION;

/// Life of an answer.
const LIFE_MILLIS: i64 = 300_000;
/// Answers kept in memory.
const ANSWERS: usize = 512;
/// Answers larger than this stay in memory only: a record holds 400 KB.
const RECORD_BYTES: usize = 300_000;

/// What one request makes, once: a follower waits for the leader's cell.
type Flight = Arc<OnceCell<Arc<RetrievalAnswer>>>;

/// Answers by request.
pub struct AnswerCache {
    /// Where answers are shared between processes; `None` keeps them to this one.
    records: Option<Arc<dyn Records>>,
    memory: Mutex<LruCache<String, (Arc<RetrievalAnswer>, Timestamp)>>,
    flights: Mutex<HashMap<String, Flight>>,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    answer: RetrievalAnswer,
}

/// The key of a request in one publication: every field that can change the answer, `policies` by their names.
pub fn key(scope: &Scope, request: &NormalizedRequest, version: u64, policies: &str, hit_boost: f32) -> String {
    // The conversation names a thread of questions; it changes no answer.
    let request = NormalizedRequest { conversation_id: None, ..request.clone() };
    let parts = serde_json::json!([scope.owner, scope.namespace, request, version, ANALYZER_ID, CODE_VERSION, policies, hit_boost]);
    blake3::hash(parts.to_string().as_bytes()).to_hex()[..32].to_owned()
}

impl AnswerCache {
    /// A cache in memory, shared through `records` where given.
    pub fn new(records: Option<Arc<dyn Records>>) -> Self {
        Self {
            records,
            memory: Mutex::new(LruCache::new(NonZeroUsize::new(ANSWERS).unwrap_or(NonZeroUsize::MIN))),
            flights: Mutex::default(),
        }
    }

    /// An answer still alive.
    pub async fn get(&self, scope: &Scope, key: &str, now: Timestamp) -> Option<Arc<RetrievalAnswer>> {
        {
            let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
            match memory.get(key) {
                Some((answer, until)) if *until > now => return Some(answer.clone()),
                Some(_) => drop(memory.pop(key)),
                None => {}
            }
        }
        let item = match self.records.as_ref()?.get(&RecordKey::cache(scope, key)).await {
            Ok(item) => item?,
            Err(error) => {
                tracing::warn!(%error, "cache not read");
                return None;
            }
        };
        let until = item.expires_at?;
        let stored: Stored = item.read().inspect_err(|error| tracing::warn!(%error, "cached answer not read")).ok()?;
        let answer = Arc::new(stored.answer);
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).put(key.to_owned(), (answer.clone(), until));
        Some(answer)
    }

    /// Keeps a complete answer in memory; returns the record to be written for others, if there is to be one.
    pub fn keep(&self, scope: &Scope, key: &str, answer: &Arc<RetrievalAnswer>, now: Timestamp) -> Result<Option<Item>, RecordError> {
        let until = now.plus_millis(LIFE_MILLIS);
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).put(key.to_owned(), (answer.clone(), until));
        if self.records.is_none() {
            return Ok(None);
        }
        let item = Item::of(RecordKey::cache(scope, key), &Stored { answer: RetrievalAnswer::clone(answer) })?.expiring(until);
        let bytes = serde_json::to_vec(&item.body).map_or(usize::MAX, |bytes| bytes.len());
        Ok((bytes <= RECORD_BYTES).then_some(item))
    }

    /// Runs `work` unless an equal request is running: then its answer is everybody's. Tells whether this caller did
    /// the work. A failure is its own caller's only; the next in line tries again.
    pub async fn once<E>(
        &self,
        key: &str,
        work: impl Future<Output = Result<Arc<RetrievalAnswer>, E>>,
    ) -> Result<(Arc<RetrievalAnswer>, bool), E> {
        let flight = self.flights.lock().unwrap_or_else(PoisonError::into_inner).entry(key.to_owned()).or_default().clone();
        let landing = Landing { cache: self, key, flight: flight.clone() };
        let mut worked = false;
        let answer = flight
            .get_or_try_init(|| {
                worked = true;
                work
            })
            .await
            .cloned();
        drop(landing);
        Ok((answer?, worked))
    }
}

/// Removes the flight when its last caller leaves, however it leaves.
struct Landing<'a> {
    cache: &'a AnswerCache,
    key: &'a str,
    flight: Flight,
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        let mut flights = self.cache.flights.lock().unwrap_or_else(PoisonError::into_inner);
        // The map's own, this one, and the caller's copy.
        if self.flight.initialized() || Arc::strong_count(&self.flight) <= 3 {
            let same = flights.get(self.key).is_some_and(|flight| Arc::ptr_eq(flight, &self.flight));
            if same {
                flights.remove(self.key);
            }
        }
    }
}
