//! Step 6: which splits there are after a publication.
//!
//! Small splits are rebuilt together with what arrives, smallest first, as long as they stay under [`REBUILD_BYTES`]; so
//! a small namespace is one split, a pure function of its live documents, and a large one grows by full splits. What is
//! gone from a split that is not rebuilt is marked dead in the manifest.

use std::collections::BTreeSet;

use bytes::Bytes;
use quarry_index::IndexedDocument;
use quarry_model::record::{IndexManifest, RetiredSplit, SplitEntry};
use quarry_model::{DocumentId, ObjectKey, SCHEMA_VERSION, Scope, Timestamp};
use quarry_publication::Folder;
use quarry_publication::head::GRACE_MILLIS;
use quarry_publication::rebuild::{build, indexed, stored, upload};

use crate::Publisher;
use crate::error::PublishError;

/// Splits are rebuilt together up to this many bytes: 8 MB.
pub(crate) const REBUILD_BYTES: u64 = 8_000_000;

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
    publisher: &Publisher,
    scope: &Scope,
    manifest: &IndexManifest,
    gone: &BTreeSet<DocumentId>,
    arriving: &[&Folder],
    now: Timestamp,
) -> Result<Succession, PublishError> {
    let (objects, cache) = (&*publisher.stores.objects, &*publisher.cache);
    let (rebuilt, mut kept) = choose(manifest, gone, arriving, publisher.rebuild_bytes);
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
fn choose(manifest: &IndexManifest, gone: &BTreeSet<DocumentId>, arriving: &[&Folder], most: u64) -> (Vec<SplitEntry>, Vec<SplitEntry>) {
    let text: usize = arriving.iter().flat_map(|folder| &folder.chunks).map(|chunk| chunk.content.len()).sum();
    let mut total = u64::try_from(text).unwrap_or(u64::MAX);
    let mut by_size: Vec<&SplitEntry> = manifest.splits.iter().collect();
    by_size.sort_by(|a, b| a.size.cmp(&b.size).then_with(|| a.hash.cmp(&b.hash)));
    let mut small: BTreeSet<&ObjectKey> = BTreeSet::new();
    for split in by_size {
        total = total.saturating_add(split.size);
        if total > most {
            break;
        }
        small.insert(&split.key);
    }
    let touched = |split: &SplitEntry| split.documents.iter().any(|document| !document.dead && gone.contains(&document.document_id));
    let worth_it = !arriving.is_empty() || manifest.splits.iter().any(|split| small.contains(&split.key) && touched(split));
    manifest.splits.iter().cloned().partition(|split| worth_it && small.contains(&split.key))
}
