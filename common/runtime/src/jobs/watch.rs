//! Looking at jobs that nobody asks about.
//!
//! Every job is in one list under the moment it is looked at next. A look ends what is overdue, forgets what has ended and
//! moves on what is at work, so that the list holds the jobs of the last hours and never needs a scan.

use quarry_model::job::JobWatch;
use quarry_model::{Job, JobId, Limits, RecordKey, RecordPrefix, SCHEMA_VERSION, Timestamp};
use quarry_ports::{Condition, Item, QueryOptions, Write};
use serde::Serialize;

use super::Jobs;
use super::ending::patience_ends;
use crate::error::Error;

/// When a job is looked at for the first time: most have ended by then, and the look only forgets them.
const FIRST_LOOK_MILLIS: i64 = 30 * 60 * 1000;

/// Jobs looked at together: as many as one read of many records takes.
const PAGE: usize = 100;

/// What looks have found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Watched {
    /// Ended before; forgotten.
    pub ended: u32,
    /// Overdue, and failed by the look.
    pub failed: u32,
    /// At work; looked at again later.
    pub moved: u32,
}

impl Jobs {
    /// Looks at the jobs that are due, at most about `most`. Repeating it, or doing it twice at once, changes nothing more.
    pub async fn sweep(&self, limits: &Limits, most: usize) -> Result<Watched, Error> {
        let mut watched = Watched::default();
        let mut looked = 0_usize;
        while looked < most {
            let due = self.due().await?;
            if due.is_empty() {
                break;
            }
            looked = looked.saturating_add(due.len());
            self.look(&due, limits, &mut watched).await?;
        }
        Ok(watched)
    }

    async fn due(&self) -> Result<Vec<JobWatch>, Error> {
        let options = QueryOptions { limit: PAGE, ..QueryOptions::default() };
        let page = self.records().query(&RecordPrefix::watches(), options).await?;
        let now = self.now().millis();
        let entries = page.items.iter().map(Item::read).collect::<Result<Vec<JobWatch>, _>>()?;
        Ok(entries.into_iter().take_while(|entry| entry.due_millis <= now).collect())
    }

    async fn look(&self, due: &[JobWatch], limits: &Limits, watched: &mut Watched) -> Result<(), Error> {
        let keys: Vec<RecordKey> = due.iter().map(|entry| RecordKey::job(&entry.job_id)).collect();
        let found = self.records().get_many(&keys).await?;
        let mut later = Vec::new();
        for (entry, item) in due.iter().zip(found) {
            let Some(job) = item.map(|item| item.read::<Job>()).transpose()? else {
                watched.ended = watched.ended.saturating_add(1);
                continue;
            };
            let was_active = job.state.is_active();
            // Read again in here: what has moved meanwhile stays.
            let job = self.settle(job, limits).await?;
            match patience_ends(&job, limits) {
                None if was_active => watched.failed = watched.failed.saturating_add(1),
                None => watched.ended = watched.ended.saturating_add(1),
                Some(end) => {
                    // Always ahead of now, or this look would not end.
                    let next = end.saturating_add(1).max(self.now().millis().saturating_add(1));
                    later.push(listed(&entry.job_id, next)?);
                    watched.moved = watched.moved.saturating_add(1);
                }
            }
        }
        // First the new entries: a death in between leaves a job listed twice, never not at all.
        self.records().write_many(later, Vec::new()).await?;
        let looked_at = due.iter().map(|entry| RecordKey::watch(entry.due_millis, &entry.job_id)).collect();
        Ok(self.records().write_many(Vec::new(), looked_at).await?)
    }
}

/// Puts a job that begins now on the list.
pub(super) fn first(job: &JobId, now: Timestamp) -> Result<Write, Error> {
    Ok(Write::Put(listed(job, now.plus_millis(FIRST_LOOK_MILLIS).millis())?, Condition::None))
}

fn listed(job: &JobId, due_millis: i64) -> Result<Item, Error> {
    let entry = JobWatch { schema_version: SCHEMA_VERSION, job_id: job.clone(), due_millis };
    Ok(Item::of(RecordKey::watch(due_millis, job), &entry)?)
}
