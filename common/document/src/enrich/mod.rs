//! What a model adds to a reading: levels of uncertain headings, words for pictures, summaries, the kind of document.
//!
//! Each task only where a model is set for it. A model's failure costs what it would have added and nothing else: the
//! deterministic reading stands, and the manifest says what is missing. What a model says is data: a level out of a
//! range, a text of bounded length; it can name no file, no section that it was not shown, and no action.

mod ask;
mod category;
mod hierarchy;
mod pictures;
mod summaries;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use quarry_model::{DocumentCode, Parsed, Warning};
use quarry_ports::{Model, Task, Usage};
use serde_json::{Map, Value, json};

/// Tasks that reading documents has for a model.
const TASKS: [Task; 5] = [Task::Hierarchy, Task::Image, Task::Ocr, Task::Summary, Task::Classify];
/// Calls of one document at the same time.
const AT_ONCE: usize = 4;

/// What the models added, beside what they changed in the rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Enrichment {
    /// Summaries of sections, by heading.
    pub(crate) sections: BTreeMap<usize, String>,
    /// The document's summary.
    pub(crate) document: Option<String>,
    /// What kind of document it is, in at most five words.
    pub(crate) category: Option<String>,
    /// Model by task, of the tasks that were asked.
    pub(crate) models: Map<String, Value>,
    /// Tokens by task.
    pub(crate) usage: Map<String, Value>,
}

/// The models in force, as part of what makes a revision; `None` without any. Reading the same bytes with other models
/// is another reading.
pub(crate) fn models_in_force(model: &dyn Model) -> Option<Value> {
    let named = TASKS.iter().filter_map(|task| Some((task.name().to_owned(), json!(model.name(*task)?))));
    let named: Map<String, Value> = named.collect();
    (!named.is_empty()).then_some(Value::Object(named))
}

/// Asks the models about a reading, for at most `patience`. Changes rows and headings where a task says so; what could
/// not be had becomes a warning.
pub(crate) async fn enrich(parsed: &mut Parsed, file_name: &str, model: &dyn Model, patience: Duration) -> Enrichment {
    let mut work =
        Work { model, file_name, until: Instant::now().checked_add(patience), enrichment: Enrichment::default(), warnings: Vec::new() };
    // Headings first: what is summed up depends on them.
    if work.asks(Task::Hierarchy) {
        hierarchy::resolve(parsed, &mut work).await;
    }
    if work.asks(Task::Ocr) || work.asks(Task::Image) {
        pictures::describe(parsed, &mut work).await;
    }
    if work.asks(Task::Summary) {
        summaries::write(parsed, &mut work).await;
    }
    if work.asks(Task::Classify) {
        category::classify(parsed, &mut work).await;
    }
    parsed.warnings.append(&mut work.warnings);
    work.enrichment
}

/// One document's calls.
struct Work<'a> {
    model: &'a dyn Model,
    file_name: &'a str,
    until: Option<Instant>,
    enrichment: Enrichment,
    warnings: Vec<Warning>,
}

impl Work<'_> {
    fn asks(&self, task: Task) -> bool {
        self.model.name(task).is_some()
    }

    /// Time left for all further calls.
    fn left(&self) -> Duration {
        self.until.map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()))
    }

    /// Counts what a task cost.
    fn spent(&mut self, task: Task, usage: Usage) {
        if let Some(name) = self.model.name(task) {
            self.enrichment.models.insert(task.name().to_owned(), json!(name));
        }
        let known = self.enrichment.usage.get(task.name());
        let add =
            |field: &str, tokens: u64| known.and_then(|known| known.get(field)).and_then(Value::as_u64).unwrap_or(0).saturating_add(tokens);
        let sum =
            json!({ "prompt_tokens": add("prompt_tokens", usage.prompt), "completion_tokens": add("completion_tokens", usage.completion) });
        self.enrichment.usage.insert(task.name().to_owned(), sum);
    }

    /// Says what a task could not add, and why; `cause` is an error's name, never what a server said.
    fn missing(&mut self, count: usize, what: &str, cause: &str) {
        if count > 0 {
            self.warnings.push(Warning::new(DocumentCode::ModelUnavailable, format!("{count} {what} without a model's help ({cause})")));
        }
    }
}

#[cfg(test)]
mod tests;
