//! What is indexed: documents and their chunks, with the words of the section they stand in.

use std::borrow::Cow;

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
    /// Titles of sections without any chunk that stand beside this one: they are found by this chunk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
}

/// A chunk as the store holds it: JSON, whose repeated keys the store's compression takes out.
#[derive(Serialize, Deserialize)]
pub(crate) struct StoredForm<'a> {
    file_name: Cow<'a, str>,
    chunk: Cow<'a, Chunk>,
    section: Cow<'a, SectionText>,
}

impl StoredForm<'_> {
    /// Writes a chunk without its word list, which the content says again.
    pub(crate) fn write(file_name: &str, indexed: &IndexedChunk) -> Result<Vec<u8>, serde_json::Error> {
        let mut chunk = Cow::Borrowed(&indexed.chunk);
        if !chunk.metadata.tokens.is_empty() {
            chunk.to_mut().metadata.tokens = Vec::new();
        }
        serde_json::to_vec(&StoredForm { file_name: Cow::Borrowed(file_name), chunk, section: Cow::Borrowed(&indexed.section) })
    }

    /// Reads a chunk back, with its document's file name.
    pub(crate) fn read(bytes: &[u8]) -> Result<(String, IndexedChunk), serde_json::Error> {
        let form: StoredForm<'static> = serde_json::from_slice(bytes)?;
        Ok((form.file_name.into_owned(), IndexedChunk { chunk: form.chunk.into_owned(), section: form.section.into_owned() }))
    }
}
