//! Splits kept between requests: in memory, and in a folder where there is one.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use lru::LruCache;
use quarry_language::ANALYZER_ID;
use quarry_model::record::SplitEntry;
use quarry_ports::ObjectStore;

use crate::blob::fetch;
use crate::build::WHOLE_MAX_BYTES;
use crate::bundle::Footer;
use crate::disk::Disk;
use crate::error::IndexError;
use crate::learned::Learned;
use crate::open::{Segment, from_objects};

/// More splits than any namespace keeps open; the limit that counts is in bytes.
const SPLITS_MAX: NonZeroUsize = NonZeroUsize::new(4096).expect("not zero");

/// The share of the memory for splits that what was learnt from questions may take beside them: one part of so many.
const LEARNED_SHARE: u64 = 4;

/// Splits are immutable and named by their hash: what is cached never becomes wrong, only unneeded.
pub struct SplitCache {
    max_bytes: u64,
    memory: Mutex<LruCache<String, Arc<Segment>>>,
    disk: Option<Disk>,
    learned: Learned,
}

impl std::fmt::Debug for SplitCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SplitCache").field("max_bytes", &self.max_bytes).field("disk", &self.disk).finish_non_exhaustive()
    }
}

impl SplitCache {
    /// A cache that keeps at most `max_bytes` of splits in memory and, with a folder, their bytes on disk as well (at
    /// most 384 MB of them; [`Self::with_disk_limit`] changes that).
    pub fn new(max_bytes: u64, folder: Option<PathBuf>) -> Self {
        let disk = folder.map(|folder| Disk::new(folder, 384 << 20));
        let learned = Learned::new((max_bytes / LEARNED_SHARE) as usize);
        Self { max_bytes, memory: Mutex::new(LruCache::new(SPLITS_MAX)), disk, learned }
    }

    /// Limits what the folder holds, in bytes.
    #[must_use]
    pub fn with_disk_limit(mut self, max_bytes: u64) -> Self {
        self.disk = self.disk.map(|disk| Disk::new(disk.folder().to_owned(), max_bytes));
        self
    }

    /// What snapshots have learnt from questions.
    pub(crate) fn learned(&self) -> &Learned {
        &self.learned
    }

    /// Bytes of splits in memory, roughly.
    pub fn held(&self) -> u64 {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|(_, segment)| segment.weight()).sum()
    }

    /// A split, opened: from memory, from disk, or read now. Small splits are read whole, large ones without what is
    /// read by piece.
    pub(crate) async fn open(&self, objects: &dyn ObjectStore, split: &SplitEntry) -> Result<Arc<Segment>, IndexError> {
        if split.analyzer_id != ANALYZER_ID {
            return Err(IndexError::Analyzer { key: split.key.clone(), found: split.analyzer_id.clone() });
        }
        if let Some(segment) = self.memory.lock().unwrap_or_else(PoisonError::into_inner).get(&split.hash) {
            return Ok(segment.clone());
        }
        let segment =
            if split.size <= WHOLE_MAX_BYTES { self.open_whole(objects, split).await? } else { self.open_tail(objects, split).await? };
        let segment = Arc::new(segment);
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).put(split.hash.clone(), segment.clone());
        self.shrink();
        Ok(segment)
    }

    /// Lets go of the splits used longest ago until the rest fits; the one used last always stays.
    pub(crate) fn shrink(&self) {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let mut held: u64 = memory.iter().map(|(_, segment)| segment.weight()).sum();
        while held > self.max_bytes && memory.len() > 1 {
            if let Some((_, segment)) = memory.pop_lru() {
                held = held.saturating_sub(segment.weight());
            }
        }
    }

    async fn open_whole(&self, objects: &dyn ObjectStore, split: &SplitEntry) -> Result<Segment, IndexError> {
        let name = format!("{}.split", split.hash);
        let is_right = |bytes: &Bytes| bytes.len() as u64 == split.size && blake3::hash(bytes).to_hex().as_str() == split.hash;
        let kept = match &self.disk {
            Some(disk) => disk.get(&name).await.filter(is_right),
            None => None,
        };
        let bytes = if let Some(bytes) = kept {
            bytes
        } else {
            let bytes = fetch(objects, &split.key, 0..split.size).await.map_err(|error| from_objects(error, &split.key))?;
            if !is_right(&bytes) {
                return Err(corrupt(split, "bytes differ from the split's hash"));
            }
            if let Some(disk) = &self.disk {
                disk.put(&name, &bytes).await;
            }
            bytes
        };
        let footer = footer_at(split, &bytes, 0)?;
        Segment::open(split.key.clone(), split.size, Arc::new(footer), [(0, bytes)])
    }

    async fn open_tail(&self, objects: &dyn ObjectStore, split: &SplitEntry) -> Result<Segment, IndexError> {
        let name = format!("{}.tail", split.hash);
        // On disk: everything from the tail to the end of the footer.
        if let Some(disk) = &self.disk
            && let Some(bytes) = disk.get(&name).await
            && let Some(start) = split.size.checked_sub(bytes.len() as u64)
            && let Ok(footer) = footer_at(split, &bytes, start)
            && footer.tail().start == start
        {
            let tail = bytes.slice(..(split.footer_offset - start) as usize);
            if footer.verify_tail(&tail).is_ok() {
                return Segment::open(split.key.clone(), split.size, Arc::new(footer), [(start, tail)]);
            }
        }
        let footer_bytes = match &split.footer {
            Some(inline) => STANDARD.decode(inline).map_err(|_| corrupt(split, "inlined footer unreadable"))?.into(),
            None => fetch(objects, &split.key, split.footer_offset..split.size).await.map_err(|error| from_objects(error, &split.key))?,
        };
        let footer = Footer::read(&footer_bytes).map_err(|detail| corrupt(split, detail))?;
        let range = footer.tail();
        if range.end != split.footer_offset {
            return Err(corrupt(split, "footer and entry disagree"));
        }
        let tail = fetch(objects, &split.key, range.clone()).await.map_err(|error| from_objects(error, &split.key))?;
        footer.verify_tail(&tail).map_err(|detail| corrupt(split, detail))?;
        if let Some(disk) = &self.disk {
            disk.put(&name, &Bytes::from([tail.clone(), footer_bytes].concat())).await;
        }
        Segment::open(split.key.clone(), split.size, Arc::new(footer), [(range.start, tail)])
    }
}

/// The footer in bytes of the object that begin at `start` and reach to its end.
fn footer_at(split: &SplitEntry, bytes: &Bytes, start: u64) -> Result<Footer, IndexError> {
    let at = split.footer_offset.checked_sub(start).filter(|&at| at <= bytes.len() as u64);
    let at = at.ok_or_else(|| corrupt(split, "footer outside the split"))?;
    let footer = Footer::read(&bytes.slice(at as usize..)).map_err(|detail| corrupt(split, detail))?;
    if footer.tail().end != split.footer_offset {
        return Err(corrupt(split, "footer and entry disagree"));
    }
    Ok(footer)
}

fn corrupt(split: &SplitEntry, detail: impl Into<String>) -> IndexError {
    IndexError::Corrupt { key: split.key.clone(), detail: detail.into() }
}
