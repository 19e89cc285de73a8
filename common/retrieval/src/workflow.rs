//! Agentic retrieval: plan → steps in their order → navigation → evidence. All of it inside one budget, one publication
//! and one deadline.
//!
//! Without a model the plan comes from the query's wording and the choices from scores; nothing else differs. What the
//! query finds as it is always takes part, so that no plan can lose it.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt as _;
use futures::future::BoxFuture;
use quarry_index::Filter;
use quarry_model::NormalizedRequest;
use quarry_model::retrieval::{RouterUsed, StopReason};
use serde_json::json;

use crate::assembly;
use crate::corpus::ChunkKey;
use crate::discovery::{self, Scored, candidates};
use crate::error::RetrievalError;
use crate::evidence::Outline;
use crate::filters;
use crate::follow::follow;
use crate::navigation::{self, CandidateDocument, Navigator, Walked};
use crate::passage::Passage;
use crate::plan::{self, Plan, PlanAsk, Planner, Step};
use crate::query::Weighed;
use crate::ranking::Matcher;
use crate::work::{Outcome, Work};

/// Steps that run side by side.
const PARALLEL: usize = 3;
/// What a part of the query counts beside the whole: three quarters, so that the best of each part stands among the first.
const PART_SHARE: f32 = 0.75;
/// Documents that are walked.
const WALKED: usize = 5;
/// Hits whose documents and sections are handed to navigation.
const NAVIGATED_HITS: usize = 40;

/// The policies of a workflow.
#[derive(Clone)]
pub struct Policies {
    /// Divides queries.
    pub planner: Arc<dyn Planner>,
    /// Walks documents.
    pub navigator: Arc<dyn Navigator>,
}

impl Policies {
    /// Everything by patterns and scores.
    pub fn without_model() -> Self {
        Self { planner: Arc::new(plan::PatternPlanner), navigator: Arc::new(navigation::ScoreNavigator) }
    }

    /// Tasks that `model` has a model for are its; the others go by patterns and scores.
    pub fn with_model(model: &Arc<dyn quarry_ports::model::Model>) -> Self {
        use quarry_ports::model::Task;
        let mut policies = Self::without_model();
        if model.name(Task::Planner).is_some() {
            policies.planner = Arc::new(plan::ModelPlanner(model.clone()));
        }
        if model.name(Task::Navigator).is_some() {
            policies.navigator = Arc::new(navigation::ModelNavigator(model.clone()));
        }
        policies
    }

    /// What decides: part of every cache key.
    pub fn name(&self) -> String {
        format!("{} / {}", self.planner.name(), self.navigator.name())
    }
}

/// What was found about one chunk.
#[derive(Debug, Clone)]
struct Candidate {
    passage: Arc<Passage>,
    /// By the query as it is, in the measure of classic mode.
    discovery: f32,
    /// By the plan, 0 to about 1; 0 is the reserve.
    agent: f32,
}

/// What the steps found, by chunk.
#[derive(Debug, Default)]
struct Found(BTreeMap<ChunkKey, Candidate>);

impl Found {
    fn of(&mut self, passage: &Arc<Passage>) -> &mut Candidate {
        let candidate = || Candidate { passage: passage.clone(), discovery: 0.0, agent: 0.0 };
        self.0.entry(passage.key()).or_insert_with(candidate)
    }

    /// Joins what a step found. Scores become strengths, relative to the step's best.
    fn merge(&mut self, scored: &[Scored], whole: bool) {
        let best = scored.first().map_or(0.0, |s| s.score).max(f32::MIN_POSITIVE);
        for hit in scored.iter().filter(|hit| hit.score > 0.0) {
            let share = if whole { 1.0 } else { PART_SHARE };
            let candidate = self.of(&hit.passage);
            candidate.agent = candidate.agent.max(share * hit.score / best);
            if whole {
                candidate.discovery = hit.score;
            }
        }
    }

    /// By what the plan found, then by what the query found.
    fn ranked(&self) -> Vec<&Candidate> {
        let mut ranked: Vec<&Candidate> = self.0.values().collect();
        ranked.sort_by(|a, b| {
            b.agent.total_cmp(&a.agent).then(b.discovery.total_cmp(&a.discovery)).then_with(|| a.passage.key().cmp(&b.passage.key()))
        });
        ranked
    }

    fn strengths(&self) -> Vec<Scored> {
        self.ranked().into_iter().map(|c| Scored { passage: c.passage.clone(), score: c.agent.min(1.0) }).collect()
    }
}

/// Runs the workflow.
pub async fn run(work: &Work<'_>, policies: &Policies) -> Result<Outcome, RetrievalError> {
    let filter = filters::of(&work.request.filters, work.reader).await?;
    let plan = planned(work, &filter, policies.planner.as_ref()).await;
    let router = if plan.steps.len() > 1 { RouterUsed::WorkflowDecomposed } else { RouterUsed::WorkflowSingleStep };
    let query = Weighed::new(&work.request.query, work.reader.corpus()).await?;
    let mut matcher = Matcher::new(&query);

    let mut found = Found::default();
    let mut late = false;
    let mut searched: Vec<String> = Vec::new();
    for batch in plan.batches().unwrap_or_default() {
        if work.spending().left().is_zero() && !found.0.is_empty() {
            late = true;
            break;
        }
        let steps: Vec<&Step> = batch.iter().map(|&at| &plan.steps[at]).collect();
        let new: Vec<&Step> = steps.iter().copied().filter(|step| !searched.contains(&step.sub_query)).collect();
        for (step, scored) in search(work, &filter, &new).await? {
            found.merge(&scored, step.sub_query == work.request.query);
            searched.push(step.sub_query.clone());
        }
        for step in steps.iter().filter(|step| !step.depends_on.is_empty()) {
            follow_names(work, &filter, step, &mut found).await?;
        }
    }
    if !searched.contains(&work.request.query) {
        // A model's plan need not hold the query itself; the ranking always does.
        let whole = Step { id: "s0".into(), sub_query: work.request.query.clone(), depends_on: Vec::new() };
        for (_, scored) in search(work, &filter, &[&whole]).await? {
            found.merge(&scored, true);
        }
    }
    for candidate in found.0.values() {
        matcher.learn(candidate.passage.lang());
    }
    let mut failures = Vec::new();
    if plan.made_by == plan::FALLBACK {
        failures.push(format!("the plan fell back to patterns: {}", plan.reason));
    }
    let outlines = if late || work.spending().left().is_zero() {
        late = true;
        Vec::new()
    } else {
        navigate(work, &matcher, policies.navigator.as_ref(), &mut found, &mut failures).await?
    };
    let mut scored = rank(work, &matcher, &found);
    discovery::boost(work, &mut scored).await;
    if work.request.rerank {
        discovery::rerank(work, &matcher, &mut scored);
    }
    let mut outcome = assembly::finish(work, router, &matcher, &scored, &outlines).await?;
    if late {
        outcome.stop = StopReason::Latency;
        failures.push("the wall clock ran out: later steps were not run".into());
    }
    // What a failure changed is not kept in the cache, and says so.
    outcome.failure = (!failures.is_empty()).then(|| failures.join("; "));
    Ok(outcome)
}

async fn planned(work: &Work<'_>, filter: &Filter, planner: &dyn Planner) -> Plan {
    let step = work.trace.step("plan", "plan", json!({ "query": work.request.query, "planner": planner.name() }), work.budget);
    let corpus = work.reader.corpus();
    let ask = PlanAsk { query: &work.request.query, languages: corpus.languages(), chunks: corpus.count(filter) };
    let plan = plan::plan(planner, &ask, &work.spending()).await;
    step.end(json!(plan), work.budget);
    plan
}

/// A step that is being searched.
type Run<'r, 's> = BoxFuture<'r, Result<(&'s Step, Vec<Scored>), RetrievalError>>;

/// Searches for the sub-queries of some steps, at most three at once, in their order.
async fn search<'s>(work: &Work<'_>, filter: &Filter, steps: &[&'s Step]) -> Result<Vec<(&'s Step, Vec<Scored>)>, RetrievalError> {
    let mut runs: Vec<Run<'_, 's>> = Vec::new();
    for &step in steps {
        runs.push(Box::pin(async move {
            let request = NormalizedRequest { query: step.sub_query.clone(), ..work.request.clone() };
            let part = Work { request: &request, ..*work };
            let query = Weighed::new(&request.query, work.reader.corpus()).await?;
            let mut matcher = Matcher::new(&query);
            let scored = candidates(&part, filter, &mut matcher, RouterUsed::WorkflowSingleStep, 0.0).await?;
            Ok((step, scored))
        }));
    }
    let mut out = Vec::with_capacity(runs.len());
    let mut runs = futures::stream::iter(runs).buffered(PARALLEL);
    while let Some(run) = runs.next().await {
        out.push(run?);
    }
    Ok(out)
}

/// Follows the names in what was found so far. Titles and names belong to the path channel: where it is not asked,
/// nothing is followed.
async fn follow_names(work: &Work<'_>, filter: &Filter, step: &Step, found: &mut Found) -> Result<(), RetrievalError> {
    if work.request.weights.path <= 0.0 {
        return Ok(());
    }
    let input = json!({ "step": step.id, "sub_query": step.sub_query, "depends_on": step.depends_on });
    let trace = work.trace.step("discovery", "follow_names", input, work.budget);
    let query = Weighed::new(&step.sub_query, work.reader.corpus()).await?;
    let followed = follow(&found.strengths(), &query, work.reader, filter).await?;
    for (passage, gain) in &followed.gains {
        found.of(passage).agent += gain;
    }
    trace.end(json!({ "followed": followed.said }), work.budget);
    Ok(())
}

/// Walks the best documents side by side; what a navigator takes is added to what was found.
async fn navigate(
    work: &Work<'_>,
    matcher: &Matcher<'_>,
    navigator: &dyn Navigator,
    found: &mut Found,
    failures: &mut Vec<String>,
) -> Result<Vec<Outline>, RetrievalError> {
    let documents = documents(found);
    let spending = work.spending();
    let walks = documents.iter().map(|document| navigation::walk(work, matcher, document, navigator, &spending));
    let walked: Vec<Walked> = futures::future::try_join_all(walks).await?;
    let mut outlines = Vec::new();
    for (document, walked) in documents.iter().zip(walked) {
        if walked.by_model {
            chosen(work, found, document, &walked).await?;
        }
        failures.extend(walked.failed.map(|why| format!("{} was walked by score: {why}", document.file_name)));
        outlines.extend(walked.outlines);
    }
    Ok(outlines)
}

/// A model's choice: what it took comes before everything it left, and what it left of the document is the reserve. Where
/// it took nothing, the hits stay as they are.
async fn chosen(work: &Work<'_>, found: &mut Found, document: &CandidateDocument, walked: &Walked) -> Result<(), RetrievalError> {
    let corpus = work.reader.corpus();
    let mut ordinals: Vec<u32> = walked.assets.clone();
    for path in &walked.collected {
        ordinals.extend(corpus.section(&document.document_id, path));
    }
    if ordinals.is_empty() {
        return Ok(());
    }
    let types = &work.request.filters.chunk_types;
    let keys: Vec<ChunkKey> = ordinals.into_iter().map(|ordinal| (document.document_id.clone(), ordinal)).collect();
    for candidate in found.0.values_mut().filter(|candidate| candidate.passage.key().0 == document.document_id) {
        if !keys.contains(&candidate.passage.key()) {
            candidate.agent = 0.0;
        }
    }
    for passage in work.reader.passages(&keys).await? {
        if types.contains(&passage.stored.indexed.chunk.kind) {
            let candidate = found.of(&passage);
            candidate.agent = candidate.agent.max(document.score) + 1.0;
        }
    }
    Ok(())
}

/// The documents of the best hits, with the sections these stand in: what discovery hands to navigation.
fn documents(found: &Found) -> Vec<CandidateDocument> {
    let mut documents: Vec<CandidateDocument> = Vec::new();
    for candidate in found.ranked().into_iter().filter(|candidate| candidate.agent > 0.0).take(NAVIGATED_HITS) {
        let stored = &candidate.passage.stored;
        let score = candidate.agent.min(1.0);
        let section = (stored.indexed.section.path.clone(), score);
        if let Some(document) = documents.iter_mut().find(|document| document.document_id == stored.document_id) {
            document.sections.push(section);
        } else if documents.len() < WALKED {
            documents.push(CandidateDocument {
                document_id: stored.document_id.clone(),
                revision: stored.revision.clone(),
                file_name: stored.file_name.clone(),
                lang: candidate.passage.lang().to_owned(),
                score,
                sections: vec![section],
            });
        }
    }
    documents
}

/// In the measure of classic mode, so that served scores can be compared: the best is as strong as the query's own best
/// hit. The reserve comes last, by what the query found.
fn rank(work: &Work<'_>, matcher: &Matcher<'_>, found: &Found) -> Vec<Scored> {
    let step = work.trace.step("rank", "agent_score", json!({ "candidates": found.0.len() }), work.budget);
    let ranked = found.ranked();
    let best = ranked.first().map_or(0.0, |candidate| candidate.agent).max(f32::MIN_POSITIVE);
    let measure = ranked.iter().map(|candidate| candidate.discovery).fold(matcher.ceiling() / 100.0, f32::max);
    let least = ranked.iter().map(|candidate| candidate.agent).filter(|agent| *agent > 0.0).fold(best, f32::min);
    let score = |candidate: &Candidate| {
        if candidate.agent > 0.0 { candidate.agent / best } else { least / best * candidate.discovery / (2.0 * measure) }
    };
    let scored: Vec<Scored> =
        ranked.iter().map(|candidate| Scored { passage: candidate.passage.clone(), score: measure * score(candidate) }).collect();
    let reserve = ranked.iter().filter(|candidate| candidate.agent <= 0.0).count();
    step.end(json!({ "reserve": reserve }), work.budget);
    scored
}
