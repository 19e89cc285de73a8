//! The job ledger: how jobs are made, found and moved from state to state.
//!
//! A job's record carries a version; every change is a conditional write on it, re-read and tried again when somebody
//! else was faster, and every change of state or stage appends an event in the same transaction.

mod create;
mod ending;
mod list;
#[cfg(test)]
mod tests;
mod watch;

use std::sync::Arc;
use std::time::Duration;

pub use create::{Created, DropIn, NewJob, RequestNames, drop_in_job};
pub use list::{JobFilter, JobPage};
pub use watch::Watched;

use quarry_model::job::{JobEvent, OutboxEntry};
use quarry_model::{Job, JobId, JobState, Owner, Progress, RecordKey, RecordPrefix, SCHEMA_VERSION, Timestamp};
use quarry_ports::{Clock, Condition, Item, Records, TransactError, Write};

use crate::error::Error;
use crate::random;

/// How often a change is tried again when others change the same job.
const TRIES: u32 = 8;

/// What a change wants done with the job it has looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Leave it as it is.
    Keep,
    /// Write it.
    Write,
}

/// The ledger.
#[derive(Clone)]
pub struct Jobs {
    records: Arc<dyn Records>,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for Jobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Jobs")
    }
}

impl Jobs {
    /// A ledger over a records store.
    pub fn new(records: Arc<dyn Records>, clock: Arc<dyn Clock>) -> Self {
        Self { records, clock }
    }

    /// The store below.
    pub fn records(&self) -> &Arc<dyn Records> {
        &self.records
    }

    /// Now.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// A job by its identity. Callers' requests use [`Self::load_for`].
    pub async fn load(&self, id: &JobId) -> Result<Option<Job>, Error> {
        let item = self.records.get(&RecordKey::job(id)).await?;
        Ok(item.map(|item| item.read()).transpose()?)
    }

    /// An owner's job; another owner's counts as absent, at the same cost.
    pub async fn load_for(&self, owner: &Owner, id: &JobId) -> Result<Option<Job>, Error> {
        Ok(self.load(id).await?.filter(|job| &job.scope.owner == owner))
    }

    /// A job's history, oldest first.
    pub async fn events(&self, id: &JobId) -> Result<Vec<JobEvent>, Error> {
        let items = self.records.query_all(&RecordPrefix::job_events(id)).await?;
        items.iter().map(|item| item.read().map_err(Error::from)).collect()
    }

    /// Moves a job on: to `state` at `stage`. A job already there stays as it is.
    pub async fn advance(&self, id: &JobId, state: JobState, stage: &str) -> Result<Job, Error> {
        self.change(id, |job| {
            if job.state == state && job.stage == stage {
                return Ok(Change::Keep);
            }
            move_to(job, state)?;
            stage.clone_into(&mut job.stage);
            Ok(Change::Write)
        })
        .await
    }

    /// Says how far a job has come; an ended one is left alone.
    pub async fn progress(&self, id: &JobId, progress: Progress) -> Result<Job, Error> {
        self.change(id, |job| {
            if !job.state.is_active() || job.progress == progress {
                return Ok(Change::Keep);
            }
            job.progress = progress;
            Ok(Change::Write)
        })
        .await
    }

    /// Reads a job, lets `decide` change it, and writes it if its version is still the one read; otherwise reads again.
    pub async fn change(&self, id: &JobId, mut decide: impl FnMut(&mut Job) -> Result<Change, Error> + Send) -> Result<Job, Error> {
        self.change_with(id, |job| Ok((decide(job)?, Vec::new()))).await
    }

    /// As [`Self::change`], with further writes in the same transaction. A failed condition of one of those comes back
    /// as [`TransactError::Conditions`], the job's own two writes first.
    pub async fn change_with(
        &self,
        id: &JobId,
        mut decide: impl FnMut(&mut Job) -> Result<(Change, Vec<Write>), Error> + Send,
    ) -> Result<Job, Error> {
        for attempt in 0..TRIES {
            let before = self.load(id).await?.ok_or_else(|| Error::NoJob(id.clone()))?;
            let mut after = before.clone();
            let (change, more) = decide(&mut after)?;
            if change == Change::Keep {
                return Ok(before);
            }
            let mut writes = self.writes(&before, &mut after)?;
            writes.extend(more);
            match self.records.transact(writes).await {
                Ok(()) => return Ok(after),
                Err(TransactError::Conditions(at_fault)) if !at_fault.first().copied().unwrap_or(true) => {
                    return Err(TransactError::Conditions(at_fault).into());
                }
                Err(TransactError::Conditions(_) | TransactError::Conflict) => {
                    tokio::time::sleep(random::jitter(Duration::from_millis(5 << attempt))).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Contended(id.clone()))
    }

    /// The writes that replace `before` by `after`: the job under its version, an event when state or stage changed, and the
    /// webhook that is to be delivered when the job has ended by it.
    /// Sets the version and the time of change in `after`.
    pub fn writes(&self, before: &Job, after: &mut Job) -> Result<Vec<Write>, Error> {
        after.version = before.version + 1;
        after.updated_at = self.clock.now();
        if after.state.is_active() {
            after.ended_at = None;
        } else if after.ended_at.is_none() {
            after.ended_at = Some(after.updated_at);
        }
        let job = Item::of(RecordKey::job(&after.job_id), after)?;
        let mut writes = vec![Write::Put(job, Condition::Equals("version".to_owned(), before.version.into()))];
        if before.state != after.state || before.stage != after.stage {
            writes.push(Write::Put(event(after)?, Condition::None));
        }
        if let Some(webhook) = after.webhook.as_ref().filter(|_| before.state.is_active() && !after.state.is_active()) {
            let due_millis = after.updated_at.millis();
            let (job_id, url) = (after.job_id.clone(), webhook.url.clone());
            let entry = OutboxEntry { schema_version: SCHEMA_VERSION, job_id, url, due_millis, attempts: 0 };
            writes.push(Write::Put(Item::of(RecordKey::outbox(due_millis, &after.job_id), &entry)?, Condition::None));
        }
        Ok(writes)
    }
}

/// The event that says where a job stands now.
fn event(job: &Job) -> Result<Item, Error> {
    let event = JobEvent {
        sequence: job.version,
        state: job.state,
        stage: job.stage.clone(),
        at: job.updated_at,
        error: job.error.clone().filter(|_| job.state == JobState::Failed),
    };
    Ok(Item::of(RecordKey::job_event(&job.job_id, job.version), &event)?)
}

/// Sets a job's state if that is a legal step.
fn move_to(job: &mut Job, state: JobState) -> Result<(), Error> {
    if job.state != state && !job.state.may_become(state) {
        return Err(Error::Transition { job: job.job_id.clone(), from: job.state, to: state });
    }
    job.state = state;
    Ok(())
}
