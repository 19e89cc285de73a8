//! From ranked candidates to the outcome: lists the hits, packs the evidence, says why it ended.

use std::collections::HashMap;

use quarry_model::retrieval::{RouterUsed, StopReason};
use serde_json::json;

use crate::budget::Phase;
use crate::corpus::ChunkKey;
use crate::discovery::Scored;
use crate::error::RetrievalError;
use crate::evidence::{self, Outline, Packed};
use crate::leaves::{self, Ranked};
use crate::ranking::Matcher;
use crate::results::{self, Listed};
use crate::work::{Outcome, Work};

/// Lists, packs, and says why it ended.
pub(crate) async fn finish(
    work: &Work<'_>,
    router: RouterUsed,
    matcher: &Matcher<'_>,
    scored: &[Scored],
    outlines: &[Outline],
) -> Result<Outcome, RetrievalError> {
    let request = work.request;
    let served = |score: f32| round(f64::from((score / matcher.ceiling()).clamp(0.0, 1.0)));
    let everything = router == RouterUsed::SmallCorpusAll;
    let kept = scored.iter().filter(|s| everything || s.score > 0.0).map(|s| (s.passage.clone(), served(s.score)));
    let mut listed: Vec<Listed> = results::collapse(kept.filter(|(_, score)| *score >= request.threshold));
    listed.truncate(request.top_k);

    let best = scored.first().map_or(0.0, |s| s.score).max(f32::MIN_POSITIVE);
    let strengths: HashMap<ChunkKey, f32> = scored.iter().map(|s| (s.passage.key(), s.score / best)).collect();
    let ranked: Vec<Ranked> = listed
        .iter()
        .map(|hit| Ranked { strength: strengths.get(&hit.passage.key()).copied().unwrap_or_default(), passage: hit.passage.clone() })
        .collect();
    let packed = pack(work, matcher, &ranked, outlines).await?;
    let results = results::results(&listed, &request.filters.chunk_types, work.reader).await?;
    let referenced = results::referenced(&packed.shown, &listed);
    let stop = match (listed.iter().any(|hit| hit.score > 0.0), packed.omitted.is_empty()) {
        (false, _) => StopReason::NoMatch,
        (true, true) => StopReason::Complete,
        (true, false) => StopReason::Budget,
    };
    let counted = listed.iter().filter(|hit| hit.score > 0.0).map(|hit| hit.passage.key()).collect();
    Ok(Outcome { router, results, referenced, rendered: packed.rendered, omitted: packed.omitted, stop, failure: None, counted })
}

/// Packs the leaves of hits into what is left of the budget.
async fn pack(work: &Work<'_>, matcher: &Matcher<'_>, ranked: &[Ranked], outlines: &[Outline]) -> Result<Packed, RetrievalError> {
    let reservation = work.budget.reserve_rest(Phase::Evidence);
    let limit = reservation.tokens();
    let step = work.trace.step("evidence", "pack", json!({ "hits": ranked.len(), "limit": limit }), work.budget);
    let leaves = leaves::of(ranked, &work.request.filters.chunk_types, work.reader).await?;
    let mut packed = evidence::pack(&leaves, matcher, limit);
    let outlined = packed.rendered.outline(outlines, limit);
    let used = packed.rendered.tokens();
    reservation.commit(used);
    let output = json!({
        "leaves": leaves.len(), "shown_chunks": packed.shown.len(), "omitted_leaves": packed.omitted.len(), "outlined": outlined, "tokens": used,
    });
    step.end(output, work.budget);
    Ok(packed)
}

/// Six digits.
fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
