//! Language models, as a port: one question in, one answer out. Everything works without one, so a missing model is no
//! error of the system's, only of the call.

mod answer;
mod prompt;

use std::time::Duration;

use async_trait::async_trait;

pub use answer::object;
pub use prompt::{AnswerForm, Part, Prompt};

/// What a model is asked for. Each task has a configuration of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Task {
    /// Summaries of sections and documents.
    Summary,
    /// Levels of headings that nothing else decides.
    Hierarchy,
    /// Descriptions of pictures.
    Image,
    /// Text in pictures.
    Ocr,
    /// What kind of document it is.
    Classify,
    /// Decomposing a query.
    Planner,
    /// Choosing sections.
    Navigator,
}

impl Task {
    /// All of them.
    pub const ALL: [Self; 7] = [Self::Summary, Self::Hierarchy, Self::Image, Self::Ocr, Self::Classify, Self::Planner, Self::Navigator];

    /// As manifests, traces and logs name it; in upper case, as variables do.
    pub fn name(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Hierarchy => "hierarchy",
            Self::Image => "image",
            Self::Ocr => "ocr",
            Self::Classify => "classify",
            Self::Planner => "planner",
            Self::Navigator => "navigator",
        }
    }
}

/// Tokens of one call, as the server counted them, or as we do where it does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Of the question.
    pub prompt: u64,
    /// Of the answer.
    pub completion: u64,
}

/// Why an answer ends where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The model had said all.
    Complete,
    /// The limit on its length was reached.
    Length,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// What was said; never empty, and never longer than the prompt's `max_tokens` by our own count.
    pub text: String,
    /// Why it ends there. Never [`Ended::Length`] for [`AnswerForm::Json`]: half an object is [`ModelError::Unreadable`].
    pub ended: Ended,
    /// What it cost.
    pub usage: Usage,
}

/// Why there is no answer, by meaning. No variant holds a key, and none holds more than a short, redacted piece of what
/// the server said.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// No model is set for the task.
    #[error("no model is configured for {}", .0.name())]
    NotConfigured(Task),
    /// Every key has used up its calls, or was told to wait.
    #[error("every key of the model waits, the first for {} ms", .0.as_millis())]
    Throttled(Duration),
    /// The server fails or cannot be reached.
    #[error("model unavailable: {0}")]
    Unavailable(String),
    /// No whole answer within the time limit.
    #[error("no answer from the model within {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// The server refuses the question or the key: asking again will not help.
    #[error("model refused the call ({status}): {message}")]
    Refused {
        /// HTTP status.
        status: u16,
        /// What it said, shortened and without keys.
        message: String,
    },
    /// The answer is cut off, empty, or not of the form asked for.
    #[error("unreadable answer from the model: {0}")]
    Unreadable(&'static str),
}

impl ModelError {
    /// One lower-case word for traces, manifests and metrics.
    pub fn name(&self) -> &'static str {
        match self {
            Self::NotConfigured(_) => "not_configured",
            Self::Throttled(_) => "throttled",
            Self::Unavailable(_) => "unavailable",
            Self::TimedOut(_) => "timed_out",
            Self::Refused { .. } => "refused",
            Self::Unreadable(_) => "unreadable",
        }
    }
}

/// Models, one per task.
#[async_trait]
pub trait Model: Send + Sync + 'static {
    /// The model that answers a task; `None` when none is set: then nobody needs to ask.
    fn name(&self, task: Task) -> Option<&str>;

    /// Asks, and waits for the whole answer, at most the prompt's time limit. Retries of one question are the adapter's
    /// work and count within that limit; the caller asks once. Dropping the future ends the call.
    async fn complete(&self, prompt: &Prompt) -> Result<Completion, ModelError>;
}

/// No model for any task.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoModel;

#[async_trait]
impl Model for NoModel {
    fn name(&self, _: Task) -> Option<&str> {
        None
    }

    async fn complete(&self, prompt: &Prompt) -> Result<Completion, ModelError> {
        Err(ModelError::NotConfigured(prompt.task))
    }
}
