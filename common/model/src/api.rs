//! HTTP bodies of jobs, documents, graph and keys (contract §6). Field names marked K there are kept to the letter: the
//! official client reads them with strict types. Bodies of retrieval are in [`crate::retrieval`].

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::chunk::{ChunkMetadata, ChunkType};
use crate::identity::{ChunkId, DocumentId, JobId, Revision, SectionId};
use crate::job::{JobState, Progress, Webhook};
use crate::nav::{NavResources, NavSection, NavStats};
use crate::record::{DocumentStatus, KeyScope};
use crate::scope::Namespace;
use crate::time::Timestamp;

/// `POST /jobs`. Fields that are not known are ignored, as K does.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct CreateJob {
    /// `file` or `url`.
    pub source_type: String,
    /// Required for `file`.
    #[serde(default)]
    pub file_name: Option<String>,
    /// Required for `url`.
    #[serde(default)]
    pub source_url: Option<String>,
    /// Empty or absent means `default`, or the namespace of `document_id`.
    #[serde(default)]
    pub namespace: Option<String>,
    /// The document to renew.
    #[serde(default)]
    pub document_id: Option<String>,
    /// The caller's own name for it, at most 128 characters.
    #[serde(default)]
    pub data_id: Option<String>,
    /// Kept with the document.
    #[serde(default)]
    pub document_metadata: Option<Map<String, Value>>,
    /// Part of the revision.
    #[serde(default)]
    pub parsing_params: Option<Map<String, Value>>,
    /// Where to report the end.
    #[serde(default)]
    pub webhook: Option<Webhook>,
    /// The caller's own model keys: read and dropped, never kept.
    #[serde(default)]
    pub llm_config: Option<IgnoredAny>,
}

/// A job as its creation answers it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "contract §6 says what each is")]
pub struct JobCreated {
    pub job_id: JobId,
    pub namespace: Namespace,
    pub document_id: DocumentId,
    pub status: JobState,
    pub source_type: String,
    pub data_id: Option<String>,
    pub created_at: Timestamp,
    /// `None` once the bytes have arrived.
    pub upload_url: Option<String>,
    /// To be sent with the upload.
    pub upload_headers: Option<BTreeMap<String, String>>,
    /// Seconds.
    pub expires_in: Option<u64>,
}

/// A job as it is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "contract §6 says what each is")]
pub struct JobBody {
    pub job_id: JobId,
    pub namespace: Namespace,
    pub document_id: DocumentId,
    pub status: JobState,
    /// The stage at work, or last at work.
    pub stage: String,
    pub source_type: String,
    pub data_id: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// `None` before work begins.
    pub progress: Option<Progress>,
    pub error: Option<JobErrorBody>,
    /// Once done.
    pub result: Option<JobOutcomeBody>,
    /// `result.zip`, without a key, for an hour.
    pub result_url: Option<String>,
    pub result_url_expires_at: Option<Timestamp>,
    pub file_name: String,
    /// Upper case; empty for a name without one.
    pub file_extension: String,
    pub model: String,
    pub ocr_enabled: bool,
    /// From creation to the end, or to the last change.
    pub duration_seconds: f64,
    /// Always 0.
    pub credits_spent: f64,
    /// How often a stage has begun.
    pub attempts: u32,
}

/// Why a job failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "contract §6 says what each is")]
pub struct JobErrorBody {
    /// From the closed list of document codes.
    pub code: String,
    /// One sentence that says what to do.
    pub message: String,
    /// The job's id.
    pub request_id: String,
    pub details: JobErrorDetails,
}

/// More about a failure, for a program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobErrorDetails {
    /// Whether `POST /jobs/{id}/retry` can help.
    pub retryable: bool,
    /// The stage that failed.
    pub stage: String,
}

/// What a finished job made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobOutcomeBody {
    /// SHA-256 of `result.zip` in hex; the client checks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
    /// The document it made or renewed.
    pub document_id: DocumentId,
    /// The reading it published.
    pub revision: Option<Revision>,
}

/// `GET /jobs`: newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named by what they count")]
pub struct JobList {
    pub jobs: Vec<JobBody>,
    pub total: usize,
    pub page: usize,
    pub page_size: usize,
    pub total_pages: usize,
}

/// Where a page stands among all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named by what they count")]
pub struct Pagination {
    pub page: usize,
    pub page_size: usize,
    pub total: usize,
    pub total_pages: usize,
}

impl Pagination {
    /// The page `page` (from 1) of `page_size` out of `total`.
    pub fn of(page: usize, page_size: usize, total: usize) -> Self {
        Self { page, page_size, total, total_pages: total.div_ceil(page_size.max(1)) }
    }
}

/// A document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "contract §6 says what each is")]
pub struct DocumentBody {
    pub document_id: DocumentId,
    pub namespace: Namespace,
    pub status: DocumentStatus,
    /// The revision served; named as K names it.
    pub current_job_result_id: Option<Revision>,
    pub current_job_id: Option<JobId>,
    pub source_file_name: String,
    pub document_metadata: Map<String, Value>,
    pub summary: String,
    pub chunk_count: u32,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub archived_at: Option<Timestamp>,
}

/// `GET /documents`: last changed first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "contract §6 says what each is")]
pub struct DocumentList {
    pub namespace: Namespace,
    pub documents: Vec<DocumentBody>,
    pub pagination: Pagination,
}

/// A chunk of a document's current revision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "contract §6 says what each is")]
pub struct ChunkBody {
    /// The row's id: document, revision and ordinal in one.
    pub id: String,
    /// Content identity; not a key.
    pub chunk_id: ChunkId,
    pub chunk_type: ChunkType,
    pub content: String,
    pub section_id: SectionId,
    /// Titles from the top, joined by ` / `; the file name for text under no heading.
    pub section_path: String,
    /// The path with file name, as `chunks.json` has it.
    pub source_chunk_path: String,
    pub file_path: Option<String>,
    pub sort_order: u32,
    pub metadata: ChunkMetadata,
    /// Only when asked for by `include_asset_urls`.
    pub asset_url: Option<String>,
    pub created_at: Timestamp,
}

/// `GET /documents/{id}/chunks`: in reading order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "contract §6 says what each is")]
pub struct ChunkList {
    pub document_id: DocumentId,
    pub namespace: Namespace,
    pub job_result_id: Option<Revision>,
    pub job_id: Option<JobId>,
    pub chunks: Vec<ChunkBody>,
    pub pagination: Pagination,
}

/// `GET /documents/{id}/chunks/{row id}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "contract §6 says what each is")]
pub struct ChunkOne {
    pub document_id: DocumentId,
    pub namespace: Namespace,
    pub job_result_id: Option<Revision>,
    pub job_id: Option<JobId>,
    pub chunk: ChunkBody,
}

/// `GET /documents/{id}/outline`: the document as something to walk through.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "contract §6 says what each is")]
pub struct OutlineBody {
    pub document_id: DocumentId,
    pub namespace: Namespace,
    pub job_result_id: Revision,
    pub file_name: String,
    pub stats: NavStats,
    pub sections: Vec<NavSection>,
    pub resources: NavResources,
}

/// `GET /documents/{id}/source` and `…/files/page-citation-source`: where the bytes are, without a key, for an hour.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "contract §6 says what each is")]
pub struct SourceAddress {
    pub document_id: DocumentId,
    pub namespace: Namespace,
    pub job_id: Option<JobId>,
    pub job_result_id: Revision,
    /// `original`: the uploaded bytes.
    pub variant: String,
    pub file_name: String,
    pub content_type: String,
    pub url: String,
    pub expires_at: Timestamp,
}

/// `GET /graph/{document_id}/neighbors`: strongest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "contract §6 says what each is")]
pub struct NeighborList {
    pub document_id: DocumentId,
    pub namespace: Namespace,
    pub neighbors: Vec<Neighbor>,
}

/// A related document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Neighbor {
    /// The document.
    pub document_id: DocumentId,
    /// As uploaded.
    pub source_file_name: String,
    /// What both are about, heaviest first.
    pub shared_keywords: Vec<String>,
    /// 0.8 to 1.
    pub score: f64,
    /// The document's summary.
    pub summary: String,
}

/// `POST /auth/create`. Fields that are not known are refused: a limit with its name misspelt would not hold.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateKey {
    /// For people, 1 to 255 characters.
    pub name: String,
    /// What it may do; `ingest` and `query` when absent.
    #[serde(default)]
    pub scopes: Option<Vec<KeyScope>>,
    /// End of life.
    #[serde(default)]
    pub expires_at: Option<Timestamp>,
    /// Requests a minute, instead of the installation's limit.
    #[serde(default)]
    pub requests_per_minute: Option<u32>,
}

/// `POST /auth/revoke`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevokeKey {
    /// As `GET /auth/list` gives it.
    pub api_key_id: String,
}

/// A new key: the only time its secret is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "contract §6 says what each is")]
pub struct KeyCreated {
    pub id: String,
    pub api_key: String,
    pub name: String,
    pub scopes: Vec<KeyScope>,
    pub expires_at: Option<Timestamp>,
    pub requests_per_minute: Option<u32>,
}

/// A key in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "contract §6 says what each is")]
pub struct KeyBody {
    pub id: String,
    pub name: String,
    /// Its first characters.
    pub api_key: String,
    pub scopes: Vec<KeyScope>,
    pub is_active: bool,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
    pub requests_per_minute: Option<u32>,
}

/// `GET /auth/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named by what they hold")]
pub struct KeyList {
    pub api_keys: Vec<KeyBody>,
    pub total: usize,
}
