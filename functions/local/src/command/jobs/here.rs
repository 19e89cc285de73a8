//! Jobs of the data folder.

use quarry_model::{Job, JobId, JobState};
use quarry_runtime::jobs::JobFilter;
use serde_json::{Value, json};

use super::{Fault, Seen, Step};
use crate::engine::Engine;
use crate::exit::Failure;

/// Most jobs of one state that are followed together.
const IN_STATE: usize = 1000;

pub(super) struct Here<'a>(pub(super) &'a Engine);

impl Here<'_> {
    pub(super) async fn job(&self, id: &JobId) -> Result<Seen, Failure> {
        let job = self.0.jobs.load_for(&self.0.config.drop_in_owner, id).await?;
        let job = job.ok_or_else(|| Failure::not_found(format!("no job {id}")))?;
        // A read ends what can no longer move, as everywhere.
        let job = self.0.jobs.settle(job, &self.0.limits).await?;
        let events = self.0.jobs.events(id).await?;
        let whole = json!({ "job": job, "events": events });
        let events = events.into_iter().map(|event| Step { status: event.state, stage: event.stage, at: event.at }).collect();
        Ok(Seen { events, whole, ..seen(&job) })
    }

    pub(super) async fn list(&self, limit: usize) -> Result<(Vec<Seen>, usize, Value), Failure> {
        let page = self.0.jobs.list(&self.0.config.drop_in_owner, &JobFilter::default(), 1, limit).await?;
        let whole = json!({ "jobs": page.jobs, "total": page.total });
        Ok((page.jobs.iter().map(seen).collect(), page.total, whole))
    }

    pub(super) async fn in_state(&self, state: JobState) -> Result<Vec<Seen>, Failure> {
        let filter = JobFilter { state: Some(state), ..JobFilter::default() };
        let page = self.0.jobs.list(&self.0.config.drop_in_owner, &filter, 1, IN_STATE).await?;
        Ok(page.jobs.iter().map(seen).collect())
    }
}

fn seen(job: &Job) -> Seen {
    Seen {
        job_id: job.job_id.clone(),
        status: job.state,
        stage: job.stage.clone(),
        namespace: job.scope.namespace.to_string(),
        document_id: job.document_id.to_string(),
        file_name: job.file_name.clone(),
        created_at: job.created_at,
        progress: (job.progress.total_pages > 0).then_some(job.progress),
        error: job.error.as_ref().map(|error| Fault { code: error.code.name().to_owned(), message: error.message() }),
        events: Vec::new(),
        whole: Value::Null,
    }
}
