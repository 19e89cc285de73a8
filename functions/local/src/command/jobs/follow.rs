//! `--follow`: a line for each step of a job, until it has ended.

use std::collections::BTreeMap;
use std::time::Duration;

use quarry_model::{JobId, JobState, Progress};
use serde_json::json;

use super::{Place, Seen};
use crate::exit::{Exit, Failure};
use crate::output;

/// How often jobs are looked at here, and on a server.
const LOOK_HERE: Duration = Duration::from_millis(100);
const LOOK_ELSEWHERE: Duration = Duration::from_secs(1);

/// What has been told of a job.
#[derive(Debug, Default)]
struct Told {
    steps: usize,
    progress: Option<Progress>,
}

/// One job. Its history so far is told at once. 0 when it is done in the end, 3 when it has failed.
pub(super) async fn one(place: &Place<'_>, id: &JobId, json: bool) -> Result<Exit, Failure> {
    let mut told = Told::default();
    loop {
        let job = place.job(id).await?;
        told.tell(&job, json)?;
        if let Some(exit) = ended(&job) {
            return Ok(exit);
        }
        tokio::time::sleep(pause(place)).await;
    }
}

/// All jobs at work, those as well that begin while others are. 3 when one of them has failed.
pub(super) async fn all(place: &Place<'_>, json: bool) -> Result<Exit, Failure> {
    let mut open: BTreeMap<JobId, Told> = BTreeMap::new();
    let (mut seen, mut exit) = (0_usize, Exit::Ok);
    let mut first = true;
    loop {
        for job in place.at_work(std::mem::take(&mut first)).await? {
            open.entry(job.job_id).or_insert_with(|| {
                seen += 1;
                Told::default()
            });
        }
        if open.is_empty() {
            break;
        }
        let ids: Vec<JobId> = open.keys().cloned().collect();
        for id in ids {
            let job = place.job(&id).await?;
            if let Some(told) = open.get_mut(&id) {
                told.tell(&job, json)?;
            }
            if let Some(end) = ended(&job) {
                open.remove(&id);
                exit = if end == Exit::Ok { exit } else { end };
            }
        }
        tokio::time::sleep(pause(place)).await;
    }
    if seen == 0 {
        output::note("no job is at work");
    }
    Ok(exit)
}

fn pause(place: &Place<'_>) -> Duration {
    if matches!(place, Place::Here(_)) { LOOK_HERE } else { LOOK_ELSEWHERE }
}

fn ended(job: &Seen) -> Option<Exit> {
    match job.status {
        JobState::Done => Some(Exit::Ok),
        JobState::Failed => Some(Exit::SomeFailed),
        JobState::WaitingFile | JobState::Pending | JobState::Running => None,
    }
}

impl Told {
    /// Writes what is new: steps, then pages read. With `--json` one object a line.
    fn tell(&mut self, job: &Seen, json: bool) -> Result<(), Failure> {
        for (number, step) in job.events.iter().enumerate().skip(self.steps) {
            // Only the last failure is known; an earlier one was retried.
            let last = number + 1 == job.events.len();
            let fault = job.error.as_ref().filter(|_| last && step.status == JobState::Failed);
            if json {
                let error = fault.map(|fault| json!({ "code": fault.code, "message": fault.message }));
                output::text(json!({ "job_id": job.job_id, "status": step.status, "stage": step.stage, "at": step.at, "error": error }))?;
                continue;
            }
            let name = output::line(&job.file_name, 60);
            let fault = fault.map(|fault| format!("  {}: {}", fault.code, output::line(&fault.message, 400))).unwrap_or_default();
            output::text(format!("{}  {}  {:<12} {:<12} {name}{fault}", step.at, job.job_id, step.status.name(), step.stage))?;
        }
        self.steps = self.steps.max(job.events.len());
        // A page or two is no progress worth a line.
        let counted = job.progress.filter(|progress| progress.total_pages > 1 && progress.processed_pages > 0);
        if let Some(progress) = counted.filter(|_| counted != self.progress) {
            let Progress { processed_pages, total_pages } = progress;
            if json {
                output::text(json!({ "job_id": job.job_id, "status": job.status, "stage": job.stage, "progress": progress }))?;
            } else {
                output::text(format!("{:24}  {}  {processed_pages} of {total_pages} pages", "", job.job_id))?;
            }
            self.progress = counted;
        }
        Ok(())
    }
}
