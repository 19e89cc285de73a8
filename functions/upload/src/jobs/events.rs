//! `GET /jobs/{id}/events`: a job's history as it is made, up to its end.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Extension, Path, State};
use axum::response::{IntoResponse, Response};
use quarry_model::Job;
use quarry_model::api::{JobBody, JobErrorBody};
use quarry_model::record::KeyScope;
use quarry_runtime::http::stream::{self, HEARTBEAT, Teller, Terminal, WantsEvents};
use quarry_runtime::http::{Caller, Failure, RequestId};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};

use super::read::{body, settled};
use super::{error_body, find};
use crate::Upload;

/// Longest stream; who is still interested then asks again.
const LONGEST: Duration = Duration::from_hours(1);
/// Waits between looks: short at first, for most documents are done within seconds.
const LOOKS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// A job with its history: the plain answer.
#[derive(Debug, Serialize)]
struct History {
    #[serde(flatten)]
    job: JobBody,
    events: Vec<Value>,
}

pub(crate) async fn events(
    State(upload): State<Arc<Upload>>,
    caller: Caller,
    Path(id): Path<String>,
    WantsEvents(wanted): WantsEvents,
    Extension(request_id): Extension<RequestId>,
) -> Result<Response, Failure> {
    if caller.require(KeyScope::Query).is_err() {
        caller.require(KeyScope::Ingest)?;
    }
    let job = find(&upload, &caller.owner, &id).await?;
    let job = settled(&upload, job).await?;
    if !wanted {
        let mut told = 0;
        let events = news(&upload, &job, &mut told).await?;
        return Ok(Json(History { job: body(&upload, job).await?, events }).into_response());
    }
    Ok(stream::stream("jst", HEARTBEAT, move |teller| async move {
        match follow(&upload, job, &teller).await {
            Ok(terminal) => terminal,
            Err(failure) => stream::failed(&failure.0, &request_id),
        }
    }))
}

/// Tells every event until the job has ended.
async fn follow(upload: &Upload, mut job: Job, teller: &Teller) -> Result<Terminal, Failure> {
    let (mut told, mut progress, mut pause) = (0, job.progress, LOOKS.0);
    let until = Instant::now() + LONGEST;
    loop {
        for event in news(upload, &job, &mut told).await? {
            teller.tell(event.as_object().cloned().unwrap_or_default());
            pause = LOOKS.0;
        }
        if job.progress != progress {
            progress = job.progress;
            let mut fields = Map::new();
            fields.insert("stage".into(), json!(job.stage));
            fields.insert("progress".into(), json!(progress));
            teller.tell(fields);
        }
        if !job.state.is_active() {
            let mut terminal = Map::new();
            terminal.insert("status".into(), json!(job.state));
            terminal.insert("job".into(), serde_json::to_value(body(upload, job).await?).map_err(|error| Failure::internal(&error))?);
            return Ok(terminal);
        }
        if Instant::now() >= until {
            let mut terminal = Map::new();
            terminal.insert("status".into(), json!("interrupted"));
            terminal.insert("job".into(), serde_json::to_value(body(upload, job).await?).map_err(|error| Failure::internal(&error))?);
            return Ok(terminal);
        }
        sleep(pause).await;
        pause = (pause * 3 / 2).min(LOOKS.1);
        let Some(current) = upload.jobs.load(&job.job_id).await? else {
            return Err(quarry_model::ApiError::not_found("Job", job.job_id.as_str()).into());
        };
        job = settled(upload, current).await?;
    }
}

/// The events after the `told`-th, as callers see them.
async fn news(upload: &Upload, job: &Job, told: &mut usize) -> Result<Vec<Value>, Failure> {
    let all = upload.jobs.events(&job.job_id).await?;
    let new = all.iter().skip(*told).map(|event| {
        let error: Option<JobErrorBody> = event.error.as_ref().map(|failure| error_body(&job.job_id, &event.stage, failure));
        let mut fields = json!({ "status": event.state, "stage": event.stage, "at": event.at });
        if let Some(error) = error {
            fields["error"] = json!(error);
        }
        fields
    });
    let new = new.collect();
    *told = all.len();
    Ok(new)
}
