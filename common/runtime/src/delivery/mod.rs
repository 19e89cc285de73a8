//! From received messages to finished work: the same code for the SQS batch loop and the local pump.
//!
//! For each message: decode it; look at its job and at the attempt record; write the attempt *before* the work; run the
//! stage; turn the outcome into an acknowledgement, a delay or a failed job. What cannot be caught (a killed function, an
//! overflowed stack) leaves an attempt with a start and no end: the redelivery that would be one too many fails the job
//! with `CRASHED`. A duplicate of running work is left to whoever holds the lease and never fails it.

mod attempt;
mod pump;
#[cfg(test)]
mod tests;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::join_all;
use quarry_model::{DocumentCode, DocumentFailure, JobId, Limits, Outcome, SkipReason, Trace};
use quarry_ports::{Received, Stage, trace};

use self::attempt::{Attempt, Start};
use crate::error::Error;
use crate::events::{self, DecodeError};
use crate::jobs::Jobs;
use crate::logs::OutcomeLine;
use crate::random;

#[cfg(feature = "lambda")]
pub(crate) use pump::batches;
pub use pump::{PumpOptions, pump};

/// What becomes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    /// Its work is finished, or there is none.
    Acknowledge,
    /// It is to come again after this delay. The queue moves it to the dead letters when it has come often enough.
    Release(Duration),
}

/// What delivery needs beside the stage.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// The ledger.
    pub jobs: Jobs,
    /// Limits; `receives` is how often a message is tried.
    pub limits: Arc<Limits>,
    /// How long received messages stay invisible, and so how long an attempt holds its lease.
    pub visibility: Duration,
    /// Names this process in attempt records.
    pub holder: String,
    /// Whether no other process works on these queues. Then a lease of another holder belongs to a dead process.
    pub sole: bool,
    /// Whether to write metrics lines.
    pub metrics: bool,
}

impl Disposition {
    /// The one of two that keeps the message longer.
    fn later(self, other: Self) -> Self {
        match (self, other) {
            (Self::Release(a), Self::Release(b)) => Self::Release(a.max(b)),
            (Self::Release(delay), Self::Acknowledge) | (Self::Acknowledge, Self::Release(delay)) => Self::Release(delay),
            (Self::Acknowledge, Self::Acknowledge) => Self::Acknowledge,
        }
    }
}

impl Delivery {
    /// The settings for a function among many: leases of others are respected.
    pub fn shared(jobs: Jobs, limits: Arc<Limits>, visibility: Duration) -> Result<Self, Error> {
        Ok(Self { jobs, limits, visibility, holder: random::token()?, sole: false, metrics: false })
    }

    /// The settings for the one process that works on a local store.
    pub fn sole(jobs: Jobs, limits: Arc<Limits>, visibility: Duration) -> Result<Self, Error> {
        Ok(Self { sole: true, ..Self::shared(jobs, limits, visibility)? })
    }
}

/// Takes a batch of messages through a stage; one disposition for each message, in order.
///
/// The messages are given to the stage together: pass one at a time for stages that work alone, and a group's for the
/// publisher. It never fails as a whole: what goes wrong with one message stays with that message.
pub async fn deliver<S: Stage>(stage: &S, delivery: &Delivery, messages: &[Received]) -> Vec<Disposition> {
    let began = Instant::now();
    let mut verdicts: Vec<Disposition> = vec![Disposition::Acknowledge; messages.len()];
    let mut ready: Vec<Ready<S::Input>> = Vec::new();
    // Side by side, so that a store that commits in groups can.
    let prepared = join_all(messages.iter().map(|message| prepare(stage, delivery, message))).await;
    for ((index, message), inputs) in messages.iter().enumerate().zip(prepared) {
        for input in inputs {
            match input {
                Ok(input) => ready.push(Ready { index, ..input }),
                Err(not) => {
                    verdicts[index] = verdicts[index].later(not.disposition);
                    Line { stage: stage.name(), message, job: not.job.as_ref(), trace: not.trace, began }.write(
                        delivery,
                        not.outcome,
                        &not.code,
                        &not.detail,
                    );
                }
            }
        }
    }
    if ready.is_empty() {
        return verdicts;
    }
    let outcomes = run(stage, &ready).await;
    let finished = ready.iter().zip(outcomes).map(|(one, outcome)| {
        let message = &messages[one.index];
        let line = Line { stage: stage.name(), message, job: one.job.as_ref(), trace: one.trace, began };
        finish(delivery, stage.name(), one, message, outcome, line)
    });
    for (one, disposition) in ready.iter().zip(join_all(finished).await) {
        // A message with several inputs comes again when any of them must.
        verdicts[one.index] = verdicts[one.index].later(disposition);
    }
    verdicts
}

/// An input whose attempt is written.
struct Ready<I> {
    index: usize,
    input: I,
    job: Option<JobId>,
    attempt: Option<Attempt>,
    trace: Trace,
}

/// An input that needs no work now, and why.
struct NotReady {
    disposition: Disposition,
    outcome: &'static str,
    code: String,
    detail: String,
    job: Option<JobId>,
    trace: Trace,
}

async fn prepare<S: Stage>(stage: &S, delivery: &Delivery, message: &Received) -> Vec<Result<Ready<S::Input>, NotReady>> {
    let inputs = match events::decode::<S::Input>(&message.body) {
        Ok(inputs) => inputs,
        Err(error) => return vec![Err(poison(message, &error))],
    };
    if inputs.is_empty() {
        return vec![Err(skipped(SkipReason::NotOurs, Disposition::Acknowledge, None, trace_of(message, None, None)))];
    }
    let mut prepared = Vec::with_capacity(inputs.len());
    for input in inputs {
        prepared.push(begin(stage, delivery, message, input).await);
    }
    prepared
}

async fn begin<S: Stage>(stage: &S, delivery: &Delivery, message: &Received, input: S::Input) -> Result<Ready<S::Input>, NotReady> {
    let Some(id) = stage.job(&input) else {
        return Ok(Ready { index: 0, input, job: None, attempt: None, trace: trace_of(message, None, None) });
    };
    let job = Some(id.clone());
    let started = attempt::start(delivery, stage.name(), &id, stage.part(&input), message).await;
    let trace = trace_of(message, started.as_ref().ok().and_then(|started| started.trace), job.as_ref());
    match started.map(|started| started.start) {
        Ok(Start::Begin(attempt)) => Ok(Ready { index: 0, input, job, attempt: Some(attempt), trace }),
        Ok(Start::Skip(reason, disposition)) => Err(skipped(reason, disposition, job, trace)),
        Ok(Start::GivenUp(failure)) => Err(NotReady {
            disposition: Disposition::Acknowledge,
            outcome: "rejected",
            code: failure.code.name().to_owned(),
            detail: failure.detail,
            job,
            trace,
        }),
        Err(error) => Err(NotReady {
            disposition: Disposition::Release(backoff(message.receive_count)),
            outcome: "retry",
            code: "store".to_owned(),
            detail: error.to_string(),
            job,
            trace,
        }),
    }
}

fn poison(message: &Received, error: &DecodeError) -> NotReady {
    NotReady {
        disposition: Disposition::Release(backoff(message.receive_count)),
        outcome: "poison",
        code: "poison".to_owned(),
        detail: error.to_string(),
        job: None,
        trace: trace_of(message, None, None),
    }
}

fn skipped(reason: SkipReason, disposition: Disposition, job: Option<JobId>, trace: Trace) -> NotReady {
    NotReady { disposition, outcome: "skipped", code: word(reason).to_owned(), detail: String::new(), job, trace }
}

/// What began the work: the request that made its job, else whatever the message was sent in, else the event itself, by
/// the name that its doubles share.
fn trace_of(message: &Received, of_job: Option<Trace>, job: Option<&JobId>) -> Trace {
    of_job.or(message.trace).unwrap_or_else(|| Trace::named(job.map_or(message.id.as_str(), JobId::as_str)))
}

/// Runs the stage; a panic, or a number of outcomes other than of inputs, is a retry of them all.
async fn run<S: Stage>(stage: &S, ready: &[Ready<S::Input>]) -> Vec<Outcome<()>> {
    let inputs: Vec<S::Input> = ready.iter().map(|one| one.input.clone()).collect();
    let count = inputs.len();
    let work = AssertUnwindSafe(async {
        match ready {
            [first, rest @ ..] if rest.iter().all(|one| one.trace == first.trace) => trace::within(first.trace, stage.run(inputs)).await,
            // What is done for several at once is part of none of their traces.
            _ => stage.run(inputs).await,
        }
    });
    let again = |cause: &str| vec![Outcome::Retry { cause: cause.to_owned(), delay_seconds: 1 }; count];
    match work.catch_unwind().await {
        Ok(outcomes) if outcomes.len() == count => outcomes,
        Ok(_) => again("the stage lost count of its inputs"),
        Err(_) => again("the stage panicked"),
    }
}

async fn finish<I>(
    delivery: &Delivery,
    stage: &str,
    one: &Ready<I>,
    message: &Received,
    outcome: Outcome<()>,
    line: Line<'_>,
) -> Disposition {
    let word_of = outcome.word();
    let result = match &outcome {
        Outcome::Done(()) => {
            line.write(delivery, word_of, "", "");
            attempt::close(delivery, one.attempt.as_ref()).await.map(|()| Disposition::Acknowledge)
        }
        Outcome::Skipped(reason) => {
            line.write(delivery, word_of, word(*reason), "");
            skip(delivery, stage, one, *reason).await
        }
        Outcome::Rejected(failure) => {
            line.write(delivery, word_of, failure.code.name(), &failure.detail);
            attempt::reject(delivery, stage, one.job.as_ref(), one.attempt.as_ref(), failure).await.map(|()| Disposition::Acknowledge)
        }
        Outcome::Retry { cause, delay_seconds } => {
            line.write(delivery, word_of, "", cause);
            again(delivery, stage, one, message, cause, *delay_seconds).await
        }
    };
    result.unwrap_or_else(|error| {
        line.write(delivery, "retry", "store", &error.to_string());
        Disposition::Release(backoff(message.receive_count))
    })
}

async fn skip<I>(delivery: &Delivery, stage: &str, one: &Ready<I>, reason: SkipReason) -> Result<Disposition, Error> {
    match (reason, &one.job) {
        (SkipReason::Running, _) => {
            attempt::release(delivery, one.attempt.as_ref(), "running elsewhere").await?;
            Ok(Disposition::Release(random::jitter(Duration::from_secs(5))))
        }
        // The document or the job was called off: a job that is still active ends here, or it would wait for ever.
        (SkipReason::Gone, Some(job)) => {
            let failure = DocumentFailure::new(DocumentCode::Cancelled, "");
            attempt::reject(delivery, stage, Some(job), one.attempt.as_ref(), &failure).await?;
            Ok(Disposition::Acknowledge)
        }
        _ => {
            attempt::close(delivery, one.attempt.as_ref()).await?;
            Ok(Disposition::Acknowledge)
        }
    }
}

/// Another try, unless this was the last.
async fn again<I>(
    delivery: &Delivery,
    stage: &str,
    one: &Ready<I>,
    message: &Received,
    cause: &str,
    delay_seconds: u32,
) -> Result<Disposition, Error> {
    let tried = one.attempt.as_ref().map_or(0, |attempt| attempt.count).max(message.receive_count);
    if one.job.is_some() && tried >= delivery.limits.receives {
        let failure = DocumentFailure::new(DocumentCode::Crashed, format!("{stage} gave up after {tried} attempts"));
        attempt::reject(delivery, stage, one.job.as_ref(), one.attempt.as_ref(), &failure).await?;
        return Ok(Disposition::Acknowledge);
    }
    attempt::release(delivery, one.attempt.as_ref(), cause).await?;
    let wanted = Duration::from_secs(u64::from(delay_seconds));
    Ok(Disposition::Release(if wanted.is_zero() { wanted } else { random::jitter(wanted) }))
}

/// 2 s, 4 s, 8 s … up to a minute, with jitter.
fn backoff(receive_count: u32) -> Duration {
    random::jitter(Duration::from_secs(1 << receive_count.clamp(1, 6)).min(Duration::from_mins(1)))
}

fn word(reason: SkipReason) -> &'static str {
    match reason {
        SkipReason::Duplicate => "duplicate",
        SkipReason::Older => "older",
        SkipReason::Running => "running",
        SkipReason::Gone => "gone",
        SkipReason::NotOurs => "not_ours",
    }
}

/// What every line about one message shares.
struct Line<'a> {
    stage: &'a str,
    message: &'a Received,
    job: Option<&'a JobId>,
    trace: Trace,
    began: Instant,
}

impl Line<'_> {
    fn write(&self, delivery: &Delivery, outcome: &str, code: &str, detail: &str) {
        let line = OutcomeLine {
            stage: self.stage,
            request_id: &self.message.id,
            trace: Some(self.trace),
            job: self.job,
            bytes: Some(self.message.body.len() as u64),
            duration: self.began.elapsed(),
            outcome,
            code,
            detail,
            ..OutcomeLine::default()
        };
        line.log();
        if delivery.metrics {
            line.metrics(delivery.jobs.now().millis());
        }
    }
}
