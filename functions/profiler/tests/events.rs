//! The profiler fed from `events/profiler/*.json`, as its queue would deliver them, on the local store.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use quarry_model::job::SourceType;
use quarry_model::message::{ParseMessage, QueueName};
use quarry_model::pdf::{Anatomy, Numbering, PageFeatures, PageSize, PdfProfile, Shard};
use quarry_model::{DocumentCode, DocumentFailure, DocumentId, Family, Format, Job, JobState, Limits, Namespace, ObjectKey, Owner, Scope};
use quarry_pdf::testing::{Builder, Leaf};
use quarry_ports::{PutOptions, Received, SystemClock};
use quarry_profiler::Profiler;
use quarry_profiler::pdf::{MeasurePdf, Measured};
use quarry_runtime::jobs::{JobFilter, NewJob};
use quarry_runtime::{Delivery, Disposition, Jobs, deliver};
use quarry_store_local::{LocalStore, PublicBase};
use serde_json::{Map, Value};

const MANUAL: &str = "# Pump\n\nThe **bearing** runs hot.\n\n- check the oil\n";

struct Bench {
    store: LocalStore,
    jobs: Jobs,
    profiler: Profiler,
    delivery: Delivery,
    _folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self::with(Limits::default())
    }

    fn with(limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = LocalStore::open(folder.path(), PublicBase::default()).unwrap();
        let jobs = Jobs::new(store.records(), Arc::new(SystemClock));
        let limits = Arc::new(limits);
        let profiler = Profiler::new(store.objects(), store.queues(), jobs.clone(), Arc::clone(&limits), Owner::local());
        let delivery = Delivery::shared(jobs.clone(), limits, Duration::from_mins(1)).unwrap();
        Self { store, jobs, profiler, delivery, _folder: folder }
    }

    async fn put(&self, key: &str, content: impl Into<Bytes>) -> String {
        let key = ObjectKey::from_event(key);
        self.store.objects().put(&key, content.into(), PutOptions::default()).await.unwrap().etag
    }

    /// Delivers messages one by one; the dispositions in order.
    async fn deliver(&self, messages: &[Received]) -> Vec<Disposition> {
        let mut verdicts = Vec::new();
        for message in messages {
            verdicts.extend(deliver(&self.profiler, &self.delivery, std::slice::from_ref(message)).await);
        }
        verdicts
    }

    /// A fixture's messages, their sizes and tags made those of the objects in this store (another tag stays where the
    /// fixture calls it `OLD`).
    async fn fixture(&self, name: &str) -> Vec<Received> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../events/profiler").join(name);
        let event: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let mut messages = Vec::new();
        for record in event["Records"].as_array().unwrap() {
            messages.push(Received {
                id: record["messageId"].as_str().unwrap().to_owned(),
                body: self.with_real_tags(record["body"].as_str().unwrap()).await,
                group: None,
                receipt: "r".into(),
                receive_count: 1,
                trace: None,
            });
        }
        messages
    }

    async fn with_real_tags(&self, body: &str) -> String {
        let Ok(mut body) = serde_json::from_str::<Value>(body) else { return body.to_owned() };
        if let Some(inner) = body.get("Message").and_then(Value::as_str).map(str::to_owned) {
            body["Message"] = Box::pin(self.with_real_tags(&inner)).await.into();
        }
        if let Some(object) = body.pointer_mut("/Records/0/s3/object") {
            let key = object["key"].as_str().unwrap().replace('+', " ");
            let key = percent_decode(&key);
            if let Ok(meta) = self.store.objects().head(&ObjectKey::from_event(&key)).await {
                object["size"] = meta.size.into();
                if object["eTag"] != "OLD" {
                    object["eTag"] = meta.etag.into();
                }
            }
        }
        if let Some(key) = body.get("key").and_then(Value::as_str).map(ObjectKey::from_event) {
            let meta = self.store.objects().head(&key).await.unwrap();
            body["size"] = meta.size.into();
            body["etag"] = meta.etag.into();
        }
        body.to_string()
    }

    async fn parse_messages(&self, family: Family) -> Vec<ParseMessage> {
        let received = self.store.queues().receive(QueueName::Parse(family), 10, Duration::from_mins(1), Duration::ZERO).await.unwrap();
        received.iter().map(|message| serde_json::from_str(&message.body).unwrap()).collect()
    }

    async fn all_jobs(&self) -> Vec<Job> {
        self.jobs.list(&Owner::local(), &JobFilter::default(), 1, 100).await.unwrap().jobs
    }

    async fn upload(&self, file_name: &str, content: impl Into<Bytes>) -> Job {
        let new = NewJob {
            scope: Scope::new(Owner::local(), Namespace::default()),
            document_id: None,
            source_type: SourceType::File,
            source_url: None,
            file_name: file_name.into(),
            data_id: Some("d-1".into()),
            document_metadata: Map::new(),
            parsing_params: Map::new(),
            webhook: None,
            idempotency_key: None,
        };
        let job = self.jobs.create(new).await.unwrap().job();
        self.put(job.source.as_str(), content).await;
        job
    }

    /// The upload fixture, for a job of this store.
    async fn arrival(&self, job: &Job) -> Vec<Received> {
        let mut messages = self.fixture("upload.json").await;
        let body = messages[0].body.replace("uploads/local/job_0a1b2c3d4e5f", job.source.as_str());
        messages[0].body = self.with_real_tags(&body).await;
        messages
    }

    async fn reload(&self, job: &Job) -> Job {
        self.jobs.load(&job.job_id).await.unwrap().unwrap()
    }
}

fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let hex = after.get(..2).filter(|_| byte == b'%').and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(hex.unwrap_or(byte));
        rest = if hex.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn a_dropped_file_becomes_a_job_and_one_message() {
    let bench = Bench::new();
    let etag = bench.put("inbox/manuals/pump.md", MANUAL).await;
    let messages = bench.fixture("put.json").await;
    assert_eq!(bench.deliver(&messages).await, [Disposition::Acknowledge]);
    let sent = bench.parse_messages(Family::Text).await;
    let scope = Scope::new(Owner::local(), Namespace::new("manuals").unwrap());
    assert_eq!(sent.len(), 1);
    assert_eq!((&sent[0].scope, sent[0].file_name.as_str(), &sent[0].etag), (&scope, "pump.md", &etag));
    assert_eq!(sent[0].document_id, DocumentId::for_drop_in(&scope, "inbox/manuals/pump.md"));
    assert_eq!((sent[0].profile.format, sent[0].profile.encoding.as_deref()), (Format::Markdown, Some("UTF-8")));
    let jobs = bench.all_jobs().await;
    assert_eq!((jobs.len(), jobs[0].state, jobs[0].stage.as_str()), (1, JobState::Running, "parse-text"));
    assert_eq!((&jobs[0].job_id, jobs[0].source_type), (&sent[0].job_id, SourceType::DropIn));
}

#[tokio::test]
async fn every_wrapping_of_the_event_means_the_same() {
    for name in ["put.json", "topic.json"] {
        let bench = Bench::new();
        bench.put("inbox/manuals/pump.md", MANUAL).await;
        let messages = bench.fixture(name).await;
        assert_eq!(bench.deliver(&messages).await, [Disposition::Acknowledge], "{name}");
        assert_eq!(bench.parse_messages(Family::Text).await.len(), 1, "{name}");
    }
}

#[tokio::test]
async fn a_file_at_the_top_of_the_inbox_goes_to_the_default_namespace() {
    let bench = Bench::new();
    bench.put("inbox/pump.md", MANUAL).await;
    let messages = bench.fixture("drop-in.json").await;
    bench.deliver(&messages).await;
    assert_eq!(bench.parse_messages(Family::Text).await[0].scope.namespace, Namespace::default());
}

/// Row 44.
#[tokio::test]
async fn keys_are_decoded_once_and_names_kept() {
    let bench = Bench::new();
    bench.put("inbox/legal/2026/Müller + Söhne %41.md", MANUAL).await;
    let messages = bench.fixture("unicode-key.json").await;
    assert_eq!(bench.deliver(&messages).await, [Disposition::Acknowledge]);
    let sent = bench.parse_messages(Family::Text).await;
    assert_eq!((sent[0].file_name.as_str(), sent[0].scope.namespace.as_str()), ("Müller + Söhne %41.md", "legal"));
}

#[tokio::test]
async fn test_events_removals_and_foreign_keys_are_acknowledged_and_change_nothing() {
    let bench = Bench::new();
    bench.put("inbox/manuals/pump.md", MANUAL).await;
    bench.put("documents/local/default/doc_0a1b2c3d4e5f/x/chunks.json", "{}").await;
    for name in ["test-event.json", "removed.json", "foreign-key.json"] {
        let messages = bench.fixture(name).await;
        assert_eq!(bench.deliver(&messages).await, [Disposition::Acknowledge], "{name}");
    }
    assert!(bench.all_jobs().await.is_empty());
    assert!(bench.parse_messages(Family::Text).await.is_empty());
}

/// Row 41: one after the other, and all at once.
#[tokio::test]
async fn an_event_delivered_five_times_is_one_job_and_one_message() {
    let bench = Bench::new();
    bench.put("inbox/manuals/pump.md", MANUAL).await;
    let messages = bench.fixture("duplicates.json").await;
    assert_eq!(bench.deliver(&messages).await, [Disposition::Acknowledge; 5]);
    assert_eq!((bench.all_jobs().await.len(), bench.parse_messages(Family::Text).await.len()), (1, 1));

    let bench = Bench::new();
    bench.put("inbox/manuals/pump.md", MANUAL).await;
    let messages = bench.fixture("duplicates.json").await;
    let verdicts = deliver(&bench.profiler, &bench.delivery, &messages).await;
    assert_eq!(verdicts, [Disposition::Acknowledge; 5]);
    assert_eq!((bench.all_jobs().await.len(), bench.parse_messages(Family::Text).await.len()), (1, 1));
}

/// Row 42.
#[tokio::test]
async fn an_older_event_after_a_newer_one_is_skipped() {
    let bench = Bench::new();
    bench.put("inbox/manuals/pump.md", MANUAL).await;
    let messages = bench.fixture("out-of-order.json").await;
    assert_eq!(bench.deliver(&messages).await, [Disposition::Acknowledge; 2]);
    let jobs = bench.all_jobs().await;
    assert_eq!((jobs.len(), jobs[0].order.sequencer.as_deref()), (1, Some("0066A1B2C3D4E5F602")));
    assert_eq!(bench.parse_messages(Family::Text).await.len(), 1);
}

/// Row 45.
#[tokio::test]
async fn poison_comes_again_and_its_neighbour_is_done() {
    let bench = Bench::new();
    bench.put("inbox/manuals/pump.md", MANUAL).await;
    let messages = bench.fixture("poison.json").await;
    let verdicts = bench.deliver(&messages).await;
    assert!(matches!(verdicts[..], [Disposition::Release(_), Disposition::Acknowledge]), "{verdicts:?}");
    assert_eq!(bench.parse_messages(Family::Text).await.len(), 1);
}

#[tokio::test]
async fn an_upload_keeps_its_jobs_names_and_order() {
    let bench = Bench::new();
    let job = bench.upload("manual.txt", "Plain words.\nAnd more of them.\n").await;
    let messages = bench.arrival(&job).await;
    assert_eq!(bench.deliver(&messages).await, [Disposition::Acknowledge]);
    let sent = bench.parse_messages(Family::Text).await.remove(0);
    assert_eq!((sent.job_id, sent.document_id, sent.data_id.as_deref()), (job.job_id.clone(), job.document_id.clone(), Some("d-1")));
    assert_eq!((sent.order, sent.profile.format), (job.order.clone(), Format::Text));
    assert_eq!(bench.reload(&job).await.state, JobState::Running);
    // Our own message for the same bytes, from a confirmation, is a duplicate.
    assert_eq!(bench.deliver(&messages).await, [Disposition::Acknowledge]);
    assert!(bench.parse_messages(Family::Text).await.is_empty());
}

#[tokio::test]
async fn events_of_jobs_that_are_gone_are_acknowledged() {
    let bench = Bench::new();
    bench.put("uploads/local/job_0a1b2c3d4e5f", MANUAL).await;
    for name in ["upload.json", "own-message.json"] {
        let messages = bench.fixture(name).await;
        assert_eq!(bench.deliver(&messages).await, [Disposition::Acknowledge], "{name}");
    }
    assert!(bench.parse_messages(Family::Text).await.is_empty());
}

/// Rows 1, 2, 5 and the formats nothing reads: the job fails at once with its code and a sentence.
#[tokio::test]
async fn what_cannot_be_read_fails_its_job() {
    let big = "word ".repeat(300);
    let cases: [(&str, &[u8], DocumentCode); 6] = [
        ("empty.md", b"", DocumentCode::Empty),
        ("one.md", b"x", DocumentCode::Corrupt),
        ("nuls.md", &[0; 100], DocumentCode::Empty),
        ("big.txt", big.as_bytes(), DocumentCode::TooLarge),
        ("tool.bin", b"\x7fELF\x02\x01\x01\0\0\0\0\0\x03\0\x3e\0", DocumentCode::Unsupported),
        ("broken.docx", b"PK\x03\x04 not really a zip", DocumentCode::Corrupt),
    ];
    for (name, content, code) in cases {
        let bench = Bench::with(Limits { file_bytes: 1000, ..Limits::default() });
        let job = bench.upload(name, content.to_vec()).await;
        let messages = bench.arrival(&job).await;
        assert_eq!(bench.deliver(&messages).await, [Disposition::Acknowledge], "{name}");
        let failed = bench.reload(&job).await;
        assert_eq!((failed.state, failed.error.map(|error| error.code)), (JobState::Failed, Some(code)), "{name}");
    }
}

/// A drop-in that cannot be read still has a job that says why.
#[tokio::test]
async fn an_empty_drop_in_is_a_failed_job() {
    let bench = Bench::new();
    bench.put("inbox/manuals/pump.md", "").await;
    let messages = bench.fixture("put.json").await;
    assert_eq!(bench.deliver(&messages).await, [Disposition::Acknowledge]);
    let jobs = bench.all_jobs().await;
    assert_eq!((jobs.len(), jobs[0].error.as_ref().unwrap().code), (1, DocumentCode::Empty));
}

/// A file that returns to an earlier content is read again; the event of the content in between is not.
#[tokio::test]
async fn content_that_comes_back_is_a_new_job() {
    let bench = Bench::new();
    let mut messages = Vec::new();
    for (n, content) in ["# A\n\nfirst **x**\n", "# B\n\nsecond **x**\n", "# A\n\nfirst **x**\n"].into_iter().enumerate() {
        bench.put("inbox/manuals/pump.md", content).await;
        let mut event = bench.fixture("put.json").await.remove(0);
        event.id = format!("m{n}");
        event.body = event.body.replace("0066A1B2C3D4E5F601", &format!("0066A1B2C3D4E5F60{}", n + 1));
        assert_eq!(bench.deliver(std::slice::from_ref(&event)).await, [Disposition::Acknowledge]);
        messages.push(event);
    }
    assert_eq!(bench.parse_messages(Family::Text).await.len(), 3);
    assert_eq!(bench.deliver(&messages).await, [Disposition::Acknowledge; 3]);
    assert!(bench.parse_messages(Family::Text).await.is_empty(), "doubled events start nothing new");
}

/// A PDF is measured once; what was found travels in the message, which stays small.
#[tokio::test]
async fn a_pdf_is_measured_and_the_message_says_how_to_read_it() {
    let slide = |text: &str| Leaf::sized(960.0, 540.0).text(60.0, 80.0, 36.0, "A title").text(60.0, 200.0, 20.0, text);
    let slides = (0..4).fold(Builder::new(), |pdf, _| pdf.page(slide("Three pumps run and a fourth is ordered"))).save();
    let scan = Builder::new().page(Leaf::a4().blank_scan().hidden(72.0, 90.0, 10.0, "The words under the scan")).save();
    for (name, content, route) in [("talk.pdf", slides, "slides"), ("scan.pdf", scan, "scanned")] {
        let bench = Bench::new();
        let job = bench.upload(name, content).await;
        assert_eq!(bench.deliver(&bench.arrival(&job).await).await, [Disposition::Acknowledge]);
        let sent = bench.parse_messages(Family::Pdf).await;
        assert_eq!(sent[0].profile.routing_category, route);
        let measured = sent[0].profile.pdf.as_ref().unwrap();
        assert!(measured.evidence.iter().any(|line| line.starts_with(route)), "{:?}", measured.evidence);
        assert_eq!(measured.pages.text.len(), measured.pages.coverage.len());
        assert_eq!(measured.pages.hidden[0] > 10, route == "scanned");
    }
}

#[tokio::test]
async fn a_pdf_that_cannot_be_read_fails_before_it_is_queued() {
    let two = || Builder::new().page(Leaf::a4()).page(Leaf::a4()).save();
    let bench = Bench::with(Limits { pdf_pages: 1, ..Limits::default() });
    let job = bench.upload("long.pdf", two()).await;
    bench.deliver(&bench.arrival(&job).await).await;
    let failed = &bench.all_jobs().await[0];
    assert_eq!((failed.state, failed.error.as_ref().map(|error| error.code)), (JobState::Failed, Some(DocumentCode::TooManyPages)));
    assert!(bench.parse_messages(Family::Pdf).await.is_empty());
}

/// Whoever measures may die of a document: then it goes to its parser unmeasured, whose attempts are counted.
#[tokio::test]
async fn a_pdf_that_cannot_be_measured_is_read_the_general_way() {
    struct Dies;
    #[async_trait::async_trait]
    impl MeasurePdf for Dies {
        async fn measure(&self, _: Bytes) -> Result<Option<Measured>, DocumentFailure> {
            Ok(None)
        }
    }
    let mut bench = Bench::new();
    let (objects, queues) = (bench.store.objects(), bench.store.queues());
    let profiler = Profiler::new(objects, queues, bench.jobs.clone(), Arc::new(Limits::default()), Owner::local());
    bench.profiler = profiler.measured_by(Arc::new(Dies));
    let job = bench.upload("a.pdf", Builder::new().page(Leaf::a4()).save()).await;
    bench.deliver(&bench.arrival(&job).await).await;
    let sent = bench.parse_messages(Family::Pdf).await;
    assert_eq!((sent[0].profile.routing_category.as_str(), &sent[0].profile.pdf), ("generic", &None));
}

#[tokio::test]
async fn a_long_pdf_is_cut_and_every_part_has_its_message() {
    let bench = Bench::with(Limits { pdf_shard_pages: 4, ..Limits::default() });
    let long = (0..9).fold(Builder::new(), |pdf, page| pdf.page(Leaf::a4().text(72.0, 100.0, 10.0, &format!("Gate {page}")))).save();
    let job = bench.upload("long.pdf", long).await;
    bench.deliver(&bench.arrival(&job).await).await;
    let sent = bench.parse_messages(Family::Pdf).await;
    let mut parts: Vec<_> = sent.iter().map(|message| (message.shard.unwrap(), message.part().unwrap().1)).collect();
    parts.sort_by_key(|(part, _)| *part);
    assert_eq!(parts.iter().map(|(_, shard)| (shard.first, shard.last)).collect::<Vec<_>>(), [(1, 3), (4, 6), (7, 9)]);
    assert!(sent.iter().all(|message| message.profile == sent[0].profile), "all are told the same");
}

/// The longest document that is read: its message stays under 64 KB.
#[test]
fn the_measures_of_the_longest_document_fit_into_a_message() {
    let pages = 1_500;
    let profile = PdfProfile {
        evidence: vec!["x".repeat(200); 4],
        sizes: vec![PageSize { width: 14_400, height: 14_400, pages: 1_500 }; 16],
        pages: PageFeatures {
            text: vec![9_999; pages],
            hidden: vec![9_999; pages],
            coverage: vec![100; pages],
            pictures: vec![99; pages],
            tables: vec![99; pages],
            drawings: vec![999; pages],
            unmapped: vec![100; pages],
        },
        anatomy: Some(Anatomy {
            contents: vec![1_000; Anatomy::MOST_CONTENTS],
            numbering: vec![Numbering { first: 1_000, last: 1_200, printed: 1_000 }; Anatomy::MOST_RUNS],
            boundaries: vec![1_000; Anatomy::MOST_BOUNDARIES],
            shards: vec![Shard { first: 1_000, last: 1_200, depth: 1 }; 75],
            ..Anatomy::default()
        }),
    };
    let size = serde_json::to_string(&profile).unwrap().len();
    assert!(size < 48 << 10, "{size} bytes");
}
