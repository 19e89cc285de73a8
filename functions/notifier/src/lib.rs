//! Tells callers that their jobs have ended.
//!
//! What this room is for: delivering the webhooks that wait in the outbox. What enters: a schedule's tick. What leaves:
//! signed requests to addresses out of requests, and how each fared. What it must never do: reach an address that is not
//! public, tell of what did not happen (the entries are written by the change that ends a job), forget one (an entry goes
//! only when it was delivered or given up), or hold up anything else: publishing never waits for a receiver.
//!
//! Each entry lies under the moment it is due. Whoever takes one moves it a lease ahead under a condition, so that of two
//! notifiers one sends; one that dies leaves an entry that is due again when the lease ends. A receiver can therefore see
//! an event twice: `X-Knowhere-Attempt-ID` and the job's id tell it.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

mod event;
mod outbox;
mod signature;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::stream::{self, StreamExt};
use http::{HeaderMap, HeaderName, HeaderValue};
use quarry_model::job::{OutboxEntry, WebhookReport};
use quarry_outbound::{Outbound, OutboundError};
use quarry_ports::{Clock, ObjectError, ObjectStore, RecordError};
use quarry_runtime::Jobs;
use quarry_runtime::config::SigningSecret;
use serde::Serialize;

/// Webhooks under way at once.
const AT_ONCE: usize = 8;
/// Webhooks taken in one run; the rest is due in the next.
const PER_RUN: usize = 200;
/// How long a receiver may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Pauses between tries; after the last try the webhook is given up. Nine hours in all: a night's outage is survived.
const PAUSES: [Duration; 6] = [
    Duration::from_secs(30),
    Duration::from_mins(2),
    Duration::from_mins(10),
    Duration::from_hours(1),
    Duration::from_hours(3),
    Duration::from_hours(5),
];

/// Why a run could not be done; the entries stay due.
#[derive(Debug, thiserror::Error)]
pub enum NotifyError {
    /// The records store.
    #[error(transparent)]
    Records(#[from] RecordError),
    /// The objects store.
    #[error(transparent)]
    Objects(#[from] ObjectError),
    /// The job ledger.
    #[error(transparent)]
    Jobs(#[from] quarry_runtime::Error),
    /// An event cannot be written as JSON, or its headers not as headers.
    #[error("a webhook cannot be written: {0}")]
    Event(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// What a run has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Summary {
    /// Taken by their receivers.
    pub delivered: u32,
    /// To be tried again.
    pub postponed: u32,
    /// Given up.
    pub given_up: u32,
}

/// Delivers webhooks.
#[derive(Clone)]
pub struct Notifier {
    jobs: Jobs,
    objects: Arc<dyn ObjectStore>,
    clock: Arc<dyn Clock>,
    outbound: Outbound,
    secret: SigningSecret,
}

impl std::fmt::Debug for Notifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Notifier")
    }
}

enum Fate {
    Delivered,
    Postponed,
    GivenUp,
    /// Another notifier has it.
    Elsewhere,
}

impl Notifier {
    /// A notifier over a job ledger.
    pub fn new(jobs: Jobs, objects: Arc<dyn ObjectStore>, clock: Arc<dyn Clock>, outbound: Outbound, secret: SigningSecret) -> Self {
        Self { jobs, objects, clock, outbound, secret }
    }

    /// Delivers what is due.
    pub async fn run(&self) -> Result<Summary, NotifyError> {
        let due = outbox::due(self.jobs.records(), self.clock.now(), PER_RUN).await?;
        let mut summary = Summary::default();
        let mut failed = None;
        let mut fates = stream::iter(due).map(|entry| self.deliver(entry)).buffer_unordered(AT_ONCE);
        // One that cannot be handled does not keep the others from their receivers.
        while let Some(fate) = fates.next().await {
            match fate {
                Ok(Fate::Delivered) => summary.delivered = summary.delivered.saturating_add(1),
                Ok(Fate::Postponed) => summary.postponed = summary.postponed.saturating_add(1),
                Ok(Fate::GivenUp) => summary.given_up = summary.given_up.saturating_add(1),
                Ok(Fate::Elsewhere) => {}
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(summary), Err)
    }

    async fn deliver(&self, entry: OutboxEntry) -> Result<Fate, NotifyError> {
        let records = self.jobs.records();
        let Some(taken) = outbox::take(records, &entry, self.clock.now()).await? else {
            return Ok(Fate::Elsewhere);
        };
        let Some(job) = self.jobs.load(&taken.job_id).await? else {
            outbox::remove(records, &taken).await?;
            return Ok(Fate::GivenUp);
        };
        let event = event::of(&job, self.objects.as_ref()).await?;
        let body = serde_json::to_vec(&event).map_err(|error| NotifyError::Event(error.into()))?;
        let sent = self.send(&taken, Bytes::from(body)).await?;
        let now = self.clock.now();
        let (delivered, last) = match &sent {
            Ok(status) => (true, status.to_string()),
            Err(error) => (false, error.to_string()),
        };
        let trace_id = job.trace.map_or_else(String::new, |trace| trace.id());
        // The address stays out of the log: it can hold a secret.
        tracing::info!(target: "quarry::webhook", job_id = %taken.job_id, trace_id, attempt = taken.attempts, delivered, last, "webhook");
        let pause = PAUSES.get(usize::try_from(taken.attempts.saturating_sub(1)).unwrap_or(usize::MAX));
        if let Some(pause) = pause.filter(|_| sent.as_ref().err().is_some_and(may_pass)) {
            outbox::postpone(records, &taken, now, *pause).await?;
            return Ok(Fate::Postponed);
        }
        let report = WebhookReport { delivered, attempts: taken.attempts, last, at: now };
        outbox::end(records, &taken, &report).await?;
        Ok(if delivered { Fate::Delivered } else { Fate::GivenUp })
    }

    async fn send(&self, taken: &OutboxEntry, body: Bytes) -> Result<Result<u16, OutboundError>, NotifyError> {
        let seconds = self.clock.now().millis().div_euclid(1000);
        let signature = signature::header(&self.secret, seconds, &body);
        let attempt = format!("{}-{}", taken.job_id, taken.attempts);
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("content-type", "application/json"),
            ("x-knowhere-signature", signature.as_str()),
            ("x-knowhere-attempt-id", attempt.as_str()),
        ] {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).map_err(|error| NotifyError::Event(error.into()))?);
        }
        Ok(self.outbound.post(&taken.url, headers, body, PATIENCE).await)
    }
}

/// Whether another try can end otherwise: an address that may not be reached stays so, and `410 Gone` is an answer.
fn may_pass(error: &OutboundError) -> bool {
    !matches!(
        error,
        OutboundError::Malformed
            | OutboundError::Scheme
            | OutboundError::Credentials
            | OutboundError::NotPublic
            | OutboundError::Status(410)
    )
}
