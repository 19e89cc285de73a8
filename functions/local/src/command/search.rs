//! `quarry search`: the best passages for a query.

use quarry_model::retrieval::RetrievalRequest;
use quarry_model::{FieldViolation, RetrievalAnswer, Scope};

use super::{ask, trace};
use crate::cli::Search;
use crate::engine::Engine;
use crate::exit::{Exit, Failure};
use crate::{locate, output};

/// Characters of a passage that are shown.
const SNIPPET: usize = 300;

pub(crate) async fn run(engine: &Engine, args: Search, json: bool) -> Result<Exit, Failure> {
    let scope = engine.scope(&args.place.namespace)?;
    let request = request(engine, &scope, &args).await?;
    let answer = answer(engine, &scope, request).await?;
    if json {
        output::json(&answer)?;
    } else {
        if args.agentic {
            ask::print(&answer)?;
        } else {
            print(&answer)?;
        }
        if args.trace {
            output::text("")?;
            trace::print(&answer)?;
        }
    }
    Ok(if answer.results.is_empty() { Exit::NotFound } else { Exit::Ok })
}

/// The request that the arguments make.
pub(crate) async fn request(engine: &Engine, scope: &Scope, args: &Search) -> Result<RetrievalRequest, Failure> {
    let mut request = RetrievalRequest::of(args.query.join(" "));
    request.namespace = Some(args.place.namespace.clone());
    request.top_k = Some(i64::from(args.top_k));
    request.use_agentic = Some(args.agentic);
    request.token_budget = args.budget.map(i64::from);
    if !args.types.is_empty() {
        request.chunk_types = Some(args.types.clone());
    }
    if !args.documents.is_empty() {
        let mut ids = Vec::new();
        for name in &args.documents {
            ids.push(locate::document(engine, scope, name).await?.document_id.to_string());
        }
        request.include_document_ids = Some(ids);
    }
    Ok(request)
}

/// Answers a request; what is wrong with it is a wrong call.
pub(crate) async fn answer(engine: &Engine, scope: &Scope, request: RetrievalRequest) -> Result<RetrievalAnswer, Failure> {
    let request = request.validate(&engine.limits).map_err(|wrong| Failure::usage(sentences(&wrong)))?;
    let retriever = engine.retriever();
    let answer = retriever.answer(scope, &request).await?;
    retriever.flush().await;
    Ok(answer)
}

fn sentences(wrong: &[FieldViolation]) -> String {
    wrong.iter().map(|one| format!("{}: {}", one.field, one.description)).collect::<Vec<_>>().join("; ")
}

fn print(answer: &RetrievalAnswer) -> Result<(), Failure> {
    for (at, result) in answer.results.iter().enumerate() {
        let pages: Vec<String> = result.citation.page_nums.iter().map(ToString::to_string).collect();
        let pages = if pages.is_empty() { String::new() } else { format!("  p. {}", pages.join(", ")) };
        let (name, section) = (&result.source.source_file_name, &result.source.section_path);
        let place = if name == section { name.clone() } else { format!("{name} / {section}") };
        output::text(format!("{:>2}. {:.3}  {}{pages}", at + 1, result.score, output::line(&place, 110)))?;
        output::text(format!("    {}:{}", result.source.document_id, result.metadata.ordinal))?;
        output::text(format!("    {}", output::line(&result.content, SNIPPET)))?;
    }
    if answer.results.is_empty() {
        output::note("nothing found");
    }
    if answer.partial {
        output::note("part of the index could not be read; `quarry doctor` says which");
    }
    Ok(())
}
