//! A namespace to publish into: revision folders written as a parser's stage writes them, jobs, and what a reader sees.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]

pub mod counting;
pub mod failing;
pub mod index;
pub mod pausing;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use bytes::Bytes;
use quarry_index::SplitCache;
use quarry_model::chunk::ChunkFile;
use quarry_model::hierarchy::HierarchyNode;
use quarry_model::manifest::{Files, ParserInfo, Processing, ProfileInfo, Quality, QualityStatus, SourceInfo, Stages, Statistics, Timing};
use quarry_model::message::{PublishAction, PublishMessage};
use quarry_model::nav::{NavResources, NavSection, NavStats};
use quarry_model::record::{DocumentRecord, DocumentStatus, GraphEdge, GraphNode, ManifestPlace, NamespaceHead, Order};
use quarry_model::{
    Chunk, ChunkId, ChunkMetadata, ChunkType, DocNav, DocumentId, Evidence, Format, HierarchyFile, Job, JobState, Limits, Manifest,
    Namespace, ObjectKey, Outcome, Owner, RecordKey, RecordPrefix, Revision, SCHEMA_VERSION, Scope, SectionId, Timestamp,
};
use quarry_ports::{Clock, ObjectStore, PutOptions, Records, Stage};
use quarry_publisher::Publisher;
use quarry_runtime::Jobs;
use quarry_runtime::jobs::DropIn;
use quarry_store_local::{LocalStore, PublicBase};
use serde::Serialize;

/// Goes on by a millisecond with every look, so that runs can be compared.
#[derive(Debug, Default)]
pub struct Ticking(AtomicI64);

impl Ticking {
    /// Later than everything in the `life`-th life of a store before.
    fn in_life(life: i64) -> Self {
        Self(AtomicI64::new(life * 100_000_000))
    }
}

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_796_000_000_000 + self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// A store of its own with a publisher on it.
pub struct World {
    folder: Option<tempfile::TempDir>,
    pub objects: Arc<dyn ObjectStore>,
    pub records: Arc<dyn Records>,
    pub clock: Arc<dyn Clock>,
    pub scope: Scope,
    pub jobs: Jobs,
}

/// A document in a test: its name, its paragraphs (each a chunk), which version of it, and when its job was made.
#[derive(Debug, Clone)]
pub struct Draft {
    pub name: String,
    pub paragraphs: Vec<String>,
    pub at: i64,
}

pub fn draft(name: &str, at: i64, paragraphs: &[&str]) -> Draft {
    Draft { name: name.to_owned(), paragraphs: paragraphs.iter().map(|&p| p.to_owned()).collect(), at }
}

impl World {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut world = Self::at(folder.path(), 0);
        world.folder = Some(folder);
        world
    }

    /// The store in a folder, in its `life`-th life: the clock goes on where no earlier life can have come to.
    pub fn at(folder: &std::path::Path, life: i64) -> Self {
        let store = LocalStore::open(folder, PublicBase::default()).unwrap();
        let clock: Arc<dyn Clock> = Arc::new(Ticking::in_life(life));
        let records = store.records();
        Self {
            folder: None,
            objects: store.objects(),
            jobs: Jobs::new(Arc::clone(&records), Arc::clone(&clock)),
            records,
            clock,
            scope: Scope::new(Owner::local(), Namespace::default()),
        }
    }

    pub fn publisher(&self) -> Publisher {
        self.publisher_on(Arc::clone(&self.objects), Arc::clone(&self.records))
    }

    pub fn publisher_on(&self, objects: Arc<dyn ObjectStore>, records: Arc<dyn Records>) -> Publisher {
        Publisher::new(objects, records, Arc::clone(&self.clock), Arc::new(SplitCache::new(64 << 20, None)))
    }

    pub fn document(&self, name: &str) -> DocumentId {
        DocumentId::for_drop_in(&self.scope, name)
    }

    /// Makes the job and the finished folder of a draft, and the message that a parser's stage would send.
    pub async fn parsed(&self, draft: &Draft) -> PublishMessage {
        let job = self.job(draft).await;
        let revision = self.write_folder(draft, &job).await;
        PublishMessage {
            scope: self.scope.clone(),
            document_id: job.document_id.clone(),
            order: job.order.clone(),
            action: PublishAction::Publish { job_id: job.job_id, revision },
        }
    }

    pub async fn job(&self, draft: &Draft) -> Job {
        let drop = DropIn {
            scope: self.scope.clone(),
            source: ObjectKey::from_event(&format!("inbox/default/{}", draft.name)),
            place: draft.name.clone(),
            content_tag: format!("{}@{}", draft.paragraphs.join("\n"), draft.at),
            file_name: draft.name.clone(),
            order: order(draft.at),
        };
        self.jobs.create_drop_in(drop).await.unwrap().job()
    }

    pub fn order_message(&self, name: &str, at: i64, action: PublishAction) -> PublishMessage {
        PublishMessage { scope: self.scope.clone(), document_id: self.document(name), order: order(at), action }
    }

    async fn write_folder(&self, draft: &Draft, job: &Job) -> Revision {
        let files = Folder::of(draft, job);
        for (name, bytes) in &files.files {
            let key = ObjectKey::artifact(&self.scope, &job.document_id, &files.revision, name);
            self.objects.put(&key, bytes.clone(), PutOptions::default()).await.unwrap();
        }
        self.objects.put(&job.source, Bytes::from(draft.paragraphs.join("\n\n")), PutOptions::default()).await.unwrap();
        files.revision
    }

    pub async fn head(&self) -> NamespaceHead {
        self.records.get(&RecordKey::head(&self.scope)).await.unwrap().expect("a head").read().unwrap()
    }

    /// Live documents with the revision and the number of chunks that the head says.
    pub async fn live(&self) -> BTreeMap<DocumentId, (Revision, u32)> {
        let Some(item) = self.records.get(&RecordKey::head(&self.scope)).await.unwrap() else {
            return BTreeMap::new();
        };
        let head: NamespaceHead = item.read().unwrap();
        let manifest = match head.manifest {
            ManifestPlace::Inline(manifest) => manifest,
            ManifestPlace::Object(key) => serde_json::from_slice(&self.objects.get(&key).await.unwrap().0).unwrap(),
        };
        let mut live = BTreeMap::new();
        for document in manifest.splits.into_iter().flat_map(|split| split.documents).filter(|document| !document.dead) {
            let chunks = document.to - document.from;
            assert!(live.insert(document.document_id, (document.revision, chunks)).is_none(), "a document is live once");
        }
        assert_eq!(head.documents, live.len() as u64);
        assert_eq!(head.chunks, live.values().map(|(_, chunks)| u64::from(*chunks)).sum::<u64>());
        live
    }

    pub async fn split_hashes(&self) -> Vec<String> {
        match self.head().await.manifest {
            ManifestPlace::Inline(manifest) => manifest.splits.into_iter().map(|split| split.hash).collect(),
            ManifestPlace::Object(_) => panic!("not in a small test"),
        }
    }

    pub async fn record(&self, name: &str) -> Option<DocumentRecord> {
        let key = RecordKey::document(&self.scope, &self.document(name));
        self.records.get(&key).await.unwrap().map(|item| item.read().unwrap())
    }

    pub async fn job_state(&self, message: &PublishMessage) -> JobState {
        let PublishAction::Publish { job_id, .. } = &message.action else { panic!("no job") };
        self.jobs.load(job_id).await.unwrap().unwrap().state
    }

    pub async fn edges(&self) -> Vec<GraphEdge> {
        self.graph().await.1
    }

    pub async fn graph(&self) -> (Vec<GraphNode>, Vec<GraphEdge>) {
        let (mut nodes, mut edges) = (Vec::new(), Vec::new());
        for item in self.records.query_all(&RecordPrefix::graph(&self.scope)).await.unwrap() {
            if item.key.sk.starts_with("NODE#") { nodes.push(item.read().unwrap()) } else { edges.push(item.read().unwrap()) }
        }
        (nodes, edges)
    }

    /// What must hold at any moment: the head names only revisions that are complete in the records, every document's
    /// record agrees with it, and a job is done exactly when its revision was made visible.
    pub async fn check(&self, messages: &[PublishMessage]) {
        let live = self.live().await;
        for (document, (revision, chunks)) in &live {
            let item = self.records.get(&RecordKey::document(&self.scope, document)).await.unwrap().expect("its record");
            let record: DocumentRecord = item.read().unwrap();
            assert_eq!(record.status, DocumentStatus::Active);
            assert_eq!(record.active_revision.as_ref(), Some(revision));
            assert_eq!(record.chunk_count, *chunks);
            let stored = self.records.query_all(&RecordPrefix::chunks(document, revision)).await.unwrap();
            assert_eq!(stored.len(), *chunks as usize);
            assert!(!self.records.query_all(&RecordPrefix::sections(document, revision)).await.unwrap().is_empty());
        }
        for item in self.records.query_all(&RecordPrefix::documents(&self.scope)).await.unwrap() {
            let record: DocumentRecord = item.read().unwrap();
            assert_eq!(record.status == DocumentStatus::Active, live.contains_key(&record.document_id));
            if let Some(job) = &record.active_job {
                assert_eq!(self.jobs.load(job).await.unwrap().unwrap().state, JobState::Done);
            }
        }
        for message in messages {
            let PublishAction::Publish { job_id, revision } = &message.action else { continue };
            let job = self.jobs.load(job_id).await.unwrap().unwrap();
            if live.get(&message.document_id).is_some_and(|(served, _)| served == revision) {
                assert_eq!(job.state, JobState::Done);
                assert!(job.result_sha256.is_some());
            }
        }
    }
}

pub fn order(at: i64) -> Order {
    Order { created_millis: at, sequencer: None }
}

pub async fn run(publisher: &Publisher, messages: Vec<PublishMessage>) -> Vec<Outcome<()>> {
    publisher.run(messages).await
}

struct Folder {
    revision: Revision,
    files: Vec<(&'static str, Bytes)>,
}

impl Folder {
    fn of(draft: &Draft, job: &Job) -> Self {
        let text = draft.paragraphs.join("\n\n");
        let blake3 = blake3::hash(text.as_bytes()).to_hex().to_string();
        let revision = Revision::of(&blake3, "test 1", "{}");
        let section = SectionId::for_path(&[&draft.name, "Part"], 0);
        let path = format!("{}/Part", draft.name);
        let chunks: Vec<Chunk> = draft
            .paragraphs
            .iter()
            .enumerate()
            .map(|(at, text)| Chunk {
                chunk_id: ChunkId::text(text),
                kind: ChunkType::Text,
                ordinal: u32::try_from(at).unwrap(),
                content: text.clone(),
                path: path.clone(),
                metadata: ChunkMetadata {
                    length: u32::try_from(text.chars().count()).unwrap(),
                    token_count: 1,
                    summary: String::new(),
                    page_nums: vec![],
                    tokens: words(text),
                    keywords: vec![],
                    lang: "en".into(),
                    file_path: None,
                    section_id: section.clone(),
                    boxes: vec![],
                    connect_to: vec![],
                    rows: None,
                    hidden: false,
                    document_top_summary: String::new(),
                },
            })
            .collect();
        let total = u32::try_from(chunks.len()).unwrap();
        let nav = DocNav {
            schema_version: SCHEMA_VERSION,
            version: "1.0".into(),
            file_name: draft.name.clone(),
            stats: NavStats { total_chunks: total, text_chunks: total, max_depth: 1, ..NavStats::default() },
            sections: vec![NavSection {
                section_id: section.clone(),
                title: "Part".into(),
                path,
                level: 1,
                summary: draft.paragraphs.first().cloned().unwrap_or_default(),
                page_start: None,
                page_end: None,
                chunk_count: total,
                token_count: total,
                children: vec![],
                images: vec![],
                tables: vec![],
            }],
            resources: NavResources::default(),
        };
        let hierarchy = HierarchyFile {
            schema_version: SCHEMA_VERSION,
            headings: vec![HierarchyNode {
                number: None,
                section_id: section,
                title: "Part".into(),
                level: 1,
                original_level: None,
                page: None,
                evidence: Some(Evidence::Markup),
                children: vec![],
            }],
        };
        let manifest = manifest(draft, job, &revision, &blake3, total, text.len() as u64);
        Self {
            revision,
            files: vec![
                ("chunks.json", json(&ChunkFile { schema_version: SCHEMA_VERSION, chunks })),
                ("doc_nav.json", json(&nav)),
                ("hierarchy.json", json(&hierarchy)),
                ("result.zip", Bytes::from(text.into_bytes())),
                ("manifest.json", json(&manifest)),
            ],
        }
    }
}

fn manifest(draft: &Draft, job: &Job, revision: &Revision, blake3: &str, total: u32, size: u64) -> Manifest {
    let at = Timestamp::from_millis(draft.at);
    Manifest {
        schema_version: SCHEMA_VERSION,
        version: "2.0".into(),
        job_id: Some(job.job_id.clone()),
        data_id: None,
        document_id: job.document_id.clone(),
        revision: revision.clone(),
        source_file_name: draft.name.clone(),
        source: SourceInfo {
            sha256: blake3.to_owned(),
            blake3: blake3.to_owned(),
            size_bytes: size,
            media_type: "text/markdown".into(),
            detected_format: Format::Markdown,
            claimed_format: None,
            pages: None,
        },
        processing_date: at,
        processing: Processing {
            page_count: 0,
            timing: Timing { started_at: at, completed_at: at, duration_ms: 0 },
            stages: Stages::default(),
            parser: ParserInfo { name: "test".into(), version: "1".into() },
            models: serde_json::Map::new(),
            limits: Limits::default(),
        },
        profile: ProfileInfo { category: "text".into(), routing_category: "generic".into() },
        statistics: Statistics { total_chunks: total, text_chunks: total, total_tokens: u64::from(total), ..Statistics::default() },
        files: Files {
            chunks: "chunks.json".into(),
            markdown: "full.md".into(),
            hierarchy: "hierarchy.json".into(),
            images: vec![],
            tables: vec![],
        },
        quality: Quality { status: QualityStatus::Complete, warnings: vec![] },
        hierarchy: serde_json::Map::new(),
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_lowercase).collect()
}

fn json(value: &impl Serialize) -> Bytes {
    Bytes::from(serde_json::to_vec_pretty(value).unwrap())
}

/// Every permutation of `0..n`.
pub fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![vec![]];
    }
    let shorter = permutations(n - 1);
    let insert = |p: &Vec<usize>| {
        (0..n)
            .map(|at| {
                let mut q = p.clone();
                q.insert(at, n - 1);
                q
            })
            .collect::<Vec<_>>()
    };
    shorter.iter().flat_map(insert).collect()
}

/// Ids of live documents.
pub fn ids(live: &BTreeMap<DocumentId, (Revision, u32)>) -> BTreeSet<DocumentId> {
    live.keys().cloned().collect()
}
