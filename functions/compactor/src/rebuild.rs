//! An index out of the revision folders.

use std::collections::BTreeMap;

use quarry_index::IndexedDocument;
use quarry_model::record::{DocumentRecord, DocumentStatus, IndexManifest, RetiredSplit, SplitEntry};
use quarry_model::{RecordPrefix, SCHEMA_VERSION, Scope};
use quarry_publication::folder;
use quarry_publication::head::put_new;
use quarry_publication::rebuild::{build, indexed, upload};

use crate::{CompactError, Compactor, merge};

/// Text of a split, in bytes: 8 MB, as publications build them.
const SPLIT_TEXT_BYTES: usize = 8_000_000;
/// How often a lost race for the head is run again.
const TRIES: u32 = 8;

/// Builds every split anew and makes them live at once. A publication meanwhile starts it over.
pub(crate) async fn namespace(compactor: &Compactor, scope: &Scope) -> Result<u32, CompactError> {
    for _ in 0..TRIES {
        let head = compactor.head(scope).await?;
        let (splits, documents) = splits(compactor, scope).await?;
        let now = compactor.clock.now();
        let live = |key| splits.iter().any(|split| &split.key == key);
        let mut retired: Vec<RetiredSplit> = head.manifest.retired.iter().filter(|old| !live(&old.key)).cloned().collect();
        let replaced = head.manifest.splits.iter().filter(|split| !live(&split.key));
        retired.extend(replaced.map(|split| RetiredSplit { key: split.key.clone(), at: now }));
        let next = IndexManifest { schema_version: SCHEMA_VERSION, splits, retired };
        if merge::commit(compactor, scope, &head, next, now).await? {
            return Ok(documents);
        }
    }
    Err(CompactError::Contended(TRIES))
}

async fn splits(compactor: &Compactor, scope: &Scope) -> Result<(Vec<SplitEntry>, u32), CompactError> {
    let mut active: BTreeMap<_, _> = BTreeMap::new();
    for item in compactor.stores.records.query_all(&RecordPrefix::documents(scope)).await? {
        let record: DocumentRecord = item.read()?;
        if let (DocumentStatus::Active, Some(revision)) = (record.status, record.active_revision) {
            active.insert(record.document_id, revision);
        }
    }
    let (mut entries, mut waiting, mut text, mut count) = (Vec::new(), Vec::new(), 0_usize, 0_u32);
    for (document, revision) in active {
        let folder = match folder::read(&*compactor.stores.objects, scope, &document, &revision).await {
            Ok(folder) => folder,
            Err(folder::FolderError::Store(error)) => return Err(error.into()),
            Err(error) => {
                tracing::error!(%document, %error, "document left out: its revision folder cannot be read; ingest it again");
                continue;
            }
        };
        count = count.saturating_add(1);
        text = text.saturating_add(folder.chunks.iter().map(|chunk| chunk.content.len()).sum());
        waiting.push(indexed(&folder));
        if text >= SPLIT_TEXT_BYTES {
            entries.push(stored(compactor, scope, std::mem::take(&mut waiting)).await?);
            text = 0;
        }
    }
    if !waiting.is_empty() {
        entries.push(stored(compactor, scope, waiting).await?);
    }
    Ok((entries, count))
}

async fn stored(compactor: &Compactor, scope: &Scope, documents: Vec<IndexedDocument>) -> Result<SplitEntry, CompactError> {
    let built = build(scope, documents).await?;
    let objects = &*compactor.stores.objects;
    // One that is there may be damaged: that is why the index is built again.
    if let Some((key, bytes)) = upload(objects, &built).await? {
        objects.delete(&key).await?;
        put_new(objects, &key, bytes, "application/octet-stream").await?;
    }
    Ok(built.entry)
}
