//! `quarry debug parse FILE --out DIR`: the revision folder, and nothing else.

use std::path::Path;

use anyhow::Context;
use quarry_runtime::Config;
use serde_json::json;

use super::reading;
use crate::exit::{Exit, Failure};
use crate::output;

pub(super) fn run(config: &Config, file: &Path, out: &Path, as_json: bool) -> Result<Exit, Failure> {
    let source = reading::open(file)?;
    let folder = reading::parse(file, &source, &config.limits)?;
    write(out, &folder.source_name(), &source.bytes)?;
    for artifact in &folder.files {
        write(out, &artifact.name, &artifact.bytes)?;
    }
    let manifest = &folder.manifest;
    if as_json {
        output::json(
            &json!({ "out": out, "revision": manifest.revision, "statistics": manifest.statistics, "quality": manifest.quality }),
        )?;
    } else {
        let counts = &manifest.statistics;
        output::text(format!(
            "{} chunks ({} text, {} tables, {} images), {} tokens, {} warnings → {}",
            counts.total_chunks,
            counts.text_chunks,
            counts.table_chunks,
            counts.image_chunks,
            counts.total_tokens,
            manifest.quality.warnings.len(),
            out.display()
        ))?;
    }
    Ok(Exit::Ok)
}

/// Names of artifacts are ours, never a document's: `chunks.json`, `images/image-3.png`.
fn write(out: &Path, name: &str, bytes: &[u8]) -> Result<(), Failure> {
    let path = out.join(name);
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
    }
    std::fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}
