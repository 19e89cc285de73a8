//! How a stage ends. Only the runtime turns an outcome into an acknowledgement, a job state, a metric or a status.

use serde::{Deserialize, Serialize};

use crate::code::DocumentFailure;

/// How one input of a stage ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome<T> {
    /// The work is done.
    Done(T),
    /// Nothing to do: acknowledged, and nothing changes.
    Skipped(SkipReason),
    /// The document is at fault: the job fails with this, no retry.
    Rejected(DocumentFailure),
    /// Something else is at fault: try again.
    Retry {
        /// For the log.
        cause: String,
        /// Seconds to wait first.
        delay_seconds: u32,
    },
}

/// Why there was nothing to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// The same work is already finished.
    Duplicate,
    /// Newer content has overtaken it.
    Older,
    /// Somebody else is at it right now.
    Running,
    /// The job or document is gone: deleted, cancelled, archived.
    Gone,
    /// Not meant for us: a test event, a foreign key.
    NotOurs,
}

impl<T> Outcome<T> {
    /// A short word for logs and metrics.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Done(_) => "done",
            Self::Skipped(_) => "skipped",
            Self::Rejected(_) => "rejected",
            Self::Retry { .. } => "retry",
        }
    }

    /// The same outcome with another result.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Self::Done(value) => Outcome::Done(f(value)),
            Self::Skipped(reason) => Outcome::Skipped(reason),
            Self::Rejected(failure) => Outcome::Rejected(failure),
            Self::Retry { cause, delay_seconds } => Outcome::Retry { cause, delay_seconds },
        }
    }
}
