//! What the local store promises beyond the ports.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use quarry_model::message::QueueName;
use quarry_model::{ObjectKey, RecordKey, Timestamp};
use quarry_ports::{Clock, Condition, Item, ObjectError, Outgoing, PutOptions, QueueError};
use quarry_store_local::{LocalOptions, LocalStore, PublicBase};
use serde_json::{Map, json};

fn open(folder: &std::path::Path) -> LocalStore {
    LocalStore::open(folder, PublicBase::default()).unwrap()
}

fn record(sk: &str) -> Item {
    Item { key: RecordKey { pk: "P".into(), sk: sk.into() }, body: Map::from_iter([("sk".to_owned(), json!(sk))]), expires_at: None }
}

/// A clock that the test moves.
#[derive(Default)]
struct Hand(AtomicI64);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

#[tokio::test]
async fn everything_is_there_after_opening_again() {
    let folder = tempfile::tempdir().unwrap();
    let key = ObjectKey::from_event("documents/a/B/ü.json");
    let store = open(folder.path());
    let written = store.objects().put(&key, "body".into(), PutOptions::default()).await.unwrap();
    store.records().put(record("A"), Condition::None).await.unwrap();
    let queued = Outgoing { body: "1".into(), group: Some("g".into()), ..Outgoing::default() };
    store.queues().send(QueueName::Publish, vec![queued]).await.unwrap();
    drop(store);
    let store = open(folder.path());
    assert_eq!(store.objects().head(&key).await.unwrap(), written);
    assert_eq!(store.records().get(&record("A").key).await.unwrap(), Some(record("A")));
    let received = store.queues().receive(QueueName::Publish, 1, Duration::from_secs(9), Duration::ZERO).await.unwrap();
    assert_eq!((received[0].body.as_str(), received[0].group.as_deref()), ("1", Some("g")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_stores_on_one_folder_see_each_other_and_wake_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (open(folder.path()), open(folder.path()));
    let waiting = tokio::spawn(async move {
        let begun = Instant::now();
        let got = other.queues().receive(QueueName::Profile, 1, Duration::from_secs(9), Duration::from_secs(20)).await.unwrap();
        (got.len(), begun.elapsed(), other)
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    one.records().put(record("A"), Condition::Absent).await.unwrap();
    one.queues().send(QueueName::Profile, vec![Outgoing { body: "1".into(), ..Outgoing::default() }]).await.unwrap();
    let (got, waited, other) = waiting.await.unwrap();
    assert_eq!(got, 1);
    assert!(waited < Duration::from_secs(3), "{waited:?}");
    assert!(other.records().put(record("A"), Condition::Absent).await.is_err());
}

#[tokio::test]
async fn a_stale_receipt_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(Hand::default());
    let options = LocalOptions { clock: clock.clone(), ..LocalOptions::default() };
    let queues = LocalStore::open_with(folder.path(), options).unwrap().queues();
    queues.send(QueueName::Profile, vec![Outgoing { body: "1".into(), ..Outgoing::default() }]).await.unwrap();
    let take = || queues.receive(QueueName::Profile, 1, Duration::from_secs(10), Duration::ZERO);
    let lost = take().await.unwrap().remove(0);
    assert!(take().await.unwrap().is_empty());
    clock.0.store(10_000, Ordering::SeqCst);
    let held = take().await.unwrap().remove(0);
    assert!(matches!(queues.acknowledge(QueueName::Profile, &lost.receipt).await, Err(QueueError::Receipt)));
    let extended = queues.change_visibility(QueueName::Profile, &lost.receipt, Duration::ZERO).await;
    assert!(matches!(extended, Err(QueueError::Receipt)));
    assert!(matches!(queues.acknowledge(QueueName::Publish, &held.receipt).await, Err(QueueError::Receipt)));
    queues.acknowledge(QueueName::Profile, &held.receipt).await.unwrap();
    assert!(matches!(queues.acknowledge(QueueName::Profile, &held.receipt).await, Err(QueueError::Receipt)));
}

#[tokio::test]
async fn deduplication_lasts_five_minutes() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(Hand::default());
    let options = LocalOptions { clock: clock.clone(), ..LocalOptions::default() };
    let queues = LocalStore::open_with(folder.path(), options).unwrap().queues();
    let message = Outgoing { body: "1".into(), group: Some("g".into()), deduplication: Some("d".into()), ..Outgoing::default() };
    for (at, expected) in [(0, 1), (299_999, 1), (300_000, 2)] {
        clock.0.store(at, Ordering::SeqCst);
        queues.send(QueueName::Publish, vec![message.clone()]).await.unwrap();
        let received = queues.receive(QueueName::Publish, 10, Duration::ZERO, Duration::ZERO).await.unwrap();
        assert_eq!(received.len(), expected, "at {at} ms");
    }
}

#[tokio::test]
async fn an_address_takes_the_same_bytes_again_but_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let key = ObjectKey::from_event("uploads/local/job");
    let first = store.accept_signed_put(&key, "body".into(), "text/plain").await.unwrap();
    assert_eq!(store.accept_signed_put(&key, "body".into(), "text/plain").await.unwrap(), first);
    let other = store.accept_signed_put(&key, "other".into(), "text/plain").await;
    assert!(matches!(other, Err(ObjectError::Precondition(_))));
}

#[tokio::test]
async fn keys_that_climb_stay_in_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let objects = open(&data).objects();
    for name in ["../../escape", "/etc/passwd", "a/../../../b", "..", ".", "a//b", "a/", "/", "C:\\x", "nul\0byte"] {
        let key = ObjectKey::from_event(name);
        objects.put(&key, name.to_owned().into(), PutOptions::default()).await.unwrap();
        assert_eq!(objects.get(&key).await.unwrap().0, name);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    for unusable in [String::new(), "x".repeat(1_025)] {
        let refused = objects.put(&ObjectKey::from_event(&unusable), "".into(), PutOptions::default()).await;
        assert!(matches!(refused, Err(ObjectError::Other(_))));
    }
    objects.put(&ObjectKey::from_event(&"é".repeat(512)), "".into(), PutOptions::default()).await.unwrap();
}

#[tokio::test]
async fn a_folder_of_a_newer_program_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()));
    let connection = rusqlite::Connection::open(folder.path().join("store.sqlite")).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let refused = LocalStore::open(folder.path(), PublicBase::default()).err().unwrap();
    assert!(refused.to_string().contains("newer program"), "{refused}");
}

/// Version 2 keeps the trace of a message; what waits in a folder of the first version has none and is not lost.
#[tokio::test]
async fn a_folder_of_the_first_version_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let first = rusqlite::Connection::open(folder.path().join("store.sqlite")).unwrap();
    let tables = "CREATE TABLE messages (seq INTEGER PRIMARY KEY AUTOINCREMENT, queue TEXT NOT NULL, body TEXT NOT NULL, grp TEXT,
        visible INTEGER NOT NULL, receives INTEGER NOT NULL DEFAULT 0, receipt TEXT, dead INTEGER NOT NULL DEFAULT 0);
        INSERT INTO messages (queue, body, visible) VALUES ('profile', 'old', 0);";
    first.execute_batch(tables).unwrap();
    first.pragma_update(None, "user_version", 1).unwrap();
    drop(first);
    let store = open(folder.path());
    let trace = Some(quarry_model::Trace::named("new"));
    store.queues().send(QueueName::Profile, vec![Outgoing { body: "new".into(), trace, ..Outgoing::default() }]).await.unwrap();
    let received = store.queues().receive(QueueName::Profile, 10, Duration::from_mins(1), Duration::ZERO).await.unwrap();
    let seen: Vec<_> = received.iter().map(|message| (message.body.as_str(), message.trace)).collect();
    assert_eq!(seen, [("old", None), ("new", trace)]);
    drop(store);
    drop(open(folder.path()));
}

#[tokio::test]
async fn what_a_dead_process_had_in_work_is_given_back_as_if_never_received() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let queues = store.queues();
    let delayed = Outgoing { body: "delayed".into(), delay: Duration::from_mins(1), ..Outgoing::default() };
    queues.send(QueueName::Profile, vec![Outgoing { body: "1".into(), ..Outgoing::default() }, delayed]).await.unwrap();
    let hour = Duration::from_hours(1);
    let lost = queues.receive(QueueName::Profile, 10, hour, Duration::ZERO).await.unwrap().remove(0);
    assert_eq!(store.release_all().await.unwrap(), 1);
    assert!(matches!(queues.acknowledge(QueueName::Profile, &lost.receipt).await, Err(QueueError::Receipt)));
    let back = queues.receive(QueueName::Profile, 10, hour, Duration::ZERO).await.unwrap();
    assert_eq!((back.len(), back[0].body.as_str(), back[0].receive_count), (1, "1", 1));
}
