//! Why stored publications could not be read or written.

use quarry_index::IndexError;
use quarry_model::ObjectKey;
use quarry_ports::{ObjectError, RecordError};

use crate::folder::FolderError;

/// By meaning.
#[derive(Debug, thiserror::Error)]
pub enum PublicationError {
    /// A revision folder is not as it should be.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The object store failed.
    #[error(transparent)]
    Objects(#[from] ObjectError),
    /// The records store failed.
    #[error(transparent)]
    Records(#[from] RecordError),
    /// A split could not be built or read.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The index manifest of a head cannot be read.
    #[error("index manifest {0} cannot be read")]
    Manifest(ObjectKey, #[source] serde_json::Error),
}
