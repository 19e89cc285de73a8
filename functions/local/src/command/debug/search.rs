//! `quarry debug search QUERY`: what each channel finds by itself, and every step of the answer.

use quarry_index::{Channel, Filter, Hit};
use serde_json::{Value, json};

use crate::cli::Search;
use crate::command::search;
use crate::engine::Engine;
use crate::exit::{Exit, Failure};
use crate::output;

pub(super) async fn run(engine: &Engine, args: Search) -> Result<Exit, Failure> {
    let scope = engine.scope(&args.place.namespace)?;
    let request = search::request(engine, &scope, &args).await?;
    let mut channels = serde_json::Map::new();
    if let Some(reader) = engine.retriever().pin(&scope).await? {
        let limit = args.top_k as usize;
        let asked = [(Channel::Path, "path"), (Channel::Content, "content"), (Channel::Term, "term")];
        let found = reader.corpus().search(&asked.map(|(channel, _)| channel), &args.query.join(" "), &Filter::default(), limit).await?;
        for ((_, name), hits) in asked.into_iter().zip(found) {
            channels.insert(name.to_owned(), hits.iter().map(show).collect());
        }
    }
    let answer = search::answer(engine, &scope, request).await?;
    let results: Vec<Value> = answer
        .results
        .iter()
        .map(|result| json!({ "document_id": result.source.document_id, "ordinal": result.metadata.ordinal, "score": result.score }))
        .collect();
    output::json(&json!({
        "query": answer.query,
        "index_version": answer.index_version,
        "channels": channels,
        "router_used": answer.router_used,
        "results": results,
        "steps": answer.decision_trace,
        "budget": answer.budget,
        "stop_reason": answer.stop_reason,
    }))?;
    Ok(if answer.results.is_empty() { Exit::NotFound } else { Exit::Ok })
}

fn show(hit: &Hit) -> Value {
    json!({ "document_id": hit.document_id, "ordinal": hit.ordinal, "score": hit.score })
}
