//! The parsers' stages, as the pumps see them.

use std::sync::Arc;

use async_trait::async_trait;
use futures::future::join_all;
use quarry_model::message::ParseMessage;
use quarry_model::{Family, JobId, Outcome};
use quarry_ports::Stage;

use super::pool::Pool;

/// The stage of one family of formats; the work is done in a child.
pub(crate) struct ChildParser {
    family: Family,
    pool: Arc<Pool>,
}

impl ChildParser {
    pub(crate) fn new(family: Family, pool: Arc<Pool>) -> Self {
        Self { family, pool }
    }
}

#[async_trait]
impl Stage for ChildParser {
    type Input = ParseMessage;

    fn name(&self) -> &'static str {
        self.family.function()
    }

    fn job(&self, input: &ParseMessage) -> Option<JobId> {
        Some(input.job_id.clone())
    }

    fn part(&self, input: &ParseMessage) -> Option<u32> {
        input.part()?;
        input.shard
    }

    async fn run(&self, inputs: Vec<ParseMessage>) -> Vec<Outcome<()>> {
        join_all(inputs.iter().map(|input| self.pool.parse(input))).await
    }
}
