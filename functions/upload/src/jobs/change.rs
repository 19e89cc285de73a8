//! Confirming an upload, starting a failed job over, calling one off.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use quarry_model::api::JobBody;
use quarry_model::record::{DocumentStatus, KeyScope};
use quarry_model::{ApiError, DocumentCode, DocumentFailure, JobState};
use quarry_ports::{ObjectError, ObjectMeta};
use quarry_runtime::http::{Caller, Failure, Params};
use serde::Deserialize;
use serde_json::{Value, json};

use super::read::body;
use super::{announce, find};
use crate::Upload;
use crate::documents::{known, withdraw};

/// The fallback for stores that send no events: clients need not call it.
pub(crate) async fn confirm_upload(
    State(upload): State<Arc<Upload>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Value>, Failure> {
    caller.require(KeyScope::Ingest)?;
    let job = find(&upload, &caller.owner, &id).await?;
    match job.state {
        // Pending jobs as well: their message may have been lost between two steps of ours.
        JobState::WaitingFile | JobState::Pending => {
            let meta = arrived(&upload, &job.source).await?;
            let job = announce(&upload, &job, &meta).await?;
            Ok(Json(json!({ "message": "The upload is confirmed; work begins.", "job_id": job.job_id, "status": job.state })))
        }
        JobState::Running | JobState::Done => {
            Ok(Json(json!({ "message": "The upload was confirmed already.", "job_id": job.job_id, "status": job.state })))
        }
        JobState::Failed => {
            let error = quarry_runtime::Error::Transition { job: job.job_id, from: job.state, to: JobState::Pending };
            Err(error.into())
        }
    }
}

pub(crate) async fn retry(State(upload): State<Arc<Upload>>, caller: Caller, Path(id): Path<String>) -> Result<Json<JobBody>, Failure> {
    caller.require(KeyScope::Ingest)?;
    let job = find(&upload, &caller.owner, &id).await?;
    if job.state != JobState::Failed {
        let error = quarry_runtime::Error::Transition { job: job.job_id, from: job.state, to: JobState::Pending };
        return Err(error.into());
    }
    let meta = arrived(&upload, &job.source).await?;
    let job = upload.jobs.retry(&job.job_id).await?;
    let job = announce(&upload, &job, &meta).await?;
    Ok(Json(body(&upload, job).await?))
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CancelParams {
    #[serde(default)]
    archive_document: bool,
}

/// Calls a job off. One that has ended stays as it ended; `archive_document` also takes out of search what it published.
pub(crate) async fn cancel(
    State(upload): State<Arc<Upload>>,
    caller: Caller,
    Path(id): Path<String>,
    Params(params): Params<CancelParams>,
) -> Result<Json<JobBody>, Failure> {
    caller.require(KeyScope::Ingest)?;
    let job = find(&upload, &caller.owner, &id).await?;
    let job = upload.jobs.fail(&job.job_id, &job.stage, &DocumentFailure::new(DocumentCode::Cancelled, "called off by its owner")).await?;
    if params.archive_document {
        let known = known(&upload, &caller.owner, job.document_id.as_str()).await?;
        if known.record.is_some_and(|record| record.status == DocumentStatus::Active) {
            withdraw(&upload, &known.scope, &job.document_id, DocumentStatus::Archived).await?;
        }
    }
    Ok(Json(body(&upload, job).await?))
}

/// The uploaded object, which must be there.
async fn arrived(upload: &Upload, key: &quarry_model::ObjectKey) -> Result<ObjectMeta, Failure> {
    match upload.objects.head(key).await {
        Ok(meta) => Ok(meta),
        Err(ObjectError::NotFound(_)) => {
            let description = "no uploaded bytes are stored for this job; upload them to its address, or create a new job";
            Err(ApiError::invalid_field("path.job_id", description).into())
        }
        Err(error) => Err(error.into()),
    }
}
