//! Hits as an answer lists them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use quarry_model::path;
use quarry_model::retrieval::{Citation, ReferencedChunk, ResultMetadata, RetrievalResult, Source};
use quarry_model::{ChunkId, ChunkType};

use crate::corpus::ChunkKey;
use crate::error::RetrievalError;
use crate::hydration;
use crate::passage::Passage;
use crate::snapshot::Reader;

/// A hit with its served score and other places with the same content.
#[derive(Debug, Clone)]
pub struct Listed {
    /// The best occurrence.
    pub passage: Arc<Passage>,
    /// As served.
    pub score: f64,
    /// The other occurrences, best first.
    pub also_in: Vec<Arc<Passage>>,
}

/// Folds equal content into its best occurrence; `ranked` is best first.
pub fn collapse(ranked: impl IntoIterator<Item = (Arc<Passage>, f64)>) -> Vec<Listed> {
    let mut listed: Vec<Listed> = Vec::new();
    let mut first: HashMap<ChunkId, usize> = HashMap::new();
    for (passage, score) in ranked {
        let id = passage.stored.indexed.chunk.chunk_id.clone();
        if let Some(&index) = first.get(&id) {
            listed[index].also_in.push(passage);
        } else {
            first.insert(id, listed.len());
            listed.push(Listed { passage, score, also_in: Vec::new() });
        }
    }
    listed
}

/// What is cited.
pub fn citation(passage: &Passage) -> Citation {
    let chunk = &passage.stored.indexed.chunk;
    Citation {
        document_id: passage.stored.document_id.clone(),
        chunk_id: chunk.chunk_id.clone(),
        source_file_name: passage.stored.file_name.clone(),
        section_path: path::shown(&passage.stored.indexed.section.path),
        page_nums: chunk.metadata.page_nums.clone(),
    }
}

fn metadata(passage: &Passage) -> ResultMetadata {
    let chunk = &passage.stored.indexed.chunk;
    ResultMetadata {
        page_nums: chunk.metadata.page_nums.clone(),
        boxes: chunk.metadata.boxes.clone(),
        ordinal: chunk.ordinal,
        revision: passage.stored.revision.clone(),
        section_id: chunk.metadata.section_id.clone(),
        summary: chunk.metadata.summary.clone(),
        lang: chunk.metadata.lang.clone(),
        token_count: chunk.metadata.token_count,
        rows: chunk.metadata.rows,
        hidden: chunk.metadata.hidden,
    }
}

/// The results of an answer, embedded assets in their places.
pub async fn results(
    listed: &[Listed],
    types: &std::collections::BTreeSet<ChunkType>,
    reader: &Reader,
) -> Result<Vec<RetrievalResult>, RetrievalError> {
    let wanted: Vec<ChunkKey> = listed.iter().flat_map(|hit| hydration::embedded(&hit.passage)).collect();
    let assets: BTreeMap<ChunkKey, Arc<Passage>> = reader.passages(&wanted).await?.into_iter().map(|asset| (asset.key(), asset)).collect();
    let result = |hit: &Listed| {
        let chunk = &hit.passage.stored.indexed.chunk;
        let content = if chunk.kind == ChunkType::Text && !chunk.metadata.connect_to.is_empty() {
            hydration::content(chunk, |ordinal| {
                let asset = &assets.get(&(hit.passage.stored.document_id.clone(), ordinal))?.stored.indexed.chunk;
                types.contains(&asset.kind).then(|| asset.content.clone())
            })
        } else {
            chunk.content.clone()
        };
        let citation = citation(&hit.passage);
        RetrievalResult {
            chunk_id: chunk.chunk_id.clone(),
            chunk_type: chunk.kind,
            content,
            score: hit.score,
            asset_url: None,
            source_chunk_path: chunk.path.clone(),
            file_path: chunk.metadata.file_path.clone(),
            metadata: metadata(&hit.passage),
            source: Source {
                document_id: citation.document_id.clone(),
                source_file_name: citation.source_file_name.clone(),
                section_path: citation.section_path.clone(),
            },
            citation,
            also_in: hit.also_in.iter().map(|passage| self::citation(passage)).collect(),
        }
    };
    Ok(listed.iter().map(result).collect())
}

/// What the marks stand for, then the results that the evidence does not show.
pub fn referenced(shown: &[(String, Arc<Passage>)], listed: &[Listed]) -> Vec<ReferencedChunk> {
    let scores: HashMap<ChunkKey, f64> = listed.iter().map(|hit| (hit.passage.key(), hit.score)).collect();
    let unmarked = listed.iter().filter(|hit| !shown.iter().any(|(_, passage)| passage.key() == hit.passage.key()));
    let all = shown.iter().map(|(mark, passage)| (mark.as_str(), passage)).chain(unmarked.map(|hit| ("", &hit.passage)));
    all.map(|(mark, passage)| {
        let chunk = &passage.stored.indexed.chunk;
        let citation = citation(passage);
        ReferencedChunk {
            mark: mark.to_owned(),
            chunk_id: chunk.chunk_id.clone(),
            document_id: citation.document_id.clone(),
            chunk_type: chunk.kind,
            section_path: citation.section_path.clone(),
            source_chunk_path: chunk.path.clone(),
            file_path: chunk.metadata.file_path.clone(),
            asset_url: None,
            score: scores.get(&passage.key()).copied().unwrap_or_default(),
            metadata: metadata(passage),
            citation,
        }
    })
    .collect()
}
