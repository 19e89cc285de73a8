//! What is written after an answer: runs, steps, cached answers, hit counts. Never waited for where the process goes
//! on living; always written before the process may be frozen.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quarry_model::Scope;
use quarry_ports::{Item, Records};

use crate::corpus::ChunkKey;
use crate::hits::HitBook;

/// How long entries are gathered into one write.
const GATHER: Duration = Duration::from_millis(50);
/// Most answers waiting to be written; more than this and the newest are not recorded.
const WAITING: usize = 2_000;

/// What one answer leaves behind.
#[derive(Debug)]
pub struct Entry {
    /// Run, steps, cached answer.
    pub items: Vec<Item>,
    /// Hits to be counted.
    pub hits: Option<(Scope, String, Vec<ChunkKey>)>,
}

/// Writes entries, in the background or at once.
pub struct Journal {
    records: Arc<dyn Records>,
    hits: Arc<HitBook>,
    in_background: bool,
    waiting: Mutex<Vec<Entry>>,
}

impl Journal {
    /// A journal; with `in_background` writing is left to a task of its own.
    pub fn new(records: Arc<dyn Records>, hits: Arc<HitBook>, in_background: bool) -> Self {
        Self { records, hits, in_background, waiting: Mutex::default() }
    }

    /// Takes an entry. Failing to write it never fails an answer; it is logged.
    pub async fn write(self: &Arc<Self>, entry: Entry) {
        let begins = {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if waiting.len() >= WAITING {
                tracing::warn!("retrieval journal is full: a run is not recorded");
                return;
            }
            waiting.push(entry);
            waiting.len() == 1
        };
        if !self.in_background {
            self.flush().await;
        } else if begins {
            let journal = self.clone();
            tokio::spawn(async move {
                tokio::time::sleep(GATHER).await;
                journal.flush().await;
            });
        }
    }

    /// Writes everything that waits.
    pub async fn flush(&self) {
        let entries = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        let mut items = Vec::new();
        let mut hits = Vec::new();
        for entry in entries {
            items.extend(entry.items);
            hits.extend(entry.hits);
        }
        if !items.is_empty()
            && let Err(error) = self.records.write_many(items, Vec::new()).await
        {
            tracing::warn!(%error, "retrieval runs not recorded");
        }
        for (scope, query_hash, keys) in hits {
            if let Err(error) = self.hits.count(&scope, &query_hash, &keys).await {
                tracing::warn!(%error, "hits not counted");
            }
        }
    }
}
