//! What was done, step by step: returned with the answer, and kept as append-only records of the run.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use quarry_model::retrieval::TraceStep;
use serde_json::Value;

use crate::budget::Budget;

/// Collects the steps of one run.
#[derive(Debug, Default)]
pub struct Trace(Mutex<Vec<TraceStep>>);

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
    /// Begins a step.
    pub fn step<'a>(&'a self, phase: &'static str, action: &'static str, input: Value, budget: &Budget) -> Step<'a> {
        Step { trace: self, phase, action, input, began: Instant::now(), before: budget.left() }
    }

    /// The steps so far, in the order they ended.
    pub fn steps(&self) -> Vec<TraceStep> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Step<'_> {
    /// Ends the step with what came of it.
    pub fn end(self, output: Value, budget: &Budget) {
        let mut steps = self.trace.0.lock().unwrap_or_else(PoisonError::into_inner);
        let after = budget.left();
        let step_index = steps.len() as u32;
        steps.push(TraceStep {
            step_index,
            phase: self.phase.to_owned(),
            action: self.action.to_owned(),
            input: self.input,
            output,
            elapsed_ms: millis(self.began),
            tokens: self.before.saturating_sub(after),
            budget_before: self.before,
            budget_after: after,
        });
    }
}

/// Milliseconds since a moment, to the microsecond.
pub fn millis(since: Instant) -> f64 {
    (since.elapsed().as_micros() as f64) / 1_000.0
}
