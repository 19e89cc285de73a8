//! A stage: what a function does with one kind of message. The runtime and the local program run it the same way.

use async_trait::async_trait;
use quarry_model::{JobId, Outcome};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// One stage of the road.
#[async_trait]
pub trait Stage: Send + Sync + 'static {
    /// The message it takes.
    type Input: DeserializeOwned + Serialize + Clone + Send + Sync + 'static;

    /// Its function's name: `profiler`, `parse-docx`, `publisher`.
    fn name(&self) -> &'static str;

    /// The job a message works for; it fails when the work is rejected or its attempts are used up.
    fn job(&self, input: &Self::Input) -> Option<JobId>;

    /// Which part of its job's work a message is for, where a job's work in this stage comes in several messages that run
    /// side by side. Each part is attempted, and counted, by itself.
    fn part(&self, _input: &Self::Input) -> Option<u32> {
        None
    }

    /// Does the work of a batch: one outcome for each input, in order. Every step is idempotent under its key, for
    /// messages come at least once. Most stages are given one input at a time; the publisher is given a group's.
    async fn run(&self, inputs: Vec<Self::Input>) -> Vec<Outcome<()>>;
}
