//! Plans: what a complex query is divided into.
//!
//! A plan has at most five steps. Each retrieves; none may compose an answer. A step may depend on others: it then
//! follows the names found in their evidence. Whatever makes a plan, a model or patterns, the same rules check it, and
//! a plan that breaks one becomes a single step with the query as it is.

mod by_model;
mod by_pattern;
mod cues;
mod names;
mod rules;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::spending::Spending;

pub use by_model::ModelPlanner;
pub use by_pattern::PatternPlanner;
pub(crate) use names::names;
pub use rules::PlanFault;

/// Most steps of a plan.
pub const STEPS: usize = 5;
/// What a plan is made by that patterns made because the planner failed.
pub const FALLBACK: &str = "fallback";
/// Longest sub-query, in bytes.
const SUB_QUERY_BYTES: usize = 2_000;

/// A step: searches for its sub-query, and, where it depends on others, follows the names found in their evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// `s1`, `s2`, …
    pub id: String,
    /// What it searches for.
    pub sub_query: String,
    /// Steps whose findings it takes.
    #[serde(default)]
    pub depends_on: Vec<String>,
}

/// A checked plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// In the order planned.
    pub steps: Vec<Step>,
    /// `patterns`, a model's name, or `fallback`.
    pub made_by: String,
    /// Why it is as it is.
    pub reason: String,
}

/// What a planner is told.
#[derive(Debug, Clone, Copy)]
pub struct PlanAsk<'a> {
    /// The query.
    pub query: &'a str,
    /// Languages of the corpus (ISO 639-1), most frequent first.
    pub languages: &'a [String],
    /// Chunks in scope.
    pub chunks: u64,
}

/// Makes plans.
#[async_trait]
pub trait Planner: Send + Sync {
    /// What makes the plans: part of every cache key.
    fn name(&self) -> String;

    /// Divides a query into steps, spending at most what is left.
    async fn plan(&self, ask: &PlanAsk<'_>, spending: &Spending<'_>) -> Result<Plan, PlanFault>;
}

impl Plan {
    /// One step with the query as it is.
    pub fn single(query: &str, made_by: &str, reason: impl Into<String>) -> Self {
        let step = Step { id: "s1".into(), sub_query: query.to_owned(), depends_on: Vec::new() };
        Self { steps: vec![step], made_by: made_by.to_owned(), reason: reason.into() }
    }
}

/// The planner's plan; where it fails or breaks a rule, that of the patterns, marked as the fallback it is.
pub async fn plan(planner: &dyn Planner, ask: &PlanAsk<'_>, spending: &Spending<'_>) -> Plan {
    let fault = match planner.plan(ask, spending).await.and_then(Plan::checked) {
        Ok(plan) => return plan,
        Err(fault) => fault,
    };
    let plan = by_pattern::divide(ask.query, ask.languages);
    let plan = plan.checked().unwrap_or_else(|_| Plan::single(ask.query, FALLBACK, ""));
    Plan { made_by: FALLBACK.into(), reason: format!("{fault}; {}", plan.reason), ..plan }
}
