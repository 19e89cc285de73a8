//! `read`: the text of documents, sections and chunks, in reading order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quarry_index::Filter;
use quarry_model::{ApiError, ChunkType, DocumentId, path};
use serde::Deserialize;

use super::documents::{find, one_line};
use super::page::{DATA_NOTE, Page};
use super::reference::{Reference, pages};
use super::{Call, ToolAnswer, failure};
use crate::corpus::ChunkKey;
use crate::hydration;
use crate::passage::Passage;
use crate::snapshot::Reader;

/// Most references of one call.
const REFS: usize = 50;
/// Chunks loaded at a time: a budget ends long before a book does.
const AT_ONCE: usize = 64;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    refs: Vec<String>,
    #[serde(default)]
    mode: Mode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Descendants,
    #[serde(rename = "self")]
    Own,
}

pub(super) async fn read(call: Call<'_>) -> Result<ToolAnswer, ApiError> {
    let arguments: Arguments = call.arguments()?;
    if arguments.refs.is_empty() || arguments.refs.len() > REFS {
        return Err(ApiError::invalid_field("refs", &format!("must hold 1 to {REFS} references")));
    }
    let refs: Vec<Reference> = arguments.refs.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
    let Some(reader) = call.reader().await? else { return Err(ApiError::not_found("Document", refs[0].document().as_str())) };
    let mut keys: Vec<ChunkKey> = Vec::new();
    let mut seen = BTreeSet::new();
    for reference in &refs {
        for key in chunks_of(&call, &reader, reference, arguments.mode).await? {
            if seen.insert(key.clone()) {
                keys.push(key);
            }
        }
    }
    let mut page = Page::new(call.budget);
    page.head(DATA_NOTE);
    let mut place = None;
    let mut embedded: BTreeSet<ChunkKey> = BTreeSet::new();
    let mut rest = keys.as_slice();
    while !rest.is_empty() {
        let (some, later) = rest.split_at(rest.len().min(AT_ONCE));
        rest = later;
        for passage in reader.passages(some).await.map_err(|error| failure(&error))? {
            let key = passage.key();
            // What stands in the text of its host was shown there.
            if embedded.contains(&key) {
                continue;
            }
            let host = text_of(&passage, &reader).await?;
            embedded.extend(hydration::embedded(&passage));
            let block = format!("{}{host}", heading(&passage, &mut place));
            page.push_cut(&format!("{}#{}", key.0, key.1), &block);
        }
        if page.left() < 60 {
            break;
        }
    }
    page.leave_out_more(rest.len());
    Ok(page.finish())
}

/// The chunks that a reference stands for, in reading order.
async fn chunks_of(call: &Call<'_>, reader: &Reader, reference: &Reference, mode: Mode) -> Result<Vec<ChunkKey>, ApiError> {
    let document = reference.document();
    let (_, revision) = call.document(Some(reader), document).await?;
    let all = || -> Vec<ChunkKey> {
        let filter = Filter { include_documents: Some([document.clone()].into()), ..Filter::default() };
        reader.corpus().all(&filter).into_iter().map(|hit| (hit.document_id, hit.ordinal)).collect()
    };
    let keys = |ordinals: Vec<u32>| ordinals.into_iter().map(|ordinal| (document.clone(), ordinal)).collect();
    match reference {
        Reference::Document(_) => Ok(all()),
        Reference::Chunk(_, ordinal) => {
            let key = (document.clone(), *ordinal);
            if reader.passages(std::slice::from_ref(&key)).await.map_err(|error| failure(&error))?.is_empty() {
                return Err(ApiError::not_found("Chunk", &reference.to_string()));
            }
            Ok(vec![key])
        }
        Reference::Section(_, name) => {
            let sections = call.sections(document, &revision).await?;
            let top = find(&sections, name)?;
            if mode == Mode::Own {
                return Ok(keys(reader.corpus().section(document, &top.path)));
            }
            let below = sections.iter().filter(|section| path::is_within(&section.path, &top.path));
            let paths: BTreeSet<&str> = below.map(|section| section.path.as_str()).collect();
            let mut ordinals: Vec<u32> = paths.into_iter().flat_map(|path| reader.corpus().section(document, path)).collect();
            ordinals.sort_unstable();
            ordinals.dedup();
            Ok(keys(ordinals))
        }
    }
}

/// The content of a chunk, its tables and pictures in their places.
pub(super) async fn text_of(passage: &Passage, reader: &Reader) -> Result<String, ApiError> {
    let chunk = &passage.stored.indexed.chunk;
    let assets: BTreeMap<u32, Arc<Passage>> = reader
        .passages(&hydration::embedded(passage))
        .await
        .map_err(|error| failure(&error))?
        .into_iter()
        .map(|asset| (asset.stored.indexed.chunk.ordinal, asset))
        .collect();
    let content = hydration::content(chunk, |ordinal| {
        let asset = &assets.get(&ordinal)?.stored.indexed.chunk;
        let kind = if asset.kind == ChunkType::Image { "picture" } else { "table" };
        Some(format!("[{kind} {}#{ordinal}]\n{}", passage.stored.document_id, asset.content))
    });
    Ok(content)
}

/// Where a passage stands, once for each section.
fn heading(passage: &Passage, place: &mut Option<(DocumentId, String)>) -> String {
    let stored = &passage.stored;
    let here = (stored.document_id.clone(), stored.indexed.section.path.clone());
    let pages = pages(&stored.indexed.chunk.metadata.page_nums);
    let mark = format!("[{}#{}]{}{pages} ", here.0, stored.indexed.chunk.ordinal, if pages.is_empty() { "" } else { " " });
    if place.as_ref() == Some(&here) {
        return mark;
    }
    let heading = format!("\n## {} › {}\n{mark}", one_line(&stored.file_name), one_line(&path::shown(&here.1)));
    *place = Some(here);
    heading
}
