//! Removes what a deleted document leaves behind: its objects, its records, the bytes it was read from.

use std::collections::BTreeSet;

use futures::stream::{self, StreamExt, TryStreamExt};
use quarry_model::record::{DocumentRecord, SupersededRevision};
use quarry_model::{DocumentId, Job, JobId, Manifest, ObjectKey, ObjectPrefix, RecordKey, RecordPrefix, Revision, Scope, Timestamp};
use quarry_ports::{ObjectError, ObjectStore};

use crate::Stores;
use crate::error::PublicationError;
use crate::postings::AT_ONCE;

/// Removes every revision of a deleted document, except what was read after the delete was asked for and was not
/// published before it: that belongs to a later source, whose message may be waiting behind the delete's.
pub async fn document(stores: &Stores, deleted: &DocumentRecord) -> Result<(), PublicationError> {
    let (scope, document) = (&deleted.scope, &deleted.document_id);
    // Marks later than the delete are those of sources that came after it.
    let mut published: BTreeSet<Revision> = BTreeSet::new();
    for item in stores.records.query_all(&RecordPrefix::superseded_of(scope, document)).await? {
        let mark: SupersededRevision = item.read()?;
        if mark.at <= deleted.updated_at {
            published.insert(mark.revision);
        }
    }
    let asked = Timestamp::from_millis(deleted.order.created_millis);
    let mut revisions = folders(&*stores.objects, scope, document).await?;
    revisions.extend(published.iter().cloned());
    let awaited = is_awaited(stores, deleted).await?;
    for revision in revisions {
        let manifest = manifest(&*stores.objects, scope, document, &revision).await?;
        let is_later = manifest.as_ref().map_or(awaited, |manifest| manifest.processing_date > asked);
        if is_later && !published.contains(&revision) {
            continue;
        }
        self::revision(stores, scope, document, &revision, manifest.as_ref()).await?;
    }
    let mut hits = RecordPrefix::hits(scope);
    hits.sk = format!("DOC#{document}");
    let keys = stores.records.query_all(&hits).await?.into_iter().map(|item| item.key).collect();
    Ok(stores.records.write_many(Vec::new(), keys).await?)
}

/// Whether a source that came after the delete is being read: an unfinished folder may be its.
async fn is_awaited(stores: &Stores, deleted: &DocumentRecord) -> Result<bool, PublicationError> {
    let Some(item) = stores.records.get(&RecordKey::document_job(&deleted.document_id)).await? else {
        return Ok(false);
    };
    let latest: Option<JobId> = item.body.get("job_id").and_then(serde_json::Value::as_str).and_then(|id| id.parse().ok());
    let Some(latest) = latest else {
        return Ok(false);
    };
    let job: Option<Job> = stores.records.get(&RecordKey::job(&latest)).await?.map(|item| item.read()).transpose()?;
    Ok(job.is_some_and(|job| job.state.is_active() && job.order.compare(&deleted.order).is_gt()))
}

/// Removes one revision: the source it was read from, its records, its folder (the manifest first, so that what is left
/// after a crash is no finished revision any more), its mark.
pub async fn revision(
    stores: &Stores,
    scope: &Scope,
    document: &DocumentId,
    revision: &Revision,
    manifest: Option<&Manifest>,
) -> Result<(), PublicationError> {
    if let Some(job) = manifest.and_then(|manifest| manifest.job_id.as_ref())
        && let Some(item) = stores.records.get(&RecordKey::job(job)).await?
    {
        stores.objects.delete(&item.read::<Job>()?.source).await?;
    }
    let items = stores.records.query_all(&RecordPrefix::revision(document, revision)).await?;
    let mut keys: Vec<RecordKey> = items.into_iter().map(|item| item.key).collect();
    keys.push(RecordKey::superseded(scope, document, revision));
    stores.objects.delete(&ObjectKey::artifact(scope, document, revision, "manifest.json")).await?;
    objects(&*stores.objects, &ObjectPrefix::revision(scope, document, revision)).await?;
    Ok(stores.records.write_many(Vec::new(), keys).await?)
}

/// Removes the folder of a reading that came too late for a deleted document.
pub async fn late(stores: &Stores, scope: &Scope, document: &DocumentId, late: &Revision) -> Result<(), PublicationError> {
    let manifest = manifest(&*stores.objects, scope, document, late).await?;
    revision(stores, scope, document, late, manifest.as_ref()).await
}

/// The revisions of a document that have a folder.
async fn folders(objects: &dyn ObjectStore, scope: &Scope, document: &DocumentId) -> Result<BTreeSet<Revision>, ObjectError> {
    let prefix = ObjectPrefix::document(scope, document);
    let mut revisions = BTreeSet::new();
    let mut cursor = None;
    loop {
        let page = objects.list(&prefix, cursor.as_deref(), 1_000).await?;
        let names = page.objects.iter().filter_map(|object| object.key.as_str().strip_prefix(prefix.as_str()));
        revisions.extend(names.filter_map(|name| name.split('/').next()?.parse().ok()));
        match page.cursor {
            Some(next) => cursor = Some(next),
            None => return Ok(revisions),
        }
    }
}

async fn objects(objects: &dyn ObjectStore, prefix: &ObjectPrefix) -> Result<(), ObjectError> {
    loop {
        let page = objects.list(prefix, None, 1_000).await?;
        if page.objects.is_empty() {
            return Ok(());
        }
        let keys = page.objects.into_iter().map(|object| object.key);
        stream::iter(keys).map(|key| async move { objects.delete(&key).await }).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
    }
}

async fn manifest(
    objects: &dyn ObjectStore,
    scope: &Scope,
    document: &DocumentId,
    revision: &Revision,
) -> Result<Option<Manifest>, ObjectError> {
    match objects.get(&ObjectKey::artifact(scope, document, revision, "manifest.json")).await {
        // One that cannot be read names no job and no time: the revision is removed without them.
        Ok((bytes, _)) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(ObjectError::NotFound(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
