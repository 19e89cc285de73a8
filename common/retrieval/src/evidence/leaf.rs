//! A section that something was found in.

use std::collections::BTreeMap;
use std::sync::Arc;

use quarry_model::path;

use crate::passage::Passage;

/// A section that something was found in, with all its chunks.
#[derive(Debug, Clone)]
pub struct Leaf {
    /// Its chunks in reading order; assets embedded in one of them are in `assets` instead.
    pub chunks: Vec<Arc<Passage>>,
    /// Embedded assets by ordinal; those that the request's types leave out are absent.
    pub assets: BTreeMap<u32, Arc<Passage>>,
    /// Of what was found itself, by ordinal, 0 to 1.
    pub found: BTreeMap<u32, f32>,
    /// The best of these.
    pub score: f32,
}

impl Leaf {
    /// Titles from the top; the section's own for text under no heading.
    pub fn titles(&self) -> Vec<String> {
        let Some(first) = self.chunks.first() else { return Vec::new() };
        let section = &first.stored.indexed.section;
        let below: Vec<String> = path::split(&section.path).into_iter().skip(1).collect();
        if below.is_empty() { vec![section.title.clone()] } else { below }
    }

    /// Pages of its chunks, ascending, each once.
    pub fn pages(&self) -> Vec<u32> {
        let mut pages: Vec<u32> =
            self.chunks.iter().flat_map(|chunk| chunk.stored.indexed.chunk.metadata.page_nums.iter().copied()).collect();
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    /// Where it begins in its document.
    pub fn order(&self) -> u32 {
        self.chunks.first().map_or(0, |chunk| chunk.stored.indexed.chunk.ordinal)
    }
}
