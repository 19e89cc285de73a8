//! Keeps what publications leave behind small and clean.
//!
//! What this room is for: merging splits, rewriting those with many dead chunks, removing what no head names any more, and
//! building a namespace's index again out of its revision folders, which are the authority. What enters: the namespaces
//! that a commit has marked, on a schedule. What leaves: a head with fewer splits that answers every query as before; less
//! in the stores. What it must never do: change an answer, remove what a reader may still have pinned (35 minutes), or
//! undo a publication that happens meanwhile: it commits under the same condition on the head, and what was published or
//! withdrawn between is carried over.
//!
//! In the order of a run: `merge` (which splits, the new one, the commit) → `sweep` (retired splits, superseded
//! revisions, orphans). `rebuild` is for the operator alone.

mod merge;
mod rebuild;
mod sweep;

use std::sync::Arc;

use quarry_index::SplitCache;
use quarry_model::record::CompactionDue;
use quarry_model::{RecordKey, RecordPrefix, Scope};
use quarry_ports::{Clock, Condition, ObjectError, ObjectStore, QueryOptions, RecordError, Records, TransactError};
use quarry_publication::{Head, PublicationError, Stores};
use serde::Serialize;

/// Namespaces looked at in one run; the rest is due in the next.
const PER_RUN: usize = 100;

/// Why a namespace could not be compacted; nothing of it is half done.
#[derive(Debug, thiserror::Error)]
pub enum CompactError {
    /// What is stored cannot be read or written.
    #[error(transparent)]
    Publication(#[from] PublicationError),
    /// The object store failed.
    #[error(transparent)]
    Objects(#[from] ObjectError),
    /// The records store failed.
    #[error(transparent)]
    Records(#[from] RecordError),
    /// The commit failed for another reason than a lost race.
    #[error(transparent)]
    Commit(#[from] TransactError),
    /// Others won every race for the head.
    #[error("the namespace is being published by others; tried {0} times")]
    Contended(u32),
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Summary {
    /// Namespaces looked at.
    pub namespaces: u32,
    /// Splits that were merged or rewritten.
    pub splits_merged: u32,
    /// Splits removed from the store.
    pub splits_removed: u32,
    /// Revisions removed, records and objects.
    pub revisions_removed: u32,
    /// Objects removed that nothing named.
    pub orphans_removed: u32,
    /// Namespaces that failed; the log says why.
    pub failed: u32,
}

impl Summary {
    fn add(&mut self, other: Self) {
        self.namespaces = self.namespaces.saturating_add(other.namespaces);
        self.splits_merged = self.splits_merged.saturating_add(other.splits_merged);
        self.splits_removed = self.splits_removed.saturating_add(other.splits_removed);
        self.revisions_removed = self.revisions_removed.saturating_add(other.revisions_removed);
        self.orphans_removed = self.orphans_removed.saturating_add(other.orphans_removed);
        self.failed = self.failed.saturating_add(other.failed);
    }
}

/// How long things stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// What was served once, for readers that pinned an older head; milliseconds.
    pub superseded_millis: i64,
    /// What nothing names, for publications still at work; milliseconds.
    pub orphan_millis: i64,
}

impl Default for Patience {
    /// 35 minutes and a day.
    fn default() -> Self {
        Self { superseded_millis: quarry_publication::head::GRACE_MILLIS, orphan_millis: 24 * 60 * 60 * 1000 }
    }
}

/// The compactor.
#[derive(Clone)]
pub struct Compactor {
    stores: Stores,
    clock: Arc<dyn Clock>,
    cache: Arc<SplitCache>,
    patience: Patience,
}

impl std::fmt::Debug for Compactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compactor").field("patience", &self.patience).finish_non_exhaustive()
    }
}

impl Compactor {
    /// A compactor on these stores.
    pub fn new(objects: Arc<dyn ObjectStore>, records: Arc<dyn Records>, clock: Arc<dyn Clock>, cache: Arc<SplitCache>) -> Self {
        Self { stores: Stores { objects, records }, clock, cache, patience: Patience::default() }
    }

    /// The same with another patience: none at all is right only where nobody reads or publishes meanwhile.
    #[must_use]
    pub fn with_patience(mut self, patience: Patience) -> Self {
        self.patience = patience;
        self
    }

    /// Compacts the namespaces that commits have marked. One that fails is left for the next run and keeps none from its
    /// turn.
    pub async fn run(&self) -> Result<Summary, CompactError> {
        let options = QueryOptions { limit: PER_RUN, ..QueryOptions::default() };
        let due = self.stores.records.query(&RecordPrefix::compactions(), options).await?;
        let mut summary = Summary::default();
        for item in &due.items {
            let due: CompactionDue = item.read()?;
            match self.compact(&due.scope).await {
                Ok(done) => summary.add(done),
                Err(error) => {
                    tracing::warn!(scope = %due.scope, %error, "namespace not compacted");
                    summary.failed = summary.failed.saturating_add(1);
                }
            }
        }
        Ok(summary)
    }

    /// Compacts one namespace: merges until nothing is left to merge, then removes what nobody needs.
    pub async fn compact(&self, scope: &Scope) -> Result<Summary, CompactError> {
        let mut summary = Summary { namespaces: 1, ..Summary::default() };
        let key = RecordKey::compaction(scope);
        let mark: Option<CompactionDue> = self.stores.records.get(&key).await?.map(|item| item.read()).transpose()?;
        loop {
            let merged = merge::once(self, scope).await?;
            summary.splits_merged = summary.splits_merged.saturating_add(merged);
            if merged == 0 {
                break;
            }
        }
        let swept = sweep::namespace(self, scope).await?;
        summary.splits_removed = swept.splits;
        summary.revisions_removed = swept.revisions;
        summary.orphans_removed = swept.orphans;
        if let Some(mark) = mark.filter(|_| swept.nothing_left) {
            // A publication meanwhile has written the mark anew, with a later version: that one stays.
            let unmarked = self.stores.records.delete(&key, Condition::Equals("version".to_owned(), mark.version.into())).await;
            match unmarked {
                Ok(()) | Err(RecordError::Condition(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(summary)
    }

    /// Builds a namespace's index again out of the revision folders of its active documents, whatever the head says now.
    /// Gives the number of documents; those whose folders cannot be read are left out and logged.
    pub async fn rebuild(&self, scope: &Scope) -> Result<u32, CompactError> {
        rebuild::namespace(self, scope).await
    }

    async fn head(&self, scope: &Scope) -> Result<Head, CompactError> {
        Ok(Head::load(&*self.stores.objects, &*self.stores.records, scope).await?)
    }
}
