//! `quarry doctor`: is everything as it should be?

use std::collections::{BTreeMap, BTreeSet};

use quarry_compactor::Patience;
use quarry_index::Snapshot;
use quarry_model::message::QueueName;
use quarry_model::record::{DocumentRecord, DocumentStatus, IndexManifest, ManifestPlace, NamespaceHead};
use quarry_model::{DocumentId, Family, JobState, Namespace, ObjectPrefix, RecordKey, RecordPrefix, Revision, Scope};
use quarry_ports::Task;
use quarry_runtime::config::VARIABLES;
use quarry_runtime::jobs::JobFilter;
use serde_json::{Value, json};

use crate::cli::Doctor;
use crate::engine::Engine;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::road::Road;
use crate::worker;

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Fine,
    /// Works, but somebody should know.
    Notice,
    Wrong,
}

/// The checks so far.
#[derive(Default)]
struct Checks(Vec<(Verdict, &'static str, String)>);

impl Checks {
    fn add(&mut self, verdict: Verdict, what: &'static str, detail: impl Into<String>) {
        self.0.push((verdict, what, detail.into()));
    }
}

pub(crate) async fn run(engine: &Engine, asked: Doctor, as_json: bool) -> Result<Exit, Failure> {
    if asked.repair {
        repair(engine).await?;
    }
    let mut checks = Checks::default();
    checks.add(Verdict::Fine, "program", format!("version {}", env!("CARGO_PKG_VERSION")));
    checks.add(Verdict::Fine, "data folder", engine.data.display().to_string());
    settings(&mut checks);
    models(engine, &mut checks);
    parsers(engine, &mut checks).await;
    queues(engine, &mut checks).await?;
    jobs(engine, &mut checks).await?;
    for scope in scopes(engine).await? {
        index(engine, &scope, &mut checks).await?;
    }
    print(&checks, as_json)?;
    let wrong = checks.0.iter().any(|(verdict, _, _)| *verdict == Verdict::Wrong);
    Ok(if wrong { Exit::Failure } else { Exit::Ok })
}

/// The local owner's namespaces.
async fn scopes(engine: &Engine) -> Result<Vec<Scope>, Failure> {
    let mut scopes = Vec::new();
    for item in engine.records.query_all(&RecordPrefix::namespaces(&engine.config.drop_in_owner)).await? {
        let name = item.body.get("namespace").and_then(Value::as_str).unwrap_or_default();
        scopes.push(Scope::new(engine.config.drop_in_owner.clone(), Namespace::new(name)?));
    }
    Ok(scopes)
}

/// Finishes what broke off, builds again what is damaged, and sweeps at once what nothing names: no other process may be
/// at work on the data folder.
async fn repair(engine: &Engine) -> Result<(), Failure> {
    let Some(road) = Road::hold(engine)? else {
        return Err(Failure::usage("another process works on this data folder; stop it first"));
    };
    let at_once = Patience { superseded_millis: 0, orphan_millis: 0 };
    let compactor = engine.compactor().with_patience(at_once);
    for scope in scopes(engine).await? {
        engine.publisher().settle(&scope).await?;
        let mut found = Checks::default();
        index(engine, &scope, &mut found).await?;
        if found.0.iter().any(|(verdict, _, _)| *verdict == Verdict::Wrong) {
            let documents = compactor.rebuild(&scope).await?;
            output::note(format!("namespace {}: index built again from {documents} documents", scope.namespace));
        }
        let done = compactor.compact(&scope).await?;
        output::note(format!(
            "namespace {}: {} splits merged; {} splits, {} revisions and {} orphans removed",
            scope.namespace, done.splits_merged, done.splits_removed, done.revisions_removed, done.orphans_removed
        ));
    }
    drop(road);
    Ok(())
}

fn settings(checks: &mut Checks) {
    let set: Vec<&str> = VARIABLES.iter().map(|variable| variable.name).filter(|name| std::env::var_os(name).is_some()).collect();
    let detail = if set.is_empty() { "all defaults".to_owned() } else { format!("set: {}", set.join(", ")) };
    checks.add(Verdict::Fine, "configuration", detail);
}

/// Which tasks have a model; none is needed, and none is called here.
fn models(engine: &Engine, checks: &mut Checks) {
    let set = Task::ALL.iter().filter_map(|task| Some(format!("{} by {}", task.name(), engine.model.name(*task)?)));
    let set: Vec<String> = set.collect();
    checks.add(Verdict::Fine, "models", if set.is_empty() { "none; none is needed".to_owned() } else { set.join(", ") });
}

/// A child answers, so documents can be read.
async fn parsers(engine: &Engine, checks: &mut Checks) {
    let formats: Vec<&str> = quarry_model::format::FORMAT_TABLE.iter().filter(|row| row.family.is_some()).map(|row| row.name).collect();
    let names: Vec<&str> = Family::ALL.iter().map(|family| family.function()).collect();
    match worker::answers(&engine.data).await {
        Ok(()) => checks.add(Verdict::Fine, "parsers", format!("{} ({})", names.join(", "), formats.join(", "))),
        Err(failure) => checks.add(Verdict::Wrong, "parsers", failure.error.to_string()),
    }
}

async fn queues(engine: &Engine, checks: &mut Checks) -> Result<(), Failure> {
    let mut dead = Vec::new();
    for queue in QueueName::all() {
        let letters = engine.queue.dead_letters(queue, 1_000).await?.len();
        if letters > 0 {
            dead.push(format!("{letters} in {}", queue.name()));
        }
    }
    if dead.is_empty() {
        checks.add(Verdict::Fine, "queues", "no dead letters");
    } else {
        checks.add(Verdict::Notice, "queues", format!("dead letters: {}", dead.join(", ")));
    }
    Ok(())
}

async fn jobs(engine: &Engine, checks: &mut Checks) -> Result<(), Failure> {
    let count = async |state| {
        let filter = JobFilter { state: Some(state), ..JobFilter::default() };
        Ok::<_, Failure>(engine.jobs.list(&engine.config.drop_in_owner, &filter, 1, 1).await?.total)
    };
    let (failed, pending, running) = (count(JobState::Failed).await?, count(JobState::Pending).await?, count(JobState::Running).await?);
    let verdict = if failed > 0 { Verdict::Notice } else { Verdict::Fine };
    checks.add(
        verdict,
        "jobs",
        format!("{failed} failed, {} at work or waiting for `quarry serve` or the next `quarry ingest`", pending + running),
    );
    Ok(())
}

/// The head, its splits and the documents' records agree, and the splits can be read.
async fn index(engine: &Engine, scope: &Scope, checks: &mut Checks) -> Result<(), Failure> {
    let name = format!("namespace {}", scope.namespace);
    let Some(item) = engine.records.get(&RecordKey::head(scope)).await? else {
        checks.add(Verdict::Wrong, "index", format!("{name}: listed, but has no head"));
        return Ok(());
    };
    let head: NamespaceHead = item.read()?;
    let manifest: IndexManifest = match head.manifest {
        ManifestPlace::Inline(manifest) => manifest,
        ManifestPlace::Object(key) => serde_json::from_slice(&engine.objects.get(&key).await?.0)?,
    };
    let mut faults = Vec::new();
    let mut live: BTreeMap<DocumentId, Revision> = BTreeMap::new();
    for split in &manifest.splits {
        match engine.objects.get(&split.key).await {
            Ok((bytes, _)) if blake3::hash(&bytes).to_hex().as_str() == split.hash => {}
            Ok(_) => faults.push(format!("{} is not what its name promises", split.key)),
            Err(error) => faults.push(error.to_string()),
        }
        let documents = split.documents.iter().filter(|document| !document.dead);
        live.extend(documents.map(|document| (document.document_id.clone(), document.revision.clone())));
    }
    let snapshot = Snapshot::open(engine.objects.clone(), engine.splits.clone(), &manifest).await?;
    faults.extend(snapshot.missing().into_iter().map(|missing| format!("{} cannot be searched ({:?})", missing.key, missing.reason)));
    for item in engine.records.query_all(&RecordPrefix::documents(scope)).await? {
        let record: DocumentRecord = item.read()?;
        let served = live.get(&record.document_id);
        let agrees = match record.status {
            DocumentStatus::Active => served.is_some() && served == record.active_revision.as_ref(),
            DocumentStatus::Archived | DocumentStatus::Deleted => served.is_none(),
        };
        if !agrees {
            faults.push(format!("{} and the index disagree", record.document_id));
        }
    }
    let orphans = orphans(engine, scope, &manifest).await?;
    if !orphans.is_empty() {
        checks.add(Verdict::Notice, "index", format!("{name}: {} objects that no head names", orphans.len()));
    }
    let state =
        format!("{name}: version {}, {} documents, {} chunks, {} splits", head.version, head.documents, head.chunks, manifest.splits.len());
    if faults.is_empty() {
        checks.add(Verdict::Fine, "index", state);
    } else {
        checks.add(Verdict::Wrong, "index", format!("{state}; {}; `quarry doctor --repair` builds it again", faults.join("; ")));
    }
    Ok(())
}

/// Splits that neither serve nor wait for their removal.
async fn orphans(engine: &Engine, scope: &Scope, manifest: &IndexManifest) -> Result<Vec<String>, Failure> {
    let served = manifest.splits.iter().map(|split| split.key.as_str());
    let known: BTreeSet<&str> = served.chain(manifest.retired.iter().map(|retired| retired.key.as_str())).collect();
    let mut orphans = Vec::new();
    let mut cursor = None;
    loop {
        let page = engine.objects.list(&ObjectPrefix::index(scope), cursor.as_deref(), 1_000).await?;
        let splits = page.objects.iter().map(|object| object.key.as_str()).filter(|key| key.ends_with(".split"));
        orphans.extend(splits.filter(|key| !known.contains(key)).map(str::to_owned));
        match page.cursor {
            Some(next) => cursor = Some(next),
            None => return Ok(orphans),
        }
    }
}

fn print(checks: &Checks, as_json: bool) -> Result<(), Failure> {
    let word = |verdict| match verdict {
        Verdict::Fine => "ok",
        Verdict::Notice => "note",
        Verdict::Wrong => "wrong",
    };
    if as_json {
        let listed: Vec<Value> =
            checks.0.iter().map(|(verdict, what, detail)| json!({ "check": what, "status": word(*verdict), "detail": detail })).collect();
        return output::json(&json!({ "checks": listed }));
    }
    checks.0.iter().try_for_each(|(verdict, what, detail)| output::text(format!("{:<6} {what:<14} {detail}", word(*verdict))))
}
