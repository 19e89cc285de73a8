//! What a policy may spend on a model: tokens of the one budget, and time until the deadline.

use std::time::{Duration, Instant};

use quarry_language::tokens;
use quarry_ports::model::{Completion, Model, Prompt};
use serde_json::{Value, json};

use crate::budget::{Budget, Phase};
use crate::trace::Trace;

/// Evidence is never starved by planning and walking: this share of the budget is left for it.
const EVIDENCE_SHARE: f64 = 0.5;
/// A call that would have less time than this is not begun. One call gets at most half of the time that is left.
const SHORTEST_CALL: Duration = Duration::from_millis(200);

/// What is left to spend.
#[derive(Debug, Clone, Copy)]
pub struct Spending<'a> {
    /// Tokens.
    pub budget: &'a Budget,
    /// When the work ends, whatever was found.
    pub deadline: Instant,
    /// Where calls are noted.
    pub trace: &'a Trace,
}

impl Spending<'_> {
    /// Time left.
    pub fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Asks a model once, if question and answer fit in what is left. Every call is noted, with what came of it; the
    /// error is one word. Document text is fenced by the prompt itself.
    pub async fn ask(&self, model: &dyn Model, phase: Phase, prompt: Prompt) -> Result<Completion, &'static str> {
        let question = u64::from(tokens::count(&prompt.text())) + u64::from(Prompt::FRAME_TOKENS);
        let most = question + u64::from(prompt.max_tokens);
        let step = self.trace.step(phase.name(), "model", json!({ "prompt": prompt.text(), "max_tokens": prompt.max_tokens }), self.budget);
        let kept = (self.budget.limit() as f64 * EVIDENCE_SHARE) as u64;
        let time = (self.left() / 2).min(prompt.time_limit);
        let answer = if time < SHORTEST_CALL {
            Err("no time is left")
        } else if self.budget.left() < most + kept {
            Err("no tokens are left for it")
        } else if let Some(reservation) = self.budget.reserve(phase, most) {
            let answer = tokio::time::timeout(time, model.complete(&Prompt { time_limit: time, ..prompt })).await;
            match answer {
                Ok(Ok(completion)) => {
                    reservation.commit(completion.usage.prompt.max(question) + completion.usage.completion);
                    Ok(completion)
                }
                // What was asked was read, whatever came back: the question counts.
                Ok(Err(error)) => {
                    reservation.commit(question);
                    Err(error.name())
                }
                Err(_) => {
                    reservation.commit(question);
                    Err("timed_out")
                }
            }
        } else {
            Err("no tokens are left for it")
        };
        let output: Value = match &answer {
            Ok(completion) => json!({ "answer": completion.text, "usage": [completion.usage.prompt, completion.usage.completion] }),
            Err(why) => json!({ "failed": why }),
        };
        step.end(output, self.budget);
        answer
    }
}
