//! A folder of bytes named by hash. A cache: every failure means "not there", and whoever reads verifies.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use bytes::Bytes;

/// The folder.
#[derive(Debug)]
pub(crate) struct Disk {
    folder: PathBuf,
    max_bytes: u64,
}

impl Disk {
    /// Keeps at most about `max_bytes` in `folder`, which is made when first needed.
    pub(crate) fn new(folder: PathBuf, max_bytes: u64) -> Self {
        Self { folder, max_bytes }
    }

    /// Where it keeps them.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What was kept under a name.
    pub(crate) async fn get(&self, name: &str) -> Option<Bytes> {
        tokio::fs::read(self.folder.join(name)).await.ok().map(Bytes::from)
    }

    /// Keeps bytes under a name, letting go of the oldest files when there is no room.
    pub(crate) async fn put(&self, name: &str, bytes: &Bytes) {
        if let Err(error) = self.try_put(name, bytes).await {
            tracing::warn!(%error, folder = %self.folder.display(), "split not kept on disk");
        }
    }

    async fn try_put(&self, name: &str, bytes: &Bytes) -> std::io::Result<()> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        if bytes.len() as u64 > self.max_bytes {
            return Ok(());
        }
        tokio::fs::create_dir_all(&self.folder).await?;
        self.make_room(bytes.len() as u64).await?;
        // Readers see the whole file or none, and two writers do not meet.
        let unique = NEXT.fetch_add(1, Ordering::Relaxed);
        let partial = self.folder.join(format!("{name}.{}-{unique}.partial", std::process::id()));
        tokio::fs::write(&partial, bytes).await?;
        tokio::fs::rename(&partial, self.folder.join(name)).await
    }

    async fn make_room(&self, needed: u64) -> std::io::Result<()> {
        let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        let mut entries = tokio::fs::read_dir(&self.folder).await?;
        while let Some(entry) = entries.next_entry().await? {
            if let Ok(meta) = entry.metadata().await {
                files.push((meta.modified().unwrap_or(SystemTime::UNIX_EPOCH), meta.len(), entry.path()));
            }
        }
        files.sort();
        let mut total: u64 = files.iter().map(|(_, size, _)| size).sum::<u64>() + needed;
        for (_, size, path) in files {
            if total <= self.max_bytes {
                break;
            }
            tokio::fs::remove_file(path).await?;
            total -= size;
        }
        Ok(())
    }
}
