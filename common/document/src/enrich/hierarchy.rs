//! Levels of headings that only their looks decided. The model is shown candidates in batches, with the headings whose
//! levels are known between them, and answers a level for every id; whatever it leaves out is asked again in smaller
//! batches, and keeps the level it has when that does not help.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use quarry_model::{Evidence, Parsed};
use quarry_ports::{Prompt, Task};
use serde::Deserialize;

use super::Work;

/// Candidates in one question.
const BATCH: usize = 64;
/// Candidates of one document; the rest keep what their looks say.
const MOST: usize = 1_024;
/// Times that what was left out is asked again, in batches half as large each time.
const ROUNDS: u32 = 4;
/// Deepest level a model may give.
const DEEPEST: u32 = 6;
/// Characters of a title that are shown.
const TITLE: usize = 120;
const WAIT: Duration = Duration::from_secs(30);

const INSTRUCTIONS: &str = "You are given headings of one document in reading order, one a line. A line that begins with an id like h12 is a \
heading whose level is not known; a line that begins with a number and a colon is a heading whose level is that number. Decide the level of every \
id: 1 for the top level, 2 below it, and so on to 6, consistently with numbering, wording and the known levels. Answer {\"levels\": {\"h12\": 2, …}} \
with every id and no other.";

#[derive(Debug, Deserialize)]
struct Answer {
    levels: BTreeMap<String, u32>,
}

/// Gives levels to headings that have none for sure.
pub(super) async fn resolve(parsed: &mut Parsed, work: &mut Work<'_>) {
    let unresolved = |(index, heading): (usize, &quarry_model::Heading)| (heading.evidence == Evidence::Geometry).then_some(index);
    let mut open: Vec<usize> = parsed.headings.iter().enumerate().filter_map(unresolved).collect();
    if open.is_empty() {
        return;
    }
    let past = open.len().saturating_sub(MOST);
    open.truncate(MOST);
    let (mut size, mut cause) = (BATCH, "unreadable");
    for _ in 0..ROUNDS {
        cause = "unreadable";
        let batches: Vec<Vec<usize>> = open.chunks(size).map(<[usize]>::to_vec).collect();
        let prompts = batches.iter().map(|batch| prompt(parsed, batch)).collect();
        let mut still = Vec::new();
        for (batch, answer) in batches.into_iter().zip(work.ask(Task::Hierarchy, prompts).await) {
            let levels = match answer.map(|answer| answer.parse::<Answer>()) {
                Ok(Ok(answer)) => answer.levels,
                Ok(Err(error)) => {
                    cause = error.name();
                    BTreeMap::new()
                }
                Err(name) => {
                    cause = name;
                    BTreeMap::new()
                }
            };
            for index in batch {
                // Ids that were not offered are not looked at.
                let level = levels.get(&format!("h{index}")).copied().filter(|level| (1..=DEEPEST).contains(level));
                match (level, parsed.headings.get_mut(index)) {
                    (Some(level), Some(heading)) => {
                        heading.level = level;
                        heading.evidence = Evidence::Model;
                    }
                    _ => still.push(index),
                }
            }
        }
        open = still;
        // A server that does not answer would not answer half the question either.
        if open.is_empty() || cause != "unreadable" {
            break;
        }
        size = (size / 2).max(1);
    }
    work.missing(open.len().saturating_add(past), "heading levels were decided", if open.is_empty() { "too_many" } else { cause });
}

fn prompt(parsed: &Parsed, batch: &[usize]) -> Prompt {
    let (first, last) = (batch.first().copied().unwrap_or(0), batch.last().copied().unwrap_or(0));
    let mut lines = String::new();
    // A few known headings before the batch say where it begins.
    let before = parsed.headings.iter().enumerate().take(first).rev().filter(|(_, heading)| heading.evidence != Evidence::Geometry).take(6);
    let before: Vec<usize> = before.map(|(index, _)| index).collect();
    for index in before.into_iter().rev().chain(first..=last) {
        let Some(heading) = parsed.headings.get(index) else { continue };
        let title: String = heading.title.chars().take(TITLE).collect();
        if batch.binary_search(&index).is_ok() {
            let _ = writeln!(lines, "h{index} {title}");
        } else {
            let _ = writeln!(lines, "{}: {title}", heading.level);
        }
    }
    let tokens = u32::try_from(batch.len()).unwrap_or(u32::MAX).saturating_mul(12).saturating_add(80);
    Prompt::new(Task::Hierarchy, INSTRUCTIONS).data("headings", lines).json().limits(tokens, WAIT)
}
