//! Why a publication did not happen.

use quarry_model::{DocumentCode, DocumentFailure, Outcome};
use quarry_ports::{ObjectError, RecordError, TransactError};

use quarry_publication::{FolderError, PublicationError};

/// A publication that did not happen. Nothing of it is visible.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// What is stored of the namespace cannot be read or written, or a revision folder cannot be published.
    #[error(transparent)]
    Publication(#[from] PublicationError),
    /// The object store failed.
    #[error(transparent)]
    Objects(#[from] ObjectError),
    /// The records store failed.
    #[error(transparent)]
    Records(#[from] RecordError),
    /// The commit failed for another reason than a lost race.
    #[error(transparent)]
    Commit(#[from] TransactError),
    /// The job ledger failed.
    #[error(transparent)]
    Jobs(#[from] quarry_runtime::Error),
    /// Others won every race for the head.
    #[error("the namespace is being published by others; tried {0} times")]
    Contended(u32),
}

impl PublishError {
    /// How the stage answers for one input.
    pub(crate) fn outcome(&self) -> Outcome<()> {
        match self {
            // The folder is written by a stage of ours and checked there: if it is wrong now, reading it failed.
            Self::Publication(PublicationError::Folder(
                error @ (FolderError::Missing(_) | FolderError::Unreadable(..) | FolderError::Inconsistent(_)),
            )) => Outcome::Rejected(DocumentFailure::new(DocumentCode::Crashed, error.to_string())),
            other => Outcome::Retry { cause: other.to_string(), delay_seconds: 5 },
        }
    }
}

impl From<FolderError> for PublishError {
    fn from(error: FolderError) -> Self {
        Self::Publication(error.into())
    }
}
