//! `--watch`: every new or changed file of a folder is read once it has stopped changing.
//!
//! Folders are looked at once a second rather than by the system's notifications, which network and container file
//! systems do not send.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use quarry_model::Scope;

use crate::command::ingest;
use crate::engine::Engine;
use crate::exit::Failure;
use crate::files::{self, Found};
use crate::output;

/// A file is taken when two looks in a row see it the same.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Size and time of change.
type Look = (u64, Option<SystemTime>);

/// Watched folders.
pub(super) struct Watched {
    engine: Arc<Engine>,
    scope: Scope,
    folders: Vec<PathBuf>,
    taken: BTreeMap<PathBuf, Look>,
    last: BTreeMap<PathBuf, Look>,
}

impl Watched {
    pub(super) fn new(engine: &Arc<Engine>, scope: Scope, folders: &[PathBuf]) -> Result<Self, Failure> {
        files::check_namespace(&scope.namespace)?;
        for folder in folders {
            if !folder.is_dir() {
                return Err(Failure::usage(format!("{} is no folder", folder.display())));
            }
        }
        let (taken, last) = (BTreeMap::new(), BTreeMap::new());
        Ok(Self { engine: Arc::clone(engine), scope, folders: folders.to_vec(), taken, last })
    }

    /// Watches for ever; what fails once is tried again at the next look.
    pub(super) async fn run(mut self) -> Failure {
        if self.folders.is_empty() {
            return std::future::pending().await;
        }
        loop {
            if let Err(failure) = self.look().await {
                tracing::warn!(error = %failure.error, "watched folders could not be read");
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    async fn look(&mut self) -> Result<(), Failure> {
        let (folders, data) = (self.folders.clone(), self.engine.data.clone());
        let seen = tokio::task::spawn_blocking(move || seen(&folders, &data)).await??;
        let stable = |path: &&PathBuf| self.last.get(*path) == seen.get(*path) && self.taken.get(*path) != seen.get(*path);
        let ready: Vec<PathBuf> = seen.keys().filter(stable).cloned().collect();
        if !ready.is_empty() {
            let found = Found { files: ready.iter().cloned().collect(), ..Found::default() };
            let report = ingest::offer(&self.engine, &self.scope, &found, false).await?;
            for path in report.read.keys() {
                output::note(format!("reading {}", path.display()));
            }
            for path in ready {
                if let Some(look) = seen.get(&path) {
                    self.taken.insert(path, *look);
                }
            }
        }
        self.last = seen;
        Ok(())
    }
}

fn seen(folders: &[PathBuf], data: &Path) -> Result<BTreeMap<PathBuf, Look>, Failure> {
    let mut seen = BTreeMap::new();
    for path in files::find(folders, data)?.files {
        // A file that is gone again is none.
        if let Ok(metadata) = std::fs::metadata(&path) {
            seen.insert(path, (metadata.len(), metadata.modified().ok()));
        }
    }
    Ok(seen)
}
