//! An owner's jobs, newest first.

use quarry_model::{Job, JobId, JobState, Namespace, Owner, RecordKey, RecordPrefix, Timestamp};
use quarry_ports::QueryOptions;
use serde::Deserialize;

use super::Jobs;
use crate::error::Error;

/// Which jobs are wanted; `None` means any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// In this state.
    pub state: Option<JobState>,
    /// In this namespace.
    pub namespace: Option<Namespace>,
    /// Created at this moment or later.
    pub from: Option<Timestamp>,
    /// Created before this moment.
    pub to: Option<Timestamp>,
}

/// One page of jobs.
#[derive(Debug, Clone, PartialEq)]
pub struct JobPage {
    /// Newest first.
    pub jobs: Vec<Job>,
    /// Over all pages.
    pub total: usize,
}

#[derive(Deserialize)]
struct Entry {
    job_id: JobId,
    namespace: Namespace,
    created_at: Timestamp,
}

impl Jobs {
    /// The `page`-th page (from 1) of an owner's jobs.
    pub async fn list(&self, owner: &Owner, filter: &JobFilter, page: usize, page_size: usize) -> Result<JobPage, Error> {
        let ids = self.listed(owner, filter).await?;
        let skip = page.saturating_sub(1).saturating_mul(page_size);
        let Some(state) = filter.state else {
            let wanted: Vec<JobId> = ids.iter().skip(skip).take(page_size).cloned().collect();
            return Ok(JobPage { jobs: self.load_many(&wanted).await?, total: ids.len() });
        };
        // The listing does not follow the state, so that a step of a job costs no third write: the jobs are read instead.
        let mut jobs = self.load_many(&ids).await?;
        jobs.retain(|job| job.state == state);
        let total = jobs.len();
        Ok(JobPage { jobs: jobs.into_iter().skip(skip).take(page_size).collect(), total })
    }

    /// Jobs by identity, in the order asked; absent ones are left out.
    pub async fn load_many(&self, ids: &[JobId]) -> Result<Vec<Job>, Error> {
        let keys: Vec<RecordKey> = ids.iter().map(RecordKey::job).collect();
        let items = self.records().get_many(&keys).await?;
        items.iter().flatten().map(|item| item.read().map_err(Error::from)).collect()
    }

    async fn listed(&self, owner: &Owner, filter: &JobFilter) -> Result<Vec<JobId>, Error> {
        let prefix = RecordPrefix::job_listing(owner);
        let mut options = QueryOptions { descending: true, ..QueryOptions::default() };
        let mut ids = Vec::new();
        loop {
            let page = self.records().query(&prefix, options.clone()).await?;
            for item in &page.items {
                let entry: Entry = item.read()?;
                if filter.from.is_some_and(|from| entry.created_at < from) {
                    return Ok(ids);
                }
                let too_new = filter.to.is_some_and(|to| entry.created_at >= to);
                let elsewhere = filter.namespace.as_ref().is_some_and(|namespace| *namespace != entry.namespace);
                if !too_new && !elsewhere {
                    ids.push(entry.job_id);
                }
            }
            match page.cursor {
                Some(cursor) => options.cursor = Some(cursor),
                None => return Ok(ids),
            }
        }
    }
}
