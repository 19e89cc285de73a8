use std::sync::atomic::{AtomicUsize, Ordering};

use quarry_model::message::Profile;
use quarry_model::pdf::{Anatomy, PdfProfile, Shard};
use quarry_model::record::Order;
use quarry_model::{DocumentId, Format, Namespace, Owner, Parsed, Row, Scope};
use serde_json::Map;

use super::tests::{Objects, Sent, Ticking, tag};
use super::*;
use crate::parser::{ParseInParts, Source};

/// Every line of its source is a page.
#[derive(Default)]
struct Lines {
    parts: AtomicUsize,
    wholes: AtomicUsize,
}

fn rows(text: &str) -> Parsed {
    Parsed { rows: text.lines().map(|line| Row::text(None, line)).collect(), ..Parsed::default() }
}

impl Parser for Lines {
    fn name(&self) -> &'static str {
        "parse-lines"
    }
    fn version(&self) -> &'static str {
        "1"
    }
    fn parse(&self, source: &Source<'_>, _: &Limits) -> Result<Parsed, DocumentFailure> {
        self.wholes.fetch_add(1, Ordering::SeqCst);
        Ok(rows(&String::from_utf8_lossy(source.bytes)))
    }
    fn in_parts(&self) -> Option<&dyn ParseInParts> {
        Some(self)
    }
}

impl ParseInParts for Lines {
    fn read_part(&self, source: &Source<'_>, shard: Shard, _: &Limits) -> Result<Vec<u8>, DocumentFailure> {
        self.parts.fetch_add(1, Ordering::SeqCst);
        let text = String::from_utf8_lossy(source.bytes);
        let own = text.lines().skip(shard.first as usize - 1).take((shard.last + 1 - shard.first) as usize);
        let own: String = own.map(|line| format!("{line}\n")).collect();
        if own.contains("locked") { Err(DocumentFailure::new(DocumentCode::Encrypted, "a password is asked for")) } else { Ok(own.into()) }
    }
    fn join(&self, _: &Source<'_>, parts: Vec<Bytes>, _: &Limits) -> Result<Option<Parsed>, DocumentFailure> {
        let text: String = parts.iter().map(|part| String::from_utf8_lossy(part)).collect();
        Ok((!text.contains("broken")).then(|| rows(&text)))
    }
}

struct Bench {
    objects: Arc<Objects>,
    sent: Arc<Sent>,
    stage: ParseStage<Lines>,
}

const TEXT: &str = "The pump hums.\nThe valve is shut.\nThe gauge reads two.\nThe oil is old.\nThe pin hangs.\nThe plate is level.\n";

impl Bench {
    fn new() -> Self {
        let (objects, sent) = (Arc::new(Objects::default()), Arc::new(Sent::default()));
        let clock = Arc::new(Ticking(AtomicUsize::new(0)));
        let stage = ParseStage::new(Lines::default(), objects.clone(), sent.clone(), clock, Limits::default());
        Self { objects, sent, stage }
    }

    /// A document in three parts of two pages each: a message for each.
    fn upload(&self, text: &str) -> Vec<ParseMessage> {
        let scope = Scope::new(Owner::local(), Namespace::default());
        let (job_id, body) = (JobId::from_random([1; 6]), Bytes::from(text.to_owned()));
        let source = ObjectKey::upload(&scope.owner, &job_id);
        self.objects.stored.lock().unwrap().insert(source.to_string(), body.clone());
        let shards = [(1, 2), (3, 4), (5, 6)].map(|(first, last)| Shard { first, last, depth: 0 }).to_vec();
        let pdf = PdfProfile { anatomy: Some(Anatomy { shards, ..Anatomy::default() }), ..PdfProfile::default() };
        let message = ParseMessage {
            job_id,
            document_id: DocumentId::from_random([2; 6]),
            scope,
            source,
            etag: tag(&body),
            size: body.len() as u64,
            file_name: "a.pdf".into(),
            data_id: None,
            profile: Profile {
                format: Format::Pdf,
                claimed_format: None,
                encoding: None,
                category: "test".into(),
                routing_category: "generic".into(),
                pdf: Some(pdf),
            },
            shard: None,
            parsing_params: Map::new(),
            order: Order { created_millis: 5, sequencer: None },
        };
        message.in_parts()
    }

    async fn run(&self, message: &ParseMessage) -> Outcome<()> {
        self.stage.run(vec![message.clone()]).await.remove(0)
    }

    fn stored(&self, end: &str) -> Option<Bytes> {
        self.objects.stored.lock().unwrap().iter().find(|(key, _)| key.ends_with(end)).map(|(_, body)| body.clone())
    }

    fn parts_left(&self) -> Vec<String> {
        self.objects.stored.lock().unwrap().keys().filter(|key| key.contains("/parts/")).cloned().collect()
    }

    fn published(&self) -> usize {
        self.sent.0.lock().unwrap().len()
    }

    /// The place of what belongs to the plan: that of a part, without its name.
    fn plan(&self) -> String {
        let part = self.parts_left().remove(0);
        part[..=part.rfind('/').unwrap()].to_owned()
    }

    fn store(&self, key: String, body: &'static str) {
        self.objects.stored.lock().unwrap().insert(key, Bytes::from_static(body.as_bytes()));
    }
}

/// What reading it whole gives.
async fn whole() -> Bytes {
    let bench = Bench::new();
    let message = ParseMessage { shard: None, ..bench.upload(TEXT).remove(0) };
    assert_eq!(bench.run(&message).await, Outcome::Done(()));
    assert_eq!(bench.stage.parser.parts.load(Ordering::SeqCst), 0);
    bench.stored("/chunks.json").unwrap()
}

#[tokio::test]
async fn parts_in_any_order_give_the_document_read_whole() {
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let bench = Bench::new();
        let messages = bench.upload(TEXT);
        for (n, part) in order.into_iter().enumerate() {
            assert!(bench.stored("/manifest.json").is_none() && bench.published() == 0, "before part {n}");
            assert_eq!(bench.run(&messages[part]).await, Outcome::Done(()));
        }
        assert_eq!(bench.stored("/chunks.json").unwrap(), whole().await, "{order:?}");
        assert_eq!((bench.published(), bench.parts_left().len()), (1, 0));
        assert!(bench.stored("/diagnostics/anatomy.json").is_some());
        assert_eq!(bench.stage.parser.wholes.load(Ordering::SeqCst), 0);
    }
}

#[tokio::test]
async fn doubled_parts_are_read_once_and_change_nothing() {
    let bench = Bench::new();
    let messages = bench.upload(TEXT);
    for part in [0, 0, 1, 0, 1, 2] {
        assert_eq!(bench.run(&messages[part]).await, Outcome::Done(()));
    }
    assert_eq!(bench.stage.parser.parts.load(Ordering::SeqCst), 3);
    let before = bench.objects.stored.lock().unwrap().clone();
    for message in &messages {
        assert_eq!(bench.run(message).await, Outcome::Skipped(SkipReason::Duplicate));
    }
    assert_eq!(*bench.objects.stored.lock().unwrap(), before);
    assert_eq!(bench.stage.parser.parts.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn all_at_once_leave_one_revision() {
    let bench = Bench::new();
    let messages = bench.upload(TEXT);
    let twice: Vec<&ParseMessage> = messages.iter().chain(&messages).collect();
    futures::future::join_all(twice.iter().map(|message| bench.run(message))).await;
    assert_eq!(bench.stored("/chunks.json").unwrap(), whole().await);
    assert!(bench.published() >= 1 && bench.parts_left().is_empty(), "{:?}", bench.parts_left());
}

#[tokio::test]
async fn who_was_killed_after_writing_its_part_claims_when_it_comes_again() {
    let bench = Bench::new();
    let messages = bench.upload(TEXT);
    bench.run(&messages[0]).await;
    bench.run(&messages[1]).await;
    bench.store(format!("{}00005-00006", bench.plan()), "The pin hangs.\nThe plate is level.\n");
    assert_eq!(bench.run(&messages[2]).await, Outcome::Done(()));
    assert_eq!(bench.stage.parser.parts.load(Ordering::SeqCst), 2, "its part was there");
    assert_eq!(bench.stored("/chunks.json").unwrap(), whole().await);
    assert_eq!((bench.published(), bench.parts_left().len()), (1, 0));
}

#[tokio::test]
async fn who_was_killed_after_its_claim_merges_when_it_comes_again() {
    let bench = Bench::new();
    let messages = bench.upload(TEXT);
    bench.run(&messages[0]).await;
    bench.run(&messages[1]).await;
    bench.store(format!("{}claim", bench.plan()), "3-4\n");
    assert_eq!(bench.run(&messages[2]).await, Outcome::Done(()));
    assert!(bench.stored("/manifest.json").is_none(), "the claim is another's");
    assert_eq!(bench.run(&messages[1]).await, Outcome::Done(()));
    assert_eq!(bench.stored("/chunks.json").unwrap(), whole().await);
    assert_eq!((bench.published(), bench.parts_left().len()), (1, 0));
}

#[tokio::test]
async fn who_was_killed_after_the_manifest_removes_the_parts_and_tells_the_publisher() {
    let bench = Bench::new();
    let messages = bench.upload(TEXT);
    bench.run(&messages[0]).await;
    let part = bench.parts_left().remove(0);
    bench.run(&messages[1]).await;
    bench.run(&messages[2]).await;
    bench.sent.0.lock().unwrap().clear();
    bench.store(part, "left over");
    assert_eq!(bench.run(&messages[2]).await, Outcome::Skipped(SkipReason::Duplicate));
    assert_eq!((bench.published(), bench.parts_left().len()), (1, 0));
}

#[tokio::test]
async fn a_part_at_fault_is_the_documents_fault() {
    let bench = Bench::new();
    let messages = bench.upload(&TEXT.replace("oil", "locked oil"));
    assert_eq!(bench.run(&messages[0]).await, Outcome::Done(()));
    assert!(matches!(bench.run(&messages[1]).await, Outcome::Rejected(failure) if failure.code == DocumentCode::Encrypted));
    assert_eq!(bench.run(&messages[2]).await, Outcome::Done(()));
    assert!(bench.stored("/manifest.json").is_none() && bench.published() == 0);
}

#[tokio::test]
async fn parts_that_cannot_be_put_together_are_read_again_as_a_whole() {
    let bench = Bench::new();
    let messages = bench.upload(TEXT);
    bench.run(&messages[0]).await;
    let part = bench.parts_left().remove(0);
    bench.run(&messages[1]).await;
    bench.store(part, "broken");
    assert_eq!(bench.run(&messages[2]).await, Outcome::Done(()));
    assert_eq!(bench.stored("/chunks.json").unwrap(), whole().await);
    assert_eq!(bench.stage.parser.wholes.load(Ordering::SeqCst), 1);
}

/// A plan that names no such run, or a parser that reads no runs: the message is for all of the document.
#[tokio::test]
async fn a_part_that_the_plan_does_not_have_is_the_whole() {
    let bench = Bench::new();
    let message = ParseMessage { shard: Some(7), ..bench.upload(TEXT).remove(0) };
    assert_eq!(bench.run(&message).await, Outcome::Done(()));
    assert_eq!(bench.stored("/chunks.json").unwrap(), whole().await);
}
