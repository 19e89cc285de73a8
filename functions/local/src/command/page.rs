//! `quarry show … --page`: the image of a page, with the place of a chunk marked on it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use quarry_model::record::DocumentRecord;
use quarry_model::{ApiCode, Chunk, Scope};
use quarry_pdf::{Rect, mark};
use quarry_upload::{Pages, Place};
use serde_json::json;

use super::show::{chunk_of, read_chunk};
use crate::engine::Engine;
use crate::exit::{Exit, Failure};
use crate::worker::ChildDrawer;
use crate::{locate, output};

pub(crate) async fn run(engine: &Engine, scope: &Scope, target: &str, page: u32, out: Option<&Path>, json: bool) -> Result<Exit, Failure> {
    let (document, chunk) = find(engine, scope, target).await?;
    let revision = document.active_revision.as_ref().ok_or_else(|| Failure::not_found(format!("{target} has no content")))?;
    let first = chunk.as_ref().and_then(|chunk| chunk.metadata.page_nums.first().copied());
    let page = if page > 0 { Some(page) } else { first };
    let page = page.ok_or_else(|| Failure::usage("which page? --page N, from 1"))?;
    let pages = Pages { objects: Arc::clone(&engine.objects), drawer: Arc::new(ChildDrawer::new(1)?) };
    let place = Place { scope, document: &document.document_id, revision };
    let mut image = pages.image(place, page).await.map_err(|failure| refused(&failure.0))?.to_vec();
    let boxes: Vec<Rect> = chunk.iter().flat_map(|chunk| &chunk.metadata.boxes).filter(|b| b.page == page).map(rect).collect();
    if !boxes.is_empty() {
        image = mark(&image, &boxes)?.png;
    }
    let path = out.map_or_else(|| default_path(&document.source_file_name, page), Path::to_path_buf);
    std::fs::write(&path, &image).with_context(|| format!("cannot write {}", path.display()))?;
    if json {
        output::json(&json!({ "document_id": document.document_id, "page": page, "file": path, "marked": boxes.len() }))?;
    } else {
        output::text(path.display())?;
    }
    Ok(Exit::Ok)
}

/// A document, or a document and one of its chunks.
async fn find(engine: &Engine, scope: &Scope, target: &str) -> Result<(DocumentRecord, Option<Chunk>), Failure> {
    if let Some((name, ordinal)) = chunk_of(target)
        && let Ok(document) = locate::document(engine, scope, name).await
    {
        let chunk = match &document.active_revision {
            Some(revision) => read_chunk(engine, scope, &document.document_id, revision, ordinal).await?,
            None => None,
        };
        let chunk = chunk.ok_or_else(|| Failure::not_found(format!("{name} has {} chunks, from 0", document.chunk_count)))?;
        return Ok((document, Some(chunk)));
    }
    Ok((locate::document(engine, scope, target).await?, None))
}

fn rect(b: &quarry_model::PageBox) -> Rect {
    Rect { x0: b.x0, y0: b.y0, x1: b.x1, y1: b.y1 }
}

/// What the API would answer, as this program ends with it.
fn refused(error: &quarry_model::ApiError) -> Failure {
    match error.code {
        ApiCode::NotFound => {
            let of = error.details.get("pages").map(|pages| format!("; the document has {pages}")).unwrap_or_default();
            Failure::not_found(format!("{}{of}", error.message))
        }
        ApiCode::UnsupportedMediaType => Failure::usage(&error.message),
        _ => anyhow::anyhow!("{}", error.message).into(),
    }
}

/// `NAME-page-N.png` in the current folder; a name is the caller's own, but only its harmless characters are taken over.
fn default_path(file_name: &str, page: u32) -> PathBuf {
    let stem = quarry_document::parser::file_stem(file_name);
    let safe: String = stem.chars().map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' }).take(80).collect();
    PathBuf::from(format!("{}-page-{page}.png", safe.trim_start_matches('-')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_the_folder() {
        assert_eq!(default_path("Report 2025.v2.pdf", 3), PathBuf::from("Report-2025-v2-page-3.png"));
        assert_eq!(default_path("../../etc/x.pdf", 1), PathBuf::from("etc-x-page-1.png"));
    }
}
