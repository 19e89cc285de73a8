//! Jobs as they are read.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use quarry_model::api::{JobBody, JobList, JobOutcomeBody};
use quarry_model::record::KeyScope;
use quarry_model::{Job, JobState, ObjectKey, Timestamp};
use quarry_runtime::http::{Caller, Failure, Params};
use quarry_runtime::jobs::JobFilter;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::{announce, error_body, find};
use crate::Upload;
use crate::input::Violations;

/// How long a result's address is good for, in seconds.
const RESULT_LIFE: u64 = 3600;
/// How long a read waits for the end of a job that is at work, when the caller says nothing. The official client asks once
/// after its upload and then sleeps ten seconds: most documents are done before that first answer is due.
const DEFAULT_WAIT: u64 = 2;
/// Longest wait a caller can ask for, in seconds; below the 29 s after which a gateway gives up.
const LONGEST_WAIT: usize = 20;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadParams {
    wait: Option<i64>,
}

pub(crate) async fn read(
    State(upload): State<Arc<Upload>>,
    caller: Caller,
    Path(id): Path<String>,
    Params(params): Params<ReadParams>,
) -> Result<Json<JobBody>, Failure> {
    if caller.require(KeyScope::Query).is_err() {
        caller.require(KeyScope::Ingest)?;
    }
    let mut bad = Violations::default();
    let wait = bad.between("query.wait", params.wait, usize::try_from(DEFAULT_WAIT).unwrap_or(0), 0, LONGEST_WAIT);
    bad.check()?;
    let job = find(&upload, &caller.owner, &id).await?;
    let job = settled(&upload, job).await?;
    let job = until_ended(&upload, job, Duration::from_secs(wait as u64)).await?;
    Ok(Json(body(&upload, job).await?))
}

/// Ends a job that can no longer move, unless its bytes did arrive and only the event was lost.
pub(super) async fn settled(upload: &Upload, job: Job) -> Result<Job, Failure> {
    if !upload.jobs.is_overdue(&job, &upload.limits) {
        return Ok(job);
    }
    if job.state == JobState::WaitingFile
        && let Ok(meta) = upload.objects.head(&job.source).await
    {
        return announce(upload, &job, &meta).await;
    }
    Ok(upload.jobs.settle(job, &upload.limits).await?)
}

async fn until_ended(upload: &Upload, mut job: Job, wait: Duration) -> Result<Job, Failure> {
    let deadline = Instant::now() + wait;
    let mut pause = Duration::from_millis(20);
    // While no bytes have arrived there is nothing to wait for.
    if wait.is_zero() || (job.state == JobState::WaitingFile && upload.objects.head(&job.source).await.is_err()) {
        return Ok(job);
    }
    while job.state.is_active() && Instant::now() < deadline {
        sleep(pause).await;
        pause = (pause * 3 / 2).min(Duration::from_millis(200));
        match upload.jobs.load(&job.job_id).await? {
            Some(current) => job = current,
            None => break,
        }
    }
    Ok(job)
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListParams {
    page: Option<i64>,
    page_size: Option<i64>,
    job_status: Option<JobState>,
    namespace: Option<String>,
    recent_days: Option<i64>,
    start_time: Option<Timestamp>,
    end_time: Option<Timestamp>,
}

pub(crate) async fn list(
    State(upload): State<Arc<Upload>>,
    caller: Caller,
    Params(params): Params<ListParams>,
) -> Result<Json<JobList>, Failure> {
    if caller.require(KeyScope::Query).is_err() {
        caller.require(KeyScope::Ingest)?;
    }
    let mut bad = Violations::default();
    let page = bad.page(params.page);
    let page_size = bad.between("query.page_size", params.page_size, 20, 1, 100);
    let namespace = bad.namespace("query.namespace", params.namespace.as_deref());
    if params.recent_days.is_some_and(|days| !matches!(days, 1 | 7 | 30)) {
        bad.add("query.recent_days", "must be 1, 7 or 30");
    }
    if let (Some(start), Some(end)) = (params.start_time, params.end_time)
        && start > end
    {
        bad.add("query.start_time", "must not lie after end_time");
    }
    bad.check()?;
    let recent = params.recent_days.map(|days| upload.jobs.now().plus_millis(-days * 24 * 60 * 60 * 1000));
    let filter = JobFilter { state: params.job_status, namespace, from: params.start_time.or(recent), to: params.end_time };
    let found = upload.jobs.list(&caller.owner, &filter, page, page_size).await?;
    let mut jobs = Vec::with_capacity(found.jobs.len());
    for job in found.jobs {
        let job = settled(&upload, job).await?;
        jobs.push(body(&upload, job).await?);
    }
    Ok(Json(JobList { jobs, total: found.total, page, page_size, total_pages: found.total.div_ceil(page_size) }))
}

/// A job as callers see it. Addresses are signed anew on every read.
pub(crate) async fn body(upload: &Upload, job: Job) -> Result<JobBody, Failure> {
    let mut result = None;
    let (mut url, mut expires) = (None, None);
    if let (JobState::Done, Some(revision)) = (job.state, &job.revision) {
        let key = ObjectKey::artifact(&job.scope, &job.document_id, revision, "result.zip");
        let name = format!("{}.zip", job.job_id);
        url = Some(upload.objects.presign_get(&key, Duration::from_secs(RESULT_LIFE), Some(&name)).await?);
        expires = Some(upload.jobs.now().plus_millis(i64::try_from(RESULT_LIFE * 1000).unwrap_or(i64::MAX)));
        result = Some(JobOutcomeBody {
            checksum: job.result_sha256.clone(),
            document_id: job.document_id.clone(),
            revision: Some(revision.clone()),
        });
    }
    let failure = job.error.as_ref().filter(|_| job.state == JobState::Failed);
    let error = failure.map(|failure| error_body(&job.job_id, &job.stage, failure));
    let last = job.ended_at.unwrap_or(job.updated_at);
    let extension = job.file_name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let asked = |name: &str| job.parsing_params.get(name);
    Ok(JobBody {
        namespace: job.scope.namespace.clone(),
        document_id: job.document_id.clone(),
        status: job.state,
        source_type: job.source_type.public_name().to_owned(),
        created_at: job.created_at,
        updated_at: job.updated_at,
        ended_at: job.ended_at,
        progress: (job.progress.total_pages > 0).then_some(job.progress),
        error,
        result,
        result_url: url,
        result_url_expires_at: expires,
        file_extension: extension.to_uppercase(),
        model: asked("model").and_then(Value::as_str).unwrap_or("base").to_owned(),
        ocr_enabled: asked("ocr_enabled").and_then(Value::as_bool).unwrap_or(false),
        duration_seconds: (last.millis() - job.created_at.millis()).max(0) as f64 / 1000.0,
        credits_spent: 0.0,
        attempts: job.attempts,
        stage: job.stage,
        data_id: job.data_id,
        file_name: job.file_name,
        job_id: job.job_id,
    })
}
