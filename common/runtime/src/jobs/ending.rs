//! How jobs end and begin again.

use quarry_model::{DocumentCode, DocumentFailure, Job, JobId, JobState, Limits, Progress, RecordKey, RecordPrefix, Revision};
use quarry_ports::{Condition, Write};

use super::{Change, Jobs, move_to, watch};
use crate::error::Error;

/// An active job that nothing has touched for this long has lost its message: four hours.
const STALLED_MILLIS: i64 = 4 * 60 * 60 * 1000;

/// How long after the end of its address an upload is still waited for: it may have begun in time.
const UPLOAD_GRACE_MILLIS: i64 = 10 * 60 * 1000;

impl Jobs {
    /// Ends a job as failed; one that has ended stays as it ended.
    pub async fn fail(&self, id: &JobId, stage: &str, failure: &DocumentFailure) -> Result<Job, Error> {
        self.fail_with(id, stage, failure, Vec::new()).await
    }

    /// As [`Self::fail`], with further writes in the same transaction (left out when the job had ended before).
    pub async fn fail_with(&self, id: &JobId, stage: &str, failure: &DocumentFailure, more: Vec<Write>) -> Result<Job, Error> {
        self.change_with(id, |job| {
            if !job.state.is_active() {
                return Ok((Change::Keep, Vec::new()));
            }
            job.state = JobState::Failed;
            stage.clone_into(&mut job.stage);
            job.error = Some(failure.clone());
            Ok((Change::Write, more.clone()))
        })
        .await
    }

    /// Starts a failed job over, in `pending` with fresh attempts.
    ///
    /// [`Error::Transition`] when it has not failed.
    pub async fn retry(&self, id: &JobId) -> Result<Job, Error> {
        let attempts = RecordPrefix { pk: RecordKey::job(id).pk, sk: "TRY#".to_owned() };
        let mut more: Vec<Write> =
            self.records().query_all(&attempts).await?.into_iter().map(|item| Write::Delete(item.key, Condition::None)).collect();
        more.push(watch::first(id, self.now())?);
        self.change_with(id, |job| {
            if job.state != JobState::Failed {
                return Err(Error::Transition { job: job.job_id.clone(), from: job.state, to: JobState::Pending });
            }
            job.state = JobState::Pending;
            "upload".clone_into(&mut job.stage);
            job.error = None;
            job.progress = Progress::default();
            Ok((Change::Write, more.clone()))
        })
        .await
    }

    /// The writes that end a job as done, for the publisher's own transaction: the job under its version, and an event.
    ///
    /// `job` is the record as just read. [`Error::Transition`] when it has ended already.
    pub fn done_writes(
        &self,
        job: &Job,
        revision: &Revision,
        result_sha256: Option<&str>,
        progress: Progress,
    ) -> Result<Vec<Write>, Error> {
        let mut after = job.clone();
        move_to(&mut after, JobState::Done)?;
        if !job.state.is_active() {
            return Err(Error::Transition { job: job.job_id.clone(), from: job.state, to: JobState::Done });
        }
        "publisher".clone_into(&mut after.stage);
        after.revision = Some(revision.clone());
        after.result_sha256 = result_sha256.map(str::to_owned);
        after.progress = progress;
        after.error = None;
        self.writes(job, &mut after)
    }

    /// Ends a job that can no longer move by itself: a file that never came, a message that was lost. Reads call this, and
    /// [`Self::sweep`] for jobs that nobody reads, so that nothing waits for ever.
    pub async fn settle(&self, job: Job, limits: &Limits) -> Result<Job, Error> {
        match overdue(&job, self.now().millis(), limits) {
            Some(failure) => self.fail(&job.job_id, &job.stage, &failure).await,
            None => Ok(job),
        }
    }

    /// Whether [`Self::settle`] would end this job.
    pub fn is_overdue(&self, job: &Job, limits: &Limits) -> bool {
        overdue(job, self.now().millis(), limits).is_some()
    }
}

fn overdue(job: &Job, now: i64, limits: &Limits) -> Option<DocumentFailure> {
    let end = patience_ends(job, limits)?;
    (now > end).then(|| match job.state {
        JobState::WaitingFile => DocumentFailure::new(DocumentCode::UploadExpired, ""),
        _ => DocumentFailure::new(DocumentCode::Crashed, format!("no sign of life from {}", job.stage)),
    })
}

/// The last moment (milliseconds since the epoch) at which a job that nobody touches is still waited for; `None` when it
/// has ended.
pub(super) fn patience_ends(job: &Job, limits: &Limits) -> Option<i64> {
    let upload = i64::try_from(limits.upload_url_seconds).unwrap_or(i64::MAX).saturating_mul(1000).saturating_add(UPLOAD_GRACE_MILLIS);
    let patience = match job.state {
        JobState::WaitingFile => upload,
        JobState::Pending | JobState::Running => STALLED_MILLIS,
        JobState::Done | JobState::Failed => return None,
    };
    Some(job.updated_at.millis().saturating_add(patience))
}
