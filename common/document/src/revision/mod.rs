//! The finished revision folder: everything that is stored for one reading of one document.

mod build;
mod diagnostics;
mod manifest;
mod markdown;
mod nav;
#[cfg(test)]
mod tests;
mod toc;
mod validate;
mod zip;

use bytes::Bytes;
use quarry_model::message::{ParseMessage, Profile};
use quarry_model::{
    ChunkFile, DocNav, DocumentCode, DocumentFailure, DocumentId, HierarchyFile, JobId, Limits, Manifest, Parsed, Revision,
};
use quarry_ports::Clock;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::enrich::Enrichment;
use crate::parser::{Parser, Source};

pub use validate::Inconsistency;

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

/// All files of one revision but the archived source, in the order in which they are written: `manifest.json` last, so
/// that a folder with a manifest is a finished one.
#[derive(Debug, Clone, PartialEq)]
pub struct RevisionFolder {
    /// `manifest.json`.
    pub manifest: Manifest,
    /// `chunks.json`.
    pub chunks: ChunkFile,
    /// `doc_nav.json`.
    pub nav: DocNav,
    /// `hierarchy.json`.
    pub hierarchy: HierarchyFile,
    /// Every file, those above included.
    pub files: Vec<Artifact>,
}

impl RevisionFolder {
    /// A file by its name.
    pub fn file(&self, name: &str) -> Option<&Bytes> {
        self.files.iter().find(|file| file.name == name).map(|file| &file.bytes)
    }

    /// The name under which the source is archived beside the files.
    pub fn source_name(&self) -> String {
        format!("source/original.{}", self.manifest.source.detected_format.extension())
    }
}

/// For whom a document is read, and what is known of it.
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

impl From<&ParseMessage> for RevisionRequest {
    fn from(message: &ParseMessage) -> Self {
        Self {
            job_id: Some(message.job_id.clone()),
            data_id: message.data_id.clone(),
            document_id: message.document_id.clone(),
            file_name: message.file_name.clone(),
            profile: message.profile.clone(),
            parsing_params: message.parsing_params.clone(),
        }
    }
}

/// The revision that reading these bytes gives: known before they are read.
pub fn revision_of(parser: &dyn Parser, source_blake3_hex: &str, parsing_params: &Map<String, Value>) -> Revision {
    let parameters = sorted(parsing_params).to_string();
    Revision::of(source_blake3_hex, &format!("{} {} {LAYOUT}", parser.name(), parser.version()), &parameters)
}

/// Changes whenever equal rows may give other artifacts.
const LAYOUT: &str = "layout-1";

/// JSON objects with their keys in order, whatever order the caller wrote them in.
fn sorted(map: &Map<String, Value>) -> Value {
    let mut entries: Vec<(&String, &Value)> = map.iter().collect();
    entries.sort_by_key(|(key, _)| *key);
    let value = |value: &Value| if let Value::Object(map) = value { sorted(map) } else { value.clone() };
    Value::Object(entries.into_iter().map(|(key, entry)| (key.clone(), value(entry))).collect())
}

/// Reads a document and builds its folder: no store, no queue, the clock only for the times in the manifest.
///
/// Answers `EMPTY` for a document in which there is neither text nor picture, `TOO_LARGE` for one above
/// `limits.file_bytes`, and whatever the parser finds.
pub fn parse_to_folder(
    parser: &dyn Parser,
    bytes: &Bytes,
    request: &RevisionRequest,
    limits: &Limits,
    clock: &dyn Clock,
) -> Result<RevisionFolder, DocumentFailure> {
    let reading = read(parser, bytes, request, None, limits, clock)?;
    finish(parser, bytes, request, reading, Enrichment::default(), limits, clock)
}

/// What a parser read, before it is made into a folder.
pub(crate) struct Reading {
    pub(crate) parsed: Parsed,
    times: build::Times,
}

/// The first half of [`parse_to_folder`]: the parser's. Where the document has been read in parts, these are put together
/// instead; parts that make no document are left aside, and the document is read whole.
pub(crate) fn read(
    parser: &dyn Parser,
    bytes: &Bytes,
    request: &RevisionRequest,
    parts: Option<Vec<Bytes>>,
    limits: &Limits,
    clock: &dyn Clock,
) -> Result<Reading, DocumentFailure> {
    let started = clock.now();
    if bytes.is_empty() {
        return Err(DocumentFailure::new(DocumentCode::Empty, "0 bytes"));
    }
    check_size(bytes.len() as u64, limits)?;
    let source = Source { bytes, file_name: &request.file_name, profile: &request.profile };
    let joined = match parser.in_parts().zip(parts) {
        Some((parser, parts)) => parser.join(&source, parts, limits)?,
        None => None,
    };
    let parsed = match joined {
        Some(parsed) => parsed,
        None => parser.parse(&source, limits)?,
    };
    Ok(Reading { parsed, times: build::Times { started, parsed: clock.now() } })
}

/// The second half: from rows, and what models added, to the folder.
pub(crate) fn finish(
    parser: &dyn Parser,
    bytes: &Bytes,
    request: &RevisionRequest,
    reading: Reading,
    enrichment: Enrichment,
    limits: &Limits,
    clock: &dyn Clock,
) -> Result<RevisionFolder, DocumentFailure> {
    build::build(parser, bytes, request, reading.parsed, enrichment, limits, clock, reading.times)
}

/// Refuses a source that is larger than allowed.
pub(crate) fn check_size(size: u64, limits: &Limits) -> Result<(), DocumentFailure> {
    if size > limits.file_bytes {
        let detail = format!("{size} bytes, at most {} are read", limits.file_bytes);
        return Err(DocumentFailure::new(DocumentCode::TooLarge, detail));
    }
    Ok(())
}

/// JSON as every artifact is written: UTF-8, two-space indent, a newline at the end.
fn json<T: Serialize>(value: &T) -> Result<Bytes, DocumentFailure> {
    let mut out = serde_json::to_vec_pretty(value)
        .map_err(|error| DocumentFailure::new(DocumentCode::Crashed, format!("an artifact cannot be written: {error}")))?;
    out.push(b'\n');
    Ok(Bytes::from(out))
}
