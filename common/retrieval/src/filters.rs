//! The request's filters as the index takes them: the same in every route, before ranking.

use std::collections::BTreeSet;

use quarry_index::{Filter, FilterMode as IndexMode, SectionFilter};
use quarry_model::retrieval::{FilterMode, RetrievalFilters};
use quarry_model::{DocumentId, path};

use crate::error::RetrievalError;
use crate::snapshot::Reader;

/// Translates. Ids that are none, and documents that are not there, match nothing.
pub async fn of(filters: &RetrievalFilters, reader: &Reader) -> Result<Filter, RetrievalError> {
    let ids = |names: &BTreeSet<String>| names.iter().filter_map(|name| name.parse::<DocumentId>().ok()).collect::<BTreeSet<_>>();
    let mut exclude_sections = Vec::new();
    for section in &filters.exclude_sections {
        let Ok(document_id) = section.document_id.trim().parse::<DocumentId>() else { continue };
        exclude_sections.push(SectionFilter { document_id: document_id.clone(), section_path: section.section_path.clone() });
        // As answers show it, without the file's name: that has to be looked up.
        if let Some(first) = reader.passages(&[(document_id.clone(), 0)]).await?.first() {
            let below = section.section_path.replace(" / ", "/");
            let section_path = format!("{}/{below}", path::escape(&first.stored.file_name));
            exclude_sections.push(SectionFilter { document_id, section_path });
        }
    }
    // A signal may hold the separator as shown or as stored.
    let signal_paths: BTreeSet<String> = filters.signal_paths.iter().flat_map(|text| [text.clone(), text.replace(" / ", "/")]).collect();
    Ok(Filter {
        include_documents: filters.documents.include.as_ref().map(ids),
        exclude_documents: ids(&filters.documents.exclude),
        exclude_sections,
        chunk_types: (filters.chunk_types.len() < 3).then(|| filters.chunk_types.clone()),
        signal_paths: signal_paths.into_iter().collect(),
        signal_mode: match filters.filter_mode {
            FilterMode::Keep => IndexMode::Keep,
            FilterMode::Delete => IndexMode::Delete,
        },
    })
}
