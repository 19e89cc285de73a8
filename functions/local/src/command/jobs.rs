//! `quarry jobs`: what is being read, and how it went.

use quarry_model::{Job, JobId};
use quarry_runtime::jobs::JobFilter;
use serde_json::json;

use crate::cli::Jobs;
use crate::engine::Engine;
use crate::exit::{Exit, Failure};
use crate::output;

pub(crate) async fn run(engine: &Engine, args: Jobs, json: bool) -> Result<Exit, Failure> {
    match args.id {
        Some(id) => one(engine, &id, json).await,
        None => all(engine, args.limit, json).await,
    }
}

async fn all(engine: &Engine, limit: usize, json: bool) -> Result<Exit, Failure> {
    let page = engine.jobs.list(&engine.config.drop_in_owner, &JobFilter::default(), 1, limit.max(1)).await?;
    if json {
        output::json(&json!({ "jobs": page.jobs, "total": page.total }))?;
        return Ok(Exit::Ok);
    }
    for job in &page.jobs {
        output::text(line(job))?;
    }
    if page.total > page.jobs.len() {
        output::note(format!("{} of {} jobs; --limit shows more", page.jobs.len(), page.total));
    }
    Ok(Exit::Ok)
}

async fn one(engine: &Engine, id: &str, json: bool) -> Result<Exit, Failure> {
    let id: JobId = id.parse().map_err(Failure::usage)?;
    let job = engine.jobs.load_for(&engine.config.drop_in_owner, &id).await?;
    let job = job.ok_or_else(|| Failure::not_found(format!("no job {id}")))?;
    let events = engine.jobs.events(&id).await?;
    if json {
        output::json(&json!({ "job": job, "events": events }))?;
        return Ok(Exit::Ok);
    }
    output::text(line(&job))?;
    output::text(format!("document {}  namespace {}", job.document_id, job.scope.namespace))?;
    for event in events {
        output::text(format!("  {}  {:<12} {}", event.at, event.state.name(), event.stage))?;
    }
    if let Some(error) = &job.error {
        output::text(format!("{}: {}", error.code.name(), error.message()))?;
    }
    Ok(Exit::Ok)
}

fn line(job: &Job) -> String {
    let code = job.error.as_ref().map(|error| format!("  {}", error.code.name())).unwrap_or_default();
    let name = output::line(&job.file_name, 60);
    format!("{}  {:<12} {:<10} {}  {name}{code}", job.job_id, job.state.name(), job.stage, job.created_at)
}
