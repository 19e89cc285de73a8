//! Every stage on one local store, and what the store holds in the end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use quarry::parsers::parser;
use quarry_document::{ParseStage, Parser};
use quarry_index::SplitCache;
use quarry_model::message::QueueName;
use quarry_model::record::{DocumentRecord, NamespaceHead};
use quarry_model::{Family, JobState, Limits, Namespace, ObjectKey, Owner, RecordKey, RecordPrefix, Scope, Timestamp};
use quarry_ports::{Clock, Outgoing, PutOptions, Received, Stage};
use quarry_profiler::Profiler;
use quarry_publisher::Publisher;
use quarry_runtime::jobs::JobFilter;
use quarry_runtime::{Delivery, Disposition, Jobs, deliver};
use quarry_store_local::{LocalStore, PublicBase};
use serde_json::Value;
use tempfile::TempDir;

/// A clock that stands still, so that equal work leaves equal records.
#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_796_032_800_000)
    }
}

pub(crate) struct Bench {
    pub(crate) store: LocalStore,
    pub(crate) jobs: Jobs,
    pub(crate) delivery: Delivery,
    profiler: Profiler,
    parsers: BTreeMap<Family, ParseStage<Box<dyn Parser>>>,
    pub(crate) publisher: Publisher,
    _folder: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(Limits::default())
    }

    pub(crate) fn with(limits: Limits) -> Self {
        let folder = TempDir::new().expect("folder");
        let store = LocalStore::open(folder.path(), PublicBase::default()).expect("store");
        let clock: Arc<dyn Clock> = Arc::new(Still);
        let jobs = Jobs::new(store.records(), clock.clone());
        let shared = Arc::new(limits.clone());
        let parse = |family| ParseStage::new(parser(family), store.objects(), store.queues(), clock.clone(), limits.clone());
        Self {
            parsers: Family::ALL.into_iter().map(|family| (family, parse(family))).collect(),
            profiler: Profiler::new(store.objects(), store.queues(), jobs.clone(), Arc::clone(&shared), Owner::local()),
            publisher: Publisher::new(store.objects(), store.records(), clock, Arc::new(SplitCache::new(64 << 20, None))),
            delivery: Delivery::shared(jobs.clone(), shared, Duration::from_mins(1)).expect("delivery"),
            jobs,
            store,
            _folder: folder,
        }
    }

    /// The stage that reads a family of formats.
    pub(crate) fn parser(&self, family: Family) -> &ParseStage<Box<dyn Parser>> {
        &self.parsers[&family]
    }

    pub(crate) fn scope() -> Scope {
        Scope::new(Owner::local(), Namespace::default())
    }

    pub(crate) async fn put(&self, key: &str, content: impl Into<Bytes>) -> (u64, String) {
        let meta = self.store.objects().put(&ObjectKey::from_event(key), content.into(), PutOptions::default()).await.expect("put");
        (meta.size, meta.etag)
    }

    /// Sends a bucket notification for an object as the bucket would.
    pub(crate) async fn notify(&self, key: &str, size: u64, etag: &str, sequencer: &str) {
        self.notify_in(None, key, size, etag, sequencer).await;
    }

    /// The same, sent in a trace.
    pub(crate) async fn notify_in(&self, trace: Option<quarry_model::Trace>, key: &str, size: u64, etag: &str, sequencer: &str) {
        let body = serde_json::json!({"Records": [{
            "eventSource": "aws:s3", "eventName": "ObjectCreated:Put", "eventTime": "2026-11-30T10:00:00.000Z",
            "s3": {"bucket": {"name": "quarry"}, "object": {"key": key, "size": size, "eTag": etag, "sequencer": sequencer}}
        }]});
        let message = Outgoing { body: body.to_string(), trace, ..Outgoing::default() };
        self.store.queues().send(QueueName::Profile, vec![message]).await.expect("send");
    }

    /// Runs every stage until no queue gives anything more.
    pub(crate) async fn drain(&self) {
        loop {
            let mut moved = self.step(&self.profiler, QueueName::Profile, 1).await;
            for (family, stage) in &self.parsers {
                moved += self.step(stage, QueueName::Parse(*family), 1).await;
            }
            moved += self.step(&self.publisher, QueueName::Publish, 10).await;
            if moved == 0 {
                return;
            }
        }
    }

    /// Has everything that has arrived profiled, and takes the messages that this makes for a family's parser.
    pub(crate) async fn profiled(&self, family: Family) -> Vec<Received> {
        while self.step(&self.profiler, QueueName::Profile, 1).await > 0 {}
        let (queues, name) = (self.store.queues(), QueueName::Parse(family));
        let received = queues.receive(name, 100, Duration::from_mins(1), Duration::ZERO).await.expect("receive");
        for message in &received {
            queues.acknowledge(name, &message.receipt).await.expect("acknowledge");
        }
        received
    }

    async fn step<S: Stage>(&self, stage: &S, queue: QueueName, batch: usize) -> usize {
        let received = self.store.queues().receive(queue, 10, Duration::from_mins(1), Duration::ZERO).await.expect("receive");
        for messages in received.chunks(batch) {
            for (message, verdict) in messages.iter().zip(deliver(stage, &self.delivery, messages).await) {
                let queues = self.store.queues();
                match verdict {
                    Disposition::Acknowledge => queues.acknowledge(queue, &message.receipt).await.expect("acknowledge"),
                    Disposition::Release(_) => queues.change_visibility(queue, &message.receipt, Duration::ZERO).await.expect("release"),
                }
            }
        }
        received.len()
    }

    /// What a reader can see, as one value to compare: documents, the live index, every record of the live revisions,
    /// every stored object by its content, and how the jobs ended.
    pub(crate) async fn state(&self) -> BTreeMap<String, String> {
        let mut state = BTreeMap::new();
        let scope = Self::scope();
        for item in self.store.records().query_all(&RecordPrefix::documents(&scope)).await.expect("documents") {
            let document: DocumentRecord = item.read().expect("document");
            if let Some(revision) = &document.active_revision {
                for row in self.store.records().query_all(&RecordPrefix::revision(&document.document_id, revision)).await.expect("rows") {
                    state.insert(format!("{} {}", row.key.pk, row.key.sk), Value::Object(row.body).to_string());
                }
            }
            state.insert(item.key.sk.clone(), Value::Object(item.body).to_string());
        }
        if let Some(head) = self.store.records().get(&RecordKey::head(&scope)).await.expect("head") {
            let head: NamespaceHead = head.read().expect("head");
            // How many publications it took is not part of the state; what is live is.
            let quarry_model::record::ManifestPlace::Inline(manifest) = &head.manifest else { panic!("a small manifest is inline") };
            state.insert("splits".into(), serde_json::to_string(&manifest.splits).expect("JSON"));
            state.insert("counts".into(), format!("{} documents, {} chunks", head.documents, head.chunks));
        }
        for job in self.jobs.list(&Owner::local(), &JobFilter::default(), 1, 100).await.expect("jobs").jobs {
            assert!(matches!(job.state, JobState::Done | JobState::Failed), "{} is {:?}", job.job_id, job.state);
            state.insert(format!("job {}", job.job_id), format!("{:?} {:?}", job.state, job.error));
        }
        state
    }
}

/// The messages of a fixture, as the queue would deliver them.
pub(crate) fn fixture(function: &str, case: &str) -> Vec<Received> {
    let path = quarry_tests::repository().join("events").join(function).join(case);
    let event: Value = serde_json::from_slice(&std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))).expect("JSON");
    let records = event["Records"].as_array().expect("records");
    records
        .iter()
        .map(|record| Received {
            id: record["messageId"].as_str().expect("id").to_owned(),
            body: record["body"].as_str().expect("body").to_owned(),
            group: record["attributes"]["MessageGroupId"].as_str().map(str::to_owned),
            receipt: record["receiptHandle"].as_str().expect("receipt").to_owned(),
            trace: record["attributes"]["AWSTraceHeader"].as_str().and_then(|header| header.parse().ok()),
            receive_count: record["attributes"]["ApproximateReceiveCount"].as_str().and_then(|n| n.parse().ok()).unwrap_or(1),
        })
        .collect()
}
