//! The finished revision folder: everything that is stored for one reading of one document.

use bytes::Bytes;
use quarry_model::message::Profile;
use quarry_model::{DocumentFailure, DocumentId, JobId, Limits, Manifest};
use quarry_ports::Clock;
use serde_json::{Map, Value};

use crate::parser::{Parser, Source};

/// One file of the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Relative to the folder: `chunks.json`, `images/image-3.png`.
    pub name: String,
    /// Media type it is served with.
    pub media_type: &'static str,
    /// Its content.
    pub bytes: Bytes,
}

/// All files of one revision, `manifest.json` last.
#[derive(Debug, Clone, PartialEq)]
pub struct RevisionFolder {
    /// The manifest, as `manifest.json` holds it.
    pub manifest: Manifest,
    /// In the order they are written.
    pub files: Vec<Artifact>,
}

/// For whom a document is read.
#[derive(Debug, Clone, PartialEq)]
pub struct RevisionRequest {
    /// The job; `None` for a reading without one.
    pub job_id: Option<JobId>,
    /// The caller's own name for it.
    pub data_id: Option<String>,
    /// The document.
    pub document_id: DocumentId,
    /// As uploaded.
    pub file_name: String,
    /// What the profiler found.
    pub profile: Profile,
    /// As given at creation; part of the revision.
    pub parsing_params: Map<String, Value>,
}

/// Reads a document and builds its folder: no store, no queue, the clock only for the times in the manifest.
pub fn parse_to_folder(
    parser: &dyn Parser,
    bytes: &Bytes,
    request: &RevisionRequest,
    limits: &Limits,
    clock: &dyn Clock,
) -> Result<RevisionFolder, DocumentFailure> {
    let source = Source { bytes, file_name: &request.file_name, profile: &request.profile };
    let _ = (parser.parse(&source, limits)?, clock);
    Err(DocumentFailure::new(quarry_model::DocumentCode::Unsupported, "not built yet"))
}
