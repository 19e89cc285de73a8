//! `quarry show`: a whole document, or one chunk.

use quarry_model::chunk::ChunkFile;
use quarry_model::record::ChunkRecord;
use quarry_model::{Chunk, ChunkId, DocumentId, ObjectKey, RecordKey, RecordPrefix, Revision, Scope};
use serde_json::json;

use super::page;
use crate::cli::Show;
use crate::engine::Engine;
use crate::exit::{Exit, Failure};
use crate::{locate, output};

pub(crate) async fn run(engine: &Engine, args: Show, json: bool) -> Result<Exit, Failure> {
    let scope = engine.scope(&args.place.namespace)?;
    if let Some(page) = args.page {
        return page::run(engine, &scope, &args.target, page, args.out.as_deref(), json).await;
    }
    if let Ok(id) = args.target.parse::<ChunkId>() {
        return by_content(engine, &scope, &id, json).await;
    }
    if let Some((name, ordinal)) = chunk_of(&args.target)
        && let Ok(document) = locate::document(engine, &scope, name).await
    {
        let revision = document.active_revision.ok_or_else(|| Failure::not_found(format!("{name} has no content")))?;
        let chunk = read_chunk(engine, &scope, &document.document_id, &revision, ordinal).await?;
        let chunk = chunk.ok_or_else(|| Failure::not_found(format!("{name} has {} chunks, from 0", document.chunk_count)))?;
        print(&document.document_id, &chunk, json)?;
        return Ok(Exit::Ok);
    }
    let document = locate::document(engine, &scope, &args.target).await?;
    let revision = document.active_revision.ok_or_else(|| Failure::not_found(format!("{} has no content", args.target)))?;
    let name = if json { "chunks.json" } else { "full.md" };
    let (bytes, _) = engine.objects.get(&ObjectKey::artifact(&scope, &document.document_id, &revision, name)).await?;
    let text = String::from_utf8_lossy(&bytes);
    output::text(if json { text.trim_end().to_owned() } else { output::safe(text.trim_end()) })?;
    Ok(Exit::Ok)
}

/// A target of the form DOC:ORDINAL. A file name may hold a colon and digits; who asks looks whether DOC is one.
pub(super) fn chunk_of(target: &str) -> Option<(&str, u32)> {
    target.rsplit_once(':').and_then(|(name, n)| Some((name, n.parse().ok()?)))
}

/// Every served place of a content.
async fn by_content(engine: &Engine, scope: &Scope, id: &ChunkId, json: bool) -> Result<Exit, Failure> {
    let mut found = 0;
    for item in engine.records.query_all(&RecordPrefix::content_hash(scope, id)).await? {
        let Some((document, ordinal)) = occurrence(&item.body) else { continue };
        let Some(revision) = locate::document(engine, scope, document.as_str()).await.ok().and_then(|record| record.active_revision) else {
            continue;
        };
        let chunk = read_chunk(engine, scope, &document, &revision, ordinal).await?;
        if let Some(chunk) = chunk.filter(|chunk| chunk.chunk_id == *id) {
            print(&document, &chunk, json)?;
            found += 1;
        }
    }
    if found == 0 {
        return Err(Failure::not_found(format!("no chunk {id} in namespace {}", scope.namespace)));
    }
    Ok(Exit::Ok)
}

fn occurrence(posting: &serde_json::Map<String, serde_json::Value>) -> Option<(DocumentId, u32)> {
    let document = posting.get("document_id")?.as_str()?.parse().ok()?;
    let ordinal = posting.get("ordinal")?.as_u64()?;
    Some((document, u32::try_from(ordinal).ok()?))
}

pub(super) async fn read_chunk(
    engine: &Engine,
    scope: &Scope,
    document: &DocumentId,
    revision: &Revision,
    ordinal: u32,
) -> Result<Option<Chunk>, Failure> {
    let Some(item) = engine.records.get(&RecordKey::chunk(document, revision, ordinal)).await? else {
        return Ok(None);
    };
    let record: ChunkRecord = item.read()?;
    if let Some(content) = record.content {
        return Ok(Some(Chunk {
            chunk_id: record.chunk_id,
            kind: record.kind,
            ordinal: record.ordinal,
            content,
            path: record.path,
            metadata: record.metadata,
        }));
    }
    // Too large for a record: it stays in the revision's folder.
    let (bytes, _) = engine.objects.get(&ObjectKey::artifact(scope, document, revision, "chunks.json")).await?;
    let file: ChunkFile = serde_json::from_slice(&bytes)?;
    Ok(file.chunks.into_iter().find(|chunk| chunk.ordinal == ordinal))
}

fn print(document: &DocumentId, chunk: &Chunk, json: bool) -> Result<(), Failure> {
    if json {
        return output::json(&json!({ "document_id": document, "chunk": chunk }));
    }
    let pages: Vec<String> = chunk.metadata.page_nums.iter().map(ToString::to_string).collect();
    let pages = if pages.is_empty() { String::new() } else { format!("  p. {}", pages.join(", ")) };
    output::text(format!("{document}:{}  {}{pages}  {}", chunk.ordinal, chunk.kind.name(), output::line(&chunk.path, 120)))?;
    output::text(output::safe(&chunk.content))
}
