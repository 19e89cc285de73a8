//! Plans made by a model. What it answers is held to the same rules as any other plan.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use quarry_ports::model::{Model, Prompt, Task};
use serde::Deserialize;

use super::{Plan, PlanAsk, PlanFault, Planner, Step};
use crate::budget::Phase;
use crate::spending::Spending;

/// Longest answer, in tokens.
const ANSWER_TOKENS: u32 = 400;
/// Longest wait.
const WAIT: Duration = Duration::from_secs(8);
const INSTRUCTIONS: &str = "You divide a question into searches of a document collection. Most questions need one search: \
divide only comparisons, lists, several questions in one, and questions where one fact has to be found before the next can be \
searched. Each step only retrieves; never plan to answer, compare or summarise. Write sub-queries in the language of the \
question. Form: {\"reason\": \"…\", \"steps\": [{\"id\": \"s1\", \"sub_query\": \"…\", \"depends_on\": []}]} with at most 5 steps; \
a step that depends on another is given the names found by it.";

/// Asks a model for the plan.
pub struct ModelPlanner(pub Arc<dyn Model>);

#[derive(Deserialize)]
struct Answer {
    #[serde(default)]
    reason: String,
    steps: Vec<AnswerStep>,
}

#[derive(Deserialize)]
struct AnswerStep {
    id: String,
    sub_query: String,
    #[serde(default)]
    depends_on: Vec<String>,
    #[serde(default)]
    step_kind: Option<String>,
}

#[async_trait]
impl Planner for ModelPlanner {
    fn name(&self) -> String {
        self.0.name(Task::Planner).unwrap_or("none").to_owned()
    }

    async fn plan(&self, ask: &PlanAsk<'_>, spending: &Spending<'_>) -> Result<Plan, PlanFault> {
        let prompt = Prompt::new(Task::Planner, INSTRUCTIONS)
            .json()
            .limits(ANSWER_TOKENS, WAIT)
            .say(format!("The collection holds {} passages.", ask.chunks))
            .say(format!("Question: {}", ask.query));
        let completion = spending.ask(self.0.as_ref(), Phase::Planner, prompt).await.map_err(PlanFault::Model)?;
        let answer: Answer = completion.parse().map_err(|error| PlanFault::Model(error.name()))?;
        let mut steps = Vec::with_capacity(answer.steps.len());
        for step in answer.steps {
            if step.step_kind.is_some_and(|kind| kind != "retrieve") {
                return Err(PlanFault::Kind(step.id));
            }
            steps.push(Step { id: step.id, sub_query: step.sub_query, depends_on: step.depends_on });
        }
        let reason = answer.reason.chars().take(500).collect();
        Ok(Plan { steps, made_by: self.name(), reason })
    }
}
