//! A namespace on a store of its own, published by hand.
#![allow(dead_code, unreachable_pub, missing_docs, reason = "shared by several test programs")]

use std::sync::Arc;

use quarry_index::{IndexedChunk, IndexedDocument, SectionText, SplitCache, build_split};
use quarry_model::record::{IndexManifest, ManifestPlace, NamespaceHead};
use quarry_model::{
    Chunk, ChunkId, ChunkMetadata, ChunkType, DocumentId, Limits, Namespace, NormalizedRequest, ObjectKey, Owner, RecordKey,
    RetrievalAnswer, RetrievalRequest, Revision, SCHEMA_VERSION, Scope, SectionId, Timestamp, path,
};
use quarry_ports::{Clock as _, Condition, Item, PutOptions, SystemClock};
use quarry_retrieval::{Options, Retriever};
use quarry_store_local::{LocalStore, PublicBase};
use tempfile::TempDir;

pub fn scope() -> Scope {
    Scope::new(Owner::local(), Namespace::default())
}

pub fn document_id(n: u64) -> DocumentId {
    format!("doc_{n:012x}").parse().unwrap()
}

pub fn revision(n: u64, version: u64) -> Revision {
    Revision::of(&format!("{n}/{version}"), "test", "{}")
}

/// A chunk of a document; `headings` from the top.
pub fn chunk(file: &str, headings: &[&str], ordinal: u32, kind: ChunkType, content: &str) -> IndexedChunk {
    let section = path::join([file].into_iter().chain(headings.iter().copied()));
    let file_path = (kind != ChunkType::Text)
        .then(|| format!("{}s/{}-{ordinal}.{}", kind.name(), kind.name(), if kind == ChunkType::Image { "png" } else { "html" }));
    let asset = file_path.as_deref().and_then(|path| path.rsplit('/').next()).map_or(String::new(), |name| format!("/{name}"));
    IndexedChunk {
        chunk: Chunk {
            chunk_id: if kind == ChunkType::Table { ChunkId::table(content, 0) } else { ChunkId::text(content) },
            kind,
            ordinal,
            content: content.to_owned(),
            path: format!("{section}{asset}"),
            metadata: ChunkMetadata {
                length: content.chars().count() as u32,
                token_count: quarry_language::tokens::count(content),
                summary: String::new(),
                page_nums: Vec::new(),
                tokens: Vec::new(),
                keywords: Vec::new(),
                lang: quarry_language::detect(content).to_owned(),
                file_path,
                section_id: SectionId::for_path(headings, 0),
                boxes: Vec::new(),
                connect_to: Vec::new(),
                rows: None,
                hidden: false,
                document_top_summary: String::new(),
            },
        },
        section: SectionText {
            path: section,
            title: (*headings.last().unwrap_or(&file)).to_owned(),
            summary: String::new(),
            ..SectionText::default()
        },
    }
}

/// A document of text chunks: one section per (title, paragraphs).
pub fn document(n: u64, version: u64, file: &str, sections: &[(&str, &[&str])]) -> IndexedDocument {
    let mut chunks = Vec::new();
    for (title, paragraphs) in sections {
        for paragraph in *paragraphs {
            let headings: &[&str] = if title.is_empty() { &[] } else { &[title] };
            chunks.push(chunk(file, headings, chunks.len() as u32, ChunkType::Text, paragraph));
        }
    }
    IndexedDocument { document_id: document_id(n), revision: revision(n, version), file_name: file.to_owned(), chunks }
}

/// A store with one namespace and a retriever on it.
pub struct World {
    pub folder: TempDir,
    pub store: LocalStore,
    pub retriever: Arc<Retriever>,
    version: std::sync::atomic::AtomicU64,
}

impl World {
    pub fn new() -> Self {
        Self::with(Options::default())
    }

    pub fn with(options: Options) -> Self {
        let folder = TempDir::new().unwrap();
        let store = LocalStore::open(folder.path(), PublicBase::default()).unwrap();
        let splits = Arc::new(SplitCache::new(1 << 28, None));
        let retriever = Arc::new(Retriever::new(store.objects(), store.records(), Arc::new(SystemClock), splits, options));
        Self { folder, store, retriever, version: std::sync::atomic::AtomicU64::new(0) }
    }

    /// Publishes exactly these documents.
    pub async fn publish(&self, documents: Vec<IndexedDocument>) {
        self.publish_to(&scope(), documents).await;
    }

    pub async fn publish_to(&self, scope: &Scope, documents: Vec<IndexedDocument>) {
        let splits = if documents.is_empty() { Vec::new() } else { vec![documents] };
        self.publish_as(scope, splits).await;
    }

    /// Publishes exactly these documents, each list of them in a split of its own; the splits' keys.
    pub async fn publish_splits(&self, splits: Vec<Vec<IndexedDocument>>) -> Vec<ObjectKey> {
        self.publish_as(&scope(), splits).await
    }

    async fn publish_as(&self, scope: &Scope, splits: Vec<Vec<IndexedDocument>>) -> Vec<ObjectKey> {
        let version = self.version.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1;
        let documents = || splits.iter().flatten();
        let (count, chunks) = (documents().count() as u64, documents().map(|document| document.chunks.len() as u64).sum());
        let mut manifest = IndexManifest { schema_version: SCHEMA_VERSION, splits: Vec::new(), retired: Vec::new() };
        for documents in splits {
            let split = build_split(scope, documents).unwrap();
            self.store.objects().put(&split.entry.key, split.bytes, PutOptions::default()).await.unwrap();
            manifest.splits.push(split.entry);
        }
        let keys = manifest.splits.iter().map(|split| split.key.clone()).collect();
        let head = NamespaceHead {
            schema_version: SCHEMA_VERSION,
            version,
            manifest: ManifestPlace::Inline(manifest),
            documents: count,
            chunks,
            updated_at: SystemClock.now(),
        };
        let item = Item::of(RecordKey::head(scope), &head).unwrap();
        self.store.records().put(item, Condition::None).await.unwrap();
        keys
    }

    pub async fn ask(&self, body: serde_json::Value) -> RetrievalAnswer {
        self.retriever.answer(&scope(), &request(body)).await.unwrap()
    }
}

pub fn request(body: serde_json::Value) -> NormalizedRequest {
    let request: RetrievalRequest = serde_json::from_value(body).unwrap();
    request.validate(&Limits::default()).unwrap()
}

pub fn now() -> Timestamp {
    SystemClock.now()
}
