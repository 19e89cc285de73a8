//! `quarry ask`: read what is new, then answer from it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use quarry_model::retrieval::RetrievalRequest;
use quarry_model::{DocumentId, RetrievalAnswer, Scope};

use super::{ingest, search};
use crate::cli::Ask;
use crate::engine::Engine;
use crate::exit::{Exit, Failure};
use crate::{locate, output};

pub(crate) async fn run(engine: &Engine, args: Ask, json: bool) -> Result<Exit, Failure> {
    let scope = engine.scope(&args.place.namespace)?;
    let Some((question, paths)) = args.words.split_last() else {
        return Err(Failure::usage("a question is needed"));
    };
    if question.trim().is_empty() {
        return Err(Failure::usage("the question is empty"));
    }
    let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
    if paths.is_empty() && PathBuf::from(question).exists() {
        return Err(Failure::usage("a question is needed after the paths"));
    }

    let mut request = RetrievalRequest::of(question.clone());
    request.namespace = Some(args.place.namespace.clone());
    request.top_k = args.top_k.map(i64::from);
    request.token_budget = args.budget.map(i64::from);
    let mut exit = Exit::Ok;
    if !paths.is_empty() {
        let report = ingest::ingest(engine, &scope, &paths, false, json).await?;
        report.complain();
        exit = report.exit();
        if exit == Exit::NotFound {
            return Err(Failure::not_found("no readable file in what was named"));
        }
        request.include_document_ids = only(engine, &scope, &report.documents()).await?;
    }
    let answer = search::answer(engine, &scope, request).await?;
    if json {
        output::json(&answer)?;
    } else {
        print(&answer)?;
    }
    Ok(if answer.results.is_empty() { Exit::NotFound } else { exit })
}

/// The documents asked for, where the namespace holds others as well.
async fn only(engine: &Engine, scope: &Scope, asked: &BTreeSet<DocumentId>) -> Result<Option<Vec<String>>, Failure> {
    let others = locate::all(engine, scope).await?.iter().any(|record| !asked.contains(&record.document_id));
    Ok(others.then(|| asked.iter().map(ToString::to_string).collect()))
}

pub(crate) fn print(answer: &RetrievalAnswer) -> Result<(), Failure> {
    if answer.results.is_empty() {
        output::note("nothing found");
        return Ok(());
    }
    output::text(output::safe(answer.evidence_text.trim_end()))?;
    output::text("\nSources")?;
    for source in sources(answer) {
        output::text(source)?;
    }
    if answer.budget.truncated {
        let left: usize = answer.budget.omitted.len();
        output::note(format!("{left} more passages did not fit into {} tokens; --budget asks for more", answer.budget.limit));
    }
    if answer.partial {
        output::note("part of the index could not be read; `quarry doctor` says which");
    }
    Ok(())
}

/// One line for each mark in the evidence.
fn sources(answer: &RetrievalAnswer) -> Vec<String> {
    let marked = answer.referenced_chunks.iter().filter(|chunk| !chunk.mark.is_empty());
    let line = |chunk: &quarry_model::retrieval::ReferencedChunk| {
        let pages: Vec<String> = chunk.citation.page_nums.iter().map(ToString::to_string).collect();
        let pages = if pages.is_empty() { String::new() } else { format!(", p. {}", pages.join(", ")) };
        let (name, section) = (&chunk.citation.source_file_name, &chunk.citation.section_path);
        let place = if name == section { name.clone() } else { format!("{name} / {section}") };
        format!("[{}] {}{pages}  {}:{}", chunk.mark, output::line(&place, 110), chunk.document_id, chunk.metadata.ordinal)
    };
    marked.map(line).collect()
}
