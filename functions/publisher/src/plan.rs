//! From the messages of a group to what changes: pure, given what stands.

use std::collections::{BTreeMap, BTreeSet};

use quarry_model::message::{PublishAction, PublishMessage};
use quarry_model::record::{DocumentRecord, DocumentStatus};
use quarry_model::{DocumentId, Job, JobId, JobState, RecordKey, Revision, SCHEMA_VERSION, Scope, SkipReason, Timestamp};
use quarry_ports::records::MAX_TRANSACTION;
use quarry_ports::{RecordError, Records};

use crate::decision::{Decision, decide};

/// The documents and jobs of a group, as they are stored.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    pub(crate) documents: BTreeMap<DocumentId, DocumentRecord>,
    pub(crate) jobs: BTreeMap<JobId, Job>,
}

impl Standing {
    /// Reads them. Every change of a document goes through the head, so what is read after the head was read holds as
    /// long as the head's version does.
    pub(crate) async fn load(records: &dyn Records, scope: &Scope, messages: &[&PublishMessage]) -> Result<Self, RecordError> {
        let documents: BTreeSet<&DocumentId> = messages.iter().map(|message| &message.document_id).collect();
        let jobs: BTreeSet<&JobId> = messages.iter().filter_map(|message| job_of(message)).collect();
        let keys: Vec<RecordKey> = documents
            .iter()
            .map(|document| RecordKey::document(scope, document))
            .chain(jobs.iter().map(|job| RecordKey::job(job)))
            .collect();
        let items = records.get_many(&keys).await?;
        let (found_documents, found_jobs) = items.split_at(documents.len().min(items.len()));
        let mut standing = Self::default();
        for item in found_documents.iter().flatten() {
            let record: DocumentRecord = item.read()?;
            standing.documents.insert(record.document_id.clone(), record);
        }
        for item in found_jobs.iter().flatten() {
            let job: Job = item.read()?;
            standing.jobs.insert(job.job_id.clone(), job);
        }
        Ok(standing)
    }

    /// How many of the messages fit into one commit, beside the head and its two marks (the open publication, the compaction that may be due).
    pub(crate) fn fitting(&self, messages: &[&PublishMessage]) -> usize {
        let mut room = MAX_TRANSACTION - 3;
        let fits = |message: &&&PublishMessage| {
            // The document; where there is one already, a mark for its old revision and none any more for the new one.
            let document = if self.documents.contains_key(&message.document_id) { 3 } else { 1 };
            // The job and its event, and the webhook that is to be called.
            let job = job_of(message).and_then(|job| self.jobs.get(job)).map_or(0, |job| 2 + usize::from(job.webhook.is_some()));
            let cost = document + job;
            let fits = cost <= room;
            room = room.saturating_sub(cost);
            fits
        };
        messages.iter().take_while(fits).count().max(1)
    }
}

/// The job of a publication.
pub(crate) fn job_of(message: &PublishMessage) -> Option<&JobId> {
    match &message.action {
        PublishAction::Publish { job_id, .. } => Some(job_id),
        PublishAction::Archive | PublishAction::Delete => None,
    }
}

/// The revision of a publication.
pub(crate) fn revision_of(message: &PublishMessage) -> Option<&Revision> {
    match &message.action {
        PublishAction::Publish { revision, .. } => Some(revision),
        PublishAction::Archive | PublishAction::Delete => None,
    }
}

/// A document's record before and after the group.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) before: Option<DocumentRecord>,
    pub(crate) after: DocumentRecord,
}

impl Change {
    /// The revision that stops being the active one.
    pub(crate) fn superseded(&self) -> Option<&Revision> {
        let before = self.before.as_ref()?.active_revision.as_ref()?;
        (self.after.active_revision.as_ref() != Some(before)).then_some(before)
    }

    /// The revision that must be in the index afterwards.
    pub(crate) fn served(&self) -> Option<&Revision> {
        self.after.active_revision.as_ref().filter(|_| self.after.status == DocumentStatus::Active)
    }
}

/// What a group changes.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// For each message, in order.
    pub(crate) decisions: Vec<Decision>,
    /// Documents whose record changes.
    pub(crate) changes: BTreeMap<DocumentId, Change>,
}

impl Plan {
    /// Takes the messages one after the other, each upon what the earlier ones leave. `refused` says which cannot be
    /// published at all.
    pub(crate) fn of(messages: &[&PublishMessage], refused: &BTreeSet<usize>, standing: &Standing, now: Timestamp) -> Self {
        let mut plan = Self::default();
        for (index, message) in messages.iter().enumerate() {
            let before = standing.documents.get(&message.document_id);
            let current = plan.changes.get(&message.document_id).map(|change| &change.after).or(before);
            let job = job_of(message).and_then(|job| standing.jobs.get(job));
            let called_off = job_of(message).is_some() && job.is_none_or(|job| job.state == JobState::Failed);
            let decision = if refused.contains(&index) || called_off { Decision::Skip(SkipReason::Gone) } else { decide(current, message) };
            let after = match decision {
                Decision::Activate | Decision::Renew => Some(activated(current, message, job, now)),
                Decision::Withdraw(status) => Some(withdrawn(current, message, status, now)),
                Decision::Skip(_) => None,
            };
            plan.decisions.push(decision);
            if let Some(after) = after {
                let before = before.cloned();
                plan.changes
                    .entry(message.document_id.clone())
                    .and_modify(|change| change.after.clone_from(&after))
                    .or_insert(Change { before, after });
            }
        }
        plan
    }
}

/// The record of a document whose revision becomes active; what only the revision's folder knows is filled in later.
fn activated(current: Option<&DocumentRecord>, message: &PublishMessage, job: Option<&Job>, now: Timestamp) -> DocumentRecord {
    let kept = current.filter(|record| record.status != DocumentStatus::Deleted);
    DocumentRecord {
        schema_version: SCHEMA_VERSION,
        document_id: message.document_id.clone(),
        scope: message.scope.clone(),
        status: DocumentStatus::Active,
        active_revision: revision_of(message).cloned(),
        active_job: job_of(message).cloned(),
        source_file_name: job.map(|job| job.file_name.clone()).unwrap_or_default(),
        source_sha256: kept.and_then(|record| record.source_sha256.clone()),
        metadata: job.map(|job| job.document_metadata.clone()).unwrap_or_default(),
        order: message.order.clone(),
        chunk_count: kept.map_or(0, |record| record.chunk_count),
        summary: kept.map(|record| record.summary.clone()).unwrap_or_default(),
        created_at: kept.map_or(now, |record| record.created_at),
        updated_at: now,
        archived_at: None,
    }
}

/// The record of a document that leaves the index. Of a deleted one nothing is kept but the mark.
fn withdrawn(current: Option<&DocumentRecord>, message: &PublishMessage, into: DocumentStatus, now: Timestamp) -> DocumentRecord {
    let later = current.filter(|record| record.order.compare(&message.order).is_gt());
    let order = later.map_or_else(|| message.order.clone(), |record| record.order.clone());
    match current {
        Some(record) if into == DocumentStatus::Archived => {
            DocumentRecord { status: into, order, updated_at: now, archived_at: Some(now), ..record.clone() }
        }
        _ => DocumentRecord {
            schema_version: SCHEMA_VERSION,
            document_id: message.document_id.clone(),
            scope: message.scope.clone(),
            status: into,
            active_revision: None,
            active_job: None,
            source_file_name: String::new(),
            source_sha256: None,
            metadata: serde_json::Map::new(),
            order,
            chunk_count: 0,
            summary: String::new(),
            created_at: current.map_or(now, |record| record.created_at),
            updated_at: now,
            archived_at: None,
        },
    }
}
