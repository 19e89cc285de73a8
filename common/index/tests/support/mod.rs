//! What the tests and measurements of this room share: an object store in memory that counts, and documents.
#![allow(dead_code, unreachable_pub, missing_docs, reason = "each test uses a part")]

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use quarry_index::{IndexedChunk, IndexedDocument, SectionText};
use quarry_language::{content_words, detect};
use quarry_model::{
    Chunk, ChunkId, ChunkMetadata, ChunkType, DocumentId, Namespace, ObjectKey, ObjectPrefix, Owner, Revision, Scope, SectionId, path,
};
use quarry_ports::{ObjectError, ObjectMeta, ObjectPage, ObjectStore, PresignedPut, PutOptions};

/// How long a read takes: a time for the request, different each time, and one for its bytes.
#[derive(Clone, Copy)]
pub struct Network {
    pub request: (Duration, Duration),
    pub bytes_per_second: u64,
}

impl Network {
    /// Every request as long as a test needs to see what is under way together.
    pub const TEST: Self = Self { request: (Duration::from_millis(5), Duration::from_millis(5)), bytes_per_second: u64::MAX };
    /// No time at all.
    pub const NONE: Self = Self { request: (Duration::ZERO, Duration::ZERO), bytes_per_second: u64::MAX };
    /// What was measured of object storage inside a region.
    pub const REGION: Self = Self { request: (Duration::from_millis(15), Duration::from_millis(30)), bytes_per_second: 90_000_000 };

    fn time(&self, request: usize, bytes: usize) -> Duration {
        let (least, most) = self.request;
        let share = (request as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48;
        least + most.saturating_sub(least) * share as u32 / 65_536 + Duration::from_secs_f64(bytes as f64 / self.bytes_per_second as f64)
    }
}

/// Objects in memory. Counts reads, bytes and rounds: a round begins when a read starts while no other is under way.
#[derive(Default)]
pub struct CountingObjects {
    objects: Mutex<BTreeMap<String, Bytes>>,
    pub reads: AtomicUsize,
    pub bytes: AtomicUsize,
    pub rounds: AtomicUsize,
    in_flight: AtomicUsize,
    /// The most reads under way at once.
    pub most: AtomicUsize,
    network: OnceLock<Network>,
}

impl CountingObjects {
    /// Chooses how long reads take; [`Network::TEST`] otherwise.
    pub fn network(&self, network: Network) {
        assert!(self.network.set(network).is_ok(), "chosen once");
    }

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
        let request = self.reads.fetch_add(1, Ordering::SeqCst);
        let before = self.in_flight.fetch_add(1, Ordering::SeqCst);
        if before == 0 {
            self.rounds.fetch_add(1, Ordering::SeqCst);
        }
        self.most.fetch_max(before + 1, Ordering::SeqCst);
        let found = self.find(key, range);
        // Reads started together are under way together.
        let bytes = found.as_ref().map_or(0, Bytes::len);
        let time = self.network.get().unwrap_or(&Network::TEST).time(request, bytes);
        if time > Duration::ZERO {
            tokio::time::sleep(time).await;
        }
        self.in_flight.fetch_sub(1, Ordering::SeqCst);
        self.bytes.fetch_add(bytes, Ordering::SeqCst);
        found
    }

    fn find(&self, key: &ObjectKey, range: Option<Range<u64>>) -> Result<Bytes, ObjectError> {
        let whole = self.objects.lock().unwrap().get(key.as_str()).cloned().ok_or_else(|| ObjectError::NotFound(key.clone()))?;
        match range {
            None => Ok(whole),
            Some(range) if range.end <= whole.len() as u64 => Ok(whole.slice(range.start as usize..range.end as usize)),
            Some(_) => Err(ObjectError::Range(key.clone())),
        }
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
    let lang = detect(content);
    let mut indexed = chunk_in(lang, file_name, headings, ordinal, kind, content);
    indexed.chunk.metadata.tokens = content_words(content, lang);
    indexed
}

/// As [`chunk`], in a language that is known, without its words.
pub fn chunk_in(lang: &str, file_name: &str, headings: &[&str], ordinal: u32, kind: ChunkType, content: &str) -> IndexedChunk {
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
            tokens: Vec::new(),
            keywords: Vec::new(),
            lang: lang.to_owned(),
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
