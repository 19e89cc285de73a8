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
    /// Of a document of many pages: its anatomy, and how it is cut. `None`: it is read whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anatomy: Option<Anatomy>,
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

/// What holds a document of many pages together: found once, by reading it once. Every stage that reads a part of it takes
/// what concerns the whole from here.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Anatomy {
    /// Language of its running text (ISO 639-1), where enough of it was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Pages that list what stands elsewhere, from 1; at most [`Anatomy::MOST_CONTENTS`].
    pub contents: Vec<u32>,
    /// Which number is printed on which page; at most [`Anatomy::MOST_RUNS`] runs, in page order.
    pub numbering: Vec<Numbering>,
    /// What the boundaries below rest on.
    pub boundaries_by: BoundaryEvidence,
    /// Pages on which a part of the first level begins; at most [`Anatomy::MOST_BOUNDARIES`], in page order.
    pub boundaries: Vec<u32>,
    /// Runs of pages that are read side by side: contiguous and complete.
    pub shards: Vec<Shard>,
}

impl Anatomy {
    /// Most contents pages that are named.
    pub const MOST_CONTENTS: usize = 64;
    /// Most runs of printed numbers that are named.
    pub const MOST_RUNS: usize = 64;
    /// Most boundaries that are named.
    pub const MOST_BOUNDARIES: usize = 300;

    /// The page that bears a printed number, where the numbering says so.
    pub fn page_of(&self, printed: u32) -> Option<u32> {
        self.numbering.iter().find_map(|run| run.page_of(printed))
    }

    /// Names the plan: what is read by one plan is never put together with what another asks for.
    pub fn plan(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.language.as_deref().unwrap_or_default().as_bytes());
        for shard in &self.shards {
            hasher.update(&shard.first.to_le_bytes());
            hasher.update(&shard.last.to_le_bytes());
        }
        hasher.finalize().to_hex().chars().take(16).collect()
    }
}

/// A run of pages whose printed numbers go up by one: `printed + page - first` stands on `page`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "(u32, u32, u32)", from = "(u32, u32, u32)")]
pub struct Numbering {
    /// First page, from 1.
    pub first: u32,
    /// Last page.
    pub last: u32,
    /// The number printed on the first page.
    pub printed: u32,
}

impl Numbering {
    /// The page of this run that bears a printed number.
    pub fn page_of(&self, printed: u32) -> Option<u32> {
        let page = self.first.checked_add(printed.checked_sub(self.printed)?)?;
        (page <= self.last).then_some(page)
    }
}

impl From<Numbering> for (u32, u32, u32) {
    fn from(run: Numbering) -> Self {
        (run.first, run.last, run.printed)
    }
}

impl From<(u32, u32, u32)> for Numbering {
    fn from((first, last, printed): (u32, u32, u32)) -> Self {
        Self { first, last, printed }
    }
}

/// How the boundaries of a document were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoundaryEvidence {
    /// By its own outline.
    Outline,
    /// By its contents pages and the numbers printed on its pages.
    Contents,
    /// Not at all.
    #[default]
    None,
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

impl Shard {
    /// Whether it holds a page, from 1.
    pub fn holds(&self, page: u32) -> bool {
        (self.first..=self.last).contains(&page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_number_finds_its_page() {
        let anatomy = Anatomy {
            numbering: vec![Numbering { first: 9, last: 200, printed: 1 }, Numbering { first: 203, last: 240, printed: 193 }],
            ..Anatomy::default()
        };
        assert_eq!((anatomy.page_of(1), anatomy.page_of(192), anatomy.page_of(193)), (Some(9), Some(200), Some(203)));
        assert_eq!((anatomy.page_of(0), anatomy.page_of(231)), (None, None));
    }

    #[test]
    fn a_plan_is_named_by_its_cuts_and_by_what_its_parts_are_told() {
        let shards = vec![Shard { first: 1, last: 150, depth: 0 }, Shard { first: 151, last: 300, depth: 1 }];
        let one = Anatomy { shards, ..Anatomy::default() };
        let mut moved = one.clone();
        moved.shards[0].last = 149;
        let spoken = Anatomy { language: Some("de".into()), ..one.clone() };
        assert_eq!(one.plan(), Anatomy { contents: vec![3], ..one.clone() }.plan());
        assert_ne!(one.plan(), moved.plan());
        assert_ne!(one.plan(), spoken.plan());
        assert_eq!(one.plan().len(), 16);
    }
}
