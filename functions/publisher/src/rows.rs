//! The records of one revision: invisible until the head's manifest names it.

use quarry_model::record::{ChunkRecord, DocumentPlace, GraphNode, Occurrence, SectionRecord};
use quarry_model::{Chunk, ChunkMetadata, DocumentId, RecordKey, Revision, Scope};
use quarry_ports::{Item, RecordError};

use crate::relation;
use quarry_publication::Folder;

/// A record larger than about this many bytes keeps its content in `chunks.json`.
const CONTENT_BYTES: usize = 300_000;

/// The sections of a revision, ancestors first.
pub(crate) fn sections(folder: &Folder) -> Vec<SectionRecord> {
    let record =
        |(order, (section, parent)): (usize, (&quarry_model::nav::NavSection, Option<&quarry_model::nav::NavSection>))| SectionRecord {
            section_id: section.section_id.clone(),
            parent: parent.map(|parent| parent.section_id.clone()),
            path: section.path.clone(),
            title: section.title.clone(),
            level: folder.levels.get(&section.section_id).copied().unwrap_or(section.level),
            summary: section.summary.clone(),
            order: u32::try_from(order).unwrap_or(u32::MAX),
            page_start: section.page_start,
            page_end: section.page_end,
            chunk_count: section.chunk_count,
            token_count: section.token_count,
        };
    folder.sections().into_iter().enumerate().map(record).collect()
}

/// The document's summary: its own where the parser gives one, else its first section's.
pub(crate) fn summary(folder: &Folder) -> String {
    let own = folder.chunks.iter().map(|chunk| chunk.metadata.document_top_summary.as_str()).find(|summary| !summary.is_empty());
    own.or_else(|| folder.nav.sections.first().map(|section| section.summary.as_str())).unwrap_or_default().to_owned()
}

/// The document's node for the graph: a pure function of the revision.
pub(crate) fn node(folder: &Folder) -> GraphNode {
    GraphNode {
        document_id: folder.manifest.document_id.clone(),
        revision: folder.manifest.revision.clone(),
        file_name: folder.manifest.source_file_name.clone(),
        keywords: relation::keywords(&folder.chunks),
        chunk_count: u32::try_from(folder.chunks.len()).unwrap_or(u32::MAX),
        summary: summary(folder),
    }
}

/// Section and node records of a revision, and where the document lives.
pub(crate) fn structure(scope: &Scope, folder: &Folder, node: &GraphNode) -> Result<Vec<Item>, RecordError> {
    let (document, revision) = (&folder.manifest.document_id, &folder.manifest.revision);
    let mut items = vec![
        Item::of(RecordKey::document_place(document), &DocumentPlace { scope: scope.clone() })?,
        Item::of(RecordKey::revision_node(document, revision), node)?,
    ];
    for section in sections(folder) {
        items.push(Item::of(RecordKey::section(document, revision, section.order), &section)?);
    }
    Ok(items)
}

/// The record of one chunk.
pub(crate) fn chunk(
    document: &DocumentId,
    revision: &Revision,
    chunk: &Chunk,
    duplicate_of: Option<&Occurrence>,
) -> Result<Item, RecordError> {
    let whole = weight(chunk) <= CONTENT_BYTES;
    let record = ChunkRecord {
        chunk_id: chunk.chunk_id.clone(),
        kind: chunk.kind,
        ordinal: chunk.ordinal,
        content: whole.then(|| chunk.content.clone()),
        path: chunk.path.clone(),
        metadata: if whole { chunk.metadata.clone() } else { slim(&chunk.metadata) },
        duplicate_of: duplicate_of.cloned(),
    };
    Item::of(RecordKey::chunk(document, revision, chunk.ordinal), &record)
}

/// About how many bytes the record takes as JSON.
fn weight(chunk: &Chunk) -> usize {
    let metadata = &chunk.metadata;
    let tokens: usize = metadata.tokens.iter().map(|token| token.len() + 3).sum();
    let content: usize = chunk.content.bytes().map(json_bytes).sum();
    content + chunk.path.len() + metadata.summary.len() + tokens + metadata.boxes.len() * 56 + metadata.connect_to.len() * 180
}

/// What describes a chunk whose content is read from `chunks.json`: the lists that grow with the content stay there.
fn slim(metadata: &ChunkMetadata) -> ChunkMetadata {
    ChunkMetadata { tokens: Vec::new(), boxes: Vec::new(), connect_to: Vec::new(), ..metadata.clone() }
}

/// Bytes that JSON takes for a byte of text.
fn json_bytes(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..=0x1f => 6,
        _ => 1,
    }
}
