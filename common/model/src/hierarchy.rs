//! `hierarchy.json`: the complete heading tree.

use serde::{Deserialize, Serialize};

use crate::identity::SectionId;

/// What made a heading a heading, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// The source's embedded outline.
    Outline,
    /// The source's table of contents.
    Toc,
    /// A paragraph style with an outline level.
    Style,
    /// Markup: `#`, `<h1>`.
    Markup,
    /// A numbering pattern or a chapter word.
    Numbering,
    /// Size, weight and spacing.
    Geometry,
    /// A model's choice among undecided candidates.
    Model,
    /// A slide's title.
    Slide,
    /// A sheet's name.
    Sheet,
}

/// The file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HierarchyFile {
    /// [`crate::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Top-level headings.
    pub headings: Vec<HierarchyNode>,
}

/// One heading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HierarchyNode {
    /// The section it opens.
    pub section_id: SectionId,
    /// Its own text.
    pub title: String,
    /// The number the source counts for it, where its text does not say it. Paths and `doc_nav.json` show it before the
    /// title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
    /// From 1; 0 only for the section of text before the first heading.
    pub level: u32,
    /// The level as the source had it, when normalising changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_level: Option<u32>,
    /// Page, when the format has pages.
    pub page: Option<u32>,
    /// What made it a heading; `None` only at level 0.
    pub evidence: Option<Evidence>,
    /// Headings below it.
    pub children: Vec<HierarchyNode>,
}
