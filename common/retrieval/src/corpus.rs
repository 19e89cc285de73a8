//! What retrieval needs of an index: one pinned publication. The index snapshot is one; tests bring their own.

use async_trait::async_trait;
use quarry_index::{Channel, Filter, Hit, IndexError, StoredChunk};
use quarry_language::Concept;
use quarry_model::{DocumentId, Revision};

/// What rankings, fusions and maps are keyed by: never a chunk id, never a path, for two documents may share these.
pub type ChunkKey = (DocumentId, u32);

/// One publication of one namespace.
#[async_trait]
pub trait Corpus: Send + Sync + 'static {
    /// The publication; 0 when there is none.
    fn version(&self) -> u64;

    /// Whether parts of it could not be read so far.
    fn is_partial(&self) -> bool;

    /// The revision of a live document.
    fn revision(&self, document: &DocumentId) -> Option<Revision>;

    /// Chunks that pass the filter.
    fn count(&self, filter: &Filter) -> u64;

    /// All chunks that pass the filter, by document and ordinal.
    fn all(&self, filter: &Filter) -> Vec<Hit>;

    /// The ordinals of one section, in order, without its descendants.
    fn section(&self, document: &DocumentId, section_path: &str) -> Vec<u32>;

    /// Languages of the live chunks (ISO 639-1), most frequent first.
    fn languages(&self) -> &[String];

    /// The best `limit` chunks of each channel asked.
    async fn search(&self, channels: &[Channel], query: &str, filter: &Filter, limit: usize) -> Result<Vec<Vec<Hit>>, IndexError>;

    /// Stored chunks in the order asked; what is not there is left out.
    async fn fetch(&self, keys: &[ChunkKey]) -> Result<Vec<StoredChunk>, IndexError>;

    /// How many live chunks hold each concept, in content or path; `lang` is the query's language, or `und`.
    async fn frequencies(&self, concepts: &[Concept], lang: &str) -> Result<Vec<u64>, IndexError>;
}
