//! `manifest.json`: written last, so that a folder with a manifest is a finished revision.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::format::Format;
use crate::identity::{DocumentId, JobId, Revision};
use crate::limits::Limits;
use crate::row::Warning;
use crate::time::Timestamp;

/// The file. Field order is the order in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`crate::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// `2.0`.
    pub version: String,
    /// The job; `None` when parsed without one (`quarry debug parse`).
    pub job_id: Option<JobId>,
    /// The caller's own name for it.
    pub data_id: Option<String>,
    /// The document.
    pub document_id: DocumentId,
    /// This reading of it.
    pub revision: Revision,
    /// As uploaded.
    pub source_file_name: String,
    /// The bytes.
    pub source: SourceInfo,
    /// When it was read.
    pub processing_date: Timestamp,
    /// How it was read.
    pub processing: Processing,
    /// What kind of document it is.
    pub profile: ProfileInfo,
    /// Counts.
    pub statistics: Statistics,
    /// Files beside this one.
    pub files: Files,
    /// How complete it is.
    pub quality: Quality,
    /// Heading titles as nested objects.
    #[serde(rename = "HIERARCHY")]
    pub hierarchy: Map<String, Value>,
}

/// The source bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceInfo {
    /// In hex.
    pub sha256: String,
    /// In hex.
    pub blake3: String,
    /// Bytes.
    pub size_bytes: u64,
    /// By content.
    pub media_type: String,
    /// By content.
    pub detected_format: Format,
    /// What the extension claimed, when it claimed something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_format: Option<Format>,
    /// Pages, when the format has them.
    pub pages: Option<u32>,
}

/// How it was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Processing {
    /// Pages; 0 when the format has none.
    pub page_count: u32,
    /// The only times in the file, with `processing_date` and `stages.timing_ms`.
    pub timing: Timing,
    /// Per stage.
    pub stages: Stages,
    /// Who read it.
    pub parser: ParserInfo,
    /// Model per task, where one was used.
    pub models: Map<String, Value>,
    /// The limits in force.
    pub limits: Limits,
}

/// When reading began and ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Beginning.
    pub started_at: Timestamp,
    /// End.
    pub completed_at: Timestamp,
    /// Milliseconds between.
    pub duration_ms: u64,
}

/// Figures per stage.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Stages {
    /// Milliseconds per stage.
    pub timing_ms: Map<String, Value>,
    /// Model tokens per task.
    pub token_usage: Map<String, Value>,
}

/// Who read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParserInfo {
    /// `parse-docx`.
    pub name: String,
    /// Changes whenever the same bytes may give other artifacts; part of the revision.
    pub version: String,
}

/// What kind of document it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileInfo {
    /// At most five words.
    pub category: String,
    /// The route taken: `generic` for all but PDF.
    pub routing_category: String,
}

/// Counts; equal to the chunks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named by what they count")]
pub struct Statistics {
    pub total_chunks: u32,
    pub text_chunks: u32,
    pub image_chunks: u32,
    pub table_chunks: u32,
    pub total_pages: u32,
    pub total_tokens: u64,
}

/// Files beside the manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// `chunks.json`.
    pub chunks: String,
    /// `full.md`.
    pub markdown: String,
    /// `hierarchy.json`.
    pub hierarchy: String,
    /// Pictures.
    pub images: Vec<ImageFile>,
    /// Tables.
    pub tables: Vec<TableFile>,
}

/// A stored picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageFile {
    /// `image-<ordinal>`.
    pub id: String,
    /// Relative to the revision folder.
    pub file_path: String,
    /// As in the source.
    pub original_name: String,
    /// Bytes as stored.
    pub size_bytes: u64,
    /// `png`, `jpeg`, `emf`, …
    pub format: String,
    /// Pixels; `None` when it cannot be decoded.
    pub width: Option<u32>,
    /// Pixels; `None` when it cannot be decoded.
    pub height: Option<u32>,
    /// Whether it is kept as it is because it cannot be drawn here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_rendered: bool,
}

/// A stored table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableFile {
    /// `table-<ordinal>`.
    pub id: String,
    /// Relative to the revision folder.
    pub file_path: String,
    /// The caption, when it has one.
    pub original_name: String,
    /// Bytes as stored.
    pub size_bytes: u64,
    /// `html`.
    pub format: String,
}

/// How complete the reading is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quality {
    /// Whether everything was read.
    pub status: QualityStatus,
    /// What was not.
    pub warnings: Vec<Warning>,
}

/// Whether everything was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QualityStatus {
    /// Everything.
    Complete,
    /// Not everything; the warnings say what is missing.
    Partial,
}
