//! What the tests and measurements of this room share: an object store in memory that counts, and documents.
#![allow(dead_code, unreachable_pub, missing_docs, reason = "each test uses a part")]

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use quarry_index::{IndexedChunk, IndexedDocument, SectionText};
use quarry_language::{content_words, detect};
use quarry_model::{
    Chunk, ChunkId, ChunkMetadata, ChunkType, DocumentId, Namespace, ObjectKey, ObjectPrefix, Owner, Revision, Scope, SectionId, path,
};
use quarry_ports::{ObjectError, ObjectMeta, ObjectPage, ObjectStore, PresignedPut, PutOptions};

/// Objects in memory. Counts reads, bytes and rounds: a round begins when a read starts while no other is under way.
#[derive(Default)]
pub struct CountingObjects {
    objects: Mutex<BTreeMap<String, Bytes>>,
    pub reads: AtomicUsize,
    pub bytes: AtomicUsize,
    pub rounds: AtomicUsize,
    in_flight: AtomicUsize,
}

impl CountingObjects {
    pub fn set(&self, key: &ObjectKey, bytes: Bytes) {
        self.objects.lock().unwrap().insert(key.as_str().to_owned(), bytes);
    }

    pub fn remove(&self, key: &ObjectKey) {
        self.objects.lock().unwrap().remove(key.as_str());
    }

    /// Reads, rounds and bytes since the last call.
    pub fn take(&self) -> (usize, usize, usize) {
        (self.reads.swap(0, Ordering::SeqCst), self.rounds.swap(0, Ordering::SeqCst), self.bytes.swap(0, Ordering::SeqCst))
    }

    async fn read(&self, key: &ObjectKey, range: Option<Range<u64>>) -> Result<Bytes, ObjectError> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        if self.in_flight.fetch_add(1, Ordering::SeqCst) == 0 {
            self.rounds.fetch_add(1, Ordering::SeqCst);
        }
        // Reads started together are under way together.
        tokio::time::sleep(Duration::from_millis(5)).await;
        self.in_flight.fetch_sub(1, Ordering::SeqCst);
        let whole = self.objects.lock().unwrap().get(key.as_str()).cloned().ok_or_else(|| ObjectError::NotFound(key.clone()))?;
        let bytes = match range {
            None => whole,
            Some(range) if range.end <= whole.len() as u64 => whole.slice(range.start as usize..range.end as usize),
            Some(_) => return Err(ObjectError::Range(key.clone())),
        };
        self.bytes.fetch_add(bytes.len(), Ordering::SeqCst);
        Ok(bytes)
    }
}

fn unsupported() -> ObjectError {
    ObjectError::Other("not in this test".into())
}

#[async_trait]
impl ObjectStore for CountingObjects {
    async fn put(&self, key: &ObjectKey, body: Bytes, _options: PutOptions) -> Result<ObjectMeta, ObjectError> {
        let meta = ObjectMeta { key: key.clone(), size: body.len() as u64, etag: String::new() };
        self.set(key, body);
        Ok(meta)
    }
    async fn get(&self, key: &ObjectKey) -> Result<(Bytes, ObjectMeta), ObjectError> {
        let bytes = self.read(key, None).await?;
        let meta = ObjectMeta { key: key.clone(), size: bytes.len() as u64, etag: String::new() };
        Ok((bytes, meta))
    }
    async fn get_range(&self, key: &ObjectKey, range: Range<u64>) -> Result<Bytes, ObjectError> {
        self.read(key, Some(range)).await
    }
    async fn head(&self, _key: &ObjectKey) -> Result<ObjectMeta, ObjectError> {
        Err(unsupported())
    }
    async fn delete(&self, key: &ObjectKey) -> Result<(), ObjectError> {
        self.remove(key);
        Ok(())
    }
    async fn list(&self, _prefix: &ObjectPrefix, _cursor: Option<&str>, _limit: usize) -> Result<ObjectPage, ObjectError> {
        Err(unsupported())
    }
    async fn presign_get(&self, _key: &ObjectKey, _life: Duration, _file_name: Option<&str>) -> Result<String, ObjectError> {
        Err(unsupported())
    }
    async fn presign_put(&self, _key: &ObjectKey, _life: Duration, _content_type: &str) -> Result<PresignedPut, ObjectError> {
        Err(unsupported())
    }
}

pub fn scope() -> Scope {
    Scope::new(Owner::local(), Namespace::default())
}

pub fn document_id(n: u64) -> DocumentId {
    format!("doc_{n:012x}").parse().unwrap()
}

pub fn revision(n: u64) -> Revision {
    Revision::of(&n.to_string(), "test 1", "{}")
}

/// A chunk of type `kind` in the section of these headings.
pub fn chunk(file_name: &str, headings: &[&str], ordinal: u32, kind: ChunkType, content: &str) -> IndexedChunk {
    let segments: Vec<&str> = std::iter::once(file_name).chain(headings.iter().copied()).collect();
    let section_path = path::join(segments.iter().copied());
    let chunk = Chunk {
        chunk_id: ChunkId::text(content),
        kind,
        ordinal,
        content: content.to_owned(),
        path: section_path.clone(),
        metadata: ChunkMetadata {
            length: content.chars().count() as u32,
            token_count: content.len() as u32 / 4,
            summary: String::new(),
            page_nums: vec![1],
            tokens: content_words(content, detect(content)),
            keywords: Vec::new(),
            lang: detect(content).to_owned(),
            file_path: None,
            section_id: SectionId::for_path(&segments, 0),
            boxes: Vec::new(),
            connect_to: Vec::new(),
            rows: None,
            hidden: false,
            document_top_summary: String::new(),
        },
    };
    let title = headings.last().copied().unwrap_or(file_name).to_owned();
    IndexedChunk { chunk, section: SectionText { path: section_path, title, summary: String::new(), ..SectionText::default() } }
}

/// A document whose chunks are plain texts without headings.
pub fn document(n: u64, file_name: &str, texts: &[&str]) -> IndexedDocument {
    let chunks = texts.iter().enumerate().map(|(at, text)| chunk(file_name, &[], at as u32, ChunkType::Text, text)).collect();
    IndexedDocument { document_id: document_id(n), revision: revision(n), file_name: file_name.to_owned(), chunks }
}
