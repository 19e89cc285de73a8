//! `grep`: every chunk that holds a text.

use std::time::{Duration, Instant};

use quarry_index::Filter;
use quarry_model::{ApiError, path};
use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use super::arguments::{between, chunk_types, document_ids};
use super::documents::one_line;
use super::page::{DATA_NOTE, Page};
use super::reference::pages;
use super::{Call, ToolAnswer, failure};
use crate::corpus::ChunkKey;

/// Chunks loaded at a time.
const AT_ONCE: usize = 256;
/// Longest search: below what a gateway waits.
const PATIENCE: Duration = Duration::from_secs(15);
/// Longest pattern, in characters.
const PATTERN: usize = 1_000;
/// Largest compiled pattern, in bytes.
const COMPILED: usize = 1 << 20;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: String,
    #[serde(default)]
    regex: bool,
    #[serde(default)]
    case_sensitive: bool,
    document_ids: Option<Vec<String>>,
    chunk_types: Option<Vec<String>>,
    context_chars: Option<i64>,
    max_results: Option<i64>,
}

pub(super) async fn grep(call: Call<'_>) -> Result<ToolAnswer, ApiError> {
    let arguments: Arguments = call.arguments()?;
    let context = between("context_chars", arguments.context_chars, 80, 0, 400)?;
    let most = between("max_results", arguments.max_results, 30, 1, 200)?;
    let pattern = compiled(&arguments)?;
    let filter = Filter {
        include_documents: document_ids(arguments.document_ids.as_ref())?,
        chunk_types: chunk_types(arguments.chunk_types.as_ref())?,
        ..Filter::default()
    };
    let Some(reader) = call.reader().await? else { return Ok(Page::new(call.budget).finish()) };
    let keys: Vec<ChunkKey> = reader.corpus().all(&filter).into_iter().map(|hit| (hit.document_id, hit.ordinal)).collect();
    let began = Instant::now();
    let (mut matches, mut found, mut looked_at) = (0_usize, Vec::new(), 0_usize);
    let mut chunks_found = 0_usize;
    for keys in keys.chunks(AT_ONCE) {
        if began.elapsed() > PATIENCE {
            break;
        }
        looked_at += keys.len();
        for stored in reader.corpus().fetch(keys).await.map_err(|error| failure(&error.into()))? {
            let content = &stored.indexed.chunk.content;
            let Some(first) = pattern.find(content) else { continue };
            let here = pattern.find_iter(content).count();
            matches += here;
            chunks_found += 1;
            if found.len() == most {
                continue;
            }
            let reference = format!("{}#{}", stored.document_id, stored.indexed.chunk.ordinal);
            let place = format!("{} › {}", one_line(&stored.file_name), one_line(&path::shown(&stored.indexed.section.path)));
            let times = if here > 1 { format!(" ({here} times)") } else { String::new() };
            let snippet = around(content, first.range(), context);
            let block = format!("{reference} {} {place}{times}: {snippet}", pages(&stored.indexed.chunk.metadata.page_nums));
            found.push((reference, block));
        }
        tokio::task::yield_now().await;
    }
    let mut page = Page::new(call.budget);
    let whole =
        if looked_at < keys.len() { format!(" (looked at {looked_at} of {} chunks, then time was up)", keys.len()) } else { String::new() };
    page.head(&format!("{matches} matches in {chunks_found} chunks{whole}"));
    page.head(DATA_NOTE);
    for (reference, block) in &found {
        page.push(reference, block);
    }
    page.leave_out_more(chunks_found - found.len());
    if looked_at < keys.len() {
        page.leave_out("chunks not looked at");
    }
    Ok(page.finish())
}

fn compiled(arguments: &Arguments) -> Result<Regex, ApiError> {
    let length = arguments.pattern.chars().count();
    if length == 0 || length > PATTERN {
        return Err(ApiError::invalid_field("pattern", &format!("must have 1 to {PATTERN} characters")));
    }
    let pattern = if arguments.regex { arguments.pattern.clone() } else { regex::escape(&arguments.pattern) };
    let built = RegexBuilder::new(&pattern).case_insensitive(!arguments.case_sensitive).multi_line(true).size_limit(COMPILED).build();
    let regex = built.map_err(|error| {
        let problem = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        ApiError::invalid_field("pattern", &format!("is no regular expression: {}", problem.chars().take(200).collect::<String>()))
    })?;
    if regex.is_match("") {
        return Err(ApiError::invalid_field("pattern", "matches everything; say what it must hold"));
    }
    Ok(regex)
}

/// The match with `context` characters on both sides, on one line.
fn around(content: &str, range: std::ops::Range<usize>, context: usize) -> String {
    let before: Vec<char> = content[..range.start].chars().rev().take(context).collect();
    let after: String = content[range.end..].chars().take(context).collect();
    let matched: String = content[range.clone()].chars().take(400).collect();
    let more = |cut: bool| if cut { "…" } else { "" };
    let text = format!("{}{matched}{after}", before.iter().rev().collect::<String>());
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{}{text}{}", more(before.len() == context && context > 0), more(after.chars().count() == context && context > 0))
}
