//! The choices that a model makes. Titles and summaries reach it as data; it answers with ids.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use quarry_ports::model::{Model, Prompt, Task};
use serde::Deserialize;

use super::{Action, Navigator, View};
use crate::budget::Phase;
use crate::spending::Spending;

/// Longest answer, in tokens.
const ANSWER_TOKENS: u32 = 160;
/// Longest wait.
const WAIT: Duration = Duration::from_secs(6);
/// Longest summary that is shown, in characters.
const SUMMARY_CHARS: usize = 240;
const INSTRUCTIONS: &str = "You choose which sections of one document are evidence for a question. You are shown sections with \
the ids of what can be done: C… takes a section with all its text, O… only names it, E… looks below it, B1 looks above, T1 takes \
tables, I1 takes pictures, F1 ends. Take what is needed to answer, nothing else. Form: {\"ids\": [\"C1\", \"F1\"]}. Only ids that \
are shown count.";

/// Asks a model.
pub struct ModelNavigator(pub Arc<dyn Model>);

#[derive(Deserialize)]
struct Answer {
    ids: Vec<String>,
}

#[async_trait]
impl Navigator for ModelNavigator {
    fn name(&self) -> String {
        self.0.name(Task::Navigator).unwrap_or("none").to_owned()
    }

    async fn choose(&self, view: &View<'_>, spending: &Spending<'_>) -> Result<Vec<String>, &'static str> {
        let prompt = Prompt::new(Task::Navigator, INSTRUCTIONS)
            .json()
            .limits(ANSWER_TOKENS, WAIT)
            .say(format!("Question: {}", view.query))
            .data("sections of the document", shown(view))
            .say(format!("Ids: {}", view.offers.iter().map(|offer| offer.id.as_str()).collect::<Vec<_>>().join(" ")));
        let completion = spending.ask(self.0.as_ref(), Phase::Navigator, prompt).await?;
        completion.parse::<Answer>().map(|answer| answer.ids).map_err(|error| error.name())
    }
}

/// The visible sections, a line or two each, ids first: ours stand before the document's words on every line.
fn shown(view: &View<'_>) -> String {
    let mut out = String::new();
    for &at in view.visible {
        let section = &view.tree.sections[at];
        let ids: Vec<&str> = view
            .offers
            .iter()
            .filter(|offer| matches!(offer.action, Action::Collect(of) | Action::Outline(of) | Action::Expand(of) if of == at))
            .map(|offer| offer.id.as_str())
            .collect();
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let summary: String = one_line(&section.summary).chars().take(SUMMARY_CHARS).collect();
        let _ = writeln!(
            out,
            "[{}] level {}, {} tokens, match {:.2}: {} | {summary}",
            ids.join(" "),
            section.level,
            section.tokens,
            section.hit.max(section.below),
            one_line(&section.title)
        );
    }
    out
}
