//! Classic retrieval: channels, fusion, ranking, evidence.

use quarry_model::retrieval::RouterUsed;
use serde_json::json;

use crate::discovery::{self, REFERENCE_SHARE, candidates};
use crate::error::RetrievalError;
use crate::query::Weighed;
use crate::ranking::Matcher;
use crate::work::{Outcome, Work};
use crate::{assembly, filters};

/// Runs the classic route.
pub async fn run(work: &Work<'_>) -> Result<Outcome, RetrievalError> {
    let filter = filters::of(&work.request.filters, work.reader).await?;
    let in_scope = work.reader.corpus().count(&filter);
    let router = if in_scope <= work.request.top_k as u64 { RouterUsed::SmallCorpusAll } else { RouterUsed::ClassicTopk };
    let step = work.trace.step("route", "classic", json!({ "chunks_in_scope": in_scope, "top_k": work.request.top_k }), work.budget);
    step.end(json!({ "router": router }), work.budget);

    let query = Weighed::new(&work.request.query, work.reader.corpus()).await?;
    let mut matcher = Matcher::new(&query);
    let mut scored = candidates(work, &filter, &mut matcher, router, REFERENCE_SHARE).await?;
    discovery::boost(work, &mut scored).await;
    if work.request.rerank {
        discovery::rerank(work, &matcher, &mut scored);
    }
    assembly::finish(work, router, &matcher, &scored, &[]).await
}
