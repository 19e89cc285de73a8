//! The namespace head: the one record whose conditional write publishes.

use std::collections::BTreeMap;

use bytes::Bytes;
use quarry_model::record::{IndexManifest, ManifestPlace, NamespaceHead, RetiredSplit};
use quarry_model::{DocumentId, ObjectKey, RecordKey, Revision, SCHEMA_VERSION, Scope, Timestamp};
use quarry_ports::{Condition, Item, ObjectError, ObjectStore, PutCondition, PutOptions, Records, Write};

use crate::error::PublicationError;

/// A manifest over this many bytes of JSON is stored as an object: a record holds at most 400 KB.
const INLINE_BYTES: usize = 200_000;

/// How long a split that is no longer referenced stays for readers that pinned an older head.
pub const GRACE_MILLIS: i64 = 35 * 60 * 1_000;

/// A head as it was read; version 0 means that there is none yet.
#[derive(Debug, Clone, Default)]
pub struct Head {
    /// Publications so far.
    pub version: u64,
    /// What is live.
    pub manifest: IndexManifest,
    /// The object the manifest was read from, when it is not in the record.
    place: Option<ObjectKey>,
}

impl Head {
    /// Reads the head of a namespace.
    pub async fn load(objects: &dyn ObjectStore, records: &dyn Records, scope: &Scope) -> Result<Self, PublicationError> {
        let Some(item) = records.get(&RecordKey::head(scope)).await? else {
            return Ok(Self { manifest: IndexManifest { schema_version: SCHEMA_VERSION, ..IndexManifest::default() }, ..Self::default() });
        };
        let head: NamespaceHead = item.read()?;
        let (manifest, place) = match head.manifest {
            ManifestPlace::Inline(manifest) => (manifest, None),
            ManifestPlace::Object(key) => {
                let (bytes, _) = objects.get(&key).await?;
                let manifest = serde_json::from_slice(&bytes).map_err(|error| PublicationError::Manifest(key.clone(), error))?;
                (manifest, Some(key))
            }
        };
        Ok(Self { version: head.version, manifest, place })
    }

    /// The object the manifest was read from, when it is not in the record.
    pub fn place(&self) -> Option<&ObjectKey> {
        self.place.as_ref()
    }

    /// The revision served of every live document.
    pub fn live(&self) -> BTreeMap<DocumentId, Revision> {
        let documents = self.manifest.splits.iter().flat_map(|split| &split.documents);
        documents.filter(|document| !document.dead).map(|document| (document.document_id.clone(), document.revision.clone())).collect()
    }

    /// The write that makes `next` the live manifest if nobody has published since this head was read. A manifest too
    /// large for the record is stored first.
    pub async fn succession(
        &self,
        objects: &dyn ObjectStore,
        scope: &Scope,
        mut next: IndexManifest,
        now: Timestamp,
    ) -> Result<Write, PublicationError> {
        let version = self.version + 1;
        if let Some(key) = &self.place {
            next.retired.push(RetiredSplit { key: key.clone(), at: now });
        }
        let live = next.splits.iter().flat_map(|split| &split.documents).filter(|document| !document.dead);
        let (documents, chunks) = live.fold((0, 0), |(n, chunks), document| (n + 1, chunks + u64::from(document.to - document.from)));
        let key = RecordKey::head(scope);
        let shape = |error| quarry_ports::RecordError::Shape(key.clone(), error);
        let bytes = serde_json::to_vec(&next).map_err(shape)?;
        let manifest = if bytes.len() <= INLINE_BYTES {
            ManifestPlace::Inline(next)
        } else {
            let place = ObjectKey::index_manifest(scope, version, blake3::hash(&bytes).to_hex().as_str());
            put_new(objects, &place, Bytes::from(bytes), "application/json").await?;
            ManifestPlace::Object(place)
        };
        let head = NamespaceHead { schema_version: SCHEMA_VERSION, version, manifest, documents, chunks, updated_at: now };
        let condition = match self.version {
            0 => Condition::Absent,
            read => Condition::Equals("version".to_owned(), read.into()),
        };
        Ok(Write::Put(Item::of(key, &head)?, condition))
    }
}

/// Stores an object that is named by its content: one that is there already is the same.
pub async fn put_new(objects: &dyn ObjectStore, key: &ObjectKey, bytes: Bytes, media_type: &str) -> Result<(), ObjectError> {
    let options = PutOptions { condition: PutCondition::IfAbsent, content_type: Some(media_type.to_owned()) };
    match objects.put(key, bytes, options).await {
        Ok(_) | Err(ObjectError::Precondition(_)) => Ok(()),
        Err(error) => Err(error),
    }
}
