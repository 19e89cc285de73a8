//! Summaries of sections whose own text is long, several in one question, and of the document out of them.

use std::collections::BTreeMap;
use std::time::Duration;

use quarry_language::tokens;
use quarry_model::{Parsed, RowKind};
use quarry_ports::{Prompt, Task};
use serde::Deserialize;

use super::Work;
use crate::summary::SUMMARY_TOKENS;

/// Shorter texts are summed up well enough by their first sentences.
const LONG: u32 = 200;
/// Tokens of a section that are read.
const READ: u32 = 1_500;
/// Sections in one question, and of one document.
const BATCH: usize = 6;
const MOST: usize = 240;
/// Sections that the document's summary is made from.
const LEADING: usize = 40;
const WAIT: Duration = Duration::from_secs(40);

const SECTIONS: &str = "You are given sections of one document, each with an id. Sum up each in one sentence of at most 40 words, in the section's own \
language: what can be found in it, with its names, numbers and terms. Answer {\"summaries\": {\"s12\": \"…\", …}} with every id and no other.";
const DOCUMENT: &str = "You are given the titles of a document's sections and what they hold. Sum up the document in at most two sentences and 50 words, in \
its own language: what kind of document it is, and what can be found in it. Answer {\"summary\": \"…\"}.";

#[derive(Debug, Deserialize)]
struct Sections {
    summaries: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
struct Document {
    summary: String,
}

/// Writes summaries beside the reading.
pub(super) async fn write(parsed: &Parsed, work: &mut Work<'_>) {
    let texts = texts(parsed);
    let long: Vec<(usize, &str)> =
        texts.iter().filter(|(_, text)| !tokens::fits(text, LONG)).map(|(index, text)| (*index, text.as_str())).collect();
    let past = long.len().saturating_sub(MOST);
    let batches: Vec<&[(usize, &str)]> = long.get(..long.len().min(MOST)).unwrap_or_default().chunks(BATCH).collect();
    let prompts = batches.iter().map(|batch| {
        let prompt = Prompt::new(Task::Summary, SECTIONS).json().limits(u32::try_from(batch.len()).unwrap_or(1).saturating_mul(100), WAIT);
        batch.iter().fold(prompt, |prompt, (index, text)| {
            let title = parsed.headings.get(*index).map_or("", |heading| heading.title.as_str());
            prompt.data(format!("s{index}"), format!("{title}\n{}", tokens::truncate(text, READ)))
        })
    });
    let (mut lacking, mut cause) = (past, "too_many");
    for (batch, answer) in batches.iter().zip(work.ask(Task::Summary, prompts.collect()).await) {
        let summaries = match answer.map(|answer| answer.parse::<Sections>()) {
            Ok(Ok(answer)) => answer.summaries,
            Ok(Err(error)) => {
                cause = error.name();
                BTreeMap::new()
            }
            Err(name) => {
                cause = name;
                BTreeMap::new()
            }
        };
        for (index, _) in *batch {
            match summaries.get(&format!("s{index}")).and_then(|said| tidy(said)) {
                Some(summary) => drop(work.enrichment.sections.insert(*index, summary)),
                None => lacking = lacking.saturating_add(1),
            }
        }
    }
    work.missing(lacking, "sections were summed up", cause);
    document(parsed, &texts, work).await;
}

async fn document(parsed: &Parsed, texts: &BTreeMap<usize, String>, work: &mut Work<'_>) {
    let lines = parsed.headings.iter().enumerate().take(LEADING).map(|(index, heading)| {
        let said = work.enrichment.sections.get(&index).cloned();
        let said = said.or_else(|| texts.get(&index).map(|text| crate::summary::leading_sentences(text))).unwrap_or_default();
        format!("{}: {said}", heading.title)
    });
    let mut outline = lines.collect::<Vec<_>>().join("\n");
    if outline.is_empty() {
        outline = parsed.rows.iter().map(|row| row.content.as_str()).take(LEADING).collect::<Vec<_>>().join("\n");
    }
    if outline.trim().is_empty() {
        return;
    }
    let prompt = Prompt::new(Task::Summary, DOCUMENT).data("outline", tokens::truncate(&outline, READ)).json().limits(120, WAIT);
    let answer = work.ask(Task::Summary, vec![prompt]).await.pop();
    let cause = match answer.map(|answer| answer.map(|answer| answer.parse::<Document>())) {
        Some(Ok(Ok(answer))) => {
            work.enrichment.document = tidy(&answer.summary);
            "unreadable"
        }
        Some(Ok(Err(error))) => error.name(),
        Some(Err(name)) => name,
        None => "no_time",
    };
    let lacking = usize::from(work.enrichment.document.is_none());
    work.missing(lacking, "document was summed up", cause);
}

/// The text of each section itself, as far as it is read.
fn texts(parsed: &Parsed) -> BTreeMap<usize, String> {
    let mut texts: BTreeMap<usize, String> = BTreeMap::new();
    for row in parsed.rows.iter().filter(|row| row.kind == RowKind::Text && !row.hidden) {
        let Some(section) = row.section else { continue };
        let text = texts.entry(section).or_default();
        // A token is rarely more than sixteen bytes: this much is enough to know that there is more than is read.
        if text.len() < (READ as usize).saturating_mul(16) {
            text.push_str(&row.content);
            text.push('\n');
        }
    }
    texts
}

/// One line of at most [`SUMMARY_TOKENS`]; `None` for nothing.
fn tidy(said: &str) -> Option<String> {
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    let cut = tokens::truncate(&line, SUMMARY_TOKENS);
    (!cut.trim().is_empty()).then(|| cut.trim().to_owned())
}
