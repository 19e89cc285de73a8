//! `quarry list`: the documents of a namespace.

use quarry_model::record::DocumentStatus;
use serde_json::json;

use crate::cli::List;
use crate::engine::Engine;
use crate::exit::{Exit, Failure};
use crate::{locate, output};

pub(crate) async fn run(engine: &Engine, args: List, json: bool) -> Result<Exit, Failure> {
    let scope = engine.scope(&args.place.namespace)?;
    let mut documents = locate::all(engine, &scope).await?;
    documents.retain(|document| args.all || document.status == DocumentStatus::Active);
    if json {
        let listed: Vec<_> = documents
            .iter()
            .map(|document| {
                json!({
                    "document_id": document.document_id,
                    "status": document.status,
                    "source_file_name": document.source_file_name,
                    "revision": document.active_revision,
                    "job_id": document.active_job,
                    "chunk_count": document.chunk_count,
                    "summary": document.summary,
                    "document_metadata": document.metadata,
                    "created_at": document.created_at,
                    "updated_at": document.updated_at,
                })
            })
            .collect();
        output::json(&json!({ "namespace": scope.namespace, "documents": listed }))?;
        return Ok(Exit::Ok);
    }
    for document in &documents {
        let archived = if document.status == DocumentStatus::Archived { "  archived" } else { "" };
        let name = output::line(&document.source_file_name, 60);
        output::text(format!("{}  {:>5} chunks  {}  {name}{archived}", document.document_id, document.chunk_count, document.updated_at))?;
    }
    if documents.is_empty() {
        output::note(format!("no documents in namespace {}", scope.namespace));
    }
    Ok(Exit::Ok)
}
