//! The corpus tools over plain HTTP: the same registry as MCP's, for programs that speak no MCP.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use http::{HeaderMap, header};
use quarry_retrieval::tools::{ToolAnswer, ToolCaller};
use quarry_runtime::http::{Body, Caller, Failure};
use serde_json::{Value, json};

use crate::Search;

/// `GET /tools`.
pub(crate) async fn list(State(search): State<Arc<Search>>, caller: Caller) -> Json<Value> {
    let caller = tool_caller(caller, &HeaderMap::new());
    let tools: Vec<Value> = search
        .tools
        .list(&caller)
        .map(|tool| json!({ "name": tool.name, "title": tool.title, "description": tool.description, "input_schema": tool.input_schema() }))
        .collect();
    Json(json!({ "tools": tools }))
}

/// `POST /tools/{name}`.
pub(crate) async fn call(
    State(search): State<Arc<Search>>,
    caller: Caller,
    Path(name): Path<String>,
    headers: HeaderMap,
    Body(arguments): Body<Value>,
) -> Result<Json<ToolAnswer>, Failure> {
    let caller = tool_caller(caller, &headers);
    Ok(Json(search.tools.call(&caller, &name, arguments).await?))
}

fn tool_caller(caller: Caller, headers: &HeaderMap) -> ToolCaller {
    let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).map(str::to_owned);
    ToolCaller { owner: caller.owner, scopes: caller.scopes, namespace: None, authorization }
}
