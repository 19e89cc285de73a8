//! The bytes of one split as far as they are here.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use quarry_model::ObjectKey;
use quarry_ports::{ObjectError, ObjectStore};
use tantivy::directory::OwnedBytes;
use tokio::sync::Semaphore;

/// Holes up to this size are read along: a request costs more than the bytes.
const HOLE: u64 = 128 * 1024;
/// Long ranges are read in pieces of this size, in parallel.
const PIECE: u64 = 1024 * 1024;
/// Requests under way at the same time for one split.
const PARALLEL: usize = 16;
/// Requests under way at the same time in this process, however many splits and questions there are: more would only wait
/// for each other, with connections and buffers of their own.
const IN_FLIGHT: usize = 64;

static REQUESTS: Semaphore = Semaphore::const_new(IN_FLIGHT);

/// One request, when its turn has come.
async fn get(objects: &dyn ObjectStore, key: &ObjectKey, range: Range<u64>) -> Result<Bytes, ObjectError> {
    // Never closed, so there is always a permit.
    let _permit = REQUESTS.acquire().await.ok();
    objects.get_range(key, range).await
}

/// Immutable bytes with holes. Reading is synchronous and never waits: what is not here is noted and refused, and
/// [`Blob::fetch_missing`] gets all of it at once.
#[derive(Debug)]
pub(crate) struct Blob {
    key: ObjectKey,
    size: u64,
    parts: RwLock<BTreeMap<u64, OwnedBytes>>,
    missing: Mutex<Vec<Range<u64>>>,
    held: AtomicU64,
}

impl Blob {
    /// An object of `size` bytes, nothing of it here yet.
    pub(crate) fn new(key: ObjectKey, size: u64) -> Self {
        Self { key, size, parts: RwLock::default(), missing: Mutex::default(), held: AtomicU64::new(0) }
    }

    /// Adds bytes that are known to stand at `start`.
    pub(crate) fn insert(&self, start: u64, bytes: Bytes) {
        let owned = OwnedBytes::new(Vec::from(bytes));
        let end = start + owned.len() as u64;
        let mut parts = self.parts.write().unwrap_or_else(PoisonError::into_inner);
        // Parts inside the new one say nothing more.
        let inside: Vec<u64> = parts.range(start..end).filter(|(at, part)| *at + part.len() as u64 <= end).map(|(at, _)| *at).collect();
        for at in inside {
            parts.remove(&at);
        }
        // What began here and is still here reaches further.
        parts.entry(start).or_insert(owned);
        // Parts may overlap, and what is here twice is here once.
        let (mut held, mut reached) = (0, 0);
        for (&from, part) in parts.iter() {
            let to = from + part.len() as u64;
            held += to.saturating_sub(from.max(reached));
            reached = reached.max(to);
        }
        self.held.store(held, Ordering::Relaxed);
    }

    /// Whether all of it is here.
    pub(crate) fn is_whole(&self) -> bool {
        self.held() >= self.size
    }

    /// Bytes held in memory.
    pub(crate) fn held(&self) -> u64 {
        self.held.load(Ordering::Relaxed)
    }

    /// The bytes of a range, if they are here.
    pub(crate) fn read(&self, range: Range<u64>) -> io::Result<OwnedBytes> {
        if range.is_empty() {
            return Ok(OwnedBytes::empty());
        }
        let parts = self.parts.read().unwrap_or_else(PoisonError::into_inner);
        if let Some((&start, bytes)) = parts.range(..=range.start).rev().find(|(start, bytes)| range.end <= **start + bytes.len() as u64) {
            return Ok(bytes.slice((range.start - start) as usize..(range.end - start) as usize));
        }
        drop(parts);
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).push(range);
        Err(io::Error::new(io::ErrorKind::WouldBlock, "bytes not fetched yet"))
    }

    /// Whether something was asked for that is not here.
    pub(crate) fn has_missing(&self) -> bool {
        !self.missing.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Fetches everything asked for since the last time: neighbours together, in parallel. Returns the requests made.
    pub(crate) async fn fetch_missing(&self, objects: &dyn ObjectStore) -> Result<usize, ObjectError> {
        let ranges = std::mem::take(&mut *self.missing.lock().unwrap_or_else(PoisonError::into_inner));
        let ranges = coalesce(ranges, HOLE, self.size);
        let mut requests = 0;
        for range in &ranges {
            requests += (range.end - range.start).div_ceil(PIECE) as usize;
        }
        let fetches: Vec<_> = ranges.iter().map(|range| fetch(objects, &self.key, range.clone())).collect();
        let fetched: Vec<Bytes> = futures::stream::iter(fetches).buffered(PARALLEL).try_collect().await?;
        for (range, bytes) in ranges.iter().zip(fetched) {
            self.insert(range.start, bytes);
        }
        Ok(requests)
    }
}

/// One range, in parallel pieces when it is long.
pub(crate) async fn fetch(objects: &dyn ObjectStore, key: &ObjectKey, range: Range<u64>) -> Result<Bytes, ObjectError> {
    let length = range.end - range.start;
    if length <= PIECE * 3 / 2 {
        return get(objects, key, range).await;
    }
    let starts: Vec<u64> = (range.start..range.end).step_by(PIECE as usize).collect();
    let reads: Vec<_> = starts.into_iter().map(|start| get(objects, key, start..(start + PIECE).min(range.end))).collect();
    let pieces: Vec<Bytes> = futures::stream::iter(reads).buffered(PARALLEL).try_collect().await?;
    Ok(pieces.concat().into())
}

/// Sorted, disjoint ranges that cover all of `ranges`; holes of at most `hole` bytes are covered as well.
fn coalesce(mut ranges: Vec<Range<u64>>, hole: u64, size: u64) -> Vec<Range<u64>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut out: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        let range = range.start..range.end.min(size);
        match out.last_mut() {
            Some(last) if range.start <= last.end + hole => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out.retain(|range| range.start < range.end);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_is_not_whole() {
        let blob = Blob::new(ObjectKey::from_event("x"), 100);
        for range in [0..60_u8, 40..70, 0..60, 20..70] {
            blob.insert(u64::from(range.start), range.clone().collect::<Vec<u8>>().into());
        }
        assert!(!blob.is_whole() && blob.held() == 70);
        assert!(blob.read(60..80).is_err() && blob.has_missing());
        blob.insert(0, vec![0; 10].into());
        assert_eq!(blob.read(30..60).unwrap().as_slice()[0], 30);
        blob.insert(65, vec![9; 35].into());
        assert!(blob.is_whole());
    }

    #[test]
    fn neighbours_are_read_together() {
        assert_eq!(coalesce(vec![50..60, 0..10, 12..20, 90..200], 5, 100), [0..20, 50..60, 90..100]);
        assert!(coalesce(vec![7..7], 5, 100).is_empty());
    }
}
