//! Webhooks against a receiver on this machine: delivered, signed, tried again, given up, sent by one of two notifiers.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use quarry_model::job::{OutboxEntry, SourceType, Webhook, WebhookReport};
use quarry_model::{DocumentCode, DocumentFailure, JobId, Namespace, Owner, RecordKey, RecordPrefix, Scope, Timestamp};
use quarry_notifier::{Notifier, Summary};
use quarry_outbound::{Outbound, Rules, SystemResolver};
use quarry_ports::Clock;
use quarry_runtime::Jobs;
use quarry_runtime::config::SigningSecret;
use quarry_runtime::jobs::NewJob;
use quarry_store_local::{LocalStore, PublicBase};
use serde_json::{Map, Value};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const START: i64 = 1_796_032_800_000;

/// A clock that a test moves.
struct Moved(AtomicI64);

impl Clock for Moved {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

struct Bench {
    store: LocalStore,
    jobs: Jobs,
    clock: Arc<Moved>,
    _folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = TempDir::new().expect("folder");
        let store = LocalStore::open(folder.path(), PublicBase::new("http://127.0.0.1:1")).expect("store");
        let clock = Arc::new(Moved(AtomicI64::new(START)));
        let jobs = Jobs::new(store.records(), clock.clone());
        Self { store, jobs, clock, _folder: folder }
    }

    fn notifier(&self, also: Vec<IpAddr>) -> Notifier {
        let outbound = Outbound::new(Arc::new(SystemResolver), Rules { also }).expect("a client");
        Notifier::new(self.jobs.clone(), self.store.objects(), self.clock.clone(), outbound, SigningSecret::from("whsec"))
    }

    fn local(&self) -> Notifier {
        self.notifier(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)])
    }

    /// A failed job that asked to be told.
    async fn ended(&self, url: &str) -> JobId {
        let new = NewJob {
            scope: Scope::new(Owner::local(), Namespace::default()),
            document_id: None,
            source_type: SourceType::File,
            source_url: None,
            file_name: "a.md".into(),
            data_id: Some("mine".into()),
            document_metadata: Map::new(),
            parsing_params: Map::new(),
            webhook: Some(Webhook { url: url.to_owned() }),
            idempotency_key: Some(url.to_owned()),
        };
        let job = self.jobs.create(new).await.expect("a job").job();
        self.jobs.fail(&job.job_id, "profiler", &DocumentFailure::new(DocumentCode::Corrupt, "")).await.expect("failed");
        job.job_id
    }

    async fn waiting(&self) -> Vec<OutboxEntry> {
        let items = self.store.records().query_all(&RecordPrefix::outbox()).await.expect("outbox");
        items.iter().map(|item| item.read().expect("an entry")).collect()
    }

    async fn report(&self, job: &JobId) -> WebhookReport {
        self.store.records().get(&RecordKey::webhook(job)).await.expect("a read").expect("a report").read().expect("a report")
    }

    fn pass(&self, seconds: i64) {
        self.clock.0.fetch_add(seconds * 1000, Ordering::SeqCst);
    }
}

type Seen = Arc<Mutex<Vec<String>>>;

/// A receiver that answers with these statuses in turn, the last one for ever.
async fn receiver(statuses: &'static [u16]) -> (String, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/hook?key=secret", listener.local_addr().expect("address"));
    let seen: Seen = Arc::default();
    let (kept, count) = (Arc::clone(&seen), AtomicUsize::new(0));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = Vec::new();
            let mut piece = [0_u8; 8192];
            while let Ok(read) = stream.read(&mut piece).await {
                request.extend_from_slice(&piece[..read]);
                let text = String::from_utf8_lossy(&request).into_owned();
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                let length =
                    head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |n| n.parse().expect("a length"));
                if read == 0 || body.len() >= length {
                    break;
                }
            }
            kept.lock().expect("lock").push(String::from_utf8_lossy(&request).into_owned());
            let status = statuses[count.fetch_add(1, Ordering::SeqCst).min(statuses.len() - 1)];
            let answer = format!("HTTP/1.1 {status} Told\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (url, seen)
}

fn parts(request: &str) -> (HashMap<String, String>, Value, String) {
    let (head, body) = request.split_once("\r\n\r\n").expect("a head");
    let headers = head.lines().skip(1).filter_map(|line| line.split_once(": ")).map(|(n, v)| (n.to_owned(), v.to_owned())).collect();
    (headers, serde_json::from_str(body).expect("JSON"), body.to_owned())
}

#[tokio::test]
async fn a_webhook_is_delivered_once_with_its_signature() {
    let bench = Bench::new();
    let (url, seen) = receiver(&[200]).await;
    let job = bench.ended(&url).await;
    let summary = bench.local().run().await.expect("a run");
    assert_eq!(summary, Summary { delivered: 1, ..Summary::default() });
    assert_eq!(bench.local().run().await.expect("a run"), Summary::default(), "nothing is left");

    let requests = seen.lock().expect("lock").clone();
    assert_eq!(requests.len(), 1);
    let (headers, event, body) = parts(&requests[0]);
    assert_eq!(
        (&event["event"], &event["status"], &event["job_id"], &event["data_id"], &event["error"]["code"]),
        (&"job.failed".into(), &"failed".into(), &job.to_string().into(), &"mine".into(), &"CORRUPT".into())
    );
    let signature = &headers["x-knowhere-signature"];
    let (time, code) = signature.strip_prefix("t=").and_then(|rest| rest.split_once(",v1=")).expect("two parts");
    assert_eq!((time.parse::<i64>().expect("seconds"), code.len()), (START / 1000, 64));
    assert_ne!(signature, &quarry_signature_of("another", time, &body), "the secret counts");
    assert_eq!(signature, &quarry_signature_of("whsec", time, &body), "over exactly the bytes that were sent");
    let report = bench.report(&job).await;
    assert_eq!((report.delivered, report.attempts, report.last.as_str()), (true, 1, "200"));
}

/// The receiver's side, written for itself.
fn quarry_signature_of(secret: &str, time: &str, body: &str) -> String {
    use hmac::{Hmac, KeyInit as _, Mac as _};
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).expect("any length");
    mac.update(format!("{time}.{body}").as_bytes());
    format!("t={time},v1={}", hex::encode(mac.finalize().into_bytes()))
}

#[tokio::test]
async fn a_receiver_that_is_down_is_asked_again_with_growing_pauses() {
    let bench = Bench::new();
    let (url, seen) = receiver(&[503, 500, 204]).await;
    let job = bench.ended(&url).await;
    assert_eq!(bench.local().run().await.expect("a run").postponed, 1);
    assert_eq!(bench.local().run().await.expect("a run"), Summary::default(), "not due yet");
    bench.pass(31);
    assert_eq!(bench.local().run().await.expect("a run").postponed, 1);
    bench.pass(31);
    assert_eq!(bench.local().run().await.expect("a run"), Summary::default(), "the second pause is longer");
    bench.pass(90);
    assert_eq!(bench.local().run().await.expect("a run").delivered, 1);
    assert_eq!(seen.lock().expect("lock").len(), 3);
    assert_eq!(bench.report(&job).await.attempts, 3);
}

#[tokio::test]
async fn one_that_stays_down_is_given_up_in_the_end() {
    let bench = Bench::new();
    let (url, seen) = receiver(&[500]).await;
    let job = bench.ended(&url).await;
    let mut given_up = 0;
    for _ in 0..20 {
        given_up += bench.local().run().await.expect("a run").given_up;
        bench.pass(6 * 60 * 60);
    }
    assert_eq!((given_up, seen.lock().expect("lock").len()), (1, 7));
    assert!(bench.waiting().await.is_empty());
    let report = bench.report(&job).await;
    assert!(!report.delivered && report.last.contains("500"), "{report:?}");
}

#[tokio::test]
async fn a_private_address_is_never_called_and_not_tried_again() {
    let bench = Bench::new();
    let (url, seen) = receiver(&[200]).await;
    let job = bench.ended(&url).await;
    let summary = bench.notifier(Vec::new()).run().await.expect("a run");
    assert_eq!((summary.given_up, seen.lock().expect("lock").len()), (1, 0));
    assert!(bench.report(&job).await.last.contains("public address"));
}

#[tokio::test]
async fn of_two_notifiers_one_sends() {
    let bench = Bench::new();
    let (url, seen) = receiver(&[200]).await;
    for n in 0..5 {
        bench.ended(&format!("{url}&n={n}")).await;
    }
    let (one, two) = (bench.local(), bench.local());
    let (a, b) = tokio::join!(one.run(), two.run());
    assert_eq!(a.expect("a run").delivered + b.expect("a run").delivered, 5);
    assert_eq!(seen.lock().expect("lock").len(), 5);
}

#[tokio::test]
async fn one_that_died_after_taking_is_followed_when_its_lease_ends() {
    let bench = Bench::new();
    let (url, seen) = receiver(&[200]).await;
    bench.ended(&url).await;
    // What a notifier that dies leaves behind: the entry under the end of its lease.
    let entry = bench.waiting().await.remove(0);
    let taken = OutboxEntry { due_millis: START + 60_000, attempts: 1, ..entry.clone() };
    let records = bench.store.records();
    let moved = quarry_ports::Item::of(RecordKey::outbox(taken.due_millis, &taken.job_id), &taken).expect("JSON");
    records.write_many(vec![moved], vec![RecordKey::outbox(entry.due_millis, &entry.job_id)]).await.expect("written");
    assert_eq!(bench.local().run().await.expect("a run"), Summary::default());
    bench.pass(61);
    assert_eq!(bench.local().run().await.expect("a run").delivered, 1);
    assert_eq!(seen.lock().expect("lock").len(), 1);
}
