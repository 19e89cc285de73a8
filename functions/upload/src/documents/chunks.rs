//! The chunks of a document's current revision.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use quarry_model::api::{ChunkBody, ChunkList, ChunkOne, Pagination};
use quarry_model::record::{ChunkRecord, DocumentRecord, KeyScope};
use quarry_model::{ApiError, ChunkFile, ChunkType, ObjectKey, RecordKey, RecordPrefix, Revision, Scope, path};
use quarry_ports::Item;
use quarry_runtime::http::{Caller, Failure, Params};
use serde::Deserialize;

use super::{Found, find};
use crate::Upload;
use crate::input::Violations;
use crate::row_id::RowId;

/// How long an asset's address is good for.
const ASSET_LIFE: Duration = Duration::from_hours(1);

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChunksParams {
    page: Option<i64>,
    page_size: Option<i64>,
    chunk_type: Option<String>,
    #[serde(default)]
    include_asset_urls: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChunkParams {
    #[serde(default)]
    include_asset_urls: bool,
}

pub(crate) async fn chunks(
    State(upload): State<Arc<Upload>>,
    caller: Caller,
    Path(id): Path<String>,
    Params(params): Params<ChunksParams>,
) -> Result<Json<ChunkList>, Failure> {
    caller.require(KeyScope::Query)?;
    let mut bad = Violations::default();
    let page = bad.page(params.page);
    let page_size = bad.between("query.page_size", params.page_size, 50, 1, 200);
    let kind = bad.chunk_type(params.chunk_type.as_deref());
    bad.check()?;
    let Found { scope, record } = find(&upload, &caller.owner, &id).await?;
    let skip = (page - 1).saturating_mul(page_size);
    let (rows, total) = match &record.active_revision {
        Some(revision) => rows(&upload, &record, revision, kind, skip, page_size).await?,
        None => (Vec::new(), 0),
    };
    let view = View::of(&upload, &scope, &record, params.include_asset_urls);
    let chunks = view.bodies(rows).await?;
    Ok(Json(ChunkList {
        document_id: record.document_id.clone(),
        namespace: scope.namespace.clone(),
        job_result_id: record.active_revision.clone(),
        job_id: record.active_job.clone(),
        chunks,
        pagination: Pagination::of(page, page_size, total),
    }))
}

pub(crate) async fn chunk(
    State(upload): State<Arc<Upload>>,
    caller: Caller,
    Path((id, row)): Path<(String, String)>,
    Params(params): Params<ChunkParams>,
) -> Result<Json<ChunkOne>, Failure> {
    caller.require(KeyScope::Query)?;
    let Found { scope, record } = find(&upload, &caller.owner, &id).await?;
    let gone = || Failure::from(ApiError::not_found("Chunk", &row.chars().take(80).collect::<String>()));
    let row_id: RowId = row.parse().map_err(|_| gone())?;
    if row_id.document != record.document_id || record.active_revision.as_ref() != Some(&row_id.revision) {
        return Err(gone());
    }
    let item = upload.jobs.records().get(&RecordKey::chunk(&row_id.document, &row_id.revision, row_id.ordinal)).await?;
    let found: ChunkRecord = item.ok_or_else(gone)?.read()?;
    let view = View::of(&upload, &scope, &record, params.include_asset_urls);
    let chunk = view.bodies(vec![found]).await?.pop().ok_or_else(gone)?;
    Ok(Json(ChunkOne {
        document_id: record.document_id.clone(),
        namespace: scope.namespace.clone(),
        job_result_id: record.active_revision.clone(),
        job_id: record.active_job.clone(),
        chunk,
    }))
}

/// A page of chunk records in reading order, and how many there are in all.
async fn rows(
    upload: &Upload,
    record: &DocumentRecord,
    revision: &Revision,
    kind: Option<ChunkType>,
    skip: usize,
    take: usize,
) -> Result<(Vec<ChunkRecord>, usize), Failure> {
    let records = upload.jobs.records();
    let Some(kind) = kind else {
        // Ordinals run from 0 without gaps: the page's keys are known.
        let total = record.chunk_count as usize;
        let last = skip.saturating_add(take).min(total);
        let keys: Vec<RecordKey> = (skip.min(total)..last)
            .filter_map(|ordinal| u32::try_from(ordinal).ok())
            .map(|ordinal| RecordKey::chunk(&record.document_id, revision, ordinal))
            .collect();
        let items = records.get_many(&keys).await?;
        return Ok((items.iter().flatten().map(Item::read).collect::<Result<_, _>>()?, total));
    };
    let items = records.query_all(&RecordPrefix::chunks(&record.document_id, revision)).await?;
    let mut rows: Vec<ChunkRecord> = items.iter().map(Item::read).collect::<Result<_, _>>()?;
    rows.retain(|row| row.kind == kind);
    let total = rows.len();
    Ok((rows.into_iter().skip(skip).take(take).collect(), total))
}

/// How one document's chunks are shown.
struct View<'a> {
    upload: &'a Upload,
    scope: &'a Scope,
    record: &'a DocumentRecord,
    asset_urls: bool,
}

impl<'a> View<'a> {
    fn of(upload: &'a Upload, scope: &'a Scope, record: &'a DocumentRecord, asset_urls: bool) -> Self {
        Self { upload, scope, record, asset_urls }
    }

    async fn bodies(&self, rows: Vec<ChunkRecord>) -> Result<Vec<ChunkBody>, Failure> {
        let Some(revision) = &self.record.active_revision else { return Ok(Vec::new()) };
        // Contents over 300 KB are only in the file; it is read once, when one of them is on the page.
        let file = if rows.iter().any(|row| row.content.is_none()) { Some(self.chunk_file(revision).await?) } else { None };
        let mut bodies = Vec::with_capacity(rows.len());
        for row in rows {
            let stored = file.as_ref().and_then(|file| file.chunks.get(row.ordinal as usize)).map(|chunk| chunk.content.clone());
            let id = RowId { document: self.record.document_id.clone(), revision: revision.clone(), ordinal: row.ordinal };
            bodies.push(ChunkBody {
                id: id.to_string(),
                asset_url: self.asset_url(revision, row.metadata.file_path.as_deref()).await?,
                section_path: section_path(&row),
                section_id: row.metadata.section_id.clone(),
                content: row.content.or(stored).unwrap_or_default(),
                chunk_id: row.chunk_id,
                chunk_type: row.kind,
                source_chunk_path: row.path,
                file_path: row.metadata.file_path.clone(),
                sort_order: row.ordinal,
                metadata: row.metadata,
                created_at: self.record.updated_at,
            });
        }
        Ok(bodies)
    }

    async fn asset_url(&self, revision: &Revision, file: Option<&str>) -> Result<Option<String>, Failure> {
        let Some(file) = file.filter(|_| self.asset_urls) else { return Ok(None) };
        let key = ObjectKey::artifact(self.scope, &self.record.document_id, revision, file);
        Ok(Some(self.upload.objects.presign_get(&key, ASSET_LIFE, None).await?))
    }

    async fn chunk_file(&self, revision: &Revision) -> Result<ChunkFile, Failure> {
        let key = ObjectKey::artifact(self.scope, &self.record.document_id, revision, "chunks.json");
        let (bytes, _) = self.upload.objects.get(&key).await?;
        serde_json::from_slice(&bytes).map_err(|error| Failure::internal(&error))
    }
}

/// Titles from the top, joined by ` / `; the file name for text under no heading.
fn section_path(row: &ChunkRecord) -> String {
    let mut segments = path::split(&row.path);
    let asset = row.metadata.file_path.as_deref().and_then(|file| file.rsplit('/').next());
    if row.kind != ChunkType::Text && segments.len() > 1 && segments.last().map(String::as_str) == asset {
        segments.pop();
    }
    if segments.len() > 1 { segments[1..].join(" / ") } else { segments.concat() }
}

impl Violations {
    fn chunk_type(&mut self, given: Option<&str>) -> Option<ChunkType> {
        match given {
            None | Some("") => None,
            Some("text") => Some(ChunkType::Text),
            Some("image") => Some(ChunkType::Image),
            Some("table") => Some(ChunkType::Table),
            Some("page") => {
                self.add("query.chunk_type", "pages are no chunks; they come as citations (metadata.page_nums). Use text, image or table");
                None
            }
            Some(_) => {
                self.add("query.chunk_type", "must be text, image or table");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quarry_model::{ChunkId, ChunkMetadata, SectionId};

    fn row(kind: ChunkType, path: &str, file: Option<&str>) -> ChunkRecord {
        ChunkRecord {
            chunk_id: ChunkId::text("a"),
            kind,
            ordinal: 0,
            content: None,
            path: path.into(),
            metadata: ChunkMetadata {
                length: 0,
                token_count: 0,
                summary: String::new(),
                page_nums: vec![],
                tokens: vec![],
                keywords: vec![],
                lang: "en".into(),
                file_path: file.map(str::to_owned),
                section_id: SectionId::for_path(&["a"], 0),
                boxes: vec![],
                connect_to: vec![],
                rows: None,
                hidden: false,
                document_top_summary: String::new(),
            },
            duplicate_of: None,
        }
    }

    #[test]
    fn section_paths_have_titles_only() {
        let text = |path| section_path(&row(ChunkType::Text, path, None));
        assert_eq!(text("a.md/Setup/1\u{2215}2 Wiring"), "Setup / 1/2 Wiring");
        assert_eq!(text("a.md"), "a.md");
        let asset = |path| section_path(&row(ChunkType::Table, path, Some("tables/table-3.html")));
        assert_eq!(asset("a.md/Setup/table-3.html"), "Setup");
        assert_eq!(asset("a.md/table-3.html"), "a.md");
    }
}
