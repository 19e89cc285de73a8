//! Removing what nobody needs any more.

use std::collections::BTreeSet;

use futures::stream::{self, StreamExt, TryStreamExt};
use quarry_model::record::{DocumentRecord, DocumentStatus, GraphNode, IndexManifest, Orphan, SupersededRevision};
use quarry_model::{DocumentId, ObjectKey, ObjectPrefix, RecordKey, RecordPrefix, Revision, Scope, Timestamp};
use quarry_ports::{Item, ObjectError};
use quarry_publication::postings::{AT_ONCE, Served};
use quarry_publication::{Head, erase, postings};

use crate::{CompactError, Compactor, merge};

/// What was removed, and whether a later run has anything to wait for.
#[derive(Debug, Default)]
pub(crate) struct Swept {
    pub(crate) splits: u32,
    pub(crate) revisions: u32,
    pub(crate) orphans: u32,
    pub(crate) nothing_left: bool,
}

/// Removes retired splits, superseded revisions and orphans whose time is over.
pub(crate) async fn namespace(compactor: &Compactor, scope: &Scope) -> Result<Swept, CompactError> {
    let (splits, splits_wait) = retired(compactor, scope).await?;
    let (revisions, revisions_wait) = superseded(compactor, scope).await?;
    let (orphans, orphans_wait) = orphans(compactor, scope).await?;
    Ok(Swept { splits, revisions, orphans, nothing_left: !splits_wait && !revisions_wait && !orphans_wait })
}

fn is_over(since: Timestamp, patience_millis: i64, now: Timestamp) -> bool {
    now.millis().saturating_sub(since.millis()) >= patience_millis
}

/// Splits and manifests that readers of older heads may have pinned. First the head forgets them, then they are removed:
/// in the other order a crash would leave a head that promises to remove what is gone, in this one an orphan.
async fn retired(compactor: &Compactor, scope: &Scope) -> Result<(u32, bool), CompactError> {
    let now = compactor.clock.now();
    let head = compactor.head(scope).await?;
    let (over, waiting): (Vec<_>, Vec<_>) =
        head.manifest.retired.iter().cloned().partition(|old| is_over(old.at, compactor.patience.superseded_millis, now));
    if over.is_empty() {
        return Ok((0, !waiting.is_empty()));
    }
    let waits = !waiting.is_empty();
    let served: BTreeSet<ObjectKey> = head.manifest.splits.iter().map(|split| split.key.clone()).collect();
    let next = IndexManifest { retired: waiting, ..head.manifest.clone() };
    if !merge::commit(compactor, scope, &head, next, now).await? {
        // Somebody published; the next run looks again.
        return Ok((0, true));
    }
    let keys: Vec<ObjectKey> = over.into_iter().map(|old| old.key).filter(|key| !served.contains(key)).collect();
    Ok((removed(compactor, keys).await?, waits))
}

async fn removed(compactor: &Compactor, keys: Vec<ObjectKey>) -> Result<u32, CompactError> {
    let count = u32::try_from(keys.len()).unwrap_or(u32::MAX);
    let objects = &compactor.stores.objects;
    let all = stream::iter(keys).map(|key| async move { objects.delete(&key).await }).buffer_unordered(AT_ONCE);
    all.try_collect::<()>().await?;
    Ok(count)
}

/// Revisions that are no longer served, with their postings. The source stays: a later revision may have been read from
/// the same key, and an archived document is read again from it.
async fn superseded(compactor: &Compactor, scope: &Scope) -> Result<(u32, bool), CompactError> {
    let (records, now) = (&compactor.stores.records, compactor.clock.now());
    let (mut count, mut waits) = (0_u32, false);
    for item in records.query_all(&RecordPrefix::superseded(scope)).await? {
        let mark: SupersededRevision = item.read()?;
        if !is_over(mark.at, compactor.patience.superseded_millis, now) {
            waits = true;
            continue;
        }
        let (document, revision) = (&mark.document_id, &mark.revision);
        let record: Option<DocumentRecord> = match records.get(&RecordKey::document(scope, document)).await? {
            Some(item) => Some(item.read()?),
            None => None,
        };
        // The same content came back: it is served again, or kept by an archived document.
        let active = record.as_ref().and_then(|record| record.active_revision.clone());
        if active.as_ref() == Some(revision) {
            records.delete(&item.key, quarry_ports::Condition::None).await?;
            continue;
        }
        if !mark.postings_removed {
            let past = node(compactor, document, revision).await?;
            let live = record.filter(|record| record.status == DocumentStatus::Active).map(|record| record.created_at);
            let serving = match (live, active) {
                (Some(since), Some(active)) => node(compactor, document, &active).await?.map(|node| (since, node)),
                _ => None,
            };
            let served = serving.as_ref().map(|(since, node)| Served { since: *since, node });
            postings::remove(&**records, scope, document, revision, past.as_ref(), served).await?;
        }
        erase::revision(&compactor.stores, scope, document, revision, None).await?;
        count = count.saturating_add(1);
    }
    Ok((count, waits))
}

async fn node(compactor: &Compactor, document: &DocumentId, revision: &Revision) -> Result<Option<GraphNode>, CompactError> {
    let item = compactor.stores.records.get(&RecordKey::revision_node(document, revision)).await?;
    Ok(item.map(|item| item.read()).transpose()?)
}

/// Objects under the namespace's index that the head does not name: a publication or a merge that lost its race or died.
/// One is noted when it is first seen and removed when it is still so a day later.
async fn orphans(compactor: &Compactor, scope: &Scope) -> Result<(u32, bool), CompactError> {
    let (records, now) = (&compactor.stores.records, compactor.clock.now());
    // The objects first: what is named by a head read afterwards was uploaded before it.
    let stored = listed(compactor, &ObjectPrefix::index(scope)).await?;
    let head = compactor.head(scope).await?;
    let named = named(&head);
    let mut noted: Vec<Orphan> = Vec::new();
    for item in records.query_all(&RecordPrefix::orphans(scope)).await? {
        noted.push(item.read()?);
    }
    let unnamed: BTreeSet<&ObjectKey> = stored.iter().filter(|key| is_content(key) && !named.contains(*key)).collect();
    let over: Vec<ObjectKey> = unnamed
        .iter()
        .filter(|key| {
            let since = noted.iter().find(|orphan| orphan.key == ***key).map_or(now, |orphan| orphan.since);
            is_over(since, compactor.patience.orphan_millis, now)
        })
        .map(|key| (*key).clone())
        .collect();
    let count = removed(compactor, over.clone()).await?;
    let gone: BTreeSet<&ObjectKey> = over.iter().collect();
    let fresh = unnamed.iter().filter(|key| !gone.contains(**key) && noted.iter().all(|orphan| orphan.key != ***key));
    let puts = fresh
        .map(|key| Item::of(RecordKey::orphan(scope, key), &Orphan { key: (*key).clone(), since: now }))
        .collect::<Result<Vec<_>, _>>()?;
    let settled = noted.iter().filter(|orphan| !unnamed.contains(&orphan.key) || gone.contains(&orphan.key));
    let deletes = settled.map(|orphan| RecordKey::orphan(scope, &orphan.key)).collect();
    records.write_many(puts, deletes).await?;
    Ok((count, unnamed.len() > over.len()))
}

/// What the head names: live and retired splits, and its own manifest.
fn named(head: &Head) -> BTreeSet<ObjectKey> {
    let splits = head.manifest.splits.iter().map(|split| split.key.clone());
    let retired = head.manifest.retired.iter().map(|retired| retired.key.clone());
    splits.chain(retired).chain(head.place().cloned()).collect()
}

/// Splits and manifests; the graph's file and hit statistics lie elsewhere or are always named alike.
fn is_content(key: &ObjectKey) -> bool {
    key.as_str().contains("/splits/") || key.as_str().contains("/manifests/")
}

async fn listed(compactor: &Compactor, prefix: &ObjectPrefix) -> Result<Vec<ObjectKey>, ObjectError> {
    let mut keys = Vec::new();
    let mut cursor = None;
    loop {
        let page = compactor.stores.objects.list(prefix, cursor.as_deref(), 1_000).await?;
        keys.extend(page.objects.into_iter().map(|object| object.key));
        match page.cursor {
            Some(next) => cursor = Some(next),
            None => return Ok(keys),
        }
    }
}
