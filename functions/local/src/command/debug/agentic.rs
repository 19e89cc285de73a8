//! `quarry debug agentic QUERY`: every prompt and decision of an agentic answer, whole.

use crate::cli::Search;
use crate::command::search;
use crate::engine::Engine;
use crate::exit::{Exit, Failure};
use crate::output;

pub(super) async fn run(engine: &Engine, mut args: Search, json: bool) -> Result<Exit, Failure> {
    args.agentic = true;
    let scope = engine.scope(&args.place.namespace)?;
    let request = search::request(engine, &scope, &args).await?;
    let answer = search::answer(engine, &scope, request).await?;
    let exit = if answer.results.is_empty() { Exit::NotFound } else { Exit::Ok };
    if json {
        output::json(&answer.decision_trace)?;
        return Ok(exit);
    }
    for step in &answer.decision_trace {
        let (before, after) = (step.budget_before, step.budget_after);
        output::text(format!(
            "── {} {} {} ({:.1} ms, tokens left {before} → {after})",
            step.step_index + 1,
            step.phase,
            step.action,
            step.elapsed_ms
        ))?;
        for (name, value) in [("given", &step.input), ("came", &step.output)] {
            // A prompt is read as it was sent, not as JSON.
            if let Some(prompt) = value.get("prompt").and_then(serde_json::Value::as_str) {
                output::text(format!("prompt:\n{}", output::safe(prompt)))?;
            } else {
                output::text(format!("{name}: {}", output::safe(&serde_json::to_string_pretty(value)?)))?;
            }
        }
    }
    output::text(format!("── ended: {:?}; {} of {} tokens", answer.stop_reason, answer.budget.used, answer.budget.limit))?;
    Ok(exit)
}
