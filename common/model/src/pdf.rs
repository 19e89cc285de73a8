//! What the profiler measures of a PDF: page by page, and how its parts are cut for reading side by side.
//!
//! It travels in a message of at most 64 KB: numbers are small and capped, and stand in columns.

use serde::{Deserialize, Serialize};

/// Measured once; nothing later measures again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PdfProfile {
    /// What decided on the routing category, in words and numbers.
    pub evidence: Vec<String>,
    /// Page sizes as shown, in whole points, with their number of pages: most common first, at most 16.
    pub sizes: Vec<PageSize>,
    /// Page by page.
    pub pages: PageFeatures,
    /// Parts that are read side by side; empty when the document is read whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shards: Vec<Shard>,
}

/// A size of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "(u32, u32, u32)", from = "(u32, u32, u32)")]
pub struct PageSize {
    /// Points.
    pub width: u32,
    /// Points.
    pub height: u32,
    /// Pages of this size.
    pub pages: u32,
}

impl From<PageSize> for (u32, u32, u32) {
    fn from(size: PageSize) -> Self {
        (size.width, size.height, size.pages)
    }
}

impl From<(u32, u32, u32)> for PageSize {
    fn from((width, height, pages): (u32, u32, u32)) -> Self {
        Self { width, height, pages }
    }
}

/// Columns of one number a page, in page order; all of one length.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PageFeatures {
    /// Characters that are drawn with ink, at most 9,999.
    pub text: Vec<u16>,
    /// Characters drawn without ink, at most 9,999.
    pub hidden: Vec<u16>,
    /// Percent of the page's area under pictures.
    pub coverage: Vec<u8>,
    /// Pictures, at most 99.
    pub pictures: Vec<u8>,
    /// Drawn grids, at most 99.
    pub tables: Vec<u8>,
    /// Drawing operations that are neither text nor lines nor pictures, at most 999.
    pub drawings: Vec<u16>,
    /// Percent of the characters whose meaning is not known.
    pub unmapped: Vec<u8>,
}

/// A run of pages that one message reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// First page, from 1.
    pub first: u32,
    /// Last page.
    pub last: u32,
    /// Depth of the outline at which it begins; 0 where no heading is known.
    pub depth: u32,
}
