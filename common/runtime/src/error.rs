//! What can go wrong around a stage.

use quarry_model::{DocumentId, JobId, JobState};
use quarry_ports::{ObjectError, QueueError, RecordError, TransactError};

/// Why something around a stage failed, by meaning.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No such job, or another owner's.
    #[error("no job {0}")]
    NoJob(JobId),
    /// The job is not in a state from which it can go there.
    #[error("job {job} is {from:?} and cannot become {to:?}")]
    Transition {
        /// The job.
        job: JobId,
        /// Where it stands.
        from: JobState,
        /// Where it was to go.
        to: JobState,
    },
    /// An idempotency key was used before, for another request.
    #[error("idempotency key already stands for job {0}, made by a different request")]
    KeyReused(JobId),
    /// A job is at work on the document.
    #[error("job {job} is at work on document {document}")]
    DocumentBusy {
        /// The document.
        document: DocumentId,
        /// The job.
        job: JobId,
    },
    /// Others kept changing the same record; trying again can help.
    #[error("job {0} is being changed by others")]
    Contended(JobId),
    /// A `QUARRY_…` variable holds something else than it should.
    #[error("{variable}: {problem}")]
    Config {
        /// The variable.
        variable: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// The machine gives no random bytes.
    #[error("no random bytes: {0}")]
    Random(String),
    /// The records store failed.
    #[error(transparent)]
    Records(#[from] RecordError),
    /// A transaction failed.
    #[error(transparent)]
    Transact(#[from] TransactError),
    /// The object store failed.
    #[error(transparent)]
    Objects(#[from] ObjectError),
    /// A queue failed.
    #[error(transparent)]
    Queue(#[from] QueueError),
}

impl Error {
    /// Whether trying again can help.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Contended(_)
            | Self::Records(RecordError::Unavailable(_))
            | Self::Transact(TransactError::Conflict | TransactError::Store(RecordError::Unavailable(_)))
            | Self::Queue(QueueError::Unavailable(_)) => true,
            Self::Objects(error) => error.is_transient(),
            _ => false,
        }
    }
}
