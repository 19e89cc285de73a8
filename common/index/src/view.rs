//! A split through the eyes of one manifest: which of its chunks are live, and whose they are.

use std::sync::Arc;

use quarry_model::record::{SplitDocument, SplitEntry};
use quarry_model::{ChunkType, DocumentId};

use crate::build::type_code;
use crate::error::IndexError;
use crate::filter::{Filter, FilterMode};
use crate::open::{CONTENT, PATH, Segment};

/// One split of a snapshot.
pub(crate) struct View {
    /// The split.
    pub(crate) segment: Arc<Segment>,
    /// Its documents by first chunk.
    documents: Vec<SplitDocument>,
    /// Which chunks are live; `None` when all are.
    alive: Option<Vec<bool>>,
    /// Live chunks.
    pub(crate) chunks: u64,
    /// Words in live chunks by field.
    pub(crate) tokens: [u64; 2],
}

impl View {
    /// Applies an entry to its split.
    pub(crate) fn new(segment: Arc<Segment>, entry: &SplitEntry) -> Result<Self, IndexError> {
        let corrupt = |detail: &str| IndexError::Corrupt { key: entry.key.clone(), detail: detail.to_owned() };
        let mut documents = entry.documents.clone();
        documents.sort_by_key(|document| document.from);
        let mut next = 0;
        for document in &documents {
            if document.from < next || document.to < document.from {
                return Err(corrupt("documents overlap"));
            }
            next = document.to;
        }
        if next > segment.chunks() {
            return Err(corrupt("documents reach past the last chunk"));
        }
        let live = || documents.iter().filter(|document| !document.dead).map(|document| document.from..document.to);
        let chunks: u64 = live().map(|range| u64::from(range.end - range.start)).sum();
        let alive = (chunks < u64::from(segment.chunks())).then(|| {
            let mut alive = vec![false; segment.chunks() as usize];
            live().for_each(|range| alive[range.start as usize..range.end as usize].fill(true));
            alive
        });
        let tokens = [CONTENT, PATH].map(|field| live().map(|range| segment.tokens(field, range)).sum());
        Ok(Self { segment, documents, alive, chunks, tokens })
    }

    /// Live documents with their chunks.
    pub(crate) fn live(&self) -> impl Iterator<Item = &SplitDocument> {
        self.documents.iter().filter(|document| !document.dead)
    }

    /// Whether a chunk is live.
    pub(crate) fn is_alive(&self, doc: u32) -> bool {
        self.alive.as_ref().is_none_or(|alive| alive[doc as usize])
    }

    /// Whether every chunk is live.
    pub(crate) fn all_alive(&self) -> bool {
        self.alive.is_none()
    }

    /// The document a chunk belongs to.
    pub(crate) fn document(&self, doc: u32) -> Option<&SplitDocument> {
        let at = self.documents.partition_point(|document| document.to <= doc);
        self.documents.get(at).filter(|document| document.from <= doc)
    }

    /// The chunk of a document with this ordinal.
    pub(crate) fn chunk(&self, from: u32, to: u32, ordinal: u32) -> Option<u32> {
        let ordinals = self.segment.ordinals().get(from as usize..to as usize)?;
        ordinals.binary_search(&ordinal).ok().map(|at| from + at as u32)
    }

    /// Which chunks a filter lets through, live ones only; `None` when that is every chunk.
    pub(crate) fn mask(&self, filter: &Filter) -> Option<Vec<bool>> {
        if filter == &Filter::default() {
            return self.alive.clone();
        }
        let mut mask = vec![false; self.segment.chunks() as usize];
        for document in self.live().filter(|document| filter.takes_document(&document.document_id)) {
            mask[document.from as usize..document.to as usize].fill(true);
        }
        if let Some(types) = &filter.chunk_types {
            let taken = [ChunkType::Text, ChunkType::Image, ChunkType::Table].map(|kind| (type_code(kind), types.contains(&kind)));
            for (doc, &code) in self.segment.types().iter().enumerate() {
                mask[doc] &= taken.iter().any(|&(known, taken)| taken && known == u64::from(code));
            }
        }
        self.mask_signals(filter, &mut mask);
        self.mask_sections(filter, &mut mask);
        Some(mask)
    }

    fn mask_signals(&self, filter: &Filter, mask: &mut [bool]) {
        if filter.signal_paths.is_empty() {
            return;
        }
        let signals: Vec<String> = filter.signal_paths.iter().map(|signal| signal.to_lowercase()).collect();
        let keep = filter.signal_mode == FilterMode::Keep;
        let taken: Vec<bool> = self
            .segment
            .section_paths()
            .iter()
            .map(|path| {
                let path = path.to_lowercase();
                signals.iter().any(|signal| path.contains(signal)) == keep
            })
            .collect();
        for (doc, &section) in self.segment.sections().iter().enumerate() {
            mask[doc] &= taken.get(section as usize).copied().unwrap_or(!keep);
        }
    }

    fn mask_sections(&self, filter: &Filter, mask: &mut [bool]) {
        for excluded in &filter.exclude_sections {
            for document in self.live().filter(|document| document.document_id == excluded.document_id) {
                for doc in document.from..document.to {
                    if self.is_under(doc, &excluded.section_path) {
                        mask[doc as usize] = false;
                    }
                }
            }
        }
    }

    /// The section path of a chunk.
    pub(crate) fn section_path(&self, doc: u32) -> &str {
        let section = self.segment.sections()[doc as usize] as usize;
        self.segment.section_paths().get(section).map_or("", String::as_str)
    }

    /// Whether a chunk stands in the section `path` or below it.
    pub(crate) fn is_under(&self, doc: u32, path: &str) -> bool {
        self.section_path(doc).strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl Filter {
    fn takes_document(&self, id: &DocumentId) -> bool {
        self.include_documents.as_ref().is_none_or(|included| included.contains(id)) && !self.exclude_documents.contains(id)
    }
}
