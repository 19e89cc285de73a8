//! `doc_nav.json`: sections with their own and their descendants' figures, and all assets.

use std::collections::HashSet;

use quarry_model::nav::{NavResource, NavResources, NavSection, NavStats};
use quarry_model::{Chunk, ChunkType, DocNav, SCHEMA_VERSION};

use crate::chunks::Drafts;
use crate::heading::SectionTree;

/// Figures of one section, its own at first, its descendants' added.
#[derive(Debug, Clone, Default)]
struct Figures {
    chunks: u32,
    tokens: u32,
    pages: Option<(u32, u32)>,
    images: Vec<String>,
    tables: Vec<String>,
}

impl Figures {
    fn see_pages(&mut self, first: u32, last: u32) {
        let (low, high) = self.pages.unwrap_or((first, last));
        self.pages = Some((low.min(first), high.max(last)));
    }
}

pub(super) fn build(file_name: &str, tree: &SectionTree, drafts: &Drafts, summaries: &[String]) -> DocNav {
    let mut figures = vec![Figures::default(); tree.sections().len()];
    for (section, entry) in tree.sections().iter().zip(&mut figures) {
        if let Some(page) = section.page {
            entry.see_pages(page, page);
        }
    }
    for draft in &drafts.chunks {
        if let Some(entry) = figures.get_mut(draft.section) {
            count(&draft.chunk, entry);
        }
    }
    let (below, top) = tree.children();
    // Children stand after their parents: from the end, each gives its sums to its parent.
    for (index, section) in tree.sections().iter().enumerate().rev() {
        let Some(own) = figures.get(index).cloned() else { continue };
        if let Some(parent) = section.parent.and_then(|parent| figures.get_mut(parent)) {
            parent.chunks = parent.chunks.saturating_add(own.chunks);
            parent.tokens = parent.tokens.saturating_add(own.tokens);
            if let Some((first, last)) = own.pages {
                parent.see_pages(first, last);
            }
        }
    }
    let mut writer = Writer { tree, below, figures, summaries };
    DocNav {
        schema_version: SCHEMA_VERSION,
        version: "1.0".to_owned(),
        file_name: file_name.to_owned(),
        stats: stats(drafts.chunks.iter().map(|draft| &draft.chunk), tree.depth()),
        sections: top.into_iter().filter_map(|index| writer.section(index)).collect(),
        resources: resources(drafts),
    }
}

fn count(chunk: &Chunk, entry: &mut Figures) {
    entry.chunks = entry.chunks.saturating_add(1);
    entry.tokens = entry.tokens.saturating_add(chunk.metadata.token_count);
    if let (Some(first), Some(last)) = (chunk.metadata.page_nums.first(), chunk.metadata.page_nums.last()) {
        entry.see_pages(*first, *last);
    }
    let list = match chunk.kind {
        ChunkType::Text => return,
        ChunkType::Image => &mut entry.images,
        ChunkType::Table => &mut entry.tables,
    };
    // The windows of a table follow each other; a picture may come back later in the section.
    if let Some(file) = &chunk.metadata.file_path
        && !list.iter().rev().take(64).any(|known| known == file)
    {
        list.push(file.clone());
    }
}

/// Counts of chunks by type.
pub(super) fn stats<'c>(chunks: impl Iterator<Item = &'c Chunk>, max_depth: u32) -> NavStats {
    let mut stats = NavStats { max_depth, ..NavStats::default() };
    for chunk in chunks {
        let of_kind = match chunk.kind {
            ChunkType::Text => &mut stats.text_chunks,
            ChunkType::Image => &mut stats.image_chunks,
            ChunkType::Table => &mut stats.table_chunks,
        };
        *of_kind = of_kind.saturating_add(1);
        stats.total_chunks = stats.total_chunks.saturating_add(1);
    }
    stats
}

fn resources(drafts: &Drafts) -> NavResources {
    let mut out = NavResources::default();
    let mut seen = HashSet::new();
    for Chunk { chunk_id, kind, metadata, .. } in drafts.chunks.iter().map(|draft| &draft.chunk) {
        let Some(file) = metadata.file_path.as_ref().filter(|file| seen.insert(file.as_str())) else { continue };
        let resource = NavResource {
            path: file.clone(),
            summary: metadata.summary.clone(),
            chunk_id: chunk_id.clone(),
            section_id: metadata.section_id.clone(),
            page: metadata.page_nums.first().copied(),
        };
        if *kind == ChunkType::Table { out.tables.push(resource) } else { out.images.push(resource) }
    }
    out
}

struct Writer<'a> {
    tree: &'a SectionTree,
    below: Vec<Vec<usize>>,
    figures: Vec<Figures>,
    summaries: &'a [String],
}

impl Writer<'_> {
    // The tree is at most `limits.tree_depth` deep.
    fn section(&mut self, index: usize) -> Option<NavSection> {
        let section = self.tree.sections().get(index)?;
        let own = std::mem::take(self.figures.get_mut(index)?);
        let children = self.below.get_mut(index).map(std::mem::take).unwrap_or_default();
        Some(NavSection {
            section_id: section.id.clone(),
            title: section.title.clone(),
            path: section.path.clone(),
            level: section.level.max(1),
            summary: self.summaries.get(index).cloned().unwrap_or_default(),
            page_start: own.pages.map(|(first, _)| first),
            page_end: own.pages.map(|(_, last)| last),
            chunk_count: own.chunks,
            token_count: own.tokens,
            children: children.into_iter().filter_map(|child| self.section(child)).collect(),
            images: own.images,
            tables: own.tables,
        })
    }
}
