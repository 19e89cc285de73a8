//! `quarry mcp`: the corpus tools for one MCP client, over this program's own pipes.

use anyhow::anyhow;
use quarry_model::record::KeyScope;
use quarry_retrieval::tools::ToolCaller;
use quarry_runtime::http::Access;

use crate::cli::Mcp;
use crate::command::serve::Served;
use crate::engine::Engine;
use crate::exit::{Exit, Failure};
use crate::wait;

/// Serves the client that started this program, until it leaves. What it hands in is read meanwhile.
pub(crate) async fn run(engine: &Engine, args: Mcp) -> Result<Exit, Failure> {
    let scope = engine.scope(&args.place.namespace)?;
    let tools = Served::new(engine, Access::ThisProcess)?.tools;
    let namespace = Some(scope.namespace.as_str().to_owned());
    let caller = ToolCaller { owner: scope.owner, scopes: vec![KeyScope::Admin], namespace, authorization: None };
    let serving = async { quarry_search::mcp::serve_stdio(tools, caller).await.map_err(|error| Failure::from(anyhow!(error))) };
    Box::pin(wait::keep_road(engine, serving)).await?;
    Ok(Exit::Ok)
}
