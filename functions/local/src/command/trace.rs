//! The trace of an answer for people: what was planned, what each step did, what it cost, what was left out.

use quarry_model::RetrievalAnswer;
use quarry_model::retrieval::TraceStep;
use serde_json::Value;

use crate::exit::Failure;
use crate::output;

/// Characters of a line.
const WIDTH: usize = 150;
/// Names followed that are shown.
const FOLLOWED: usize = 8;

/// Prints the trace of an answer.
pub(crate) fn print(answer: &RetrievalAnswer) -> Result<(), Failure> {
    for line in lines(answer) {
        output::text(line)?;
    }
    Ok(())
}

fn lines(answer: &RetrievalAnswer) -> Vec<String> {
    let mut out = Vec::new();
    for step in &answer.decision_trace {
        if step.phase == "plan" {
            plan(&step.output, &mut out);
        }
    }
    out.push("Steps".into());
    for step in &answer.decision_trace {
        let tokens = if step.tokens > 0 { format!("  {} tokens", step.tokens) } else { String::new() };
        let head = format!(
            "{:>3}  {:<10} {:<14} {:>8.1} ms{tokens}  {}",
            step.step_index + 1,
            step.phase,
            step.action,
            step.elapsed_ms,
            said(step)
        );
        out.push(kept(&head, WIDTH));
        for detail in details(step) {
            out.push(kept(&format!("                  {detail}"), WIDTH));
        }
    }
    out.push("Budget".into());
    let budget = &answer.budget;
    let phases: Vec<String> = budget.by_phase.iter().map(|(phase, tokens)| format!("{phase} {tokens}")).collect();
    out.push(format!("     {} of {} tokens: {}", budget.used, budget.limit, phases.join(", ")));
    for part in &budget.omitted {
        let how = if part.excerpted { "in part" } else { "whole" };
        let place = format!("{} / {}", part.source_file_name, part.section_path);
        out.push(kept(&format!("     left out ({how}, {} tokens): {}", part.tokens, output::safe(&place)), WIDTH));
    }
    let stop = serde_json::to_value(answer.stop_reason).ok().and_then(|stop| stop.as_str().map(str::to_owned)).unwrap_or_default();
    let why = answer.failure_reason.as_ref().map_or(String::new(), |why| format!(": {why}"));
    out.push(format!("Ended: {stop}{why}"));
    out
}

/// One line of at most `width` characters that keeps its indent.
fn kept(text: &str, width: usize) -> String {
    let indent = text.len() - text.trim_start().len();
    let text: String = output::safe(text.trim_start()).chars().map(|c| if c == '\n' { ' ' } else { c }).collect();
    let cut: String = text.chars().take(width.saturating_sub(indent)).collect();
    format!("{}{}", " ".repeat(indent), cut.trim_end())
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn words(values: &[Value]) -> String {
    values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
}

fn plan(plan: &Value, out: &mut Vec<String>) {
    out.push(format!("Plan by {}: {}", text(plan, "made_by"), output::line(text(plan, "reason"), WIDTH)));
    for step in list(plan, "steps") {
        let after = list(step, "depends_on");
        let what = output::line(text(step, "sub_query"), WIDTH);
        let after = if after.is_empty() { String::new() } else { format!("  (follows the names found by {})", words(after)) };
        out.push(format!("  {}  {what}{after}", text(step, "id")));
    }
}

/// What a step did, in one line.
fn said(step: &TraceStep) -> String {
    let (input, result) = (&step.input, &step.output);
    match (step.phase.as_str(), step.action.as_str()) {
        ("plan", "plan") => format!("{} steps", list(result, "steps").len()),
        ("discovery", "channels") => {
            let hits: Vec<String> =
                ["path", "content", "term"].iter().filter_map(|name| Some(format!("{name} {}", result.get("hits")?.get(name)?))).collect();
            format!("{}; together {}", hits.join(", "), result.get("fused").unwrap_or(&Value::Null))
        }
        ("discovery", "follow_names") => format!("{}: {} passages", text(input, "step"), list(result, "followed").len()),
        ("rank", "score") => format!("{} candidates", input.get("candidates").unwrap_or(&Value::Null)),
        ("navigate", "walk") => format!(
            "{}: by {}, {} opened, {} named",
            output::line(text(input, "document"), 60),
            text(result, "by"),
            list(result, "collected").len(),
            list(result, "outlined").len()
        ),
        ("evidence", "pack") => format!(
            "{} sections, {} left out, {} named",
            result.get("leaves").unwrap_or(&Value::Null),
            result.get("omitted_leaves").unwrap_or(&Value::Null),
            result.get("outlined").unwrap_or(&Value::Null)
        ),
        (_, "model") => match text(result, "failed") {
            "" => output::line(text(result, "answer"), 80),
            why => format!("failed: {why}"),
        },
        _ => output::line(&result.to_string(), 80),
    }
}

/// What led where.
fn details(step: &TraceStep) -> Vec<String> {
    let mut followed: Vec<&Value> = list(&step.output, "followed").iter().collect();
    followed.sort_by(|a, b| {
        let gain = |value: &Value| value.get("gain").and_then(Value::as_f64).unwrap_or_default();
        gain(b).total_cmp(&gain(a))
    });
    let line = |value: &&Value| {
        let (by, name) = if text(value, "title").is_empty() { ("name", text(value, "name")) } else { ("title", text(value, "title")) };
        let gain = value.get("gain").and_then(Value::as_f64).unwrap_or_default();
        let (from, to) = (output::line(text(value, "in"), 40), output::line(text(value, "to"), 40));
        format!("{by} “{}” in {from} → {to}  +{gain:.2}", output::line(name, 40))
    };
    followed.iter().take(FOLLOWED).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn plan_steps_budget_and_end_are_readable() {
        let step = |index: u32, phase: &str, action: &str, output: Value| {
            json!({ "step_index": index, "phase": phase, "action": action, "input": { "step": "s2", "document": "a.md" }, "output": output,
                "elapsed_ms": 1.5, "tokens": 0, "budget_before": 8000, "budget_after": 8000 })
        };
        let answer: RetrievalAnswer = serde_json::from_value(json!({
            "namespace": "default", "query": "q", "run_id": "r", "router_used": "workflow_decomposed", "evidence_text": "", "answer_text": "",
            "evidence": [], "results": [], "referenced_chunks": [], "stop_reason": "budget", "failure_reason": null, "partial": false,
            "budget": { "limit": 500, "used": 480, "by_phase": { "evidence": 480 }, "truncated": true, "omitted": [
                { "document_id": "doc_000000000001", "source_file_name": "a.md", "section_path": "B\u{1b}[2J", "ordinals": [1], "tokens": 40, "excerpted": true }] },
            "decision_trace": [
                step(0, "plan", "plan", json!({ "made_by": "patterns", "reason": "one question", "steps": [
                    { "id": "s1", "sub_query": "q", "depends_on": [] }, { "id": "s2", "sub_query": "q", "depends_on": ["s1"] }] })),
                step(1, "discovery", "follow_names", json!({ "followed": [{ "name": "ada", "in": "a.md", "to": "b.md", "gain": 0.25 }] })),
            ],
            "index_version": 1
        }))
        .unwrap();
        let text = lines(&answer).join("\n");
        for part in [
            "Plan by patterns",
            "s2  q  (follows the names found by s1)",
            "“ada” in a.md → b.md  +0.25",
            "480 of 500",
            "left out (in part, 40",
            "Ended: budget",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains('\u{1b}'));
    }
}
