//! Queues: at least once, with visibility, receive counts, dead letters, and ordered groups where the queue is FIFO.

use std::time::Duration;

use async_trait::async_trait;
use quarry_model::Trace;
use quarry_model::message::QueueName;

use crate::trace;

/// Why a call to a queue failed, by meaning.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// The receipt is no longer good: the message was acknowledged, or is with somebody else.
    #[error("receipt no longer valid")]
    Receipt,
    /// The body is larger than a message may be (256 KiB).
    #[error("message of {0} bytes is too large")]
    TooLarge(usize),
    /// Throttled, slow, broken off: trying again can help.
    #[error("queue unavailable: {0}")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Anything else.
    #[error("queue failed: {0}")]
    Other(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// The largest body, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 256 * 1024;

/// A message to send.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outgoing {
    /// JSON.
    pub body: String,
    /// Ordered group; required by FIFO queues, ignored by others.
    pub group: Option<String>,
    /// A message sent again under the same value within five minutes is dropped; FIFO queues only.
    pub deduplication: Option<String>,
    /// Not received before this has passed; ignored by FIFO queues.
    pub delay: Duration,
    /// The trace of the work that sends it.
    pub trace: Option<Trace>,
}

impl Outgoing {
    /// A message that goes on with the trace of the work at hand.
    pub fn traced(body: String) -> Self {
        Self { body, trace: trace::current(), ..Self::default() }
    }
}

/// A message received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The store's id of the message.
    pub id: String,
    /// JSON.
    pub body: String,
    /// Ordered group, of FIFO queues.
    pub group: Option<String>,
    /// Good for acknowledging or releasing until the visibility ends.
    pub receipt: String,
    /// How often it has been received, this time included.
    pub receive_count: u32,
    /// The trace it was sent in.
    pub trace: Option<Trace>,
}

/// A message that was given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// The store's id of the message.
    pub id: String,
    /// JSON.
    pub body: String,
}

/// Says which dead letters are meant.
pub type Chosen<'a> = &'a (dyn Fn(&DeadLetter) -> bool + Send + Sync);

/// Queues by name.
#[async_trait]
pub trait Queue: Send + Sync + 'static {
    /// Sends messages; when it returns they are stored. Any number: the adapter cuts batches.
    async fn send(&self, queue: QueueName, messages: Vec<Outgoing>) -> Result<(), QueueError>;

    /// Takes at most `max` (1 to 10 on SQS; a store may give more) messages, waiting up to `wait` for the first. Each is
    /// invisible to others for `visibility`. A FIFO group with a message in flight gives no further messages. A message
    /// already received `max_receives` times moves to the dead letters instead.
    async fn receive(&self, queue: QueueName, max: usize, visibility: Duration, wait: Duration) -> Result<Vec<Received>, QueueError>;

    /// Removes a message: its work is finished.
    async fn acknowledge(&self, queue: QueueName, receipt: &str) -> Result<(), QueueError>;

    /// Makes a message visible again after `delay`: zero releases it at once, more extends its work.
    async fn change_visibility(&self, queue: QueueName, receipt: &str, delay: Duration) -> Result<(), QueueError>;

    /// Looks at up to `max` dead letters of a queue without removing them.
    async fn dead_letters(&self, queue: QueueName, max: usize) -> Result<Vec<DeadLetter>, QueueError>;

    /// Moves up to `max` of the dead letters that are `chosen` back into their queue, where they count as never received;
    /// returns how many. The others stay where they are.
    async fn redrive(&self, queue: QueueName, max: usize, chosen: Chosen<'_>) -> Result<usize, QueueError>;
}
