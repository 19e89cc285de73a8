//! Finds candidates and scores them: the channels, their fusion, the order within it, and what strong hits name.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use quarry_index::Filter;
use quarry_model::NormalizedRequest;
use quarry_model::retrieval::RouterUsed;
use serde_json::json;

use crate::channels::{self, Found};
use crate::corpus::ChunkKey;
use crate::error::RetrievalError;
use crate::hits::lift;
use crate::passage::Passage;
use crate::ranking::{Blend, Matcher};
use crate::work::Work;
use crate::{fusion, references};

/// Strong hits whose references are followed.
const REFERRING: usize = 3;
/// What a reference adds: this share of the score of the hit that makes it, times how telling the title is.
pub(crate) const REFERENCE_SHARE: f32 = 0.5;
/// Candidates that are looked at closely, whatever was recalled.
const CLOSE: usize = 200;

/// A candidate and its score in the matcher's measure.
#[derive(Debug, Clone)]
pub struct Scored {
    /// The candidate.
    pub passage: Arc<Passage>,
    /// Its score.
    pub score: f32,
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
            let said =
                json!({ "title": reference.title, "in": from.passage.stored.file_name, "lift": (f64::from(lift) * 1e3).round() / 1e3 });
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
pub(crate) async fn boost(work: &Work<'_>, scored: &mut [Scored]) {
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
pub(crate) fn rerank(work: &Work<'_>, matcher: &Matcher<'_>, scored: &mut [Scored]) {
    let near = scored.len().min(work.request.top_k * 2);
    let step = work.trace.step("rank", "rerank", json!({ "by": "closeness of the query's words", "candidates": near }), work.budget);
    for candidate in &mut scored[..near] {
        candidate.score *= 0.75 + 0.25 * matcher.closeness(&candidate.passage);
    }
    sort(scored);
    step.end(json!({}), work.budget);
}
