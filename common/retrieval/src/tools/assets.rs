//! `assets`: tables and pictures, by what they are.

use std::time::Duration;

use quarry_index::Filter;
use quarry_model::{ApiError, ChunkType, ObjectKey, path};
use serde::Deserialize;

use super::arguments::document_ids;
use super::documents::one_line;
use super::page::{DATA_NOTE, Page};
use super::reference::pages;
use super::{Call, ToolAnswer, failure};
use crate::corpus::ChunkKey;

/// Life of an address.
const URL_LIFE: Duration = Duration::from_hours(1);
/// Chunks loaded at a time.
const AT_ONCE: usize = 256;
/// Characters shown of what an asset says.
const WORDS: usize = 160;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    document_ids: Option<Vec<String>>,
    #[serde(default, rename = "type")]
    kind: Kind,
    contains: Option<String>,
    #[serde(default)]
    include_urls: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    #[default]
    Any,
    Table,
    Image,
}

pub(super) async fn assets(call: Call<'_>) -> Result<ToolAnswer, ApiError> {
    let arguments: Arguments = call.arguments()?;
    let types = match arguments.kind {
        Kind::Any => [ChunkType::Table, ChunkType::Image].into(),
        Kind::Table => [ChunkType::Table].into(),
        Kind::Image => [ChunkType::Image].into(),
    };
    let filter =
        Filter { include_documents: document_ids(arguments.document_ids.as_ref())?, chunk_types: Some(types), ..Filter::default() };
    let part = arguments.contains.map(|part| part.to_lowercase());
    let mut page = Page::new(call.budget);
    page.head(DATA_NOTE);
    let Some(reader) = call.reader().await? else { return Ok(page.finish()) };
    let keys: Vec<ChunkKey> = reader.corpus().all(&filter).into_iter().map(|hit| (hit.document_id, hit.ordinal)).collect();
    for keys in keys.chunks(AT_ONCE) {
        for stored in reader.corpus().fetch(keys).await.map_err(|error| failure(&error.into()))? {
            let chunk = &stored.indexed.chunk;
            let words = match chunk.kind {
                ChunkType::Table => quarry_document::grid::text_of(&chunk.content),
                ChunkType::Image | ChunkType::Text => chunk.content.clone(),
            };
            let summary = &chunk.metadata.summary;
            if part.as_ref().is_some_and(|part| !words.to_lowercase().contains(part) && !summary.to_lowercase().contains(part)) {
                continue;
            }
            let about: String = one_line(if summary.is_empty() { &words } else { summary }).chars().take(WORDS).collect();
            let reference = format!("{}#{}", stored.document_id, chunk.ordinal);
            let rows = chunk.metadata.rows.map(|[first, last, of]| format!(" rows {first}–{last} of {of}")).unwrap_or_default();
            let place = format!("{} › {}", one_line(&stored.file_name), one_line(&path::shown(&stored.indexed.section.path)));
            let mut block = format!("{reference} {}{rows} {} {place}: {about}", chunk.kind.name(), pages(&chunk.metadata.page_nums));
            if let Some(file) = chunk.metadata.file_path.as_ref().filter(|_| arguments.include_urls) {
                let key = ObjectKey::artifact(&call.scope, &stored.document_id, &stored.revision, file);
                let url = call.tools.objects.presign_get(&key, URL_LIFE, None).await.map_err(|error| failure(&error.into()))?;
                block.push_str(&format!("\n  {url}"));
            }
            page.push(&reference, &block);
        }
    }
    Ok(page.finish())
}
