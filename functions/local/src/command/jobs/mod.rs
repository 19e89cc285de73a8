//! `quarry jobs`: what is being read, and how it went; here, or on a server.

mod follow;
mod here;
mod server;

use quarry_model::{JobId, JobState, Progress, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use crate::cli::Jobs;
use crate::engine::Engine;
use crate::exit::{Exit, Failure};
use crate::{output, wait};
use here::Here;
use server::Server;

/// How many of the newest jobs are looked at for new ones.
const NEWEST: usize = 100;

/// A job as it is shown, from wherever.
#[derive(Debug, Clone, Deserialize)]
struct Seen {
    job_id: JobId,
    status: JobState,
    stage: String,
    namespace: String,
    document_id: String,
    file_name: String,
    created_at: Timestamp,
    progress: Option<Progress>,
    error: Option<Fault>,
    /// Oldest first; of a job alone, not of one in a list.
    #[serde(default)]
    events: Vec<Step>,
    /// As `--json` shows it.
    #[serde(skip)]
    whole: Value,
}

/// Why a job failed.
#[derive(Debug, Clone, Deserialize)]
struct Fault {
    code: String,
    message: String,
}

/// One step of a job's history.
#[derive(Debug, Clone, Deserialize)]
struct Step {
    status: JobState,
    stage: String,
    at: Timestamp,
}

/// Where jobs are.
enum Place<'a> {
    Here(Here<'a>),
    Server(Server),
}

impl Place<'_> {
    /// A job with its history.
    async fn job(&self, id: &JobId) -> Result<Seen, Failure> {
        match self {
            Self::Here(here) => here.job(id).await,
            Self::Server(server) => server.job(id).await,
        }
    }

    /// The newest jobs without their history, and how many there are; the whole of it as `--json` shows it.
    async fn list(&self, limit: usize) -> Result<(Vec<Seen>, usize, Value), Failure> {
        match self {
            Self::Here(here) => here.list(limit).await,
            Self::Server(server) => server.list(limit).await,
        }
    }

    /// The jobs that something works on now, or soon will. To find all of them every job is read; later looks need only
    /// the newest.
    async fn at_work(&self, all: bool) -> Result<Vec<Seen>, Failure> {
        let mut found = Vec::new();
        if all {
            for state in [JobState::Pending, JobState::Running] {
                found.extend(match self {
                    Self::Here(here) => here.in_state(state).await?,
                    Self::Server(server) => server.in_state(state).await?,
                });
            }
        } else {
            found = self.list(NEWEST).await?.0;
            found.retain(|job| matches!(job.status, JobState::Pending | JobState::Running));
        }
        Ok(found)
    }
}

/// Jobs of a data folder. Following them does the work as well, unless another process does.
pub(crate) async fn run(engine: &Engine, args: Jobs, json: bool) -> Result<Exit, Failure> {
    let place = Place::Here(Here(engine));
    if args.follow {
        return Box::pin(wait::on_the_road(engine, at(&place, &args, json))).await;
    }
    Box::pin(at(&place, &args, json)).await
}

/// Jobs of a server.
pub(crate) async fn of_server(url: &str, args: &Jobs, json: bool) -> Result<Exit, Failure> {
    let place = Place::Server(Server::new(url, args.key.as_deref())?);
    let interrupted = async {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Failure { exit: Exit::Interrupted, error: anyhow::anyhow!("interrupted; the server goes on") },
            Err(error) => error.into(),
        }
    };
    tokio::select! {
        result = Box::pin(at(&place, args, json)) => result,
        failure = interrupted => Err(failure),
    }
}

async fn at(place: &Place<'_>, args: &Jobs, json: bool) -> Result<Exit, Failure> {
    let id = args.id.as_deref().map(parsed).transpose()?;
    match (id, args.follow) {
        (Some(id), true) => follow::one(place, &id, json).await,
        (None, true) => follow::all(place, json).await,
        (Some(id), false) => one(place, &id, json).await,
        (None, false) => list(place, args.limit, json).await,
    }
}

fn parsed(id: &str) -> Result<JobId, Failure> {
    id.parse()
        .map_err(|_| Failure::usage(format!("{} is no job's id (job_ and 12 hex digits); `quarry jobs` lists them", output::line(id, 40))))
}

async fn list(place: &Place<'_>, limit: usize, json: bool) -> Result<Exit, Failure> {
    let (jobs, total, whole) = place.list(limit.max(1)).await?;
    if json {
        output::json(&whole)?;
        return Ok(Exit::Ok);
    }
    for job in &jobs {
        output::text(line(job))?;
    }
    if total > jobs.len() {
        output::note(format!("{} of {total} jobs; --limit shows more", jobs.len()));
    }
    Ok(Exit::Ok)
}

async fn one(place: &Place<'_>, id: &JobId, json: bool) -> Result<Exit, Failure> {
    let job = place.job(id).await?;
    if json {
        output::json(&job.whole)?;
        return Ok(Exit::Ok);
    }
    output::text(line(&job))?;
    output::text(format!("document {}  namespace {}", job.document_id, output::line(&job.namespace, 80)))?;
    for step in &job.events {
        output::text(format!("  {}  {:<12} {}", step.at, step.status.name(), step.stage))?;
    }
    if let Some(fault) = &job.error {
        output::text(format!("{}: {}", fault.code, output::line(&fault.message, 400)))?;
    }
    Ok(Exit::Ok)
}

fn line(job: &Seen) -> String {
    let code = job.error.as_ref().map(|fault| format!("  {}", fault.code)).unwrap_or_default();
    let name = output::line(&job.file_name, 60);
    format!("{}  {:<12} {:<10} {}  {name}{code}", job.job_id, job.status.name(), job.stage, job.created_at)
}
