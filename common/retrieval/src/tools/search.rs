//! `search`: the retriever's own answer, as evidence and sources.

use quarry_model::{ApiError, RetrievalRequest};
use serde::Deserialize;

use super::page::{DATA_NOTE, Page};
use super::reference::pages;
use super::{Call, ToolAnswer, failure};

/// Share of the budget that the evidence may have; the sources take what is left.
const EVIDENCE_SHARE: f64 = 0.7;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    query: String,
    agentic: Option<bool>,
    top_k: Option<i64>,
    document_ids: Option<Vec<String>>,
    chunk_types: Option<Vec<String>>,
}

pub(super) async fn search(call: Call<'_>) -> Result<ToolAnswer, ApiError> {
    let arguments: Arguments = call.arguments()?;
    if arguments.query.trim().is_empty() {
        return Err(ApiError::invalid_field("query", "must not be empty"));
    }
    let mut page = Page::new(call.budget);
    let request = RetrievalRequest {
        query: Some(arguments.query),
        namespace: Some(call.scope.namespace.as_str().to_owned()),
        top_k: arguments.top_k,
        use_agentic: arguments.agentic,
        include_document_ids: arguments.document_ids,
        chunk_types: arguments.chunk_types,
        token_budget: Some((f64::from(page.left()) * EVIDENCE_SHARE) as i64),
        ..RetrievalRequest::default()
    };
    let request = request.validate(&call.tools.limits).map_err(|violations| ApiError::invalid(&violations))?;
    let answer = call.tools.retriever.answer(&call.scope, &request).await.map_err(|error| failure(&error))?;
    if answer.evidence_text.is_empty() {
        page.head("Nothing in these documents matches. Try other words, `list_documents`, or another namespace.");
        return Ok(page.finish());
    }
    page.head(DATA_NOTE);
    page.head(&answer.evidence_text);
    page.head("\nSources:");
    for chunk in answer.referenced_chunks.iter().filter(|chunk| !chunk.mark.is_empty()) {
        let reference = format!("{}#{}", chunk.document_id, chunk.metadata.ordinal);
        let pages = pages(&chunk.metadata.page_nums);
        let separator = if pages.is_empty() { "" } else { ", " };
        page.push(
            &reference,
            &format!("[{}] {reference} {} › {}{separator}{pages}", chunk.mark, chunk.citation.source_file_name, chunk.section_path),
        );
    }
    for part in &answer.budget.omitted {
        page.leave_out(&part.section_path);
    }
    if let Some(reason) = &answer.failure_reason {
        page.leave_out(reason);
    }
    Ok(page.finish())
}
