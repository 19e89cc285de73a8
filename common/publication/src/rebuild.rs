//! Splits out of documents, and documents out of splits.

use std::collections::BTreeMap;

use bytes::Bytes;
use quarry_index::{BuiltSplit, IndexError, IndexedChunk, IndexedDocument, SectionText, SplitCache, build_split, read_documents};
use quarry_model::record::SplitEntry;
use quarry_model::{ObjectKey, Scope, SectionId};
use quarry_ports::{ObjectError, ObjectStore, PutCondition, PutOptions};

use crate::error::PublicationError;
use crate::folder::{self, Folder, FolderError};

/// The live documents of a split: out of the split, or, where it cannot be read or was written by other rules of
/// analysis, out of their revision folders. `None` when these cannot be read either.
pub async fn stored(
    objects: &dyn ObjectStore,
    cache: &SplitCache,
    scope: &Scope,
    split: &SplitEntry,
) -> Result<Option<Vec<IndexedDocument>>, PublicationError> {
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
pub fn indexed(folder: &Folder) -> IndexedDocument {
    let sections: BTreeMap<&SectionId, SectionText> = folder
        .sections()
        .into_iter()
        .map(|(section, _)| {
            let (path, title, summary) = (section.path.clone(), section.title.clone(), section.summary.clone());
            let text = SectionText { path, title, summary, ..SectionText::default() };
            (&section.section_id, text)
        })
        .collect();
    let mut chunks: Vec<IndexedChunk> = folder
        .chunks
        .iter()
        .map(|chunk| IndexedChunk { section: sections.get(&chunk.metadata.section_id).cloned().unwrap_or_default(), chunk: chunk.clone() })
        .collect();
    name_empty_sections(folder, &mut chunks);
    IndexedDocument {
        document_id: folder.manifest.document_id.clone(),
        revision: folder.manifest.revision.clone(),
        file_name: folder.manifest.source_file_name.clone(),
        chunks,
    }
}

/// A heading with nothing under it has no chunk whose path names it: the last chunk before it, or the document's first,
/// is found by its words.
fn name_empty_sections(folder: &Folder, chunks: &mut [IndexedChunk]) {
    let mut last_of: BTreeMap<&SectionId, usize> = BTreeMap::new();
    for (at, chunk) in folder.chunks.iter().enumerate() {
        last_of.insert(&chunk.metadata.section_id, at);
    }
    let mut nearest = 0;
    for (section, _) in folder.sections() {
        if let Some(last) = last_of.get(&section.section_id) {
            nearest = *last;
        } else if section.chunk_count == 0
            && let Some(chunk) = chunks.get_mut(nearest)
        {
            chunk.section.beside.push(section.title.clone());
        }
    }
}

/// One split out of documents; the work is done on a thread of its own.
pub async fn build(scope: &Scope, documents: Vec<IndexedDocument>) -> Result<BuiltSplit, PublicationError> {
    let scope = scope.clone();
    let built = tokio::task::spawn_blocking(move || build_split(&scope, documents)).await;
    Ok(built.map_err(|error| IndexError::Segment(Box::new(error)))??)
}

/// Stores a split under its content's name. One that is there already comes back: if it was about to be removed, it has to be
/// stored again once the head names it ([`crate::head::put_new`]).
pub async fn upload(objects: &dyn ObjectStore, built: &BuiltSplit) -> Result<Option<(ObjectKey, Bytes)>, PublicationError> {
    let options = PutOptions { condition: PutCondition::IfAbsent, content_type: Some("application/octet-stream".to_owned()) };
    match objects.put(&built.entry.key, built.bytes.clone(), options).await {
        Ok(_) => Ok(None),
        Err(ObjectError::Precondition(key)) => Ok(Some((key, built.bytes.clone()))),
        Err(error) => Err(error.into()),
    }
}
