use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use quarry_model::message::Profile;
use quarry_model::record::Order;
use quarry_model::{DocumentId, Format, Namespace, ObjectPrefix, Owner, Parsed, Row, Scope, Timestamp};
use quarry_ports::queue::Chosen;
use quarry_ports::{DeadLetter, ObjectMeta, ObjectPage, PresignedPut, Received};
use serde_json::Map;

use super::*;
use crate::parser::Source;

/// Objects in memory, in the order in which they were written.
#[derive(Default)]
pub(super) struct Objects {
    pub(super) stored: Mutex<BTreeMap<String, Bytes>>,
    written: Mutex<Vec<String>>,
    broken: AtomicBool,
}

pub(super) fn tag(body: &Bytes) -> String {
    blake3::hash(body).to_hex().chars().take(12).collect()
}

#[async_trait]
impl ObjectStore for Objects {
    async fn put(&self, key: &ObjectKey, body: Bytes, options: PutOptions) -> Result<ObjectMeta, ObjectError> {
        if self.broken.load(Ordering::SeqCst) {
            return Err(ObjectError::Unavailable("503".into()));
        }
        let mut stored = self.stored.lock().unwrap();
        if options.condition == PutCondition::IfAbsent && stored.contains_key(key.as_str()) {
            return Err(ObjectError::Precondition(key.clone()));
        }
        self.written.lock().unwrap().push(key.to_string());
        let meta = ObjectMeta { key: key.clone(), size: body.len() as u64, etag: tag(&body) };
        stored.insert(key.to_string(), body);
        Ok(meta)
    }
    async fn get(&self, key: &ObjectKey) -> Result<(Bytes, ObjectMeta), ObjectError> {
        let body = self.stored.lock().unwrap().get(key.as_str()).cloned().ok_or_else(|| ObjectError::NotFound(key.clone()))?;
        let meta = ObjectMeta { key: key.clone(), size: body.len() as u64, etag: tag(&body) };
        Ok((body, meta))
    }
    async fn get_range(&self, _: &ObjectKey, _: Range<u64>) -> Result<Bytes, ObjectError> {
        unreachable!("a parser reads whole objects")
    }
    async fn head(&self, key: &ObjectKey) -> Result<ObjectMeta, ObjectError> {
        self.get(key).await.map(|(_, meta)| meta)
    }
    async fn delete(&self, key: &ObjectKey) -> Result<(), ObjectError> {
        assert!(key.as_str().contains("/parts/"), "a parser removes nothing but parts");
        self.stored.lock().unwrap().remove(key.as_str());
        Ok(())
    }
    async fn list(&self, prefix: &ObjectPrefix, _: Option<&str>, _: usize) -> Result<ObjectPage, ObjectError> {
        assert!(prefix.as_str().ends_with("/parts/"), "a parser lists nothing but parts");
        let stored = self.stored.lock().unwrap();
        let objects = stored.iter().filter(|(key, _)| key.starts_with(prefix.as_str()));
        let meta =
            |(key, body): (&String, &Bytes)| ObjectMeta { key: ObjectKey::from_event(key), size: body.len() as u64, etag: tag(body) };
        Ok(ObjectPage { objects: objects.map(meta).collect(), cursor: None })
    }
    async fn presign_get(&self, _: &ObjectKey, _: Duration, _: Option<&str>) -> Result<String, ObjectError> {
        unreachable!("a parser gives no addresses")
    }
    async fn presign_put(&self, _: &ObjectKey, _: Duration, _: &str) -> Result<PresignedPut, ObjectError> {
        unreachable!("a parser gives no addresses")
    }
}

#[derive(Default)]
pub(super) struct Sent(pub(super) Mutex<Vec<Outgoing>>);

#[async_trait]
impl Queue for Sent {
    async fn send(&self, queue: QueueName, messages: Vec<Outgoing>) -> Result<(), QueueError> {
        assert_eq!(queue, QueueName::Publish);
        self.0.lock().unwrap().extend(messages);
        Ok(())
    }
    async fn receive(&self, _: QueueName, _: usize, _: Duration, _: Duration) -> Result<Vec<Received>, QueueError> {
        unreachable!()
    }
    async fn acknowledge(&self, _: QueueName, _: &str) -> Result<(), QueueError> {
        unreachable!()
    }
    async fn change_visibility(&self, _: QueueName, _: &str, _: Duration) -> Result<(), QueueError> {
        unreachable!()
    }
    async fn dead_letters(&self, _: QueueName, _: usize) -> Result<Vec<DeadLetter>, QueueError> {
        unreachable!()
    }
    async fn redrive(&self, _: QueueName, _: usize, _: Chosen<'_>) -> Result<usize, QueueError> {
        unreachable!()
    }
}

/// Reads its bytes as one paragraph; some words make it misbehave.
#[derive(Default)]
struct Words {
    runs: AtomicUsize,
}

impl Parser for Words {
    fn name(&self) -> &'static str {
        "parse-words"
    }
    fn version(&self) -> &'static str {
        "1"
    }
    fn parse(&self, source: &Source<'_>, _: &Limits) -> Result<Parsed, DocumentFailure> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        let text = String::from_utf8_lossy(source.bytes).into_owned();
        match text.as_str() {
            "panic" => panic!("a parser's fault"),
            "sleep" => std::thread::sleep(Duration::from_secs(3)),
            "deep" => assert_eq!(deep(200_000), 200_000),
            "locked" => return Err(DocumentFailure::new(DocumentCode::Encrypted, "a password is asked for")),
            _ => {}
        }
        Ok(Parsed { rows: vec![Row::text(None, text)], ..Parsed::default() })
    }
}

/// Needs more stack than an ordinary thread has.
fn deep(left: u64) -> u64 {
    let room = std::hint::black_box([left; 8]);
    if left == 0 { 0 } else { deep(left - 1) + room[0] - (left - 1) }
}

pub(super) struct Ticking(pub(super) AtomicUsize);

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.fetch_add(1, Ordering::SeqCst) as i64)
    }
}

struct Bench {
    objects: Arc<Objects>,
    sent: Arc<Sent>,
    stage: ParseStage<Words>,
}

impl Bench {
    fn new() -> Self {
        let (objects, sent) = (Arc::new(Objects::default()), Arc::new(Sent::default()));
        let limits = Limits { file_bytes: 100, parse_seconds: 1, ..Limits::default() };
        let stage = ParseStage::new(Words::default(), objects.clone(), sent.clone(), Arc::new(Ticking(AtomicUsize::new(0))), limits);
        Self { objects, sent, stage }
    }

    fn upload(&self, text: &str) -> ParseMessage {
        let scope = Scope::new(Owner::local(), Namespace::new("größer").unwrap());
        let job_id = JobId::from_random([1; 6]);
        let source = ObjectKey::upload(&scope.owner, &job_id);
        let body = Bytes::from(text.to_owned());
        self.objects.stored.lock().unwrap().insert(source.to_string(), body.clone());
        ParseMessage {
            job_id,
            document_id: DocumentId::from_random([2; 6]),
            scope,
            source,
            etag: tag(&body),
            size: body.len() as u64,
            file_name: "a.txt".into(),
            data_id: None,
            profile: Profile {
                format: Format::Text,
                claimed_format: None,
                encoding: None,
                category: "text".into(),
                routing_category: "generic".into(),
                pdf: None,
            },
            shard: None,
            parsing_params: Map::new(),
            order: Order { created_millis: 5, sequencer: None },
        }
    }

    async fn run(&self, message: ParseMessage) -> Outcome<()> {
        self.stage.run(vec![message]).await.remove(0)
    }

    fn rejection(outcome: Outcome<()>) -> DocumentCode {
        match outcome {
            Outcome::Rejected(failure) => failure.code,
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn artifacts_come_first_the_manifest_last_and_the_publisher_hears_of_it() {
    let bench = Bench::new();
    assert_eq!(bench.run(bench.upload("Hello world.")).await, Outcome::Done(()));
    let written = bench.objects.written.lock().unwrap().clone();
    assert!(written.first().unwrap().ends_with("/source/original.txt"));
    assert!(written.last().unwrap().ends_with("/manifest.json"));
    assert!(written.iter().all(|key| key.starts_with("documents/local/gr%C3%B6%C3%9Fer/doc_020202020202/")));
    let sent = bench.sent.0.lock().unwrap();
    assert!(sent[0].group.as_ref().unwrap().bytes().all(|b| b.is_ascii_hexdigit()));
    let message: PublishMessage = serde_json::from_str(&sent[0].body).unwrap();
    let PublishAction::Publish { revision, .. } = message.action else { panic!() };
    assert!(written.last().unwrap().contains(revision.as_str()));
}

#[tokio::test]
async fn a_message_that_comes_again_parses_nothing_and_tells_the_publisher_again() {
    let bench = Bench::new();
    let message = bench.upload("Hello world.");
    bench.run(message.clone()).await;
    let before = bench.objects.stored.lock().unwrap().clone();
    assert_eq!(bench.run(message).await, Outcome::Skipped(SkipReason::Duplicate));
    assert_eq!(bench.stage.parser.runs.load(Ordering::SeqCst), 1);
    assert_eq!(*bench.objects.stored.lock().unwrap(), before);
    let sent = bench.sent.0.lock().unwrap();
    assert_eq!(sent.len(), 2);
    assert_ne!(sent[0].deduplication, sent[1].deduplication);
}

#[tokio::test]
async fn five_at_once_leave_one_revision_whose_zip_and_manifest_agree() {
    let bench = Bench::new();
    let message = bench.upload("Hello world.");
    let outcomes = tokio::join!(
        bench.run(message.clone()),
        bench.run(message.clone()),
        bench.run(message.clone()),
        bench.run(message.clone()),
        bench.run(message)
    );
    assert!(matches!(outcomes.0, Outcome::Done(()) | Outcome::Skipped(SkipReason::Duplicate)));
    let stored = bench.objects.stored.lock().unwrap();
    let of = |name: &str| stored.iter().filter(|(key, _)| key.ends_with(name)).map(|(_, body)| body.clone()).collect::<Vec<_>>();
    assert_eq!((of("/manifest.json").len(), of("/result.zip").len()), (1, 1));
}

#[tokio::test]
async fn only_the_bytes_that_were_announced_are_read() {
    let bench = Bench::new();
    let mut message = bench.upload("Hello world.");
    message.etag = "other".into();
    assert_eq!(bench.run(message).await, Outcome::Skipped(SkipReason::Older));
    let mut message = bench.upload("Hello world.");
    message.source = ObjectKey::upload(&Owner::local(), &JobId::from_random([9; 6]));
    assert_eq!(Bench::rejection(bench.run(message).await), DocumentCode::UploadExpired);
    let mut message = bench.upload("Hello world.");
    message.size = 101;
    assert_eq!(Bench::rejection(bench.run(message).await), DocumentCode::TooLarge);
    assert!(bench.objects.written.lock().unwrap().is_empty() && bench.sent.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn what_the_document_is_at_fault_for_is_rejected() {
    let bench = Bench::new();
    assert_eq!(Bench::rejection(bench.run(bench.upload("locked")).await), DocumentCode::Encrypted);
    assert_eq!(Bench::rejection(bench.run(bench.upload("")).await), DocumentCode::Empty);
    assert_eq!(Bench::rejection(bench.run(bench.upload("sleep")).await), DocumentCode::TimedOut);
    assert!(bench.sent.0.lock().unwrap().is_empty());
}

#[tokio::test]
async fn panics_and_stores_out_of_order_are_tried_again() {
    let bench = Bench::new();
    let outcome = bench.run(bench.upload("panic")).await;
    assert!(matches!(&outcome, Outcome::Retry { cause, .. } if cause.contains("a parser's fault")), "{outcome:?}");
    bench.objects.broken.store(true, Ordering::SeqCst);
    let outcome = bench.run(bench.upload("Hello world.")).await;
    assert!(matches!(&outcome, Outcome::Retry { cause, .. } if cause.contains("503")), "{outcome:?}");
}

#[tokio::test]
async fn there_is_stack_for_deep_documents() {
    let bench = Bench::new();
    assert_eq!(bench.run(bench.upload("deep")).await, Outcome::Done(()));
}
