//! What was done, step by step: returned with the answer, and kept as append-only records of the run.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use quarry_model::retrieval::TraceStep;
use serde_json::Value;

use crate::budget::Budget;

/// Is told of every step of a run as it ends; called while the run waits, so it should be quick.
pub type Watcher = Arc<dyn Fn(&TraceStep) + Send + Sync>;

/// Collects the steps of one run.
#[derive(Default)]
pub struct Trace {
    steps: Mutex<Vec<TraceStep>>,
    watcher: Option<Watcher>,
}

impl std::fmt::Debug for Trace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trace").field("steps", &self.steps().len()).finish_non_exhaustive()
    }
}

/// A step that has begun.
#[derive(Debug)]
pub struct Step<'a> {
    trace: &'a Trace,
    phase: &'static str,
    action: &'static str,
    input: Value,
    began: Instant,
    before: u64,
}

impl Trace {
    /// A trace whose steps are told to `watcher` as well.
    pub fn watched(watcher: Option<Watcher>) -> Self {
        Self { watcher, ..Self::default() }
    }

    /// Begins a step.
    pub fn step<'a>(&'a self, phase: &'static str, action: &'static str, input: Value, budget: &Budget) -> Step<'a> {
        Step { trace: self, phase, action, input, began: Instant::now(), before: budget.left() }
    }

    /// The steps so far, in the order they ended.
    pub fn steps(&self) -> Vec<TraceStep> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Step<'_> {
    /// Ends the step with what came of it.
    pub fn end(self, output: Value, budget: &Budget) {
        let mut steps = self.trace.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let after = budget.left();
        let step_index = steps.len() as u32;
        let step = TraceStep {
            step_index,
            phase: self.phase.to_owned(),
            action: self.action.to_owned(),
            input: self.input,
            output,
            elapsed_ms: millis(self.began),
            tokens: self.before.saturating_sub(after),
            budget_before: self.before,
            budget_after: after,
        };
        if let Some(watcher) = &self.trace.watcher {
            watcher(&step);
        }
        steps.push(step);
    }
}

/// Milliseconds since a moment, to the microsecond.
pub fn millis(since: Instant) -> f64 {
    (since.elapsed().as_micros() as f64) / 1_000.0
}
