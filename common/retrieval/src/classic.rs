//! Classic retrieval: channels, fusion, ranking, evidence.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use quarry_index::Filter;
use quarry_model::retrieval::{ReferencedChunk, RetrievalResult, RouterUsed, StopReason};
use quarry_model::{NormalizedRequest, Scope};
use serde_json::json;

use crate::budget::{Budget, Phase};
use crate::channels::{self, Found};
use crate::corpus::ChunkKey;
use crate::error::RetrievalError;
use crate::evidence::{self, Packed, Rendered};
use crate::hits::{HitBook, lift};
use crate::leaves::{self, Ranked};
use crate::passage::Passage;
use crate::query::Weighed;
use crate::ranking::{Blend, Matcher};
use crate::results::{self, Listed};
use crate::snapshot::Reader;
use crate::trace::Trace;
use crate::{filters, fusion, references};

/// Strong hits whose references are followed.
const REFERRING: usize = 3;
/// What a reference adds: this share of the score of the hit that makes it, times how telling the title is.
const REFERENCE_SHARE: f32 = 0.5;
/// Candidates that are looked at closely, whatever was recalled.
const CLOSE: usize = 200;

/// What a route works with.
pub struct Work<'a> {
    /// Whose data.
    pub scope: &'a Scope,
    /// The request.
    pub request: &'a NormalizedRequest,
    /// The pinned publication.
    pub reader: &'a Reader,
    /// Hit counts.
    pub hits: &'a HitBook,
    /// Bound of their influence; 0 turns it off.
    pub hit_boost: f32,
    /// What may be spent.
    pub budget: &'a Budget,
    /// What was done.
    pub trace: &'a Trace,
}

/// What a route found.
#[derive(Debug)]
pub struct Outcome {
    /// Which route it was.
    pub router: RouterUsed,
    /// Hits, best first.
    pub results: Vec<RetrievalResult>,
    /// What the marks stand for.
    pub referenced: Vec<ReferencedChunk>,
    /// The evidence.
    pub rendered: Rendered,
    /// What did not fit.
    pub omitted: Vec<quarry_model::retrieval::OmittedPart>,
    /// Why it ended.
    pub stop: StopReason,
    /// Why it is not complete, where it is not.
    pub failure: Option<String>,
    /// The chunks to be counted as hits.
    pub counted: Vec<ChunkKey>,
}

/// A candidate and its score in the matcher's measure.
#[derive(Debug, Clone)]
pub struct Scored {
    /// The candidate.
    pub passage: Arc<Passage>,
    /// Its score.
    pub score: f32,
}

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
    boost(work, &mut scored).await;
    if work.request.rerank {
        rerank(work, &matcher, &mut scored);
    }
    finish(work, router, &matcher, &scored).await
}

/// Finds and scores candidates, best first.
pub async fn candidates(
    work: &Work<'_>,
    filter: &Filter,
    matcher: &mut Matcher<'_>,
    router: RouterUsed,
    reference_share: f32,
) -> Result<Vec<Scored>, RetrievalError> {
    let corpus = work.reader.corpus();
    let request = work.request;
    let step = work.trace.step("discovery", "channels", json!({ "recall": request.recall, "weights": request.weights }), work.budget);
    let found = channels::search(corpus, &request.query, &request.weights, filter, request.recall).await?;
    let keys: Vec<(f64, Vec<ChunkKey>)> = found.iter().map(|list| (request.weights.of(list.channel), list.keys())).collect();
    let mut fused = fusion::fuse(keys.iter().map(|(weight, keys)| (*weight, keys.as_slice())));
    let counts: HashMap<&str, usize> = found.iter().map(|list| (list.channel.name(), list.hits.len())).collect();
    step.end(json!({ "hits": counts, "fused": fused.len() }), work.budget);
    fused.truncate(request.recall.max(request.top_k).min(CLOSE.max(request.top_k)));

    let step = work.trace.step("rank", "score", json!({ "candidates": fused.len() }), work.budget);
    let mut wanted: Vec<ChunkKey> = fused.into_iter().map(|candidate| candidate.key).collect();
    if router == RouterUsed::SmallCorpusAll {
        let known: BTreeSet<ChunkKey> = wanted.iter().cloned().collect();
        let all = corpus.all(filter).into_iter().map(|hit| (hit.document_id, hit.ordinal));
        wanted.extend(all.filter(|key| !known.contains(key)));
    }
    let passages = work.reader.passages(&wanted).await?;
    let blend = blend(matcher, &passages, &found, request);
    let mut scored = score(matcher, passages, &blend);
    // Titles belong to the path channel: where it is not asked, they add nothing.
    let share = if request.weights.path > 0.0 { reference_share } else { 0.0 };
    let linked = if share > 0.0 { refer(work, filter, matcher, &blend, &mut scored, share).await? } else { Vec::new() };
    step.end(json!({ "references": linked }), work.budget);
    Ok(scored)
}

fn blend(matcher: &mut Matcher<'_>, passages: &[Arc<Passage>], found: &[Found], request: &NormalizedRequest) -> Blend {
    passages.iter().for_each(|passage| matcher.learn(passage.lang()));
    Blend::new(found, &request.weights, matcher, passages)
}

/// Scores passages, best first. Ties: document, then ordinal.
fn score(matcher: &Matcher<'_>, passages: Vec<Arc<Passage>>, blend: &Blend) -> Vec<Scored> {
    let mut scored: Vec<Scored> = passages.into_iter().map(|passage| Scored { score: matcher.score(&passage, blend), passage }).collect();
    sort(&mut scored);
    scored
}

/// Scores to 1e-4 of the best: what differs by less is a tie, so that the order does not hang on how sums were rounded.
fn sort(scored: &mut [Scored]) {
    let best = scored.iter().map(|s| s.score).fold(f32::MIN_POSITIVE, f32::max);
    let steps = |score: f32| (score / best * 10_000.0).round() as i64;
    scored.sort_by(|a, b| steps(b.score).cmp(&steps(a.score)).then_with(|| a.passage.key().cmp(&b.passage.key())));
}

/// Adds what the strongest hits refer to by title; tells which.
async fn refer(
    work: &Work<'_>,
    filter: &Filter,
    matcher: &mut Matcher<'_>,
    blend: &Blend,
    scored: &mut Vec<Scored>,
    share: f32,
) -> Result<Vec<serde_json::Value>, RetrievalError> {
    let strong: Vec<Scored> = scored.iter().filter(|s| s.score > 0.0).take(REFERRING).cloned().collect();
    let mut lifts: HashMap<ChunkKey, (f32, Arc<Passage>, serde_json::Value)> = HashMap::new();
    for from in &strong {
        for reference in references::named_by(&from.passage, work.reader, filter).await? {
            let lift = share * from.score * reference.weight;
            let said = json!({ "title": reference.title, "in": from.passage.stored.file_name, "lift": round(f64::from(lift)) });
            let entry = lifts.entry(reference.target.key());
            let other = entry.or_insert_with(|| (lift, reference.target.clone(), said.clone()));
            if lift > other.0 {
                *other = (lift, reference.target, said);
            }
        }
    }
    let mut said = Vec::new();
    let mut lifts: Vec<_> = lifts.into_iter().collect();
    lifts.sort_by(|a, b| a.0.cmp(&b.0));
    for (key, (lift, passage, what)) in lifts {
        if let Some(candidate) = scored.iter_mut().find(|candidate| candidate.passage.key() == key) {
            candidate.score += lift;
        } else {
            matcher.learn(passage.lang());
            scored.push(Scored { score: matcher.score(&passage, blend) + lift, passage });
        }
        said.push(what);
    }
    sort(scored);
    Ok(said)
}

/// Lifts what answers often hold. Counts that cannot be read lift nothing.
async fn boost(work: &Work<'_>, scored: &mut [Scored]) {
    if work.hit_boost <= 0.0 || scored.is_empty() {
        return;
    }
    let near = scored.len().min(work.request.top_k * 2);
    let keys: Vec<ChunkKey> = scored[..near].iter().map(|candidate| candidate.passage.key()).collect();
    match work.hits.popularity(work.scope, &keys).await {
        Ok(popularity) if popularity.values().any(|&p| p > 0.0) => {
            let step = work.trace.step("rank", "hit_statistics", json!({ "bound": work.hit_boost }), work.budget);
            let mut lifted = 0;
            for (candidate, key) in scored.iter_mut().zip(&keys) {
                let popularity = popularity.get(key).copied().unwrap_or_default();
                lifted += usize::from(popularity > 0.0);
                candidate.score = lift(candidate.score, popularity, work.hit_boost);
            }
            sort(scored);
            step.end(json!({ "lifted": lifted }), work.budget);
        }
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "hit counts not read"),
    }
}

/// Orders the best once more by how closely the query's words stand together.
fn rerank(work: &Work<'_>, matcher: &Matcher<'_>, scored: &mut [Scored]) {
    let near = scored.len().min(work.request.top_k * 2);
    let step = work.trace.step("rank", "rerank", json!({ "by": "closeness of the query's words", "candidates": near }), work.budget);
    for candidate in &mut scored[..near] {
        candidate.score *= 0.75 + 0.25 * matcher.closeness(&candidate.passage);
    }
    sort(scored);
    step.end(json!({}), work.budget);
}

/// Lists, packs, and says why it ended.
pub async fn finish(work: &Work<'_>, router: RouterUsed, matcher: &Matcher<'_>, scored: &[Scored]) -> Result<Outcome, RetrievalError> {
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
    let packed = pack(work, matcher, &ranked).await?;
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
pub async fn pack(work: &Work<'_>, matcher: &Matcher<'_>, ranked: &[Ranked]) -> Result<Packed, RetrievalError> {
    let reservation = work.budget.reserve_rest(Phase::Evidence);
    let limit = reservation.tokens();
    let step = work.trace.step("evidence", "pack", json!({ "hits": ranked.len(), "limit": limit }), work.budget);
    let leaves = leaves::of(ranked, &work.request.filters.chunk_types, work.reader).await?;
    let packed = evidence::pack(&leaves, matcher, limit);
    let used = packed.rendered.tokens();
    reservation.commit(used);
    let output =
        json!({ "leaves": leaves.len(), "shown_chunks": packed.shown.len(), "omitted_leaves": packed.omitted.len(), "tokens": used });
    step.end(output, work.budget);
    Ok(packed)
}

/// Six digits.
fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
