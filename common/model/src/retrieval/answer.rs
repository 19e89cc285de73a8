//! The answer. Field order is the order in the JSON; both official clients parse it strictly, so that a score is always
//! a number, content always a string, `source` and `referenced_chunks` always there.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::chunk::ChunkType;
use crate::identity::{ChunkId, DocumentId, Revision, SectionId};
use crate::row::PageBox;
use crate::time::Timestamp;

/// Which route made the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RouterUsed {
    /// The query was empty: nothing was searched.
    EmptyQueryFiltered,
    /// The scope holds no more chunks than were asked for: all of them, ranked.
    SmallCorpusAll,
    /// Channels and fusion.
    ClassicTopk,
    /// The agentic workflow with one step.
    WorkflowSingleStep,
    /// The agentic workflow with several steps.
    WorkflowDecomposed,
}

/// Why the work ended where it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Everything that was found is in the answer.
    Complete,
    /// The token budget was used up; `budget.omitted` names what did not fit.
    Budget,
    /// The wall clock ran out; this is the best evidence until then.
    Latency,
    /// Nothing in scope matches.
    NoMatch,
    /// There was no query.
    EmptyQuery,
}

/// The answer to a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RetrievalAnswer {
    /// Where was searched.
    pub namespace: String,
    /// The query as understood: trimmed.
    pub query: String,
    /// The run that made it; `GET /retrieval/runs/{run_id}` shows its steps.
    pub run_id: String,
    /// Which route made it.
    pub router_used: RouterUsed,
    /// The main answer: cited evidence within the token budget.
    pub evidence_text: String,
    /// Deprecated; always empty.
    pub answer_text: String,
    /// The same evidence as parts, pictures included.
    pub evidence: Vec<EvidencePart>,
    /// Hits, best first; at most `top_k`.
    pub results: Vec<RetrievalResult>,
    /// What the marks in the evidence stand for.
    pub referenced_chunks: Vec<ReferencedChunk>,
    /// What the evidence cost, and what did not fit.
    pub budget: BudgetReport,
    /// Why the work ended where it did.
    pub stop_reason: StopReason,
    /// What went wrong, where something did; `None` otherwise.
    pub failure_reason: Option<String>,
    /// Whether part of the index could not be read: the answer holds what the rest gave.
    pub partial: bool,
    /// What was done, step by step.
    pub decision_trace: Vec<TraceStep>,
    /// The publication the answer was read from; 0 for a namespace that has none.
    pub index_version: u64,
}

/// One part of the evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum EvidencePart {
    /// Text or table HTML.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    Image {
        /// `image/png`, `image/jpeg`, …
        media_type: String,
        /// The bytes in base64.
        data: String,
    },
}

/// Where a result comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The document.
    pub document_id: DocumentId,
    /// As uploaded.
    pub source_file_name: String,
    /// Titles from the top, joined by ` / `; the file name for text under no heading.
    pub section_path: String,
}

/// What an answer can cite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// The document.
    pub document_id: DocumentId,
    /// Content identity.
    pub chunk_id: ChunkId,
    /// As uploaded.
    pub source_file_name: String,
    /// As in [`Source`].
    pub section_path: String,
    /// Pages, from 1; empty when the format has none.
    pub page_nums: Vec<u32>,
}

/// Another place where the same content stands.
pub type AlsoIn = Citation;

/// A hit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RetrievalResult {
    /// Content identity; not a key.
    pub chunk_id: ChunkId,
    /// Which of the three.
    pub chunk_type: ChunkType,
    /// The content, embedded tables and picture descriptions in their places.
    pub content: String,
    /// 1 is the best place in every channel; 0 matched nothing. Comparable between queries with equal weights.
    pub score: f64,
    /// Where the asset can be fetched; of pictures and tables.
    pub asset_url: Option<String>,
    /// File name and headings, exactly splittable (see [`crate::path`]).
    pub source_chunk_path: String,
    /// The stored asset, relative to the revision folder.
    pub file_path: Option<String>,
    /// Everything else.
    pub metadata: ResultMetadata,
    /// Where it comes from.
    pub source: Source,
    /// What to cite.
    pub citation: Citation,
    /// Other places with the same content.
    pub also_in: Vec<AlsoIn>,
}

/// What is known of a hit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultMetadata {
    /// Pages, from 1; empty when the format has none.
    pub page_nums: Vec<u32>,
    /// Where it stands on them.
    pub boxes: Vec<PageBox>,
    /// Its place in the document's reading order; with `document_id` the key of the chunk.
    pub ordinal: u32,
    /// The revision it was read from.
    pub revision: Revision,
    /// Its section.
    pub section_id: SectionId,
    /// Leading sentences, a table's header, a picture's caption; may be empty.
    pub summary: String,
    /// ISO 639-1 code, or `und`.
    pub lang: String,
    /// Tokens of the stored content.
    pub token_count: u32,
    /// Of a row window: `[first, last, of]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<[u32; 3]>,
    /// Whether the source hides it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
}

/// What a mark in the evidence stands for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReferencedChunk {
    /// The mark without brackets: `E1`; empty for a chunk that is in the results but not in the evidence.
    pub mark: String,
    /// Content identity.
    pub chunk_id: ChunkId,
    /// The document.
    pub document_id: DocumentId,
    /// Which of the three.
    pub chunk_type: ChunkType,
    /// As in [`Source`].
    pub section_path: String,
    /// File name and headings, exactly splittable.
    pub source_chunk_path: String,
    /// The stored asset, relative to the revision folder.
    pub file_path: Option<String>,
    /// Where the asset can be fetched.
    pub asset_url: Option<String>,
    /// As in the results; 0 for what came along with its section.
    pub score: f64,
    /// As in the results.
    pub metadata: ResultMetadata,
    /// What to cite.
    pub citation: Citation,
}

/// What the evidence cost, in tokens.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BudgetReport {
    /// What was allowed.
    pub limit: u64,
    /// What was used; never more than the limit.
    pub used: u64,
    /// By phase: `evidence`, `planner`, `navigator`.
    pub by_phase: std::collections::BTreeMap<String, u64>,
    /// Whether something did not fit.
    pub truncated: bool,
    /// What did not fit, best first.
    pub omitted: Vec<OmittedPart>,
}

/// Evidence that did not fit, to be asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OmittedPart {
    /// The document.
    pub document_id: DocumentId,
    /// As uploaded.
    pub source_file_name: String,
    /// As in [`Source`].
    pub section_path: String,
    /// The chunks' places in the reading order.
    pub ordinals: Vec<u32>,
    /// Tokens left out.
    pub tokens: u64,
    /// Whether parts of the same chunk are in the evidence, with `…` where something is missing.
    pub excerpted: bool,
}

/// One step of the work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceStep {
    /// From 0.
    pub step_index: u32,
    /// `route`, `plan`, `discovery`, `navigate`, `rank`, `evidence`, `terminal`.
    pub phase: String,
    /// What was done.
    pub action: String,
    /// With what.
    pub input: Value,
    /// What came of it.
    pub output: Value,
    /// Milliseconds it took.
    pub elapsed_ms: f64,
    /// Tokens it used.
    pub tokens: u64,
    /// Tokens left before it.
    pub budget_before: u64,
    /// Tokens left after it.
    pub budget_after: u64,
}

/// The record of a run; its steps are records of their own ([`TraceStep`]).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RetrievalRun {
    /// [`crate::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// 32 hex digits.
    pub run_id: String,
    /// Whose.
    pub scope: crate::scope::Scope,
    /// blake3 of the query in hex: the query itself is not kept.
    pub query_hash: String,
    /// The caller's own thread of questions.
    pub conversation_id: Option<String>,
    /// Which route was taken.
    pub router_used: RouterUsed,
    /// Whether the answer came out of the cache.
    pub cache_hit: bool,
    /// Hits returned.
    pub result_count: u32,
    /// The documents of the hits, in order of first appearance.
    pub documents: Vec<DocumentId>,
    /// Why the work ended.
    pub stop_reason: StopReason,
    /// Tokens used.
    pub tokens: u64,
    /// The publication read.
    pub index_version: u64,
    /// Steps recorded.
    pub steps: u32,
    /// Milliseconds in all.
    pub elapsed_ms: f64,
    /// When.
    pub at: Timestamp,
}
