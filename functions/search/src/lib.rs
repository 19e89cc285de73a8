//! Answers queries from published revisions.
//!
//! What this room is for: the HTTP and MCP face of [`quarry_retrieval`]. What enters: queries and calls of tools of an
//! authenticated caller, and the id of a run. What leaves: answers with cited evidence, or the steps of a run. What it must never do:
//! write documents or the index, or let a caller see that another owner's namespace, document or run exists.

pub mod api;
pub mod mcp;
mod stream;
mod tools;

use std::sync::Arc;

use axum::extract::{FromRequest as _, Path, Request, State};
use axum::routing::{get, post};
use axum::{Json, Router};
use quarry_model::record::KeyScope;
use quarry_model::retrieval::{RetrievalRun, TraceStep};
use quarry_model::{ApiError, Limits, NormalizedRequest, RetrievalAnswer, RetrievalRequest, Scope};
use quarry_retrieval::tools::Tools;
use quarry_retrieval::{RetrievalError, Retriever};
use quarry_runtime::http::{Body, Caller, Failure, Route, route};
use serde::Serialize;

/// Seconds a caller waits before trying again when a store is out of order.
const RETRY_SECONDS: u64 = 2;
/// Largest request: a query with long lists of documents and sections.
const BODY_BYTES: usize = 2 << 20;
/// Largest call of a tool: a submission's content in base64.
const TOOL_BODY_BYTES: usize = 5 << 20;

/// What the handlers work with.
pub struct Search {
    /// Answers.
    pub retriever: Arc<Retriever>,
    /// Plain questions about one namespace.
    pub tools: Arc<Tools>,
    /// Limits.
    pub limits: Arc<Limits>,
}

impl std::fmt::Debug for Search {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Search").finish_non_exhaustive()
    }
}

/// Every route of [`routes`].
pub const ROUTES: &[Route] =
    &[route("POST", "/retrieval/query"), route("GET", "/retrieval/runs/{run_id}"), route("GET", "/tools"), route("POST", "/tools/{name}")];

/// The routes, to be mounted by [`quarry_runtime::http::app`].
pub fn routes(search: Arc<Search>) -> Router {
    let body = axum::extract::DefaultBodyLimit::max(BODY_BYTES);
    Router::new()
        .route("/retrieval/query", post(query).layer(body))
        .route("/retrieval/query/stream", post(stream::query).layer(body))
        .route("/retrieval/runs/{run_id}", get(run))
        .route("/tools", get(tools::list))
        .route("/tools/{name}", post(tools::call).layer(axum::extract::DefaultBodyLimit::max(TOOL_BODY_BYTES)))
        .with_state(search)
}

async fn query(State(search): State<Arc<Search>>, caller: Caller, request: Request) -> Result<Json<RetrievalAnswer>, Failure> {
    // Who may not is told so, whatever the body says.
    caller.require(KeyScope::Query)?;
    let Body(request): Body<RetrievalRequest> = Body::from_request(request, &()).await?;
    let (scope, request) = accepted(&search, caller, request)?;
    search.retriever.answer(&scope, &request).await.map(Json).map_err(|error| failure(&error))
}

/// A request in which every rule holds, and whose data it is about.
fn accepted(search: &Search, caller: Caller, request: RetrievalRequest) -> Result<(Scope, NormalizedRequest), Failure> {
    let request = request.validate(&search.limits).map_err(|violations| ApiError::invalid(&violations))?;
    Ok((Scope::new(caller.owner, request.namespace.clone()), request))
}

/// A run and its steps.
#[derive(Debug, Serialize)]
struct RunBody {
    #[serde(flatten)]
    run: RetrievalRun,
    decision_trace: Vec<TraceStep>,
}

async fn run(State(search): State<Arc<Search>>, caller: Caller, Path(run_id): Path<String>) -> Result<Json<RunBody>, Failure> {
    caller.require(KeyScope::Query)?;
    let found = search.retriever.run(&caller.owner, &run_id).await.map_err(|error| failure(&error))?;
    let (run, decision_trace) = found.ok_or_else(|| ApiError::not_found("Run", &run_id))?;
    Ok(Json(RunBody { run, decision_trace }))
}

fn failure(error: &RetrievalError) -> Failure {
    if error.is_transient() {
        tracing::warn!(target: "quarry::search", %error, "cannot answer now");
        return ApiError::unavailable(RETRY_SECONDS).into();
    }
    Failure::internal(error)
}
