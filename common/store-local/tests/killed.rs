//! Killed at any moment, the store has lost nothing it acknowledged and shows nothing half-done.
//!
//! This test runs itself again as a child that writes as fast as it can and says on its output what was acknowledged.
//! The parent kills it with SIGKILL at a random moment, opens the folder, and looks. Fifty times over one folder, so that
//! every child begins with what the last one left.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use quarry_model::message::QueueName;
use quarry_model::{ObjectKey, RecordKey, RecordPrefix, Timestamp};
use quarry_ports::{Clock, Condition, Item, Outgoing, PutCondition, PutOptions, SystemClock, Write};
use quarry_store_local::{LocalOptions, LocalStore, PublicBase};
use serde_json::{Map, Value, json};

const KILLS: u64 = 50;
const FOLDER: &str = "QUARRY_TEST_KILLED_FOLDER";
const LIFE: &str = "QUARRY_TEST_KILLED_LIFE";
/// Longer than the whole test: a message received and not acknowledged stays hidden from the children.
const HIDDEN: Duration = Duration::from_hours(1);

/// Tells a time at which everything hidden is visible again.
struct Later;

impl Clock for Later {
    fn now(&self) -> Timestamp {
        SystemClock.now().plus_millis(2 * 3_600_000)
    }
}

fn open(folder: &Path, clock: Arc<dyn Clock>) -> LocalStore {
    LocalStore::open_with(folder, LocalOptions { base: PublicBase::default(), max_receives: u32::MAX, clock }).unwrap()
}

fn key(pk: &str, sk: String) -> RecordKey {
    RecordKey { pk: pk.to_owned(), sk }
}

fn record(key: RecordKey, value: Value) -> Item {
    let Value::Object(body) = value else { panic!("an object") };
    Item { key, body, expires_at: None }
}

fn object_key(name: &str) -> ObjectKey {
    ObjectKey::from_event(&format!("documents/killed/{name}"))
}

/// Bytes that say which version they are and whether they are whole.
fn content(version: u64) -> Vec<u8> {
    let length = 20_000 + (version * 7_919 % 60_000) as usize;
    let mut body = version.to_le_bytes().to_vec();
    body.resize(length, version as u8);
    body.extend_from_slice(blake3::hash(&body).as_bytes());
    body
}

fn version_of(body: &[u8]) -> u64 {
    let (content, hash) = body.split_at(body.len() - 32);
    assert_eq!(blake3::hash(content).as_bytes(), hash, "half an object of {} bytes", body.len());
    u64::from_le_bytes(content[..8].try_into().unwrap())
}

/// One line, written whole before anything follows.
fn acknowledged(what: &str, life: &str, n: u64) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{what} {life} {n}").unwrap();
    out.flush().unwrap();
}

/// Not a test of its own: what the child runs. Without its folder it has nothing to do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child_writes_until_it_is_killed() {
    let Ok(folder) = std::env::var(FOLDER) else {
        return;
    };
    let life: &'static str = std::env::var(LIFE).unwrap().leak();
    let store = open(Path::new(&folder), Arc::new(SystemClock));
    let writers = [
        tokio::spawn(write_objects(store.clone(), life)),
        tokio::spawn(replace_one_object(store.clone())),
        tokio::spawn(write_records(store.clone(), life)),
        tokio::spawn(transact(store.clone(), life)),
        tokio::spawn(count(store.clone())),
        tokio::spawn(send(store.clone(), life)),
        tokio::spawn(consume(store)),
    ];
    for writer in writers {
        writer.await.unwrap();
    }
}

async fn write_objects(store: LocalStore, life: &str) {
    let objects = store.objects();
    for n in 0.. {
        let options = PutOptions { condition: PutCondition::IfAbsent, content_type: None };
        objects.put(&object_key(&format!("{life}-{n}")), content(n).into(), options).await.unwrap();
        acknowledged("object", life, n);
    }
}

async fn replace_one_object(store: LocalStore) {
    let objects = store.objects();
    let mut version = objects.get(&object_key("replaced")).await.map_or(0, |(body, _)| version_of(&body));
    loop {
        version += 1;
        objects.put(&object_key("replaced"), content(version).into(), PutOptions::default()).await.unwrap();
        acknowledged("replaced", "-", version);
    }
}

async fn write_records(store: LocalStore, life: &str) {
    let records = store.records();
    for n in 0.. {
        let text = "x".repeat((n * 997 % 9_000) as usize);
        let many = (0..3).map(|part| record(key("MANY", format!("{life}#{n:08}#{part}")), json!({ "n": n, "text": text }))).collect();
        records.write_many(many, Vec::new()).await.unwrap();
        acknowledged("records", life, n);
    }
}

async fn transact(store: LocalStore, life: &str) {
    let records = store.records();
    for n in 0.. {
        let left = record(key("LEFT", format!("{life}#{n:08}")), json!({ "n": n }));
        let right = record(key("RIGHT", format!("{life}#{n:08}")), json!({ "n": n }));
        records.transact(vec![Write::Put(left, Condition::Absent), Write::Put(right, Condition::Absent)]).await.unwrap();
        acknowledged("pair", life, n);
    }
}

async fn count(store: LocalStore) {
    let records = store.records();
    loop {
        let counted = records.add(&key("COUNT", "A".to_owned()), &[("n", 1)], Map::new(), None).await.unwrap();
        acknowledged("count", "-", counted.body["n"].as_u64().unwrap());
    }
}

fn message(life: &str, n: u64) -> Outgoing {
    Outgoing { body: format!("{life} {n}"), group: Some(life.to_owned()), ..Outgoing::default() }
}

async fn send(store: LocalStore, life: &str) {
    let queues = store.queues();
    for n in 0.. {
        queues.send(QueueName::Publish, vec![message(life, n)]).await.unwrap();
        acknowledged("kept", life, n);
        queues.send(QueueName::Profile, vec![message(life, n)]).await.unwrap();
        acknowledged("sent", life, n);
    }
}

async fn consume(store: LocalStore) {
    let queues = store.queues();
    loop {
        for received in queues.receive(QueueName::Profile, 3, HIDDEN, Duration::from_millis(50)).await.unwrap() {
            let (of, n) = received.body.split_once(' ').unwrap();
            // Said before: from here on the message may be gone.
            acknowledged("taken", of, n.parse().unwrap());
            queues.acknowledge(QueueName::Profile, &received.receipt).await.unwrap();
            acknowledged("done", of, n.parse().unwrap());
        }
    }
}

/// Everything acknowledged so far, by what it was.
type Said = BTreeMap<String, BTreeSet<(String, u64)>>;

fn live_and_die(folder: &Path, life: u64, said: &mut Said) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["child_writes_until_it_is_killed", "--exact", "--nocapture"])
        .env(FOLDER, folder)
        .env(LIFE, format!("life{life:02}"))
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let reader = std::thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<String>>());
    // Spread over half a second by a fixed rule, with some that die while they open the folder.
    std::thread::sleep(Duration::from_millis(15 + life * 7_919 % 500));
    child.kill().unwrap();
    child.wait().unwrap();
    for line in reader.join().unwrap() {
        let words: Vec<&str> = line.split(' ').collect();
        // The test harness speaks as well, and the last line may be cut.
        if let [what, of, n] = words[..]
            && let Ok(n) = n.parse()
            && ["object", "replaced", "records", "pair", "count", "kept", "sent", "taken", "done"].contains(&what)
        {
            said.entry(what.to_owned()).or_default().insert((of.to_owned(), n));
        }
    }
}

fn of<'s>(said: &'s Said, what: &str) -> impl Iterator<Item = (&'s str, u64)> {
    said.get(what).into_iter().flatten().map(|(of, n)| (of.as_str(), *n))
}

fn most(said: &Said, what: &str) -> u64 {
    of(said, what).map(|(_, n)| n).max().unwrap_or(0)
}

async fn objects_are_whole(store: &LocalStore, said: &Said) {
    let objects = store.objects();
    for (life, n) in of(said, "object") {
        let (body, _) = objects.get(&object_key(&format!("{life}-{n}"))).await.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(version_of(&body), n);
    }
    if let Ok((body, _)) = objects.get(&object_key("replaced")).await {
        assert!(version_of(&body) >= most(said, "replaced"), "an acknowledged replacement is lost");
    } else {
        assert_eq!(most(said, "replaced"), 0);
    }
}

async fn records_are_whole(store: &LocalStore, said: &Said) {
    let records = store.records();
    let all = |pk: &str| RecordPrefix { pk: pk.to_owned(), sk: String::new() };
    let sks = |items: Vec<Item>| items.into_iter().map(|item| item.key.sk).collect::<BTreeSet<String>>();
    let many = sks(records.query_all(&all("MANY")).await.unwrap());
    for (life, n) in of(said, "records") {
        assert!((0..3).all(|part| many.contains(&format!("{life}#{n:08}#{part}"))), "{life} {n} is lost");
    }
    let (left, right) = (sks(records.query_all(&all("LEFT")).await.unwrap()), sks(records.query_all(&all("RIGHT")).await.unwrap()));
    assert_eq!(left, right, "half a transaction");
    for (life, n) in of(said, "pair") {
        assert!(left.contains(&format!("{life}#{n:08}")), "{life} {n} is lost");
    }
    let counted = records.get(&key("COUNT", "A".to_owned())).await.unwrap();
    let counted = counted.map_or(0, |item| item.body["n"].as_u64().unwrap());
    assert!(counted >= most(said, "count"), "{counted} is below {}", most(said, "count"));
}

/// What was sent is there unless somebody has taken it; what was acknowledged never comes back. Asked at a later time,
/// when what dead children had in work is visible again; takes everything, so it comes last.
async fn messages_are_neither_lost_nor_back(store: &LocalStore, said: &Said) {
    let queues = store.queues();
    let mut kept: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    loop {
        let batch = queues.receive(QueueName::Publish, 100, HIDDEN, Duration::ZERO).await.unwrap();
        if batch.is_empty() {
            break;
        }
        for received in batch {
            let (life, n) = received.body.split_once(' ').unwrap();
            kept.entry(life.to_owned()).or_default().push(n.parse().unwrap());
            queues.acknowledge(QueueName::Publish, &received.receipt).await.unwrap();
        }
    }
    for (life, numbers) in &kept {
        assert!(numbers.iter().copied().eq(0..numbers.len() as u64), "{life}: {numbers:?}");
    }
    for (life, n) in of(said, "kept") {
        assert!(kept.get(life).is_some_and(|numbers| n < numbers.len() as u64), "{life} {n} is lost");
    }
    let mut waiting = BTreeSet::new();
    loop {
        let batch = queues.receive(QueueName::Profile, 100, HIDDEN, Duration::ZERO).await.unwrap();
        if batch.is_empty() {
            break;
        }
        for received in batch {
            let (life, n) = received.body.split_once(' ').unwrap();
            waiting.insert((life.to_owned(), n.parse::<u64>().unwrap()));
        }
    }
    for (life, n) in of(said, "done") {
        assert!(!waiting.contains(&(life.to_owned(), n)), "{life} {n} was acknowledged and is back");
    }
    let taken: BTreeSet<(&str, u64)> = of(said, "taken").collect();
    for (life, n) in of(said, "sent").filter(|sent| !taken.contains(sent)) {
        assert!(waiting.contains(&(life.to_owned(), n)), "{life} {n} was sent, never taken, and is lost");
    }
}

#[test]
fn nothing_acknowledged_is_lost_by_fifty_kills() {
    if std::env::var(FOLDER).is_ok() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut said = Said::new();
    for life in 0..KILLS {
        live_and_die(folder.path(), life, &mut said);
        let store = open(folder.path(), Arc::new(SystemClock));
        runtime.block_on(async {
            objects_are_whole(&store, &said).await;
            records_are_whole(&store, &said).await;
        });
    }
    for what in ["object", "replaced", "records", "pair", "count", "kept", "sent", "taken", "done"] {
        let count = said.get(what).map_or(0, BTreeSet::len);
        eprintln!("{what}: {count} acknowledged");
        assert!(count > 50, "{what}: {count} is too little to show anything");
    }
    runtime.block_on(messages_are_neither_lost_nor_back(&open(folder.path(), Arc::new(Later)), &said));
}
