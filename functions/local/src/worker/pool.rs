//! As many children as there are cores, each started when it is first needed.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use quarry_model::message::ParseMessage;
use quarry_model::{DocumentCode, DocumentFailure, Limits, Outcome};
use tokio::sync::Semaphore;

use super::child::Worker;
use crate::exit::Failure;

/// The children.
pub(crate) struct Pool {
    program: PathBuf,
    data: PathBuf,
    places: Semaphore,
    idle: Mutex<Vec<Worker>>,
    patience: Duration,
}

impl Pool {
    /// A pool of at most `size` children on a data folder.
    pub(crate) fn new(data: &Path, size: usize, limits: &Limits) -> Result<Self, Failure> {
        // The child keeps to the wall clock by itself; we wait a little longer, for its reading and writing.
        let patience = Duration::from_secs(limits.parse_seconds.saturating_add(limits.parse_seconds.clamp(2, 30)));
        Ok(Self {
            program: std::env::current_exe().context("cannot find this program's own file")?,
            data: data.to_owned(),
            places: Semaphore::new(size.max(1)),
            idle: Mutex::default(),
            patience,
        })
    }

    /// How long a child may take before it is killed.
    pub(crate) fn patience(&self) -> Duration {
        self.patience
    }

    /// Has a document parsed. A child that dies is one attempt used; one that is killed for its time is `TIMED_OUT`.
    pub(crate) async fn parse(&self, message: &ParseMessage) -> Outcome<()> {
        // The semaphore is never closed.
        let Ok(_place) = self.places.acquire().await else {
            return Outcome::Retry { cause: "shutting down".to_owned(), delay_seconds: 1 };
        };
        let mut worker = match self.worker() {
            Ok(worker) => worker,
            Err(error) => return Outcome::Retry { cause: error.to_string(), delay_seconds: 2 },
        };
        match tokio::time::timeout(self.patience, worker.parse(message)).await {
            Ok(Ok(outcome)) => {
                self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
                outcome
            }
            Ok(Err(error)) => {
                worker.kill().await;
                Outcome::Retry { cause: error.to_string(), delay_seconds: 0 }
            }
            Err(_) => {
                worker.kill().await;
                let detail = format!("no end after {} seconds", self.patience.as_secs());
                Outcome::Rejected(DocumentFailure::new(DocumentCode::TimedOut, detail))
            }
        }
    }

    fn worker(&self) -> Result<Worker, super::child::WorkerError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| Worker::start(&self.program, &self.data), Ok)
    }
}
