//! `list_documents`, `outline`, `neighbors`: what there is, before anything of it is read.

use quarry_model::record::{DocumentRecord, DocumentStatus, GraphEdge, SectionRecord};
use quarry_model::{ApiError, DocumentId, RecordKey, RecordPrefix, Revision, path};
use quarry_ports::{Item, RecordError};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::arguments::{between, document_id};
use super::page::Page;
use super::reference::{SectionName, pages};
use super::{Call, ToolAnswer, failure};

/// Deepest level an outline can be asked for.
const DEPTH: usize = 12;
/// Characters of a summary that are shown.
const SUMMARY_CHARS: usize = 240;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    name_contains: Option<String>,
    offset: Option<i64>,
}

pub(super) async fn list(call: Call<'_>) -> Result<ToolAnswer, ApiError> {
    let arguments: ListArguments = call.arguments()?;
    let offset = between("offset", arguments.offset, 0, 0, usize::MAX)?;
    let items = call.tools.records.query_all(&RecordPrefix::documents(&call.scope)).await.map_err(|error| failure(&error.into()))?;
    let mut documents: Vec<DocumentRecord> = read_all(&items)?;
    documents.retain(|document| document.status == DocumentStatus::Active);
    if let Some(part) = arguments.name_contains.map(|part| part.to_lowercase()) {
        documents.retain(|document| document.source_file_name.to_lowercase().contains(&part));
    }
    documents.sort_by(|a, b| b.updated_at.cmp(&a.updated_at).then_with(|| a.document_id.cmp(&b.document_id)));
    let mut page = Page::new(call.budget);
    let noun = if documents.len() == 1 { "document" } else { "documents" };
    page.head(&format!("{} {noun} in namespace {}", documents.len(), call.scope.namespace));
    for document in documents.iter().skip(offset) {
        let id = document.document_id.as_str();
        let block = format!("{id}  {}  ({} chunks){}", one_line(&document.source_file_name), document.chunk_count, said(&document.summary));
        page.push(id, &block);
    }
    Ok(page.finish())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutlineArguments {
    document_id: String,
    section: Option<String>,
    depth: Option<i64>,
}

pub(super) async fn outline(call: Call<'_>) -> Result<ToolAnswer, ApiError> {
    let arguments: OutlineArguments = call.arguments()?;
    let id = document_id("document_id", &arguments.document_id)?;
    let depth = between("depth", arguments.depth, DEPTH, 1, DEPTH)? as u32;
    let (document, revision) = call.document(call.reader().await?.as_ref(), &id).await?;
    let sections = call.sections(&id, &revision).await?;
    let top = match &arguments.section {
        Some(section) => Some(find(&sections, &section.parse().unwrap_or_else(|never| match never {}))?),
        None => None,
    };
    let base = top.map_or(0, |section| section.level);
    let below = |section: &&SectionRecord| top.is_none_or(|top| path::is_within(&section.path, &top.path));
    let shown: Vec<&SectionRecord> = sections.iter().filter(below).filter(|section| section.level <= base + depth).collect();
    let mut page = Page::new(call.budget);
    page.head(&format!("{}  ({id}, {} chunks, {} sections)", one_line(&document.source_file_name), document.chunk_count, sections.len()));
    // With summaries when all of them fit, else without: a whole tree says more than half a tree in detail.
    let lines = |summaries: bool| shown.iter().map(move |section| line(section, base, summaries)).collect::<Vec<_>>();
    let full = lines(true);
    let fits = quarry_language::tokens::fits(&full.join("\n"), page.left());
    for (section, block) in shown.iter().zip(if fits { full } else { lines(false) }) {
        page.push(&format!("{id}/{}", section.section_id), &block);
    }
    if !fits {
        page.leave_out("summaries");
    }
    Ok(page.finish())
}

fn line(section: &SectionRecord, base: u32, summaries: bool) -> String {
    let indent = "  ".repeat(section.level.saturating_sub(base) as usize);
    let where_from: Vec<u32> = section.page_start.into_iter().chain(section.page_end).collect();
    let (pages, summary) = (pages(&where_from), if summaries { said(&section.summary) } else { String::new() });
    let pages = if pages.is_empty() { pages } else { format!("{pages}, ") };
    format!(
        "{indent}{} [{}] {pages}{} chunks, {} tokens{summary}",
        one_line(&section.title),
        section.section_id,
        section.chunk_count,
        section.token_count
    )
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NeighborsArguments {
    document_id: String,
}

pub(super) async fn neighbors(call: Call<'_>) -> Result<ToolAnswer, ApiError> {
    let arguments: NeighborsArguments = call.arguments()?;
    let id = document_id("document_id", &arguments.document_id)?;
    let (document, _) = call.document(call.reader().await?.as_ref(), &id).await?;
    let records = &call.tools.records;
    // Edges are kept once, under the smaller id; the graph's partition is read as a whole.
    let prefix = RecordPrefix { sk: "EDGE#".to_owned(), ..RecordPrefix::graph(&call.scope) };
    let items = records.query_all(&prefix).await.map_err(|error| failure(&error.into()))?;
    let mut edges: Vec<GraphEdge> = read_all(&items)?;
    edges.retain(|edge| edge.a == id || edge.b == id);
    edges.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| (&a.a, &a.b).cmp(&(&b.a, &b.b))));
    let others: Vec<&DocumentId> = edges.iter().map(|edge| if edge.a == id { &edge.b } else { &edge.a }).collect();
    let keys: Vec<RecordKey> = others.iter().map(|other| RecordKey::document(&call.scope, other)).collect();
    let items = records.get_many(&keys).await.map_err(|error| failure(&error.into()))?;
    let mut page = Page::new(call.budget);
    page.head(&format!("Related to {} ({id}):", one_line(&document.source_file_name)));
    for (edge, item) in edges.iter().zip(&items) {
        let Some(item) = item else { continue };
        let other: DocumentRecord = item.read().map_err(|error| failure(&error.into()))?;
        if other.status != DocumentStatus::Active {
            continue;
        }
        let other_id = other.document_id.as_str();
        let shared = edge.shared.iter().map(|word| one_line(word)).collect::<Vec<_>>().join(", ");
        page.push(
            other_id,
            &format!("{other_id}  {}  {:.2}  shares: {shared}{}", one_line(&other.source_file_name), edge.score, said(&other.summary)),
        );
    }
    Ok(page.finish())
}

impl Call<'_> {
    /// The sections of a revision in reading order.
    pub(super) async fn sections(&self, document: &DocumentId, revision: &Revision) -> Result<Vec<SectionRecord>, ApiError> {
        let items =
            self.tools.records.query_all(&RecordPrefix::sections(document, revision)).await.map_err(|error| failure(&error.into()))?;
        let mut sections: Vec<SectionRecord> = read_all(&items)?;
        sections.sort_by_key(|section| section.order);
        Ok(sections)
    }
}

/// The section of that name: by identity, by all its titles, or by its last ones where only one section ends so.
pub(super) fn find<'s>(sections: &'s [SectionRecord], name: &SectionName) -> Result<&'s SectionRecord, ApiError> {
    let titles = match name {
        SectionName::Id(id) => {
            let found = sections.iter().find(|section| section.section_id == *id);
            return found.ok_or_else(|| ApiError::not_found("Section", id.as_str()));
        }
        SectionName::Titles(titles) => titles.to_lowercase(),
    };
    let shown: Vec<(String, &SectionRecord)> =
        sections.iter().map(|section| (path::shown(&section.path).to_lowercase(), section)).collect();
    let exact: Vec<&SectionRecord> = shown.iter().filter(|(path, _)| *path == titles).map(|(_, section)| *section).collect();
    let ending = format!(" / {titles}");
    let ends = || shown.iter().filter(|(path, _)| path.ends_with(&ending)).map(|(_, section)| *section).collect();
    let found: Vec<&SectionRecord> = if exact.is_empty() { ends() } else { exact };
    match found.as_slice() {
        [] => Err(ApiError::not_found("Section", &titles.chars().take(80).collect::<String>())),
        [section] => Ok(section),
        several => {
            let ids: Vec<&str> = several.iter().take(10).map(|section| section.section_id.as_str()).collect();
            Err(ApiError::invalid_field("section", &format!("{} sections are called so; name one of {}", several.len(), ids.join(", "))))
        }
    }
}

fn read_all<T: DeserializeOwned>(items: &[Item]) -> Result<Vec<T>, ApiError> {
    items.iter().map(Item::read).collect::<Result<_, RecordError>>().map_err(|error| failure(&error.into()))
}

/// A name out of a document on one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().filter(|c| !c.is_control()).take(SUMMARY_CHARS).collect()
}

fn said(summary: &str) -> String {
    let summary = one_line(summary);
    if summary.is_empty() { summary } else { format!(" — {summary}") }
}
