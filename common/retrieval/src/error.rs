//! What can go wrong with a query.

use quarry_index::IndexError;
use quarry_ports::{ObjectError, RecordError};

/// Why a query has no answer. What merely degrades an answer is in the answer (`partial`, `failure_reason`).
#[derive(Debug, thiserror::Error)]
pub enum RetrievalError {
    /// The index could not be read.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The records store failed.
    #[error(transparent)]
    Records(#[from] RecordError),
    /// The object store failed.
    #[error(transparent)]
    Objects(#[from] ObjectError),
    /// The namespace's manifest object cannot be read.
    #[error("index manifest: {0}")]
    Manifest(#[source] serde_json::Error),
    /// The head moved on again and again while it was being opened.
    #[error("the namespace is published faster than it can be opened")]
    Moving,
    /// No random bytes for a run's identity.
    #[error("no random bytes: {0}")]
    Random(String),
}

impl RetrievalError {
    /// Whether trying again can help.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Index(IndexError::Objects(error)) | Self::Objects(error) => error.is_transient(),
            Self::Index(IndexError::Gone(_)) | Self::Moving => true,
            Self::Records(error) => matches!(error, RecordError::Unavailable(_)),
            _ => false,
        }
    }
}
