//! Publication.
//!
//! What this room is for: turning finished revision folders into records, graph and one split, and making them visible
//! all at once by flipping the namespace head. What enters: [`PublishMessage`]s, a group of one namespace at a time, and
//! the folders they point at. What leaves: records, `index/`, a head one version further, jobs that are done. What it
//! must never do: parse, read `uploads/`, change anything a reader sees before the commit, or leave half of it visible.
//!
//! In the order of a publication: `group` reads the folders → `decision`, `plan` (what it means) → `rows` (records under
//! the revision) → `splits` (the index after it) → the commit → `consequences` (`listing`, graph, postings, what is
//! erased). What the compactor does to the same records and objects is shared in [`quarry_publication`].

mod consequences;
mod decision;
mod error;
mod group;
mod jobs;
mod listing;
mod plan;
mod relation;
mod rows;
mod splits;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use quarry_index::SplitCache;
use quarry_model::message::PublishMessage;
use quarry_model::{JobId, Outcome, Scope};
use quarry_ports::{Clock, ObjectStore, Records, Stage};
use quarry_publication::Stores;
use quarry_runtime::{Jobs, random};

pub use error::PublishError;
pub use quarry_publication::FolderError;

use group::Group;

/// How often a lost race for the head is run again before the messages are given back to their queue.
const TRIES: u32 = 40;

/// The stage.
pub struct Publisher {
    stores: Stores,
    clock: Arc<dyn Clock>,
    jobs: Jobs,
    cache: Arc<SplitCache>,
    rebuild_bytes: u64,
}

impl Publisher {
    /// A publisher on these stores. The cache keeps the splits that the next publication starts from.
    pub fn new(objects: Arc<dyn ObjectStore>, records: Arc<dyn Records>, clock: Arc<dyn Clock>, cache: Arc<SplitCache>) -> Self {
        let jobs = Jobs::new(Arc::clone(&records), Arc::clone(&clock));
        Self { stores: Stores { objects, records }, clock, jobs, cache, rebuild_bytes: splits::REBUILD_BYTES }
    }

    /// The same, rebuilding small splits together only up to so many bytes instead of 8 MB: with fewer a namespace has more
    /// splits, and each publication costs less.
    #[must_use]
    pub fn with_rebuild_bytes(mut self, bytes: u64) -> Self {
        self.rebuild_bytes = bytes;
        self
    }

    /// Does what a publication that broke off after its commit left undone. The next publication of the namespace does
    /// the same; this is for those who do not want to wait for one.
    pub async fn settle(&self, scope: &Scope) -> Result<(), PublishError> {
        consequences::settle(self, scope).await
    }

    /// Publishes messages of one namespace, as many at a time as fit into a commit.
    async fn publish(&self, scope: &Scope, messages: &[&PublishMessage]) -> Vec<Outcome<()>> {
        let mut outcomes = Vec::with_capacity(messages.len());
        while let Some(rest) = messages.get(outcomes.len()..).filter(|rest| !rest.is_empty()) {
            let mut group = Group::new(self, scope, rest);
            let ends = match self.commit(&mut group).await {
                Ok(ends) => ends,
                Err(error) => {
                    tracing::warn!(%scope, %error, "publication failed");
                    vec![error.outcome(); group.len()]
                }
            };
            outcomes.extend(ends);
        }
        outcomes
    }

    async fn commit(&self, group: &mut Group<'_>) -> Result<Vec<Outcome<()>>, PublishError> {
        for attempt in 0..TRIES {
            let Some(ends) = group.attempt().await? else {
                tokio::time::sleep(random::jitter(Duration::from_millis(10 << attempt.min(6)))).await;
                continue;
            };
            return Ok(group.finish(ends).await);
        }
        Err(PublishError::Contended(TRIES))
    }
}

#[async_trait]
impl Stage for Publisher {
    type Input = PublishMessage;

    fn name(&self) -> &'static str {
        "publisher"
    }

    fn job(&self, input: &PublishMessage) -> Option<JobId> {
        plan::job_of(input).cloned()
    }

    async fn run(&self, inputs: Vec<PublishMessage>) -> Vec<Outcome<()>> {
        let mut namespaces: BTreeMap<&Scope, Vec<usize>> = BTreeMap::new();
        for (index, input) in inputs.iter().enumerate() {
            namespaces.entry(&input.scope).or_default().push(index);
        }
        let mut outcomes: BTreeMap<usize, Outcome<()>> = BTreeMap::new();
        for (scope, indices) in namespaces {
            let messages: Vec<&PublishMessage> = indices.iter().filter_map(|index| inputs.get(*index)).collect();
            outcomes.extend(indices.into_iter().zip(self.publish(scope, &messages).await));
        }
        outcomes.into_values().collect()
    }
}
