//! Reads a finished revision folder and checks that its files agree, before anything of it is published.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use quarry_model::chunk::ChunkFile;
use quarry_model::nav::NavSection;
use quarry_model::{
    Chunk, ChunkType, DocNav, DocumentId, HierarchyFile, HierarchyNode, Manifest, ObjectKey, ObjectPrefix, Progress, Relation, Revision,
    Scope, SectionId,
};
use quarry_ports::{ObjectError, ObjectStore};
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

/// Bytes of an archive in memory at once: 8 MiB.
const PIECE_BYTES: u64 = 8 << 20;

/// Why a revision folder cannot be published.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A file is not there; without its manifest a revision is not finished.
    #[error("{0} is missing")]
    Missing(ObjectKey),
    /// A file is not what it should be.
    #[error("{0} cannot be read")]
    Unreadable(ObjectKey, #[source] serde_json::Error),
    /// The files contradict each other.
    #[error("the revision folder is inconsistent: {0}")]
    Inconsistent(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] ObjectError),
}

/// A finished revision, as its folder says.
#[derive(Debug, Clone)]
pub struct Folder {
    /// Its manifest.
    pub manifest: Manifest,
    /// Its chunks in reading order.
    pub chunks: Vec<Chunk>,
    /// Its sections.
    pub nav: DocNav,
    /// Level of each section by the heading tree: 0 for text before the first heading.
    pub levels: BTreeMap<SectionId, u32>,
    /// SHA-256 of `result.zip` in hex.
    pub result_sha256: String,
}

/// Reads and checks a folder.
pub async fn read(objects: &dyn ObjectStore, scope: &Scope, document: &DocumentId, revision: &Revision) -> Result<Folder, FolderError> {
    let key = |name: &str| ObjectKey::artifact(scope, document, revision, name);
    // The manifest is written last: once it is there, so are the others.
    let manifest: Manifest = json(objects, &key("manifest.json")).await?;
    let chunks: ChunkFile = json(objects, &key(&manifest.files.chunks)).await?;
    let nav: DocNav = json(objects, &key("doc_nav.json")).await?;
    let hierarchy: HierarchyFile = json(objects, &key(&manifest.files.hierarchy)).await?;

    let mut levels = BTreeMap::new();
    collect_levels(&hierarchy.headings, &mut levels);
    let result_sha256 = sha256(objects, &key("result.zip")).await?;
    let folder = Folder { manifest, chunks: chunks.chunks, nav, levels, result_sha256 };
    if folder.manifest.document_id != *document || folder.manifest.revision != *revision {
        return Err(inconsistent("the manifest names another document or revision"));
    }
    folder.check()?;
    folder.check_files(objects, &ObjectPrefix::revision(scope, document, revision)).await?;
    Ok(folder)
}

/// What a job reports of a revision: the SHA-256 of its `result.zip`, and how much of the source was read.
pub async fn result(
    objects: &dyn ObjectStore,
    scope: &Scope,
    document: &DocumentId,
    revision: &Revision,
) -> Result<(String, Progress), FolderError> {
    let key = |name: &str| ObjectKey::artifact(scope, document, revision, name);
    let manifest: Manifest = json(objects, &key("manifest.json")).await?;
    Ok((sha256(objects, &key("result.zip")).await?, progress(&manifest)))
}

/// Pages read; formats without pages count as one.
fn progress(manifest: &Manifest) -> Progress {
    let pages = manifest.processing.page_count.max(1);
    Progress { total_pages: pages, processed_pages: pages }
}

/// Read piece by piece: an archive may be larger than the memory of the function.
async fn sha256(objects: &dyn ObjectStore, key: &ObjectKey) -> Result<String, FolderError> {
    let size = match objects.head(key).await {
        Ok(meta) => meta.size,
        Err(ObjectError::NotFound(key)) => return Err(FolderError::Missing(key)),
        Err(error) => return Err(error.into()),
    };
    let mut hasher = Sha256::new();
    let mut at = 0;
    while at < size {
        let end = (at + PIECE_BYTES).min(size);
        hasher.update(&objects.get_range(key, at..end).await?);
        at = end;
    }
    Ok(hex::encode(hasher.finalize()))
}

async fn json<T: DeserializeOwned>(objects: &dyn ObjectStore, key: &ObjectKey) -> Result<T, FolderError> {
    let bytes: Bytes = match objects.get(key).await {
        Ok((bytes, _)) => bytes,
        Err(ObjectError::NotFound(key)) => return Err(FolderError::Missing(key)),
        Err(error) => return Err(error.into()),
    };
    serde_json::from_slice(&bytes).map_err(|error| FolderError::Unreadable(key.clone(), error))
}

fn collect_levels(nodes: &[HierarchyNode], levels: &mut BTreeMap<SectionId, u32>) {
    let mut open: Vec<&HierarchyNode> = nodes.iter().collect();
    while let Some(node) = open.pop() {
        levels.insert(node.section_id.clone(), node.level);
        open.extend(&node.children);
    }
}

fn inconsistent(what: impl Into<String>) -> FolderError {
    FolderError::Inconsistent(what.into())
}

impl Folder {
    /// How much of the source was read.
    pub fn progress(&self) -> Progress {
        progress(&self.manifest)
    }

    /// Every section in reading order, each with its parent.
    pub fn sections(&self) -> Vec<(&NavSection, Option<&NavSection>)> {
        let mut out = Vec::new();
        let mut open: Vec<(&NavSection, Option<&NavSection>)> = self.nav.sections.iter().rev().map(|section| (section, None)).collect();
        while let Some((section, parent)) = open.pop() {
            out.push((section, parent));
            open.extend(section.children.iter().rev().map(|child| (child, Some(section))));
        }
        out
    }

    /// Counts equal the chunks, ordinals are the reading order, every reference has its target.
    fn check(&self) -> Result<(), FolderError> {
        let count = |kind| u32::try_from(self.chunks.iter().filter(|chunk| chunk.kind == kind).count()).unwrap_or(u32::MAX);
        let counted = (count(ChunkType::Text), count(ChunkType::Image), count(ChunkType::Table));
        let (told, stats) = (&self.manifest.statistics, &self.nav.stats);
        if (told.text_chunks, told.image_chunks, told.table_chunks) != counted || told.total_chunks as usize != self.chunks.len() {
            return Err(inconsistent("the manifest's counts are not the chunks'"));
        }
        if (stats.text_chunks, stats.image_chunks, stats.table_chunks) != counted || stats.total_chunks as usize != self.chunks.len() {
            return Err(inconsistent("doc_nav's counts are not the chunks'"));
        }
        let sections: BTreeSet<&SectionId> = self.sections().into_iter().map(|(section, _)| &section.section_id).collect();
        for (at, chunk) in self.chunks.iter().enumerate() {
            if chunk.ordinal as usize != at {
                return Err(inconsistent(format!("chunk {at} has ordinal {}", chunk.ordinal)));
            }
            if !sections.contains(&chunk.metadata.section_id) {
                return Err(inconsistent(format!("chunk {at} stands in a section that doc_nav does not have")));
            }
            self.check_links(chunk)?;
        }
        Ok(())
    }

    fn check_links(&self, chunk: &Chunk) -> Result<(), FolderError> {
        for link in &chunk.metadata.connect_to {
            let target = self.chunks.get(link.target_ordinal as usize);
            if target.is_none_or(|target| target.chunk_id != link.target) {
                return Err(inconsistent(format!("chunk {} links to a chunk that is not there", chunk.ordinal)));
            }
            if link.relation != Relation::Embeds {
                continue;
            }
            let (Some(reference), Some(position)) = (&link.reference, link.position) else {
                return Err(inconsistent(format!("chunk {} embeds without saying where", chunk.ordinal)));
            };
            let length = (position.end as usize).saturating_sub(position.start as usize);
            let found: String = chunk.content.chars().skip(position.start as usize).take(length).collect();
            if found != *reference {
                return Err(inconsistent(format!("chunk {} does not hold {reference} at its position", chunk.ordinal)));
            }
        }
        Ok(())
    }

    /// Every asset that is named is stored, with the size the manifest says.
    async fn check_files(&self, objects: &dyn ObjectStore, prefix: &ObjectPrefix) -> Result<(), FolderError> {
        let files = &self.manifest.files;
        let listed: BTreeMap<&str, u64> = files
            .images
            .iter()
            .map(|image| (image.file_path.as_str(), image.size_bytes))
            .chain(files.tables.iter().map(|table| (table.file_path.as_str(), table.size_bytes)))
            .collect();
        for chunk in &self.chunks {
            if let Some(file) = chunk.metadata.file_path.as_deref().filter(|file| !listed.contains_key(file)) {
                return Err(inconsistent(format!("chunk {} names {file}, which the manifest does not list", chunk.ordinal)));
            }
        }
        if listed.is_empty() {
            return Ok(());
        }
        let stored = sizes(objects, prefix).await?;
        for (file, size) in listed {
            if stored.get(file) != Some(&size) {
                return Err(inconsistent(format!("{file} is missing or has another size")));
            }
        }
        Ok(())
    }
}

/// Name (relative to the folder) and size of every file in a revision folder.
async fn sizes(objects: &dyn ObjectStore, prefix: &ObjectPrefix) -> Result<BTreeMap<String, u64>, FolderError> {
    let mut out = BTreeMap::new();
    let mut cursor = None;
    loop {
        let page = objects.list(prefix, cursor.as_deref(), 1_000).await?;
        for object in &page.objects {
            let name = object.key.as_str().strip_prefix(prefix.as_str()).unwrap_or_default();
            out.insert(name.to_owned(), object.size);
        }
        match page.cursor {
            Some(next) => cursor = Some(next),
            None => return Ok(out),
        }
    }
}
