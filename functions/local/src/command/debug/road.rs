//! `quarry debug road FILE`: one file through all stages, in a data folder that is gone afterwards.

use std::path::{Path, PathBuf};

use anyhow::Context;
use quarry_model::record::NamespaceHead;
use quarry_model::retrieval::RetrievalRequest;
use quarry_model::{DocNav, Manifest, ObjectKey, RecordKey, RecordPrefix};
use quarry_runtime::Config;
use quarry_store_local::PublicBase;
use serde_json::{Value, json};

use super::reading;
use crate::command::{ingest, search};
use crate::engine::Engine;
use crate::exit::{Exit, Failure};
use crate::output;

/// A folder that is removed when it goes out of scope.
struct Passing(PathBuf);

impl Drop for Passing {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::warn!(folder = %self.0.display(), %error, "not removed");
        }
    }
}

pub(super) async fn run(config: Config, file: &Path, query: Option<String>) -> Result<Exit, Failure> {
    let source = reading::open(file)?;
    let profile = reading::profile(&source, &config.limits)?.profile();
    let name = format!("quarry-road-{}", quarry_runtime::random::token()?);
    let folder = Passing(std::env::temp_dir().join(name));
    std::fs::create_dir(&folder.0).with_context(|| format!("cannot create {}", folder.0.display()))?;
    let engine = Engine::open(&folder.0, config, PublicBase::default())?;
    let scope = engine.scope("default")?;

    let report = ingest::ingest(&engine, &scope, &[file.to_owned()], false, true).await?;
    let Some((document, id, job)) = report.read.into_values().next() else {
        return Err(Failure::not_found(format!("{} was not taken", file.display())));
    };
    let mut road = json!({ "profile": profile, "job": job, "events": engine.jobs.events(&id).await? });
    let Some(revision) = job.and_then(|job| job.revision) else {
        output::json(&road)?;
        return Ok(Exit::SomeFailed);
    };
    let artifact = |name: &str| ObjectKey::artifact(&scope, &document, &revision, name);
    let manifest: Manifest = serde_json::from_slice(&engine.objects.get(&artifact("manifest.json")).await?.0)?;
    let nav: DocNav = serde_json::from_slice(&engine.objects.get(&artifact("doc_nav.json")).await?.0)?;
    let head = engine.records.get(&RecordKey::head(&scope)).await?.map(|item| item.read::<NamespaceHead>()).transpose()?;
    let records = engine.records.query_all(&RecordPrefix::revision(&document, &revision)).await?;
    let count = |kind: &str| records.iter().filter(|item| item.key.sk.starts_with(kind)).count();
    road["revision"] = json!({
        "revision": revision, "statistics": manifest.statistics, "quality": manifest.quality, "stages": manifest.processing.stages,
        "sections": nav.sections.iter().map(|section| &section.title).collect::<Vec<_>>(),
    });
    road["publication"] = json!({
        "head": head,
        "records": { "sections": count("SEC#"), "chunks": count("CHK#") },
        "node": records.iter().find(|item| item.key.sk == "NODE").map(|item| &item.body),
    });
    let query = query.or_else(|| nav.sections.first().map(|section| section.title.clone())).unwrap_or_default();
    road["search"] = answer(&engine, &scope, query).await?;
    output::json(&road)?;
    Ok(Exit::Ok)
}

async fn answer(engine: &Engine, scope: &quarry_model::Scope, query: String) -> Result<Value, Failure> {
    Ok(json!(search::answer(engine, scope, RetrievalRequest::of(query)).await?))
}
