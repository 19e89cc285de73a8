//! Jobs: making them, feeding them, reading how they stand, calling them off.

mod change;
mod create;
mod direct;
mod events;
mod read;
mod remote;

pub(crate) use change::{cancel, confirm_upload, retry};
pub(crate) use create::create;
pub(crate) use direct::direct;
pub(crate) use events::events;
pub(crate) use read::{list, read};

use quarry_model::api::{JobErrorBody, JobErrorDetails};
use quarry_model::message::{ObjectArrived, QueueName};
use quarry_model::{ApiError, DocumentFailure, Job, JobId, JobState, Owner};
use quarry_ports::{ObjectMeta, Outgoing};
use quarry_runtime::http::Failure;
use quarry_runtime::jobs::Change;

use crate::Upload;

/// The job of an owner; absent and another owner's are one answer.
pub(crate) async fn find(upload: &Upload, owner: &Owner, id: &str) -> Result<Job, Failure> {
    let absent = || Failure::from(ApiError::not_found("Job", &id.chars().take(80).collect::<String>()));
    let parsed: JobId = id.parse().map_err(|_| absent())?;
    upload.jobs.load_for(owner, &parsed).await?.ok_or_else(absent)
}

/// Why a job failed, as callers see it.
pub(crate) fn error_body(job: &JobId, stage: &str, failure: &DocumentFailure) -> JobErrorBody {
    JobErrorBody {
        code: failure.code.name().to_owned(),
        message: failure.message(),
        request_id: job.to_string(),
        details: JobErrorDetails { retryable: failure.code.retryable(), stage: stage.to_owned() },
    }
}

/// Tells the profiler that a job's bytes are there, then moves the job from `waiting-file` to `pending`.
///
/// In this order: if we die in between, the message alone brings the job forward. The bucket's own event for the same
/// bytes is a duplicate, and duplicates are no-ops.
pub(crate) async fn announce(upload: &Upload, job: &Job, meta: &ObjectMeta) -> Result<Job, Failure> {
    let event = ObjectArrived { key: meta.key.clone(), size: meta.size, etag: meta.etag.clone(), order: job.order.clone() };
    let body = serde_json::to_string(&event).map_err(|error| Failure::internal(&error))?;
    upload.queue.send(QueueName::Profile, vec![Outgoing::traced(body)]).await?;
    let job = upload
        .jobs
        .change(&job.job_id, |job| {
            if job.state != JobState::WaitingFile {
                return Ok(Change::Keep);
            }
            job.state = JobState::Pending;
            Ok(Change::Write)
        })
        .await?;
    Ok(job)
}
