//! What a document costs the local store: `cargo run --release -p quarry-store-local --example cost [DOCUMENTS]`.
//!
//! Each document makes the calls of the road (some records, a transaction, messages sent, received and acknowledged,
//! artifacts), one after the other and then four documents side by side.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use quarry_model::message::QueueName;
use quarry_model::{ObjectKey, RecordKey};
use quarry_ports::{Condition, Item, Outgoing, PutOptions, Write};
use quarry_store_local::{LocalStore, PublicBase};
use serde_json::{Map, json};

#[tokio::main]
async fn main() {
    let documents = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1_000);
    for side_by_side in [1, 4] {
        let folder = tempfile::tempdir().expect("a folder");
        let store = LocalStore::open(folder.path(), PublicBase::default()).expect("a store");
        let next = Arc::new(AtomicUsize::new(0));
        let begun = Instant::now();
        let workers: Vec<_> = (0..side_by_side)
            .map(|_| {
                let (store, next) = (store.clone(), Arc::clone(&next));
                tokio::spawn(async move {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= documents {
                            return;
                        }
                        document(&store, number).await;
                    }
                })
            })
            .collect();
        for worker in workers {
            worker.await.expect("no panic");
        }
        let all = begun.elapsed();
        eprintln!("{side_by_side} side by side: {documents} documents in {all:.2?}, {:.2?} each", all / documents as u32);
    }
}

async fn document(store: &LocalStore, number: usize) {
    let (records, queues, objects) = (store.records(), store.queues(), store.objects());
    let item = |sk: String| {
        let body = Map::from_iter([("content".to_owned(), json!("x".repeat(2_000)))]);
        Item { key: RecordKey { pk: format!("REV#{number}"), sk }, body, expires_at: None }
    };
    for step in 0..4 {
        records.put(item(format!("EVT#{step}")), Condition::Absent).await.expect("put");
    }
    records.write_many((0..20).map(|n| item(format!("CHK#{n:06}"))).collect(), vec![]).await.expect("write");
    records.transact((0..5).map(|n| Write::Put(item(format!("T#{n}")), Condition::Absent)).collect()).await.expect("transact");
    for _ in 0..3 {
        queues.send(QueueName::Profile, vec![Outgoing { body: "{}".into(), ..Outgoing::default() }]).await.expect("send");
        let got = queues.receive(QueueName::Profile, 1, Duration::from_mins(1), Duration::ZERO).await.expect("receive");
        for message in got {
            queues.acknowledge(QueueName::Profile, &message.receipt).await.expect("acknowledge");
        }
    }
    for n in 0..8 {
        let key = ObjectKey::from_event(&format!("documents/local/default/{number}/r/{n}.json"));
        objects.put(&key, vec![b'x'; 4_000].into(), PutOptions::default()).await.expect("put");
    }
}
