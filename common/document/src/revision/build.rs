//! From what a parser gave to the folder, in the order of the data.

use std::collections::BTreeMap;

use bytes::Bytes;
use quarry_model::{
    Chunk, ChunkFile, ChunkType, DocumentCode, DocumentFailure, Limits, Parsed, Row, RowKind, SCHEMA_VERSION, Timestamp, Warning,
};
use quarry_ports::Clock;

use super::{Artifact, RevisionFolder, RevisionRequest, diagnostics, json, manifest, markdown, nav, toc, validate, zip};
use crate::annotate::annotate;
use crate::assets::{Pictures, decoration};
use crate::chunks::{Drafts, chunks};
use crate::enrich::Enrichment;
use crate::heading::SectionTree;
use crate::parser::Parser;
use crate::prepare::prepare;

/// Most warnings of one kind of document problem that are listed one by one.
const MOST_WARNINGS: usize = 500;

/// When what was done.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// The beginning.
    pub started: Timestamp,
    /// When the parser was done.
    pub parsed: Timestamp,
}

#[allow(clippy::too_many_arguments, reason = "everything a folder is made from, each once")]
pub(super) fn build(
    parser: &dyn Parser,
    bytes: &Bytes,
    request: &RevisionRequest,
    parsed: Parsed,
    enrichment: Enrichment,
    limits: &Limits,
    clock: &dyn Clock,
    times: Times,
) -> Result<RevisionFolder, DocumentFailure> {
    let (headings, file_name) = (parsed.headings.len(), &request.file_name);
    let mut parsed = prepare(parsed, limits);
    // Where headings were put together or cut off, what was said of them by number no longer fits.
    let enrichment = if parsed.headings.len() == headings { enrichment } else { Enrichment { sections: BTreeMap::new(), ..enrichment } };
    refuse_emptiness(&parsed)?;
    let tree = SectionTree::build(&parsed.headings, &parsed.rows, file_name, limits);
    let mut pictures = Pictures::store(std::mem::take(&mut parsed.assets), &parsed.rows, limits);
    parsed.warnings.append(&mut pictures.warnings);
    let left_out = decoration(&parsed.rows, &pictures, parsed.page_count);
    let mut drafts = chunks(&parsed.rows, &tree, &pictures, &left_out, limits);
    let overview = annotate(&mut drafts.chunks, &tree, parsed.title.as_deref(), &enrichment);
    warn_without_text(&drafts, &mut parsed.warnings);
    shorten(&mut parsed.warnings);

    let markdown = markdown::write(&parsed.rows, &tree, &drafts.file_of_row);
    let nav = nav::build(&request.file_name, &tree, &drafts, &overview.sections);
    let Drafts { chunks: drafts, pictures: picture_files, tables, .. } = drafts;
    let chunk_list: Vec<Chunk> = drafts.into_iter().map(|draft| draft.chunk).collect();
    let chunk_file = ChunkFile { schema_version: SCHEMA_VERSION, chunks: chunk_list };
    let hierarchy = tree.hierarchy();

    let mut files = vec![
        artifact("chunks.json", "application/json", json(&chunk_file)?),
        artifact("doc_nav.json", "application/json", json(&nav)?),
        artifact("hierarchy.json", "application/json", json(&hierarchy)?),
        artifact("full.md", "text/markdown; charset=utf-8", Bytes::from(markdown)),
    ];
    if let Some(contents) = toc::write(&parsed.outline) {
        files.push(artifact("toc_hierarchies.json", "application/json", json(&contents)?));
    }
    for file in &picture_files {
        if let Some(picture) = pictures.stored.get(file.picture) {
            files.push(artifact(&file.path, picture.kind.media_type, picture.bytes.clone()));
        }
    }
    let table_files = manifest::table_files(&tables);
    for table in tables {
        let mut html = table.html;
        html.push('\n');
        files.push(artifact(&table.path, "text/html; charset=utf-8", Bytes::from(html)));
    }
    let in_result = files.len();
    files.extend(diagnostics::write(&request.profile, &tree, &parsed.warnings)?);

    let manifest = manifest::build(&manifest::Facts {
        parser,
        bytes,
        request,
        parsed: &parsed,
        enrichment: &enrichment,
        limits,
        tree: &tree,
        chunks: &chunk_file.chunks,
        images: manifest::image_files(&picture_files, &pictures),
        tables: table_files,
        times,
        completed: clock.now(),
    });
    let manifest_file = artifact("manifest.json", "application/json", json(&manifest)?);
    let result = zip::write(files.iter().take(in_result).chain([&manifest_file]))
        .map_err(|error| DocumentFailure::new(DocumentCode::Crashed, format!("result.zip cannot be written: {error}")))?;
    files.push(artifact("result.zip", "application/zip", Bytes::from(result)));
    files.push(manifest_file);

    let folder = RevisionFolder { manifest, chunks: chunk_file, nav, hierarchy, files };
    validate::check(&folder, limits).map_err(|fault| {
        tracing::error!(%fault, document = %request.document_id, "a revision folder contradicts itself");
        DocumentFailure::new(DocumentCode::Crashed, format!("the artifacts contradict each other: {fault}"))
    })?;
    Ok(folder)
}

fn artifact(name: &str, media_type: &'static str, bytes: Bytes) -> Artifact {
    Artifact { name: name.to_owned(), media_type, bytes }
}

/// A document without text, table and picture is never "done with zero chunks".
fn refuse_emptiness(parsed: &Parsed) -> Result<(), DocumentFailure> {
    let says_something = |row: &Row| row.kind != RowKind::Text || !row.content.trim().is_empty();
    if parsed.rows.iter().any(says_something) {
        return Ok(());
    }
    let detail = parsed.warnings.first().map_or_else(|| "no text and no pictures were found".to_owned(), |w| w.message.clone());
    Err(DocumentFailure::new(DocumentCode::Empty, detail))
}

fn warn_without_text(drafts: &Drafts, warnings: &mut Vec<Warning>) {
    let says_something = |kind: ChunkType, words: &str| kind != ChunkType::Image && !words.trim().is_empty();
    if !drafts.chunks.iter().any(|draft| says_something(draft.chunk.kind, draft.words())) {
        warnings
            .push(Warning::new(DocumentCode::NoText, "the document holds pictures only; they are found by their captions and sections"));
    }
}

/// A million equal complaints help nobody: after [`MOST_WARNINGS`] they are counted.
fn shorten(warnings: &mut Vec<Warning>) {
    let more = warnings.len().saturating_sub(MOST_WARNINGS);
    if let Some(code) = warnings.get(MOST_WARNINGS).map(|first| first.code) {
        warnings.truncate(MOST_WARNINGS);
        warnings.push(Warning::new(code, format!("and {more} more")));
    }
}
