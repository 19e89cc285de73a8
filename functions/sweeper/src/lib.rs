//! Ends jobs that would wait for ever.
//!
//! What this room is for: jobs whose file never came, and jobs whose message was lost, when nobody reads them (a read ends
//! them as well). What enters: a schedule's tick. What leaves: failed jobs with their code, and their webhooks in the
//! outbox. What it must never do: end a job that is at work, scan a table, or touch anything but jobs and their list.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

use std::sync::Arc;

use quarry_model::Limits;
use quarry_runtime::jobs::Watched;
use quarry_runtime::{Error, Jobs};

/// Jobs looked at in one run; the rest is due in the next.
const PER_RUN: usize = 20_000;

/// The sweeper.
#[derive(Debug, Clone)]
pub struct Sweeper {
    jobs: Jobs,
    limits: Arc<Limits>,
}

impl Sweeper {
    /// A sweeper over a job ledger. `limits` say how long an upload is waited for.
    pub fn new(jobs: Jobs, limits: Arc<Limits>) -> Self {
        Self { jobs, limits }
    }

    /// Looks at the jobs that are due.
    pub async fn run(&self) -> Result<Watched, Error> {
        let watched = self.jobs.sweep(&self.limits, PER_RUN).await?;
        if watched.failed > 0 {
            tracing::info!(target: "quarry::sweeper", failed = watched.failed, "jobs that would have waited for ever were ended");
        }
        Ok(watched)
    }
}
