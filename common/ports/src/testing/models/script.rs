//! What the other side says, question by question.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A question as it arrived.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Asked {
    /// Name of the model; tests name it by the task.
    pub model: String,
    /// System message.
    pub system: String,
    /// Text of the user message.
    pub user: String,
    /// Pictures.
    pub images: usize,
    /// Whether JSON mode was asked for.
    pub json: bool,
    /// Limit of the answer.
    pub max_tokens: u32,
    /// The key it was asked with; the double has none.
    pub key: Option<String>,
}

/// What is said to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// This, whole.
    Says(String),
    /// This, after a while.
    Slow(Duration, String),
    /// 429, with or without `Retry-After`.
    Throttles(Option<Duration>),
    /// This HTTP status.
    Fails(u16),
    /// `content: null`.
    Null,
    /// This, and then the connection breaks.
    CutOff(String),
    /// Bytes that are not of the protocol.
    Noise,
    /// Words without an end.
    Endless,
}

type Next = Box<dyn FnMut(&Asked) -> Reply + Send>;

/// Plays the other side, and remembers what it was asked.
pub struct Script {
    next: Mutex<Next>,
    asked: Mutex<Vec<Asked>>,
}

impl Default for Script {
    /// Says nothing until it is told what to say.
    fn default() -> Self {
        Self { next: Mutex::new(Box::new(|_| Reply::Null)), asked: Mutex::default() }
    }
}

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Script").field("asked", &self.asked().len()).finish_non_exhaustive()
    }
}

impl Script {
    /// Says this to every question from now on.
    pub fn always(&self, reply: Reply) {
        self.with(move |_| reply.clone());
    }

    /// Says these in turn, and the last one for ever.
    pub fn in_turn(&self, replies: impl IntoIterator<Item = Reply>) {
        let mut replies = replies.into_iter().collect::<Vec<_>>().into_iter().peekable();
        let mut last = Reply::Null;
        self.with(move |_| {
            if let Some(reply) = replies.next() {
                last = reply;
            }
            last.clone()
        });
    }

    /// Says what `next` makes of each question from now on.
    pub fn with(&self, next: impl FnMut(&Asked) -> Reply + Send + 'static) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(next);
    }

    /// Every question so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Answers a question.
    pub(super) fn reply(&self, asked: Asked) -> Reply {
        let reply = (self.next.lock().unwrap_or_else(PoisonError::into_inner))(&asked);
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
        reply
    }
}
