//! Step 6: which splits there are after a publication.
//!
//! Small splits are rebuilt together with what arrives, smallest first, as long as they stay under [`REBUILD_BYTES`]; so
//! a small namespace is one split, a pure function of its live documents, and a large one grows by full splits. What is
//! gone from a split that is not rebuilt is marked dead in the manifest.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use quarry_index::{BuiltSplit, IndexError, IndexedChunk, IndexedDocument, SectionText, SplitCache, build_split, read_documents};
use quarry_model::record::{IndexManifest, RetiredSplit, SplitEntry};
use quarry_model::{DocumentId, ObjectKey, SCHEMA_VERSION, Scope, SectionId, Timestamp};
use quarry_ports::{ObjectError, ObjectStore, PutCondition, PutOptions};

use crate::error::PublishError;
use crate::folder::{self, Folder, FolderError};
use crate::head::GRACE_MILLIS;

/// Splits are rebuilt together up to this many bytes: 8 MB.
const REBUILD_BYTES: u64 = 8_000_000;

/// What comes after the live manifest.
#[derive(Debug, Default)]
pub(crate) struct Succession {
    pub(crate) manifest: IndexManifest,
    /// A split that was there already when it was to be uploaded: if it was an old one about to be removed, it has to be
    /// stored again after the commit.
    pub(crate) found: Option<(ObjectKey, Bytes)>,
}

/// The manifest without `gone` and with `arriving`, its new split uploaded.
pub(crate) async fn succeed(
    objects: &dyn ObjectStore,
    cache: &SplitCache,
    scope: &Scope,
    manifest: &IndexManifest,
    gone: &BTreeSet<DocumentId>,
    arriving: &[&Folder],
    now: Timestamp,
) -> Result<Succession, PublishError> {
    let (rebuilt, mut kept) = choose(manifest, gone, arriving);
    let mut found = None;
    if !rebuilt.is_empty() || !arriving.is_empty() {
        let mut documents: Vec<IndexedDocument> = arriving.iter().map(|folder| indexed(folder)).collect();
        for split in rebuilt {
            match stored(objects, cache, scope, &split).await? {
                Some(old) => documents.extend(old.into_iter().filter(|document| !gone.contains(&document.document_id))),
                // Readers report it as missing; what arrives must not wait for what is lost.
                None => kept.push(split),
            }
        }
        if !documents.is_empty() {
            let built = build(scope, documents).await?;
            found = upload(objects, &built).await?;
            kept.push(built.entry);
        }
    }
    for split in &mut kept {
        for document in split.documents.iter_mut().filter(|document| gone.contains(&document.document_id)) {
            // What has just been built holds none of the gone; what arrives is the new revision.
            let new = arriving.iter().any(|folder| folder.manifest.revision == document.revision);
            document.dead |= !new;
        }
    }
    kept.retain(|split| split.documents.iter().any(|document| !document.dead));

    let live: BTreeSet<&ObjectKey> = kept.iter().map(|split| &split.key).collect();
    let mut retired: Vec<RetiredSplit> = Vec::new();
    for old in manifest.retired.iter().filter(|old| !live.contains(&old.key)) {
        if now.millis() - old.at.millis() < GRACE_MILLIS {
            retired.push(old.clone());
        } else {
            objects.delete(&old.key).await?;
        }
    }
    let replaced = manifest.splits.iter().filter(|split| !live.contains(&split.key));
    retired.extend(replaced.map(|split| RetiredSplit { key: split.key.clone(), at: now }));
    let manifest = IndexManifest { schema_version: SCHEMA_VERSION, splits: kept, retired };
    Ok(Succession { manifest, found })
}

/// The splits to rebuild with what arrives, and those that stay as they are.
fn choose(manifest: &IndexManifest, gone: &BTreeSet<DocumentId>, arriving: &[&Folder]) -> (Vec<SplitEntry>, Vec<SplitEntry>) {
    let text: usize = arriving.iter().flat_map(|folder| &folder.chunks).map(|chunk| chunk.content.len()).sum();
    let mut total = u64::try_from(text).unwrap_or(u64::MAX);
    let mut by_size: Vec<&SplitEntry> = manifest.splits.iter().collect();
    by_size.sort_by(|a, b| a.size.cmp(&b.size).then_with(|| a.hash.cmp(&b.hash)));
    let mut small: BTreeSet<&ObjectKey> = BTreeSet::new();
    for split in by_size {
        total = total.saturating_add(split.size);
        if total > REBUILD_BYTES {
            break;
        }
        small.insert(&split.key);
    }
    let touched = |split: &SplitEntry| split.documents.iter().any(|document| !document.dead && gone.contains(&document.document_id));
    let worth_it = !arriving.is_empty() || manifest.splits.iter().any(|split| small.contains(&split.key) && touched(split));
    manifest.splits.iter().cloned().partition(|split| worth_it && small.contains(&split.key))
}

/// The live documents of a split: out of the split, or, where it cannot be read or was written by other rules of
/// analysis, out of their revision folders. `None` when these cannot be read either.
async fn stored(
    objects: &dyn ObjectStore,
    cache: &SplitCache,
    scope: &Scope,
    split: &SplitEntry,
) -> Result<Option<Vec<IndexedDocument>>, PublishError> {
    match read_documents(objects, cache, split).await {
        Ok(documents) => Ok(Some(documents)),
        Err(error @ (IndexError::Gone(_) | IndexError::Corrupt { .. } | IndexError::Analyzer { .. })) => {
            tracing::warn!(%error, "split is rebuilt from revision folders");
            let mut documents = Vec::new();
            for document in split.documents.iter().filter(|document| !document.dead) {
                match folder::read(objects, scope, &document.document_id, &document.revision).await {
                    Ok(folder) => documents.push(indexed(&folder)),
                    Err(FolderError::Store(error)) => return Err(error.into()),
                    Err(error) => {
                        tracing::error!(split = %split.key, document = %document.document_id, %error, "split cannot be rebuilt");
                        return Ok(None);
                    }
                }
            }
            Ok(Some(documents))
        }
        Err(error) => Err(error.into()),
    }
}

/// A revision as the index takes it: every chunk with the words of its section, summaries included.
fn indexed(folder: &Folder) -> IndexedDocument {
    let sections: BTreeMap<&SectionId, SectionText> = folder
        .sections()
        .into_iter()
        .map(|(section, _)| {
            let text = SectionText { path: section.path.clone(), title: section.title.clone(), summary: section.summary.clone() };
            (&section.section_id, text)
        })
        .collect();
    let chunk = |chunk: &quarry_model::Chunk| IndexedChunk {
        section: sections.get(&chunk.metadata.section_id).cloned().unwrap_or_default(),
        chunk: chunk.clone(),
    };
    IndexedDocument {
        document_id: folder.manifest.document_id.clone(),
        revision: folder.manifest.revision.clone(),
        file_name: folder.manifest.source_file_name.clone(),
        chunks: folder.chunks.iter().map(chunk).collect(),
    }
}

async fn build(scope: &Scope, documents: Vec<IndexedDocument>) -> Result<BuiltSplit, PublishError> {
    let scope = scope.clone();
    let built = tokio::task::spawn_blocking(move || build_split(&scope, documents)).await;
    Ok(built.map_err(|error| IndexError::Segment(Box::new(error)))??)
}

async fn upload(objects: &dyn ObjectStore, built: &BuiltSplit) -> Result<Option<(ObjectKey, Bytes)>, PublishError> {
    let options = PutOptions { condition: PutCondition::IfAbsent, content_type: Some("application/octet-stream".to_owned()) };
    match objects.put(&built.entry.key, built.bytes.clone(), options).await {
        Ok(_) => Ok(None),
        Err(ObjectError::Precondition(key)) => Ok(Some((key, built.bytes.clone()))),
        Err(error) => Err(error.into()),
    }
}
