//! Content tags of files, remembered as long as the file is the same one.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// Most tags remembered; then all are forgotten, for they can be computed again.
const REMEMBERED: usize = 50_000;

/// What tells two files at one place apart: objects are renamed into place, so a new one is another file.
#[derive(PartialEq, Eq)]
struct Identity {
    size: u64,
    modified: Option<SystemTime>,
    number: u64,
}

impl Identity {
    fn of(meta: &Metadata) -> Self {
        Self { size: meta.len(), modified: meta.modified().ok(), number: file_number(meta) }
    }
}

#[cfg(unix)]
fn file_number(meta: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(meta)
}

#[cfg(not(unix))]
fn file_number(_: &Metadata) -> u64 {
    0
}

#[derive(Default)]
pub(crate) struct Tags {
    known: Mutex<HashMap<PathBuf, (Identity, String)>>,
}

impl Tags {
    /// The tag of an open file: blake3 of its content, 32 hex digits.
    pub(crate) fn of(&self, path: &Path, file: &mut File) -> std::io::Result<String> {
        let identity = Identity::of(&file.metadata()?);
        if let Some((known, tag)) = self.lock().get(path)
            && *known == identity
        {
            return Ok(tag.clone());
        }
        let mut hasher = blake3::Hasher::new();
        std::io::copy(file, &mut hasher)?;
        let tag = hasher.finalize().to_hex()[..32].to_owned();
        self.keep(path, identity, tag.clone());
        Ok(tag)
    }

    /// Remembers the tag of a file just written; renaming it does not change its identity.
    pub(crate) fn remember(&self, path: &Path, written: &Metadata, tag: &str) {
        self.keep(path, Identity::of(written), tag.to_owned());
    }

    /// Forgets an object that is gone.
    pub(crate) fn forget(&self, path: &Path) {
        self.lock().remove(path);
    }

    fn keep(&self, path: &Path, identity: Identity, tag: String) {
        let mut known = self.lock();
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(path.to_owned(), (identity, tag));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, (Identity, String)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
