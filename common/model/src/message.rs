//! What travels between stages: pointers, never content. Every message stays under 64 KB.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::format::Format;
use crate::identity::{DocumentId, JobId, Revision};
use crate::key::ObjectKey;
use crate::pdf::{Anatomy, PdfProfile, Shard};
use crate::record::Order;
use crate::scope::Scope;

/// The queues of the road. Each has a dead-letter queue of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum QueueName {
    /// Objects that have arrived.
    Profile,
    /// Documents for one family of parsers.
    Parse(crate::format::Family),
    /// Finished revisions, archives and deletes; first in, first out per namespace.
    Publish,
}

impl QueueName {
    /// Every queue.
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::Profile];
        all.extend(crate::format::Family::ALL.map(Self::Parse));
        all.push(Self::Publish);
        all
    }

    /// `profile`, `parse-docx`, `publish`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Profile => "profile",
            Self::Parse(family) => family.function(),
            Self::Publish => "publish",
        }
    }

    /// Whether messages of one group keep their order and never run side by side.
    pub fn is_fifo(self) -> bool {
        matches!(self, Self::Publish)
    }
}

/// An object that has arrived; the profiler's input, whether from a bucket notification or from `upload`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectArrived {
    /// Decoded exactly once.
    pub key: ObjectKey,
    /// Bytes.
    pub size: u64,
    /// Content tag as the store gave it.
    pub etag: String,
    /// Which of two events for one key is newer.
    pub order: Order,
}

/// What the profiler found, once; nothing later profiles again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// By content.
    pub format: Format,
    /// What the extension claimed, when it claimed something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_format: Option<Format>,
    /// Character encoding, for formats whose source is text: a WHATWG label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// At most five words.
    pub category: String,
    /// `generic` for all but PDF: how it is read (`atlas`, `scanned`, `slides` or `generic`).
    pub routing_category: String,
    /// Of a PDF: what was measured of its pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pdf: Option<PdfProfile>,
}

/// A document for a parser.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParseMessage {
    /// The job.
    pub job_id: JobId,
    /// Whose.
    pub scope: Scope,
    /// The document.
    pub document_id: DocumentId,
    /// The bytes.
    pub source: ObjectKey,
    /// Their content tag: the parser reads exactly these bytes or none.
    pub etag: String,
    /// Bytes.
    pub size: u64,
    /// As uploaded.
    pub file_name: String,
    /// The caller's own name for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_id: Option<String>,
    /// What the profiler found.
    pub profile: Profile,
    /// Which run of pages of the profile's plan this message is for, from 0; `None` is all of the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<u32>,
    /// As given at creation; part of the revision.
    pub parsing_params: Map<String, Value>,
    /// Which of two sources is newer.
    pub order: Order,
}

impl ParseMessage {
    /// The plan and the run of pages that this message is for; `None` when it is for all of the document, or names a run
    /// that its plan does not have.
    pub fn part(&self) -> Option<(&Anatomy, Shard)> {
        let anatomy = self.profile.pdf.as_ref()?.anatomy.as_ref()?;
        let shard = anatomy.shards.get(usize::try_from(self.shard?).ok()?)?;
        Some((anatomy, *shard))
    }

    /// One message for each run of pages of the plan, or this one where there is no plan.
    pub fn in_parts(self) -> Vec<Self> {
        let parts = self.profile.pdf.as_ref().and_then(|pdf| pdf.anatomy.as_ref()).map_or(0, |anatomy| anatomy.shards.len());
        if parts < 2 {
            return vec![self];
        }
        (0..u32::try_from(parts).unwrap_or(u32::MAX)).map(|part| Self { shard: Some(part), ..self.clone() }).collect()
    }
}

/// Something to publish; its group is the namespace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishMessage {
    /// Whose.
    pub scope: Scope,
    /// The document.
    pub document_id: DocumentId,
    /// Which of two publications is newer.
    pub order: Order,
    /// What to do.
    pub action: PublishAction,
}

impl PublishMessage {
    /// The ordered group of all publications in one namespace: 32 hex digits, so that any queue accepts it (a group on
    /// SQS is ASCII of at most 128 characters, a namespace is neither).
    pub fn group(scope: &Scope) -> String {
        let hash = blake3::hash(format!("{}\0{}", scope.owner, scope.namespace).as_bytes());
        hash.to_hex().chars().take(32).collect()
    }
}

/// What to do with a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum PublishAction {
    /// Make a finished revision the active one.
    Publish {
        /// The job that is done by it.
        job_id: JobId,
        /// The revision folder to publish.
        revision: Revision,
    },
    /// Take it out of search, keep it.
    Archive,
    /// Take it out of search and remove it.
    Delete,
}
