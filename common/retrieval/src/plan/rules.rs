//! The rules of a plan, and the order of its steps.

use std::collections::{BTreeMap, BTreeSet};

use super::{Plan, STEPS, SUB_QUERY_BYTES};

/// Why a plan was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanFault {
    /// No step.
    #[error("a plan without a step")]
    Empty,
    /// More than [`STEPS`].
    #[error("{0} steps; at most 5 are allowed")]
    TooMany(usize),
    /// A step without an id, or one used twice.
    #[error("a step's id is empty or used twice")]
    Id,
    /// A step that searches for nothing, or for too long a text.
    #[error("step {0} has no sub-query, or one longer than 2,000 bytes")]
    SubQuery(String),
    /// A dependency on a step that is not there.
    #[error("step {0} depends on a step that is not there")]
    Dependency(String),
    /// Steps that wait for each other.
    #[error("steps wait for each other")]
    Cycle,
    /// A step of a kind that is not allowed: only retrieving is.
    #[error("step {0} is to do something else than to retrieve")]
    Kind(String),
    /// The model failed.
    #[error("planner failed: {0}")]
    Model(&'static str),
}

impl Plan {
    /// Checks every rule.
    pub fn checked(self) -> Result<Self, PlanFault> {
        if self.steps.is_empty() {
            return Err(PlanFault::Empty);
        }
        if self.steps.len() > STEPS {
            return Err(PlanFault::TooMany(self.steps.len()));
        }
        let mut ids = BTreeSet::new();
        for step in &self.steps {
            if step.id.trim().is_empty() || !ids.insert(step.id.as_str()) {
                return Err(PlanFault::Id);
            }
            if step.sub_query.trim().is_empty() || step.sub_query.len() > SUB_QUERY_BYTES {
                return Err(PlanFault::SubQuery(step.id.clone()));
            }
        }
        if let Some(step) = self.steps.iter().find(|step| step.depends_on.iter().any(|id| *id == step.id || !ids.contains(id.as_str()))) {
            return Err(PlanFault::Dependency(step.id.clone()));
        }
        self.batches().ok_or(PlanFault::Cycle)?;
        Ok(self)
    }

    /// Indexes of steps that can run together, batch after batch; `None` when steps wait for each other.
    pub fn batches(&self) -> Option<Vec<Vec<usize>>> {
        let place: BTreeMap<&str, usize> = self.steps.iter().enumerate().map(|(at, step)| (step.id.as_str(), at)).collect();
        let mut done = vec![false; self.steps.len()];
        let mut batches = Vec::new();
        while done.contains(&false) {
            let ready = |at: &usize| {
                !done[*at] && self.steps[*at].depends_on.iter().all(|id| place.get(id.as_str()).is_some_and(|&parent| done[parent]))
            };
            let batch: Vec<usize> = (0..self.steps.len()).filter(ready).collect();
            if batch.is_empty() {
                return None;
            }
            batch.iter().for_each(|&at| done[at] = true);
            batches.push(batch);
        }
        Some(batches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Step;

    fn step(id: &str, depends_on: &[&str]) -> Step {
        Step { id: id.into(), sub_query: "q".into(), depends_on: depends_on.iter().map(|s| (*s).to_owned()).collect() }
    }

    fn plan_of(steps: Vec<Step>) -> Plan {
        Plan { steps, made_by: "test".into(), reason: String::new() }
    }

    #[test]
    fn batches_follow_dependencies() {
        let plan = plan_of(vec![step("a", &["c"]), step("b", &[]), step("c", &["b"]), step("d", &[])]);
        assert_eq!(plan.checked().unwrap().batches().unwrap(), [vec![1, 3], vec![2], vec![0]]);
    }

    #[test]
    fn every_rule_is_checked() {
        assert_eq!(plan_of(vec![]).checked(), Err(PlanFault::Empty));
        assert_eq!(plan_of((0..6).map(|n| step(&n.to_string(), &[])).collect()).checked(), Err(PlanFault::TooMany(6)));
        assert_eq!(plan_of(vec![step("a", &[]), step("a", &[])]).checked(), Err(PlanFault::Id));
        assert_eq!(plan_of(vec![step(" ", &[])]).checked(), Err(PlanFault::Id));
        assert_eq!(plan_of(vec![step("a", &["x"])]).checked(), Err(PlanFault::Dependency("a".into())));
        assert_eq!(plan_of(vec![step("a", &["a"])]).checked(), Err(PlanFault::Dependency("a".into())));
        assert_eq!(plan_of(vec![step("a", &["b"]), step("b", &["a"])]).checked(), Err(PlanFault::Cycle));
        for text in [" ".to_owned(), "x".repeat(SUB_QUERY_BYTES + 1)] {
            let wrong = Step { sub_query: text, ..step("a", &[]) };
            assert_eq!(plan_of(vec![wrong]).checked(), Err(PlanFault::SubQuery("a".into())));
        }
    }
}
