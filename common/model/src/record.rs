//! What the records store holds (contract §4). Keys are in [`crate::key`].

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::chunk::{ChunkMetadata, ChunkType};
use crate::identity::{ChunkId, DocumentId, JobId, Revision, SectionId};
use crate::key::ObjectKey;
use crate::scope::Scope;
use crate::time::Timestamp;

/// Which of two sources for one document is newer: the bucket's sequencer where both have one, else creation time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// When the job was created, or the object event happened; milliseconds since the epoch.
    pub created_millis: i64,
    /// The object event's sequencer: hex digits that order the events of one key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequencer: Option<String>,
}

impl Order {
    /// Newer than, older than, or the same as `other`.
    pub fn compare(&self, other: &Self) -> Ordering {
        if let (Some(a), Some(b)) = (&self.sequencer, &other.sequencer) {
            let (a, b) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
            return a.len().cmp(&b.len()).then_with(|| a.to_ascii_lowercase().cmp(&b.to_ascii_lowercase()));
        }
        self.created_millis.cmp(&other.created_millis)
    }

    /// This order, made newer than one that is known to have come before: a clock that was put back since must not make
    /// the later of two sources the older one.
    #[must_use]
    pub fn after(self, earlier: &Self) -> Self {
        Self { created_millis: self.created_millis.max(earlier.created_millis.saturating_add(1)), ..self }
    }
}

/// Whether a document can be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DocumentStatus {
    /// Searchable.
    Active,
    /// Kept, not searchable.
    Archived,
    /// Gone; the record stays as a mark so that late work cannot bring it back.
    Deleted,
}

/// A document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DocumentRecord {
    /// [`crate::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Its identity.
    pub document_id: DocumentId,
    /// Whose.
    pub scope: Scope,
    /// Whether it can be found.
    pub status: DocumentStatus,
    /// The revision served.
    pub active_revision: Option<Revision>,
    /// The job that made it.
    pub active_job: Option<JobId>,
    /// As uploaded.
    pub source_file_name: String,
    /// SHA-256 of the source in hex.
    pub source_sha256: Option<String>,
    /// The caller's own.
    pub metadata: Map<String, Value>,
    /// Of the active revision, or of the archive or delete that came last.
    pub order: Order,
    /// Chunks of the active revision.
    pub chunk_count: u32,
    /// The document's summary.
    pub summary: String,
    /// First publication.
    pub created_at: Timestamp,
    /// Last change.
    pub updated_at: Timestamp,
    /// When it was archived.
    pub archived_at: Option<Timestamp>,
}

/// Where a document lives, for callers who know its id alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentPlace {
    /// Whose.
    pub scope: Scope,
}

/// A section of a revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionRecord {
    /// Its identity within the revision.
    pub section_id: SectionId,
    /// Its parent; `None` at the top.
    pub parent: Option<SectionId>,
    /// File name and headings (see [`crate::path`]).
    pub path: String,
    /// As shown.
    pub title: String,
    /// From 1; 0 for the text before the first heading.
    pub level: u32,
    /// Leading sentences, or `Covers: …`.
    pub summary: String,
    /// Reading order, from 0.
    pub order: u32,
    /// First page.
    pub page_start: Option<u32>,
    /// Last page.
    pub page_end: Option<u32>,
    /// Chunks, descendants included.
    pub chunk_count: u32,
    /// Tokens, descendants included.
    pub token_count: u32,
}

/// A chunk of a revision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChunkRecord {
    /// Content identity.
    pub chunk_id: ChunkId,
    /// Which of the three.
    #[serde(rename = "type")]
    pub kind: ChunkType,
    /// Reading order.
    pub ordinal: u32,
    /// The content; `None` when it is over 300 KB and stays in `chunks.json`.
    pub content: Option<String>,
    /// Path with file name.
    pub path: String,
    /// Everything else.
    pub metadata: ChunkMetadata,
    /// The oldest live chunk of another document with the same content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate_of: Option<Occurrence>,
}

/// One place where a content stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Occurrence {
    /// The document.
    pub document_id: DocumentId,
    /// The chunk's place in it.
    pub ordinal: u32,
}

/// The namespace head: what a reader pins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamespaceHead {
    /// [`crate::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Counts publications; the conditional write compares it.
    pub version: u64,
    /// What is live.
    pub manifest: ManifestPlace,
    /// Live documents.
    pub documents: u64,
    /// Live chunks.
    pub chunks: u64,
    /// Last publication.
    pub updated_at: Timestamp,
}

/// Where the index manifest of a head is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ManifestPlace {
    /// In the head itself.
    Inline(IndexManifest),
    /// In an object, when it is over 200 KB.
    Object(ObjectKey),
}

/// The live index of a namespace.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct IndexManifest {
    /// [`crate::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Splits in the order they were added.
    pub splits: Vec<SplitEntry>,
    /// Splits no longer read, until their grace is over.
    pub retired: Vec<RetiredSplit>,
}

/// A live split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SplitEntry {
    /// Where it is; the name holds the blake3 of its bytes.
    pub key: ObjectKey,
    /// blake3 of its bytes in hex.
    pub hash: String,
    /// Analyser and its version; splits of different analysers are never mixed.
    pub analyzer_id: String,
    /// Bytes.
    pub size: u64,
    /// Where the footer begins.
    pub footer_offset: u64,
    /// The footer itself, base64, when small enough to be carried here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub footer: Option<String>,
    /// Chunks, dead ones included.
    pub chunks: u32,
    /// Tokens of the content field, dead ones included.
    pub content_tokens: u64,
    /// Tokens of the path field, dead ones included.
    pub path_tokens: u64,
    /// Documents in it, each contiguous; sorted by `from`.
    pub documents: Vec<SplitDocument>,
    /// Merge level, from 0.
    pub level: u32,
}

/// A document revision inside a split: doc ids `from..to`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitDocument {
    /// The document.
    pub document_id: DocumentId,
    /// The revision.
    pub revision: Revision,
    /// First doc id.
    pub from: u32,
    /// One past the last.
    pub to: u32,
    /// Whether it is deleted or superseded: its doc ids are dead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dead: bool,
}

/// A split that is no longer read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetiredSplit {
    /// Where it is.
    pub key: ObjectKey,
    /// Since when.
    pub at: Timestamp,
}

/// A publication whose consequences are still being written: by the commit itself, so that a crash right after it is
/// made good by the next one; removed when nothing is left to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenPublication {
    /// The documents it changed.
    pub documents: Vec<DocumentId>,
    /// When it was committed.
    pub at: Timestamp,
}

/// A revision that is no longer served. Written by the commit that supersedes it, so that a crash right after cannot
/// leave anything of it behind for good; removed by whoever has swept the revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupersededRevision {
    /// The document.
    pub document_id: DocumentId,
    /// The revision.
    pub revision: Revision,
    /// Since when.
    pub at: Timestamp,
    /// Whether the postings of its contents and keywords are gone already.
    pub postings_removed: bool,
}

/// A document's node in the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GraphNode {
    /// The document.
    pub document_id: DocumentId,
    /// The revision it was computed from.
    pub revision: Revision,
    /// As uploaded.
    pub file_name: String,
    /// At most 30, heaviest first, with their weights.
    pub keywords: Vec<(String, f64)>,
    /// Chunks.
    pub chunk_count: u32,
    /// The document's summary.
    pub summary: String,
}

/// An undirected edge between two documents, `a < b`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GraphEdge {
    /// The smaller id.
    pub a: DocumentId,
    /// The larger id.
    pub b: DocumentId,
    /// Shared keywords, heaviest first.
    pub shared: Vec<String>,
    /// 0.8 to 1.
    pub score: f64,
}

/// How often something was part of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Hits {
    /// Answers.
    pub hit_count: u64,
    /// The last of them.
    pub last_hit_at: Timestamp,
}

/// An API key; the secret itself is never stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKeyRecord {
    /// SHA-256 of the secret in hex.
    pub sha256: String,
    /// Whose data it opens.
    pub owner: crate::scope::Owner,
    /// What it may do.
    pub scopes: Vec<KeyScope>,
    /// For people.
    pub name: String,
    /// The first characters of the secret, for recognising it.
    pub hint: String,
    /// Creation.
    pub created_at: Timestamp,
    /// End of life.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// Requests a minute, where it is not the installation's limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
}

/// What an API key may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyScope {
    /// Create jobs, archive and delete documents.
    Ingest,
    /// Read documents and search.
    Query,
    /// Manage keys; includes the others.
    Admin,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(millis: i64, sequencer: Option<&str>) -> Order {
        Order { created_millis: millis, sequencer: sequencer.map(str::to_owned) }
    }

    #[test]
    fn sequencers_decide_where_both_have_one() {
        assert_eq!(order(9, Some("00FF")).compare(&order(1, Some("0100"))), Ordering::Less);
        assert_eq!(order(1, Some("0A")).compare(&order(9, Some("0a"))), Ordering::Equal);
        assert_eq!(order(2, None).compare(&order(1, Some("FF"))), Ordering::Greater);
    }
}

/// An object that nothing named when it was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orphan {
    /// Where it is.
    pub key: ObjectKey,
    /// When it was first seen so.
    pub since: Timestamp,
}

/// A namespace in which there may be something to merge or to remove; written by every commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionDue {
    /// Which.
    pub scope: Scope,
    /// The head's version after the commit that wrote this.
    pub version: u64,
}
