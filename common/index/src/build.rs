//! Building a split from documents, and getting its documents back.

use bytes::Bytes;
use quarry_model::Scope;
use quarry_model::record::SplitEntry;
use quarry_ports::ObjectStore;

use crate::cache::SplitCache;
use crate::document::IndexedDocument;
use crate::error::IndexError;

/// A split ready to be written with `PutCondition::IfAbsent` under `entry.key`.
#[derive(Debug, Clone)]
pub struct BuiltSplit {
    /// The object.
    pub bytes: Bytes,
    /// Its entry for the manifest, level 0, nothing dead.
    pub entry: SplitEntry,
}

/// Builds one split. Documents are sorted by id and contiguous in it; the same documents give the same bytes.
pub fn build_split(scope: &Scope, documents: Vec<IndexedDocument>) -> Result<BuiltSplit, IndexError> {
    let _ = (scope, documents);
    Err(IndexError::Segment("not yet".into()))
}

/// The live documents of a split, out of its stored fields, sorted by id: what a rebuild starts from.
pub async fn read_documents(objects: &dyn ObjectStore, cache: &SplitCache, split: &SplitEntry) -> Result<Vec<IndexedDocument>, IndexError> {
    let _ = (objects, cache);
    Err(IndexError::Gone(split.key.clone()))
}
