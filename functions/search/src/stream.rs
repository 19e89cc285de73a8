//! `POST /retrieval/query/stream`: the same answer, with what is being done meanwhile.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Response};
use quarry_model::record::KeyScope;
use quarry_model::retrieval::{StopReason, TraceStep};
use quarry_model::{RetrievalAnswer, RetrievalRequest};
use quarry_runtime::http::stream::{self, HEARTBEAT, Teller, Terminal, WantsEvents};
use quarry_runtime::http::{Body, Caller, Failure, RequestId};
use serde_json::{Map, Value, json};

use crate::{Search, accepted, failure};

pub(crate) async fn query(
    State(search): State<Arc<Search>>,
    caller: Caller,
    WantsEvents(events): WantsEvents,
    Extension(request_id): Extension<RequestId>,
    Body(request): Body<RetrievalRequest>,
) -> Result<Response, Failure> {
    caller.require(KeyScope::Query)?;
    // All that is wrong with the request is said before a stream begins.
    let (scope, request) = accepted(&search, caller, request)?;
    if !events {
        let answer = search.retriever.answer(&scope, &request).await.map_err(|error| failure(&error))?;
        return Ok(Json(answer).into_response());
    }
    Ok(stream::stream("rst", HEARTBEAT, move |teller: Teller| async move {
        teller.tell(phase("started"));
        let watcher = teller.clone();
        let watcher = Arc::new(move |step: &TraceStep| watcher.tell(progress(step)));
        match search.retriever.answer_watched(&scope, &request, Some(watcher)).await {
            Ok(answer) => terminal(&answer),
            Err(error) => stream::failed(&failure(&error).0, &request_id),
        }
    }))
}

fn phase(name: &str) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("phase".into(), json!(name));
    fields
}

/// What a step was for, how long it took, and its counts: never a word of a document or of the query.
fn progress(step: &TraceStep) -> Map<String, Value> {
    let mut fields = phase(match step.phase.as_str() {
        "plan" | "planner" => "planning",
        "navigate" | "navigation" | "navigator" => "reviewing_sources",
        "evidence" | "render" => "finalizing",
        _ => "searching",
    });
    fields
        .insert("step".into(), json!({ "phase": step.phase, "action": step.action, "elapsed_ms": step.elapsed_ms, "tokens": step.tokens }));
    let counts: Map<String, Value> = step
        .output
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(_, value)| value.is_number())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    fields.insert("counts".into(), Value::Object(counts));
    fields
}

fn terminal(answer: &RetrievalAnswer) -> Terminal {
    let none = matches!(answer.stop_reason, StopReason::NoMatch | StopReason::EmptyQuery);
    let mut fields = Map::new();
    fields.insert("status".into(), json!(if none { "no_results" } else { "completed" }));
    match serde_json::to_value(answer) {
        Ok(response) => fields.insert("response".into(), response),
        Err(error) => {
            tracing::error!(target: "quarry::search", %error, "an answer cannot be written");
            fields.insert("status".into(), json!("failed"))
        }
    };
    fields
}
