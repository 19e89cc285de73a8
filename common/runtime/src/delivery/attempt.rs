//! The attempt record: written before the work, removed after it, so that a start without an end can be seen.

use std::time::Duration;

use quarry_model::{DocumentCode, DocumentFailure, Job, JobId, JobState, RecordKey, SkipReason, Timestamp, Trace};
use quarry_ports::{Condition, Item, Received, RecordError, TransactError, Write};
use serde::{Deserialize, Serialize};

use super::{Delivery, Disposition, backoff};
use crate::error::Error;
use crate::random;

/// How often a start is tried again when another delivery of the same work starts at the same moment.
const TRIES: usize = 4;

/// A start that ours replaces, or ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Attempt {
    /// Where it is kept.
    #[serde(skip)]
    key: Option<RecordKey>,
    /// Starts so far, this one included.
    pub(super) count: u32,
    /// Fencing: only who knows it may end the attempt.
    token: String,
    /// The process at work.
    holder: String,
    /// The message it works for.
    message_id: String,
    /// When it began.
    started_at: Timestamp,
    /// Until when nobody else begins.
    lease_until: Timestamp,
    /// How it ended without success; `None` while it runs, and for ever when its process died.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<String>,
}

/// Whether work may begin.
pub(super) enum Start {
    /// The attempt is written.
    Begin(Attempt),
    /// There is nothing to do now.
    Skip(SkipReason, Disposition),
    /// Every attempt was used up; the job has failed with this.
    GivenUp(DocumentFailure),
}

/// What a start came to, and the trace of the job, if there is one.
pub(super) struct Started {
    pub(super) start: Start,
    pub(super) trace: Option<Trace>,
}

/// Looks at the job and at earlier attempts at it, or at this part of it, and writes a new attempt.
pub(super) async fn start(delivery: &Delivery, stage: &str, id: &JobId, part: Option<u32>, message: &Received) -> Result<Started, Error> {
    let key = RecordKey::attempt(id, stage, part);
    let records = delivery.jobs.records();
    for _ in 0..TRIES {
        let found = records.get_many(&[key.clone(), RecordKey::job(id)]).await?;
        let earlier: Option<Attempt> = found.first().and_then(Option::as_ref).map(Item::read).transpose()?;
        let job: Option<Job> = found.get(1).and_then(Option::as_ref).map(Item::read).transpose()?;
        let trace = job.as_ref().and_then(|job| job.trace);
        let started = |start| Ok(Started { start, trace });
        if let Some(job) = job.as_ref().filter(|job| !job.state.is_active()) {
            let reason = if job.state == JobState::Done { SkipReason::Duplicate } else { SkipReason::Gone };
            return started(Start::Skip(reason, Disposition::Acknowledge));
        }
        let now = delivery.jobs.now();
        if let Some(earlier) = &earlier {
            if let Some(disposition) = leave_to_holder(delivery, earlier, message, now) {
                return started(Start::Skip(SkipReason::Running, disposition));
            }
            if used_up(delivery, earlier, message) {
                return started(give_up(delivery, stage, id, job.is_some(), earlier, message).await?);
            }
        }
        let lease = i64::try_from(delivery.visibility.as_millis()).unwrap_or(i64::MAX) / 20 * 19;
        let attempt = Attempt {
            key: Some(key.clone()),
            count: earlier.as_ref().map_or(0, |earlier| earlier.count).saturating_add(1),
            token: random::token()?,
            holder: delivery.holder.clone(),
            message_id: message.id.clone(),
            started_at: now,
            lease_until: now.plus_millis(lease),
            ended: None,
        };
        let condition = earlier.map_or(Condition::Absent, |earlier| Condition::Equals("token".to_owned(), earlier.token.into()));
        let mut writes = vec![Write::Put(Item::of(key.clone(), &attempt)?, condition)];
        // Parts that start at one moment would stand in each other's way at the job's record: the first of them says it.
        let said = |job: &Job| part.is_some() && job.state == JobState::Running && job.stage == stage;
        if let Some(job) = job.filter(|job| job.state != JobState::WaitingFile && rank(stage) >= rank(&job.stage) && !said(job)) {
            let mut after = job.clone();
            after.state = JobState::Running;
            stage.clone_into(&mut after.stage);
            after.attempts = after.attempts.saturating_add(1);
            writes.extend(delivery.jobs.writes(&job, &mut after)?);
        }
        match records.transact(writes).await {
            Ok(()) => return started(Start::Begin(attempt)),
            Err(TransactError::Conditions(_) | TransactError::Conflict) => {
                tokio::time::sleep(random::jitter(Duration::from_millis(10))).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(Error::Contended(id.clone()))
}

/// A running attempt is left alone: another message for the same work is done with, the same message waits for the
/// lease to end (its holder may still fail to acknowledge it).
fn leave_to_holder(delivery: &Delivery, earlier: &Attempt, message: &Received, now: Timestamp) -> Option<Disposition> {
    let dead = delivery.sole && earlier.holder != delivery.holder;
    if earlier.ended.is_some() || earlier.lease_until <= now || dead {
        return None;
    }
    if earlier.message_id != message.id {
        return Some(Disposition::Acknowledge);
    }
    let left = earlier.lease_until.millis().saturating_sub(now.millis());
    Some(Disposition::Release(Duration::from_millis(u64::try_from(left).unwrap_or(0).saturating_add(500))))
}

/// Whether another start would be one too many. The last delivery that the queue grants is kept for the verdict when the
/// attempt before it never ended: if it were spent on a start that dies as well, nobody would be left to fail the job.
fn used_up(delivery: &Delivery, earlier: &Attempt, message: &Received) -> bool {
    let receives = delivery.limits.receives;
    earlier.count >= receives || (earlier.ended.is_none() && message.receive_count >= receives && receives > 1)
}

async fn give_up(
    delivery: &Delivery,
    stage: &str,
    id: &JobId,
    job_exists: bool,
    earlier: &Attempt,
    message: &Received,
) -> Result<Start, Error> {
    if !job_exists {
        // Nothing to fail: the dead letters keep it.
        return Ok(Start::Skip(SkipReason::NotOurs, Disposition::Release(backoff(message.receive_count))));
    }
    let how = earlier.ended.as_ref().map_or("ended without a word", |_| "failed each time");
    let detail = format!("{stage} was started {} times and {how}", earlier.count);
    let failure = DocumentFailure::new(DocumentCode::Crashed, detail);
    delivery.jobs.fail(id, stage, &failure).await?;
    Ok(Start::GivenUp(failure))
}

/// Ends an attempt well: the record is removed.
pub(super) async fn close(delivery: &Delivery, attempt: Option<&Attempt>) -> Result<(), Error> {
    let Some((attempt, key)) = attempt.and_then(|attempt| Some((attempt, attempt.key.clone()?))) else {
        return Ok(());
    };
    match delivery.jobs.records().delete(&key, ours(attempt)).await {
        // Somebody took over after our lease; the record is theirs now.
        Ok(()) | Err(RecordError::Condition(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Ends an attempt that is to be made again: the record keeps its count and says why.
pub(super) async fn release(delivery: &Delivery, attempt: Option<&Attempt>, cause: &str) -> Result<(), Error> {
    let Some((attempt, key)) = attempt.and_then(|attempt| Some((attempt, attempt.key.clone()?))) else {
        return Ok(());
    };
    let ended = Attempt { ended: Some(cause.chars().take(200).collect()), lease_until: delivery.jobs.now(), ..attempt.clone() };
    match delivery.jobs.records().put(Item::of(key, &ended)?, ours(attempt)).await {
        Ok(()) | Err(RecordError::Condition(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Ends an attempt and its job: failed, in one transaction, and only while the attempt is ours.
pub(super) async fn reject(
    delivery: &Delivery,
    stage: &str,
    job: Option<&JobId>,
    attempt: Option<&Attempt>,
    failure: &DocumentFailure,
) -> Result<(), Error> {
    let Some(job) = job else {
        return Ok(());
    };
    let end = attempt.and_then(|attempt| Some(Write::Delete(attempt.key.clone()?, ours(attempt))));
    match delivery.jobs.fail_with(job, stage, failure, end.into_iter().collect()).await {
        // Without a job, or when it had ended before, the attempt still stands.
        Ok(_) | Err(Error::NoJob(_)) => close(delivery, attempt).await,
        Err(Error::Transact(TransactError::Conditions(_))) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Where a stage stands on the road. A job never goes back: a late duplicate of an earlier stage's message leaves it
/// where it is, and by that the earlier stage knows that its work is done.
fn rank(stage: &str) -> u8 {
    match stage {
        "upload" => 0,
        "profiler" => 1,
        "publisher" => 3,
        _ => 2,
    }
}

fn ours(attempt: &Attempt) -> Condition {
    Condition::Equals("token".to_owned(), attempt.token.clone().into())
}
