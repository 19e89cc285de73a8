//! One pinned manifest, searched.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use quarry_model::record::IndexManifest;
use quarry_model::{DocumentId, Revision};
use quarry_ports::ObjectStore;

use crate::cache::SplitCache;
use crate::document::IndexedChunk;
use crate::error::{IndexError, MissingSplit};
use crate::filter::Filter;

/// What a query is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Channel {
    /// File name, section path, title.
    Path,
    /// Content and section summary.
    Content,
    /// Exact, case-folded pieces of content and path.
    Term,
}

/// A chunk that matched. Hits are ordered by score to 1e-4, document, ordinal.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The document.
    pub document_id: DocumentId,
    /// The revision the snapshot pins.
    pub revision: Revision,
    /// The chunk's ordinal.
    pub ordinal: u32,
    /// Of the channel; comparable within one channel and query only.
    pub score: f32,
}

/// A chunk as stored: everything an answer shows.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredChunk {
    /// The document.
    pub document_id: DocumentId,
    /// Its revision.
    pub revision: Revision,
    /// As uploaded.
    pub file_name: String,
    /// The chunk and its section.
    pub indexed: IndexedChunk,
}

/// A live document of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveDocument {
    /// Its revision.
    pub revision: Revision,
    /// Chunks.
    pub chunks: u32,
    split: usize,
}

/// The splits of one manifest, opened.
pub struct Snapshot {
    documents: BTreeMap<DocumentId, LiveDocument>,
}

impl Snapshot {
    /// Opens every split of the manifest: from the cache, else by ranged reads in parallel. Splits that cannot be
    /// read are reported by [`Self::missing`]; the others answer.
    pub async fn open(objects: Arc<dyn ObjectStore>, cache: Arc<SplitCache>, manifest: &IndexManifest) -> Result<Self, IndexError> {
        let _ = (objects, cache, manifest);
        Err(IndexError::Segment("not yet".into()))
    }

    /// Splits that could not be read so far. One that is [`crate::MissingReason::Gone`] means: read the head again.
    pub fn missing(&self) -> Vec<MissingSplit> {
        Vec::new()
    }

    /// Live documents of the splits that could be read, by id.
    pub fn documents(&self) -> &BTreeMap<DocumentId, LiveDocument> {
        &self.documents
    }

    /// The best `limit` chunks of one channel. An empty query has no hits.
    pub async fn search(&self, channel: Channel, query: &str, filter: &Filter, limit: usize) -> Result<Vec<Hit>, IndexError> {
        Ok(self.search_channels(&[channel], query, filter, limit).await?.pop().unwrap_or_default())
    }

    /// As [`Self::search`] for several channels at once, in the order asked: all reads of all channels share one round.
    pub async fn search_channels(
        &self,
        channels: &[Channel],
        query: &str,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Vec<Hit>>, IndexError> {
        let _ = (channels, query, filter, limit);
        Ok(Vec::new())
    }

    /// The number of chunks that pass the filter; no reads.
    pub fn count(&self, filter: &Filter) -> u64 {
        let _ = filter;
        0
    }

    /// All chunks that pass the filter, by document and ordinal, score 0; no reads.
    pub fn all(&self, filter: &Filter) -> Vec<Hit> {
        let _ = filter;
        Vec::new()
    }

    /// The chunks of one section in reading order (those of its descendants too with `descendants`), score 0; no reads.
    pub fn section(&self, document: &DocumentId, section_path: &str, descendants: bool) -> Vec<Hit> {
        let _ = (document, section_path, descendants);
        Vec::new()
    }

    /// Chunks of one document with ordinals in `range`, in order; what is not there is left out.
    pub async fn read(&self, document: &DocumentId, range: Range<u32>) -> Result<Vec<StoredChunk>, IndexError> {
        let keys: Vec<_> = range.map(|ordinal| (document.clone(), ordinal)).collect();
        self.fetch(&keys).await
    }

    /// Stored chunks by (document, ordinal), in the order asked; what is not there is left out.
    pub async fn fetch(&self, keys: &[(DocumentId, u32)]) -> Result<Vec<StoredChunk>, IndexError> {
        let _ = keys;
        Ok(Vec::new())
    }
}
