//! What is indexed: documents and their chunks, with the words of the section they stand in.

use quarry_model::{Chunk, DocumentId, Revision};
use serde::{Deserialize, Serialize};

/// One revision of one document.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexedDocument {
    /// The document.
    pub document_id: DocumentId,
    /// The revision.
    pub revision: Revision,
    /// As uploaded.
    pub file_name: String,
    /// In order of `chunk.ordinal`, each ordinal once.
    pub chunks: Vec<IndexedChunk>,
}

/// One chunk with what its section adds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IndexedChunk {
    /// The chunk. `metadata.tokens` is not stored: it comes back empty.
    pub chunk: Chunk,
    /// The section it stands in.
    pub section: SectionText,
}

/// The words of a section that its chunks are found by.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SectionText {
    /// File name and headings (see [`quarry_model::path`]), without an asset's file name.
    pub path: String,
    /// As shown.
    pub title: String,
    /// Leading sentences, or `Covers: …`; may be empty.
    pub summary: String,
}
