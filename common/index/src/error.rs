//! What can go wrong with splits.

use quarry_model::{DocumentId, ObjectKey};
use quarry_ports::ObjectError;

/// Why an index operation failed.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The split is not there. Either it was retired since the manifest was read (read the head again and retry), or
    /// it is lost.
    #[error("split {0} is gone")]
    Gone(ObjectKey),
    /// The split's bytes are not those its name promises.
    #[error("split {key} is corrupt: {detail}")]
    Corrupt {
        /// Which.
        key: ObjectKey,
        /// What was found.
        detail: String,
    },
    /// The split was written by other rules of analysis and has to be rebuilt from its chunks.
    #[error("split {key} was written by analyser {found}")]
    Analyzer {
        /// Which.
        key: ObjectKey,
        /// Its analyser.
        found: String,
    },
    /// The object store failed.
    #[error(transparent)]
    Objects(#[from] ObjectError),
    /// Documents that cannot form a split: the same document twice, or chunks out of order.
    #[error("document {document_id} cannot be indexed: {detail}")]
    Document {
        /// Which.
        document_id: DocumentId,
        /// Why.
        detail: &'static str,
    },
    /// A chunk could not be written or read.
    #[error("stored chunk: {0}")]
    Chunk(#[from] serde_json::Error),
    /// The segment library failed.
    #[error("segment: {0}")]
    Segment(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A split that could not be read; the others answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingSplit {
    /// Which.
    pub key: ObjectKey,
    /// Why.
    pub reason: MissingReason,
    /// Live documents that could not be searched.
    pub documents: u32,
}

/// Why a split could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MissingReason {
    /// Not there: the caller reads the head again and, if it moved, opens the new manifest.
    Gone,
    /// Bytes other than promised.
    Corrupt,
    /// Written by another analyser.
    Analyzer,
    /// The store did not answer.
    Unavailable,
}
