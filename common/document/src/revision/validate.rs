//! Counts and references of a folder agree, or nothing of it is written.

use std::collections::{BTreeSet, HashSet};

use quarry_model::nav::NavSection;
use quarry_model::{Chunk, ChunkType, Connection, HierarchyNode, Limits, Relation};

use super::{RevisionFolder, nav};

/// What contradicts what.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Inconsistency {
    /// The ordinal is not the chunk's place.
    #[error("chunk {0} has ordinal {1}")]
    Ordinal(usize, u32),
    /// A text chunk without text, or one above the limit.
    #[error("chunk {0} holds {1} tokens")]
    Size(u32, u32),
    /// A link that leads nowhere, or a mark that is not where the link says.
    #[error("chunk {0} links to {1} wrongly")]
    Link(u32, u32),
    /// A file that is named and not there, or there and not named.
    #[error("file {0} is named and missing, or there and unnamed")]
    File(String),
    /// A section that the tree does not have.
    #[error("section {0} is not in the hierarchy")]
    Section(String),
    /// Figures that differ.
    #[error("{0} differ")]
    Counts(&'static str),
}

/// Checks a folder.
pub(crate) fn check(folder: &RevisionFolder, limits: &Limits) -> Result<(), Inconsistency> {
    let chunks = &folder.chunks.chunks;
    check_files(folder)?;
    let mut sections = HashSet::new();
    collect(&folder.hierarchy.headings, &mut sections);
    let names: HashSet<&str> = folder.files.iter().map(|file| file.name.as_str()).collect();
    for (place, chunk) in chunks.iter().enumerate() {
        if chunk.ordinal as usize != place {
            return Err(Inconsistency::Ordinal(place, chunk.ordinal));
        }
        check_size(chunk, limits)?;
        if !sections.contains(chunk.metadata.section_id.as_str()) {
            return Err(Inconsistency::Section(chunk.metadata.section_id.to_string()));
        }
        if let Some(file) = chunk.metadata.file_path.as_ref().filter(|file| !names.contains(file.as_str())) {
            return Err(Inconsistency::File(file.clone()));
        }
        for link in &chunk.metadata.connect_to {
            let target = chunks.get(link.target_ordinal as usize).filter(|target| target.chunk_id == link.target);
            if !target.is_some_and(|target| link_holds(chunk, link, target)) {
                return Err(Inconsistency::Link(chunk.ordinal, link.target_ordinal));
            }
        }
    }
    check_counts(folder)
}

fn check_size(chunk: &Chunk, limits: &Limits) -> Result<(), Inconsistency> {
    let tokens = chunk.metadata.token_count;
    let empty = chunk.kind == ChunkType::Text && chunk.content.trim().is_empty();
    if empty || (chunk.kind == ChunkType::Text && tokens > limits.chunk_tokens) {
        return Err(Inconsistency::Size(chunk.ordinal, tokens));
    }
    Ok(())
}

fn link_holds(chunk: &Chunk, link: &Connection, target: &Chunk) -> bool {
    if link.relation == Relation::Related {
        return link.reference.is_none() && link.position.is_none();
    }
    let (Some(reference), Some(position)) = (&link.reference, link.position) else { return false };
    let length = position.end.saturating_sub(position.start) as usize;
    let there = chunk.content.chars().skip(position.start as usize).take(length);
    let file = target.metadata.file_path.as_deref().unwrap_or_default();
    there.eq(reference.chars()) && reference.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) == Some(file)
}

/// The assets that the manifest names are exactly those that are there.
fn check_files(folder: &RevisionFolder) -> Result<(), Inconsistency> {
    let files = &folder.manifest.files;
    let named = files.images.iter().map(|file| (file.file_path.as_str(), file.size_bytes));
    let named: BTreeSet<(&str, u64)> = named.chain(files.tables.iter().map(|file| (file.file_path.as_str(), file.size_bytes))).collect();
    let is_asset = |name: &str| name.starts_with("images/") || name.starts_with("tables/");
    let there: BTreeSet<(&str, u64)> =
        folder.files.iter().filter(|file| is_asset(&file.name)).map(|file| (file.name.as_str(), file.bytes.len() as u64)).collect();
    let used: BTreeSet<&str> = folder.chunks.chunks.iter().filter_map(|chunk| chunk.metadata.file_path.as_deref()).collect();
    if let Some((name, _)) = named.symmetric_difference(&there).next() {
        return Err(Inconsistency::File((*name).to_owned()));
    }
    if let Some((name, _)) = there.iter().find(|(name, _)| !used.contains(name)) {
        return Err(Inconsistency::File((*name).to_owned()));
    }
    match folder.files.last() {
        Some(last) if last.name == "manifest.json" => Ok(()),
        _ => Err(Inconsistency::File("manifest.json".to_owned())),
    }
}

fn check_counts(folder: &RevisionFolder) -> Result<(), Inconsistency> {
    let chunks = &folder.chunks.chunks;
    let counted = nav::stats(chunks.iter(), folder.nav.stats.max_depth);
    let stated = &folder.manifest.statistics;
    let same = (stated.total_chunks, stated.text_chunks, stated.image_chunks, stated.table_chunks)
        == (counted.total_chunks, counted.text_chunks, counted.image_chunks, counted.table_chunks);
    if folder.nav.stats != counted || !same {
        return Err(Inconsistency::Counts("chunk counts"));
    }
    let sum = |of: fn(&NavSection) -> u32| folder.nav.sections.iter().map(of).fold(0_u32, u32::saturating_add);
    if sum(|section| section.chunk_count) != counted.total_chunks || u64::from(sum(|section| section.token_count)) != stated.total_tokens {
        return Err(Inconsistency::Counts("section sums"));
    }
    Ok(())
}

fn collect<'h>(nodes: &'h [HierarchyNode], out: &mut HashSet<&'h str>) {
    for node in nodes {
        out.insert(node.section_id.as_str());
        collect(&node.children, out);
    }
}
