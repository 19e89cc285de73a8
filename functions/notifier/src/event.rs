//! What a webhook says. The names are Knowhere's.

use std::time::Duration;

use quarry_model::{DocumentId, Job, JobId, JobState, Namespace, ObjectKey, Revision, Timestamp};
use quarry_ports::{ObjectError, ObjectStore};
use serde::Serialize;

/// How long the address of the result is good: a day, since a receiver may work later.
const RESULT_LIFE: Duration = Duration::from_hours(24);

/// The body.
#[derive(Debug, Serialize)]
pub(crate) struct Event {
    #[serde(rename = "event")]
    name: &'static str,
    job_id: JobId,
    status: &'static str,
    document_id: DocumentId,
    namespace: Namespace,
    data_id: Option<String>,
    file_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    completed_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Outcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Fault>,
}

#[derive(Debug, Serialize)]
struct Outcome {
    checksum: Option<String>,
    revision: Revision,
}

#[derive(Debug, Serialize)]
struct Fault {
    code: &'static str,
    message: String,
    retryable: bool,
}

/// The event of a job that has ended.
pub(crate) async fn of(job: &Job, objects: &dyn ObjectStore) -> Result<Event, ObjectError> {
    let done = job.state == JobState::Done;
    let ended = job.ended_at.unwrap_or(job.updated_at);
    let (mut result_url, mut result) = (None, None);
    if let Some(revision) = job.revision.as_ref().filter(|_| done) {
        let key = ObjectKey::artifact(&job.scope, &job.document_id, revision, "result.zip");
        result_url = Some(objects.presign_get(&key, RESULT_LIFE, Some(&format!("{}.zip", job.job_id))).await?);
        result = Some(Outcome { checksum: job.result_sha256.clone(), revision: revision.clone() });
    }
    let fault = job.error.as_ref().filter(|_| !done);
    Ok(Event {
        name: if done { "job.completed" } else { "job.failed" },
        job_id: job.job_id.clone(),
        status: if done { "completed" } else { "failed" },
        document_id: job.document_id.clone(),
        namespace: job.scope.namespace.clone(),
        data_id: job.data_id.clone(),
        file_name: job.file_name.clone(),
        completed_at: done.then_some(ended),
        failed_at: (!done).then_some(ended),
        result_url,
        result,
        error: fault.map(|failure| Fault { code: failure.code.name(), message: failure.message(), retryable: failure.code.retryable() }),
    })
}
