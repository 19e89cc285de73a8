//! `quarry outline`: the sections of a document.

use quarry_model::nav::NavSection;
use quarry_model::{DocNav, ObjectKey};

use crate::cli::OneDocument;
use crate::engine::Engine;
use crate::exit::{Exit, Failure};
use crate::{locate, output};

pub(crate) async fn run(engine: &Engine, args: OneDocument, json: bool) -> Result<Exit, Failure> {
    let scope = engine.scope(&args.place.namespace)?;
    let document = locate::document(engine, &scope, &args.document).await?;
    let revision = document.active_revision.ok_or_else(|| Failure::not_found(format!("{} has no content", args.document)))?;
    let (bytes, _) = engine.objects.get(&ObjectKey::artifact(&scope, &document.document_id, &revision, "doc_nav.json")).await?;
    let nav: DocNav = serde_json::from_slice(&bytes)?;
    if json {
        output::json(&nav)?;
        return Ok(Exit::Ok);
    }
    output::text(format!("{}  {}  {} chunks", output::line(&nav.file_name, 80), document.document_id, nav.stats.total_chunks))?;
    for section in &nav.sections {
        print(section, 0)?;
    }
    Ok(Exit::Ok)
}

fn print(section: &NavSection, depth: usize) -> Result<(), Failure> {
    let pages = match (section.page_start, section.page_end) {
        (Some(from), Some(to)) if from != to => format!("  p. {from}-{to}"),
        (Some(page), _) => format!("  p. {page}"),
        _ => String::new(),
    };
    let indent = "  ".repeat(depth);
    output::text(format!("{indent}- {}{pages}  ({} chunks)", output::line(&section.title, 100), section.chunk_count))?;
    section.children.iter().try_for_each(|child| print(child, depth + 1))
}
