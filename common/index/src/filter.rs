//! Which chunks a question is about. Filters act before ranking.

use std::collections::BTreeSet;

use quarry_model::{ChunkType, DocumentId};

/// All conditions must hold. The default lets everything through.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Only these documents; `None` for all.
    pub include_documents: Option<BTreeSet<DocumentId>>,
    /// Not these documents.
    pub exclude_documents: BTreeSet<DocumentId>,
    /// Not these sections nor anything below them.
    pub exclude_sections: Vec<SectionFilter>,
    /// Only these types; `None` for all.
    pub chunk_types: Option<BTreeSet<ChunkType>>,
    /// Literal pieces of section paths, compared case-folded; any of them matches. Empty: no condition.
    pub signal_paths: Vec<String>,
    /// What happens to chunks whose section path matches one of `signal_paths`.
    pub signal_mode: FilterMode,
}

/// A section of one document with all its descendants.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SectionFilter {
    /// The document.
    pub document_id: DocumentId,
    /// The section's path (see [`quarry_model::path`]).
    pub section_path: String,
}

/// What matching does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FilterMode {
    /// Matching chunks are left out.
    #[default]
    Delete,
    /// Only matching chunks stay.
    Keep,
}
