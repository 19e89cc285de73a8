//! `doc_nav.json`: the document as something to walk through.

use serde::{Deserialize, Serialize};

use crate::identity::{ChunkId, SectionId};

/// The file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocNav {
    /// [`crate::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// `1.0`.
    pub version: String,
    /// The source's file name.
    pub file_name: String,
    /// Counts.
    pub stats: NavStats,
    /// Top-level sections in reading order.
    pub sections: Vec<NavSection>,
    /// All assets.
    pub resources: NavResources,
}

/// Counts over the whole document.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named by what they count")]
pub struct NavStats {
    pub total_chunks: u32,
    pub text_chunks: u32,
    pub image_chunks: u32,
    pub table_chunks: u32,
    /// Deepest section level.
    pub max_depth: u32,
}

/// One section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NavSection {
    /// Its identity.
    pub section_id: SectionId,
    /// As shown; the file stem for text before the first heading.
    pub title: String,
    /// See [`crate::path`].
    pub path: String,
    /// From 1; text before the first heading counts as level 1 here.
    pub level: u32,
    /// Leading sentences, or `Covers: ` and the child titles.
    pub summary: String,
    /// First page, when known.
    pub page_start: Option<u32>,
    /// Last page, when known.
    pub page_end: Option<u32>,
    /// Chunks, descendants included.
    pub chunk_count: u32,
    /// Tokens, descendants included.
    pub token_count: u32,
    /// Sections below it.
    pub children: Vec<NavSection>,
    /// Image files standing directly in it.
    pub images: Vec<String>,
    /// Table files standing directly in it.
    pub tables: Vec<String>,
}

/// All assets by kind.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NavResources {
    /// Pictures.
    pub images: Vec<NavResource>,
    /// Tables.
    pub tables: Vec<NavResource>,
}

/// One asset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NavResource {
    /// File, relative to the revision folder.
    pub path: String,
    /// Caption, alt text or header.
    pub summary: String,
    /// Its chunk.
    pub chunk_id: ChunkId,
    /// The section it stands in.
    pub section_id: SectionId,
    /// Page, when known.
    pub page: Option<u32>,
}
