//! One query from request to answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use quarry_index::SplitCache;
use quarry_model::retrieval::{BudgetReport, RetrievalMode, RetrievalRun, RouterUsed, StopReason, TraceStep};
use quarry_model::{NormalizedRequest, ObjectKey, RecordKey, RecordPrefix, RetrievalAnswer, SCHEMA_VERSION, Scope};
use quarry_ports::model::Model;
use quarry_ports::{Clock, Item, ObjectStore, Records};

use crate::budget::Budget;
use crate::cache::{self, AnswerCache};
use crate::classic;
use crate::corpus::ChunkKey;
use crate::error::RetrievalError;
use crate::hits::HitBook;
use crate::journal::{Entry, Journal};
use crate::pictures;
use crate::snapshot::{Reader, Snapshots};
use crate::trace::{Trace, Watcher, millis};
use crate::work::{Outcome, Work};
use crate::workflow::{self, Policies};

/// Life of an asset's address.
const ASSET_URL_LIFE: Duration = Duration::from_hours(1);

/// How long an agentic answer may take.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// How a retriever behaves.
#[derive(Debug, Clone)]
pub struct Options {
    /// How much hit counts may lift a result: a share, 0 to 0.1; 0 turns them off.
    pub hit_boost: f32,
    /// Whether runs and counts are written after the answer is out. Only where the process goes on living.
    pub journal_in_background: bool,
    /// Whether answers are shared between processes through the records.
    pub shared_cache: bool,
    /// How long an agentic answer may take: then it ends with what it has. Below the 29 seconds of a gateway.
    pub time_limit: Duration,
}

impl Default for Options {
    /// For a process that goes on living, alone.
    fn default() -> Self {
        Self { hit_boost: 0.1, journal_in_background: true, shared_cache: false, time_limit: TIME_LIMIT }
    }
}

/// Answers queries.
pub struct Retriever {
    objects: Arc<dyn ObjectStore>,
    records: Arc<dyn Records>,
    clock: Arc<dyn Clock>,
    snapshots: Snapshots,
    cache: AnswerCache,
    hits: Arc<HitBook>,
    journal: Arc<Journal>,
    policies: Policies,
    options: Options,
}

impl Retriever {
    /// A retriever over the stores, with splits kept in `splits`.
    pub fn new(
        objects: Arc<dyn ObjectStore>,
        records: Arc<dyn Records>,
        clock: Arc<dyn Clock>,
        splits: Arc<SplitCache>,
        options: Options,
    ) -> Self {
        let hits = Arc::new(HitBook::new(records.clone(), clock.clone()));
        let options = Options { hit_boost: options.hit_boost.clamp(0.0, 0.1), ..options };
        Self {
            snapshots: Snapshots::new(objects.clone(), records.clone(), splits),
            cache: AnswerCache::new(options.shared_cache.then(|| records.clone())),
            journal: Arc::new(Journal::new(records.clone(), hits.clone(), options.journal_in_background)),
            hits,
            policies: Policies::without_model(),
            objects,
            records,
            clock,
            options,
        }
    }

    /// The same retriever, planning and walking with `model` where it has one for these tasks.
    #[must_use]
    pub fn with_model(self, model: &Arc<dyn Model>) -> Self {
        Self { policies: Policies::with_model(model), ..self }
    }

    /// Answers a query within a scope.
    pub async fn answer(&self, scope: &Scope, request: &NormalizedRequest) -> Result<RetrievalAnswer, RetrievalError> {
        self.answer_watched(scope, request, None).await
    }

    /// As [`Self::answer`], telling `watcher` of every step that this call itself does: none for an answer from the
    /// cache, or for one that another call is at work on.
    pub async fn answer_watched(
        &self,
        scope: &Scope,
        request: &NormalizedRequest,
        watcher: Option<Watcher>,
    ) -> Result<RetrievalAnswer, RetrievalError> {
        let began = Instant::now();
        let mut counted = Vec::new();
        let (answer, was_cached, kept) = if request.query.is_empty() {
            (Arc::new(blank(request, RouterUsed::EmptyQueryFiltered, StopReason::EmptyQuery, 0)), false, None)
        } else {
            match self.snapshots.pin(scope).await? {
                None => (Arc::new(blank(request, unpublished(request), StopReason::NoMatch, 0)), false, None),
                Some(reader) => self.cached(scope, request, &reader, &mut counted, watcher).await?,
            }
        };
        let mut answer = Arc::unwrap_or_clone(answer);
        answer.run_id = run_id()?;
        self.sign(scope, &mut answer).await;
        let query_hash = blake3::hash(request.query.as_bytes()).to_hex()[..32].to_owned();
        let mut items = self.run_items(scope, request, &answer, &query_hash, was_cached, began)?;
        items.extend(kept);
        let hits = (!counted.is_empty()).then(|| (scope.clone(), query_hash, counted));
        self.journal.write(Entry { items, hits }).await;
        Ok(answer)
    }

    /// Writes everything that an answer left to be written.
    pub async fn flush(&self) {
        self.journal.flush().await;
    }

    /// A run and its steps; `None` when there is none of this scope's owner.
    pub async fn run(&self, owner: &quarry_model::Owner, run_id: &str) -> Result<Option<(RetrievalRun, Vec<TraceStep>)>, RetrievalError> {
        let Some(item) = self.records.get(&RecordKey::run(run_id)).await? else { return Ok(None) };
        let run: RetrievalRun = item.read()?;
        if run.scope.owner != *owner {
            return Ok(None);
        }
        let steps = self.records.query_all(&RecordPrefix::run_steps(run_id)).await?;
        let steps = steps.iter().map(Item::read).collect::<Result<Vec<TraceStep>, _>>()?;
        Ok(Some((run, steps)))
    }

    /// The publication a scope's next query would read; `None` when there is none.
    pub async fn pin(&self, scope: &Scope) -> Result<Option<Reader>, RetrievalError> {
        self.snapshots.pin(scope).await
    }

    async fn cached(
        &self,
        scope: &Scope,
        request: &NormalizedRequest,
        reader: &Reader,
        counted: &mut Vec<ChunkKey>,
        watcher: Option<Watcher>,
    ) -> Result<(Arc<RetrievalAnswer>, bool, Option<Item>), RetrievalError> {
        let key = cache::key(scope, request, reader.corpus().version(), &self.policies.name(), self.options.hit_boost);
        let now = self.clock.now();
        if let Some(answer) = self.cache.get(scope, &key, now).await {
            return Ok((answer, true, None));
        }
        let work = async {
            let (answer, hits) = self.work(scope, request, reader, watcher).await?;
            *counted = hits;
            Ok::<_, RetrievalError>(Arc::new(answer))
        };
        let (answer, worked) = self.cache.once(&key, work).await?;
        // Only what is complete is kept, and only by the one who made it.
        if !worked || answer.partial || answer.failure_reason.is_some() {
            return Ok((answer, !worked, None));
        }
        let item = self.cache.keep(scope, &key, &answer, now)?;
        Ok((answer, false, item))
    }

    async fn work(
        &self,
        scope: &Scope,
        request: &NormalizedRequest,
        reader: &Reader,
        watcher: Option<Watcher>,
    ) -> Result<(RetrievalAnswer, Vec<ChunkKey>), RetrievalError> {
        let budget = Budget::new(request.token_budget);
        let trace = Trace::watched(watcher);
        let work = Work {
            scope,
            request,
            reader,
            records: self.records.as_ref(),
            hits: &self.hits,
            hit_boost: self.options.hit_boost,
            budget: &budget,
            deadline: Instant::now() + self.options.time_limit,
            trace: &trace,
        };
        let Outcome { router, results, referenced, rendered, omitted, stop, failure, counted } = match request.mode {
            RetrievalMode::Classic => classic::run(&work).await?,
            RetrievalMode::Agentic => workflow::run(&work, &self.policies).await?,
        };
        let evidence = pictures::parts(&rendered, scope, self.objects.as_ref()).await;
        let version = reader.corpus().version();
        let answer = RetrievalAnswer {
            router_used: router,
            evidence_text: rendered.text(),
            evidence,
            results,
            referenced_chunks: referenced,
            budget: budget.report(omitted),
            stop_reason: stop,
            failure_reason: failure,
            partial: reader.corpus().is_partial(),
            decision_trace: trace.steps(),
            ..blank(request, router, stop, version)
        };
        Ok((answer, counted))
    }

    /// Addresses of assets live an hour and are made anew for every answer, cached or not.
    async fn sign(&self, scope: &Scope, answer: &mut RetrievalAnswer) {
        for result in &mut answer.results {
            if let Some(file) = &result.file_path {
                let key = ObjectKey::artifact(scope, &result.source.document_id, &result.metadata.revision, file);
                result.asset_url = self.objects.presign_get(&key, ASSET_URL_LIFE, None).await.ok();
            }
        }
        for chunk in &mut answer.referenced_chunks {
            if let Some(file) = &chunk.file_path {
                let key = ObjectKey::artifact(scope, &chunk.document_id, &chunk.metadata.revision, file);
                chunk.asset_url = self.objects.presign_get(&key, ASSET_URL_LIFE, None).await.ok();
            }
        }
    }

    fn run_items(
        &self,
        scope: &Scope,
        request: &NormalizedRequest,
        answer: &RetrievalAnswer,
        query_hash: &str,
        cache_hit: bool,
        began: Instant,
    ) -> Result<Vec<Item>, RetrievalError> {
        let mut documents = Vec::new();
        for result in &answer.results {
            if !documents.contains(&result.source.document_id) {
                documents.push(result.source.document_id.clone());
            }
        }
        let steps: &[TraceStep] = if cache_hit { &[] } else { &answer.decision_trace };
        let run = RetrievalRun {
            schema_version: SCHEMA_VERSION,
            run_id: answer.run_id.clone(),
            scope: scope.clone(),
            query_hash: query_hash.to_owned(),
            conversation_id: request.conversation_id.clone(),
            router_used: answer.router_used,
            cache_hit,
            result_count: answer.results.len() as u32,
            documents,
            stop_reason: answer.stop_reason,
            tokens: answer.budget.used,
            index_version: answer.index_version,
            steps: steps.len() as u32,
            elapsed_ms: millis(began),
            at: self.clock.now(),
        };
        let mut items = vec![Item::of(RecordKey::run(&answer.run_id), &run)?];
        for step in steps {
            items.push(Item::of(RecordKey::run_step(&answer.run_id, step.step_index), step)?);
        }
        Ok(items)
    }
}

/// The route of a namespace that nothing was published in: it holds no more chunks than were asked for.
fn unpublished(request: &NormalizedRequest) -> RouterUsed {
    match request.mode {
        RetrievalMode::Classic => RouterUsed::SmallCorpusAll,
        RetrievalMode::Agentic => RouterUsed::WorkflowSingleStep,
    }
}

fn blank(request: &NormalizedRequest, router: RouterUsed, stop: StopReason, version: u64) -> RetrievalAnswer {
    RetrievalAnswer {
        namespace: request.namespace.as_str().to_owned(),
        query: request.query.clone(),
        run_id: String::new(),
        router_used: router,
        evidence_text: String::new(),
        answer_text: String::new(),
        evidence: Vec::new(),
        results: Vec::new(),
        referenced_chunks: Vec::new(),
        budget: BudgetReport { limit: request.token_budget, ..BudgetReport::default() },
        stop_reason: stop,
        failure_reason: None,
        partial: false,
        decision_trace: Vec::new(),
        index_version: version,
    }
}

fn run_id() -> Result<String, RetrievalError> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| RetrievalError::Random(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
