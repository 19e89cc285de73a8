//! Which splits become one, and the commit.

use std::collections::BTreeSet;

use quarry_index::IndexedDocument;
use quarry_model::record::{IndexManifest, RetiredSplit, SplitEntry};
use quarry_model::{DocumentId, ObjectKey, Revision, Scope, Timestamp};
use quarry_ports::TransactError;
use quarry_publication::Head;
use quarry_publication::head::put_new;
use quarry_publication::rebuild::{build, stored, upload};

use crate::{CompactError, Compactor};

/// From so many splits of one level on they are merged.
const AT_LEAST: usize = 8;
/// So many at once.
const AT_MOST: usize = 10;
/// A split is rewritten when more than one in so many of its chunks is dead.
const DEAD_ONE_IN: u64 = 10;
/// Splits are not merged beyond this size: a merge holds its documents in memory. 200 MB.
const MERGED_MAX_BYTES: u64 = 200_000_000;
/// How often a lost race for the head is run again.
const TRIES: u32 = 8;

/// Merges one group of splits; the number of splits that went into it, 0 when there is nothing to merge.
pub(crate) async fn once(compactor: &Compactor, scope: &Scope) -> Result<u32, CompactError> {
    let head = compactor.head(scope).await?;
    let inputs = choose(&head.manifest);
    if inputs.is_empty() {
        return Ok(0);
    }
    let mut documents: Vec<IndexedDocument> = Vec::new();
    let objects = &*compactor.stores.objects;
    for split in &inputs {
        let live: BTreeSet<&DocumentId> = split.documents.iter().filter(|d| !d.dead).map(|d| &d.document_id).collect();
        match stored(objects, &compactor.cache, scope, split).await? {
            Some(found) => documents.extend(found.into_iter().filter(|document| live.contains(&document.document_id))),
            // Neither split nor folders can be read: what is lost is not made to look whole.
            None => return Ok(0),
        }
    }
    let mut built = build(scope, documents).await?;
    built.entry.level = inputs.iter().map(|split| split.level).max().unwrap_or(0).saturating_add(1);
    let found = upload(objects, &built).await?;
    for _ in 0..TRIES {
        let head = compactor.head(scope).await?;
        let now = compactor.clock.now();
        let Some(next) = succeed(&head.manifest, &inputs, &built.entry, now) else {
            // Somebody else has replaced an input; the split that was uploaded is an orphan now.
            return Ok(0);
        };
        if commit(compactor, scope, &head, next, now).await? {
            if let Some((key, bytes)) = found {
                put_new(objects, &key, bytes, "application/octet-stream").await?;
            }
            return Ok(u32::try_from(inputs.len()).unwrap_or(u32::MAX));
        }
    }
    Err(CompactError::Contended(TRIES))
}

/// Makes `next` live if nobody has published since `head` was read.
pub(crate) async fn commit(
    compactor: &Compactor,
    scope: &Scope,
    head: &Head,
    next: IndexManifest,
    now: Timestamp,
) -> Result<bool, CompactError> {
    let write = head.succession(&*compactor.stores.objects, scope, next, now).await?;
    match compactor.stores.records.transact(vec![write]).await {
        Ok(()) => Ok(true),
        Err(TransactError::Conditions(_) | TransactError::Conflict) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The splits to merge: first one with too much that is dead, else the smallest of a level that has many. A split of the
/// lowest level counts by itself, since publications rebuild small ones anyway.
fn choose(manifest: &IndexManifest) -> Vec<SplitEntry> {
    if let Some(split) = manifest.splits.iter().find(|split| is_worn(split)) {
        return vec![split.clone()];
    }
    let levels: BTreeSet<u32> = manifest.splits.iter().map(|split| split.level).collect();
    for level in levels {
        let mut same: Vec<&SplitEntry> = manifest.splits.iter().filter(|split| split.level == level).collect();
        same.sort_by(|a, b| a.size.cmp(&b.size).then_with(|| a.hash.cmp(&b.hash)));
        if same.len() < AT_LEAST {
            continue;
        }
        let mut total = 0_u64;
        let fits = |split: &&&SplitEntry| {
            total = total.saturating_add(split.size);
            total <= MERGED_MAX_BYTES
        };
        let group: Vec<SplitEntry> = same.iter().take(AT_MOST).take_while(fits).map(|split| (*split).clone()).collect();
        if group.len() > 1 {
            return group;
        }
    }
    Vec::new()
}

fn is_worn(split: &SplitEntry) -> bool {
    let dead: u64 = split.documents.iter().filter(|document| document.dead).map(|document| u64::from(document.to - document.from)).sum();
    dead * DEAD_ONE_IN > u64::from(split.chunks)
}

/// The manifest with the merged split in place of its inputs; `None` when one of them is no longer there. What has died
/// in an input since it was read is dead in the merged split as well.
fn succeed(manifest: &IndexManifest, inputs: &[SplitEntry], merged: &SplitEntry, now: Timestamp) -> Option<IndexManifest> {
    let keys: BTreeSet<&ObjectKey> = inputs.iter().map(|split| &split.key).collect();
    let now_standing: Vec<&SplitEntry> = manifest.splits.iter().filter(|split| keys.contains(&split.key)).collect();
    if now_standing.len() != inputs.len() {
        return None;
    }
    let live: BTreeSet<(&DocumentId, &Revision)> = now_standing
        .iter()
        .flat_map(|split| &split.documents)
        .filter(|document| !document.dead)
        .map(|document| (&document.document_id, &document.revision))
        .collect();
    let mut merged = merged.clone();
    for document in &mut merged.documents {
        document.dead = !live.contains(&(&document.document_id, &document.revision));
    }
    let mut next = manifest.clone();
    let at = next.splits.iter().position(|split| keys.contains(&split.key)).unwrap_or(0);
    next.splits.retain(|split| !keys.contains(&split.key));
    if merged.documents.iter().any(|document| !document.dead) {
        next.splits.insert(at.min(next.splits.len()), merged.clone());
    }
    next.retired.retain(|retired| retired.key != merged.key);
    next.retired.extend(keys.into_iter().filter(|key| **key != merged.key).map(|key| RetiredSplit { key: key.clone(), at: now }));
    Some(next)
}
