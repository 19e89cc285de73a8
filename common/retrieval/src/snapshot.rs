//! Pins one publication of a namespace per request: every read of the request then belongs together.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use lru::LruCache;
use quarry_index::{Channel, Filter, Hit, IndexError, MissingReason, Snapshot, SplitCache, StoredChunk};
use quarry_language::Concept;
use quarry_model::record::{IndexManifest, ManifestPlace, NamespaceHead};
use quarry_model::{DocumentId, RecordKey, Revision, Scope};
use quarry_ports::{ObjectError, ObjectStore, Records};

use crate::corpus::{ChunkKey, Corpus};
use crate::error::RetrievalError;
use crate::passage::Passage;

/// Namespaces kept open.
const OPEN_NAMESPACES: usize = 64;
/// Passages kept ready.
const READY_PASSAGES: usize = 20_000;
/// How often a head that moves under us is read again.
const ATTEMPTS: u32 = 5;

type PassageKey = (DocumentId, Revision, u32);

/// Opens publications and keeps them while they are the newest.
pub struct Snapshots {
    objects: Arc<dyn ObjectStore>,
    records: Arc<dyn Records>,
    splits: Arc<SplitCache>,
    open: Mutex<LruCache<Scope, Arc<Pinned>>>,
    passages: Arc<Passages>,
}

/// One publication, opened.
pub struct Pinned {
    version: u64,
    snapshot: Snapshot,
}

/// Passages made ready, shared by all publications: a revision never changes.
struct Passages(Mutex<LruCache<PassageKey, Arc<Passage>>>);

/// Reads passages of one publication.
#[derive(Clone)]
pub struct Reader {
    corpus: Arc<dyn Corpus>,
    passages: Arc<Passages>,
}

impl Snapshots {
    /// Reads heads from `records`, manifests and splits from `objects` through `splits`.
    pub fn new(objects: Arc<dyn ObjectStore>, records: Arc<dyn Records>, splits: Arc<SplitCache>) -> Self {
        let size = NonZeroUsize::new(OPEN_NAMESPACES).unwrap_or(NonZeroUsize::MIN);
        Self { objects, records, splits, open: Mutex::new(LruCache::new(size)), passages: Arc::new(Passages::new()) }
    }

    /// The newest publication of a namespace; `None` when nothing was ever published there.
    pub async fn pin(&self, scope: &Scope) -> Result<Option<Reader>, RetrievalError> {
        for _ in 0..ATTEMPTS {
            let Some(item) = self.records.get(&RecordKey::head(scope)).await? else { return Ok(None) };
            // The version alone first: reading a whole manifest for nothing costs more than the query.
            let version = item.body.get("version").and_then(serde_json::Value::as_u64).unwrap_or_default();
            if let Some(pinned) = self.kept(scope, version) {
                return Ok(Some(self.reader(pinned)));
            }
            let head: NamespaceHead = item.read()?;
            let Some(manifest) = self.manifest(head.manifest).await? else { continue };
            let snapshot = Snapshot::open(self.objects.clone(), self.splits.clone(), &manifest).await?;
            let gone = snapshot.missing().iter().any(|missing| missing.reason == MissingReason::Gone);
            if gone && self.version(scope).await? != Some(head.version) {
                continue;
            }
            let pinned = Arc::new(Pinned { version: head.version, snapshot });
            self.open.lock().unwrap_or_else(PoisonError::into_inner).put(scope.clone(), pinned.clone());
            return Ok(Some(self.reader(pinned)));
        }
        Err(RetrievalError::Moving)
    }

    fn kept(&self, scope: &Scope, version: u64) -> Option<Arc<Pinned>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // A publication opened with parts missing is opened anew: they may have come back.
        open.get(scope).filter(|pinned| pinned.version == version && !pinned.is_partial()).cloned()
    }

    fn reader(&self, pinned: Arc<Pinned>) -> Reader {
        Reader { corpus: pinned, passages: self.passages.clone() }
    }

    async fn version(&self, scope: &Scope) -> Result<Option<u64>, RetrievalError> {
        let item = self.records.get(&RecordKey::head(scope)).await?;
        Ok(item.and_then(|item| item.body.get("version").and_then(serde_json::Value::as_u64)))
    }

    /// `None` when the manifest's object is gone: a newer head exists.
    async fn manifest(&self, place: ManifestPlace) -> Result<Option<IndexManifest>, RetrievalError> {
        let key = match place {
            ManifestPlace::Inline(manifest) => return Ok(Some(manifest)),
            ManifestPlace::Object(key) => key,
        };
        match self.objects.get(&key).await {
            Ok((bytes, _)) => serde_json::from_slice(&bytes).map(Some).map_err(RetrievalError::Manifest),
            Err(ObjectError::NotFound(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl Passages {
    fn new() -> Self {
        Self(Mutex::new(LruCache::new(NonZeroUsize::new(READY_PASSAGES).unwrap_or(NonZeroUsize::MIN))))
    }
}

impl Reader {
    /// Reads from a publication, with passages of its own.
    pub fn new(corpus: Arc<dyn Corpus>) -> Self {
        Self { corpus, passages: Arc::new(Passages::new()) }
    }

    /// The publication.
    pub fn corpus(&self) -> &dyn Corpus {
        self.corpus.as_ref()
    }

    /// The passages of hits, in order; what is not there is left out.
    pub async fn passages_of(&self, hits: &[Hit]) -> Result<Vec<Arc<Passage>>, RetrievalError> {
        let keys: Vec<ChunkKey> = hits.iter().map(|hit| (hit.document_id.clone(), hit.ordinal)).collect();
        self.passages(&keys).await
    }

    /// Passages by key, in order; what is not there is left out.
    pub async fn passages(&self, keys: &[ChunkKey]) -> Result<Vec<Arc<Passage>>, RetrievalError> {
        let mut found: Vec<Option<Arc<Passage>>> = self.kept(keys);
        let wanted: Vec<usize> = (0..keys.len()).filter(|&i| found[i].is_none()).collect();
        if !wanted.is_empty() {
            let missing: Vec<ChunkKey> = wanted.iter().map(|&i| keys[i].clone()).collect();
            let made: Vec<Arc<Passage>> =
                self.corpus.fetch(&missing).await?.into_iter().map(|chunk| Arc::new(Passage::new(chunk))).collect();
            let mut wanted = wanted.into_iter();
            let mut kept = self.passages.0.lock().unwrap_or_else(PoisonError::into_inner);
            for passage in made {
                let key = passage.key();
                kept.put((key.0.clone(), passage.stored.revision.clone(), key.1), passage.clone());
                // What is not there was left out: the next one wanted with this key is this one.
                if let Some(i) = wanted.find(|&i| keys[i] == key) {
                    found[i] = Some(passage);
                }
            }
        }
        Ok(found.into_iter().flatten().collect())
    }

    fn kept(&self, keys: &[ChunkKey]) -> Vec<Option<Arc<Passage>>> {
        let mut kept = self.passages.0.lock().unwrap_or_else(PoisonError::into_inner);
        keys.iter()
            .map(|(document, ordinal)| {
                let revision = self.corpus.revision(document)?;
                kept.get(&(document.clone(), revision, *ordinal)).cloned()
            })
            .collect()
    }
}

#[async_trait]
impl Corpus for Pinned {
    fn version(&self) -> u64 {
        self.version
    }

    fn is_partial(&self) -> bool {
        !self.snapshot.missing().is_empty()
    }

    fn revision(&self, document: &DocumentId) -> Option<Revision> {
        self.snapshot.documents().get(document).map(|live| live.revision.clone())
    }

    fn count(&self, filter: &Filter) -> u64 {
        self.snapshot.count(filter)
    }

    fn all(&self, filter: &Filter) -> Vec<Hit> {
        self.snapshot.all(filter)
    }

    fn section(&self, document: &DocumentId, section_path: &str) -> Vec<u32> {
        self.snapshot.section(document, section_path, false).into_iter().map(|hit| hit.ordinal).collect()
    }

    fn languages(&self) -> &[String] {
        self.snapshot.languages()
    }

    async fn search(&self, channels: &[Channel], query: &str, filter: &Filter, limit: usize) -> Result<Vec<Vec<Hit>>, IndexError> {
        self.snapshot.search_channels(channels, query, filter, limit).await
    }

    async fn fetch(&self, keys: &[ChunkKey]) -> Result<Vec<StoredChunk>, IndexError> {
        self.snapshot.fetch(keys).await
    }

    async fn frequencies(&self, concepts: &[Concept], lang: &str) -> Result<Vec<u64>, IndexError> {
        self.snapshot.frequencies(concepts, lang).await
    }
}
