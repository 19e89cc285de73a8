//! The parse stage: what every `parse-*` function does around its parser.

use std::sync::Arc;

use async_trait::async_trait;
use quarry_model::message::ParseMessage;
use quarry_model::{JobId, Limits, Outcome};
use quarry_ports::{Clock, ObjectStore, Queue, Stage};

use crate::parser::Parser;

/// Reads one source object, writes one revision folder, tells the publisher.
pub struct ParseStage<P> {
    parser: Arc<P>,
    objects: Arc<dyn ObjectStore>,
    queue: Arc<dyn Queue>,
    clock: Arc<dyn Clock>,
    limits: Limits,
}

impl<P: Parser> ParseStage<P> {
    /// A stage around `parser`.
    pub fn new(parser: P, objects: Arc<dyn ObjectStore>, queue: Arc<dyn Queue>, clock: Arc<dyn Clock>, limits: Limits) -> Self {
        Self { parser: Arc::new(parser), objects, queue, clock, limits }
    }
}

#[async_trait]
impl<P: Parser> Stage for ParseStage<P> {
    type Input = ParseMessage;

    fn name(&self) -> &'static str {
        self.parser.name()
    }

    fn job(&self, input: &ParseMessage) -> Option<JobId> {
        Some(input.job_id.clone())
    }

    async fn run(&self, inputs: Vec<ParseMessage>) -> Vec<Outcome<()>> {
        let _ = (&self.objects, &self.queue, &self.clock, &self.limits);
        inputs.iter().map(|_| Outcome::Retry { cause: "not built yet".into(), delay_seconds: 60 }).collect()
    }
}
