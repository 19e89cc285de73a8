//! What kind of document it is, in a few words.

use std::time::Duration;

use quarry_language::tokens;
use quarry_model::{Parsed, RowKind};
use quarry_ports::{Prompt, Task};
use serde::Deserialize;

use super::Work;

/// Words of a category.
const WORDS: usize = 5;
/// Characters of a category.
const CHARACTERS: usize = 60;
/// Tokens of the document that are read.
const READ: u32 = 1_200;
const WAIT: Duration = Duration::from_secs(20);
const INSTRUCTIONS: &str = "You are given the beginning of a document. Say in at most five words, in English and lower case, what kind of document it is: \
\"pump maintenance manual\", \"annual report\", \"lease contract\". Answer {\"category\": \"…\"}.";

#[derive(Debug, Deserialize)]
struct Answer {
    category: String,
}

/// Finds the category.
pub(super) async fn classify(parsed: &Parsed, work: &mut Work<'_>) {
    let mut text = format!("{}\n{}\n", work.file_name, parsed.title.as_deref().unwrap_or_default());
    for row in parsed.rows.iter().filter(|row| row.kind != RowKind::Table) {
        if text.len() > (READ as usize).saturating_mul(8) {
            break;
        }
        text.push_str(&row.content);
        text.push('\n');
    }
    let prompt = Prompt::new(Task::Classify, INSTRUCTIONS).data("document", tokens::truncate(&text, READ)).json().limits(40, WAIT);
    let cause = match work.ask(Task::Classify, vec![prompt]).await.pop().map(|answer| answer.map(|answer| answer.parse::<Answer>())) {
        Some(Ok(Ok(answer))) => {
            work.enrichment.category = tidy(&answer.category);
            "unreadable"
        }
        Some(Ok(Err(error))) => error.name(),
        Some(Err(name)) => name,
        None => "no_time",
    };
    let lacking = usize::from(work.enrichment.category.is_none());
    work.missing(lacking, "document was classified", cause);
}

/// At most [`WORDS`] words of letters and digits.
fn tidy(said: &str) -> Option<String> {
    let words = said.split(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '\'' | '&')).filter(|word| !word.is_empty());
    let category: String = words.take(WORDS).collect::<Vec<_>>().join(" ").to_lowercase().chars().take(CHARACTERS).collect();
    (!category.is_empty()).then_some(category)
}
