//! A job: one ingestion request from its creation to `done` or `failed`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::code::DocumentFailure;
use crate::identity::{DocumentId, JobId, Revision};
use crate::key::ObjectKey;
use crate::record::Order;
use crate::scope::Scope;
use crate::time::Timestamp;
use crate::trace::Trace;

/// Where a job stands. The names are Knowhere's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobState {
    /// Created; the bytes have not arrived.
    WaitingFile,
    /// The bytes are there; nobody has begun.
    Pending,
    /// A stage is at work.
    Running,
    /// Published.
    Done,
    /// Ended without a publication; `error` says why.
    Failed,
}

impl JobState {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::WaitingFile => "waiting-file",
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    /// Whether it can still change by itself.
    pub fn is_active(self) -> bool {
        !matches!(self, Self::Done | Self::Failed)
    }

    /// Whether `next` may follow: forward along `waiting-file → pending → running → done`, `failed` from any active
    /// state, and `failed → pending` by a retry.
    pub fn may_become(self, next: Self) -> bool {
        match (self, next) {
            (Self::WaitingFile, Self::Pending | Self::Running | Self::Failed)
            | (Self::Pending, Self::Running | Self::Failed | Self::Done)
            | (Self::Running, Self::Done | Self::Failed)
            | (Self::Failed, Self::Pending) => true,
            (a, b) => a == b && a == Self::Running,
        }
    }
}

/// How the bytes come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceType {
    /// By a presigned upload or in the request's body.
    File,
    /// From an address that we fetch.
    Url,
    /// Dropped into the bucket, or found by the local program.
    DropIn,
}

impl SourceType {
    /// As clients read it: they know `file` and `url`.
    pub fn public_name(self) -> &'static str {
        match self {
            Self::File | Self::DropIn => "file",
            Self::Url => "url",
        }
    }
}

/// How far a job has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// Pages, slides or sheets; 1 for formats without them.
    pub total_pages: u32,
    /// Of these, read so far.
    pub processed_pages: u32,
}

/// Where to report the end of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    /// Public http(s) address.
    pub url: String,
}

/// A webhook that waits to be delivered: written with the change that ended the job, so that none is lost and none tells
/// of what did not happen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutboxEntry {
    /// [`crate::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The job that has ended. What is told of it is read when it is delivered.
    pub job_id: JobId,
    /// Where to.
    pub url: String,
    /// The moment it is due, in milliseconds since the epoch; part of its key.
    pub due_millis: i64,
    /// How often it was tried.
    pub attempts: u32,
}

/// A job that somebody will look at again: made with the job, moved on while it is at work, removed after its end. So a job
/// whose file never came or whose message was lost ends even when nobody asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobWatch {
    /// [`crate::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The job.
    pub job_id: JobId,
    /// When it is looked at, in milliseconds since the epoch; part of its key.
    pub due_millis: i64,
}

/// How a webhook ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookReport {
    /// Whether the receiver took it.
    pub delivered: bool,
    /// How often it was tried.
    pub attempts: u32,
    /// What came of the last try: `200`, or a sentence.
    pub last: String,
    /// When.
    pub at: Timestamp,
}

/// The record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// [`crate::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Its identity.
    pub job_id: JobId,
    /// Whose.
    pub scope: Scope,
    /// The document it makes or renews.
    pub document_id: DocumentId,
    /// Where it stands.
    pub state: JobState,
    /// The stage at work or last at work: `upload`, `profiler`, `parse-docx`, `publisher`.
    pub stage: String,
    /// Counts every change; conditional writes compare it.
    pub version: u64,
    /// How the bytes come.
    pub source_type: SourceType,
    /// Where the bytes are or will be.
    pub source: ObjectKey,
    /// As uploaded.
    pub file_name: String,
    /// The caller's own name for it.
    pub data_id: Option<String>,
    /// Kept with the document.
    pub document_metadata: Map<String, Value>,
    /// As given at creation; part of the revision.
    pub parsing_params: Map<String, Value>,
    /// Where to report the end.
    pub webhook: Option<Webhook>,
    /// Which of two jobs for one document is newer.
    pub order: Order,
    /// The reading it produced, once there is one.
    pub revision: Option<Revision>,
    /// SHA-256 of `result.zip` in hex, once published.
    pub result_sha256: Option<String>,
    /// How far it has come.
    pub progress: Progress,
    /// How often a stage has begun.
    pub attempts: u32,
    /// Why it failed.
    pub error: Option<DocumentFailure>,
    /// Creation.
    pub created_at: Timestamp,
    /// Last change.
    pub updated_at: Timestamp,
    /// When it reached `done` or `failed`.
    pub ended_at: Option<Timestamp>,
    /// The trace of the request or of the object event that began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
}

/// One step in a job's append-only history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobEvent {
    /// The job's version after the change.
    pub sequence: u64,
    /// The state entered.
    pub state: JobState,
    /// The stage that made the change.
    pub stage: String,
    /// When.
    pub at: Timestamp,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<DocumentFailure>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_jobs_stay_ended_but_for_a_retry() {
        use JobState::{Done, Failed, Pending, Running, WaitingFile};
        for next in [WaitingFile, Pending, Running, Failed] {
            assert!(!Done.may_become(next));
        }
        assert!(Failed.may_become(Pending));
        assert!(!Failed.may_become(Done));
        for active in [WaitingFile, Pending, Running] {
            assert!(active.may_become(Failed));
        }
        assert_eq!(serde_json::to_value(WaitingFile).unwrap(), "waiting-file");
    }
}
