//! The promises of [`crate::Records`] about transactions.

use std::sync::Arc;

use quarry_model::RecordKey;
use serde_json::{Value, json};

use super::records::{Store, body, item, key, partition, prefix, put};
use crate::records::MAX_TRANSACTION;
use crate::{Condition, Records, TransactError, Write};

/// Puts, deletes and checks of several partitions; none at all is no error.
pub async fn a_transaction_writes_all(store: Store) {
    let (one, other) = (key(&partition(), "A"), key(&partition(), "B"));
    put(&store, item(&other, json!({ "version": 1 }))).await;
    let gone = key(&other.pk, "gone");
    put(&store, item(&gone, json!({}))).await;
    let checked = key(&other.pk, "checked");
    put(&store, item(&checked, json!({ "state": "running" }))).await;
    let writes = vec![
        Write::Put(item(&one, json!({ "new": true })), Condition::Absent),
        Write::Put(item(&other, json!({ "version": 2 })), Condition::Equals("version".to_owned(), json!(1))),
        Write::Delete(gone.clone(), Condition::Exists),
        Write::Check(checked.clone(), Condition::Equals("state".to_owned(), json!("running"))),
        Write::Delete(key(&other.pk, "never there"), Condition::None),
    ];
    store.transact(writes).await.expect("every condition holds");
    assert_eq!(body(&store, &one).await, Some(json!({ "new": true })));
    assert_eq!(body(&store, &other).await, Some(json!({ "version": 2 })));
    assert_eq!(body(&store, &gone).await, None);
    assert_eq!(body(&store, &checked).await, Some(json!({ "state": "running" })));
    store.transact(Vec::new()).await.expect("nothing to do");
}

/// One word for each write, in order, and nothing written, not even by those that hold.
pub async fn a_refused_transaction_writes_nothing_and_says_why(store: Store) {
    let pk = partition();
    let at = |sk: &str| key(&pk, sk);
    put(&store, item(&at("there"), json!({ "n": 1 }))).await;
    let writes = vec![
        Write::Put(item(&at("new"), json!({})), Condition::Absent),
        Write::Put(item(&at("there"), json!({ "n": 2 })), Condition::Absent),
        Write::Delete(at("missing"), Condition::Exists),
        Write::Put(item(&at("free"), json!({})), Condition::None),
        Write::Check(at("absent"), Condition::AbsentOrBelow("n".to_owned(), 0)),
        Write::Check(at("elsewhere"), Condition::Equals("n".to_owned(), json!(1))),
    ];
    let refused = store.transact(writes).await;
    assert!(
        matches!(&refused, Err(TransactError::Conditions(at_fault)) if *at_fault == [false, true, true, false, false, true]),
        "{refused:?}"
    );
    let left = store.query_all(&prefix(&pk, "")).await.expect("reading works");
    assert_eq!(left, [item(&at("there"), json!({ "n": 1 }))]);
}

/// A hundred go, and one more is refused whole.
pub async fn a_transaction_takes_a_hundred_writes(store: Store) {
    let pk = partition();
    let writes =
        |count: usize| (0..count).map(|n| Write::Put(item(&key(&pk, &format!("{n:03}")), json!({ "n": n })), Condition::Absent)).collect();
    assert!(matches!(store.transact(writes(MAX_TRANSACTION + 1)).await, Err(TransactError::Store(_))));
    assert_eq!(store.query_all(&prefix(&pk, "")).await.expect("reading works").len(), 0);
    store.transact(writes(MAX_TRANSACTION)).await.expect("a hundred");
    assert_eq!(store.query_all(&prefix(&pk, "")).await.expect("reading works").len(), MAX_TRANSACTION);
    let refused = store.transact(writes(MAX_TRANSACTION)).await;
    assert!(matches!(refused, Err(TransactError::Conditions(at_fault)) if at_fault == [true; MAX_TRANSACTION]));
}

/// Two writes of one record in one transaction have no order; that is a mistake of the caller.
pub async fn a_transaction_names_each_record_once(store: Store) {
    let key = key(&partition(), "A");
    let twice = vec![Write::Put(item(&key, json!({ "n": 1 })), Condition::None), Write::Delete(key.clone(), Condition::None)];
    assert!(matches!(store.transact(twice).await, Err(TransactError::Store(_))));
    assert_eq!(body(&store, &key).await, None);
}

async fn increment(store: &Store, head: &RecordKey, log: RecordKey) {
    loop {
        let found = store.get(head).await.expect("reading works").expect("there");
        let version = found.body["version"].as_i64().expect("a number");
        let writes = vec![
            Write::Put(item(head, json!({ "version": version + 1 })), Condition::Equals("version".to_owned(), json!(version))),
            Write::Put(item(&log, json!({ "saw": version })), Condition::Absent),
        ];
        match store.transact(writes).await {
            Ok(()) => return,
            Err(TransactError::Conditions(at_fault)) => assert_eq!(at_fault, [true, false]),
            Err(TransactError::Conflict) => (),
            Err(error) => panic!("a loser is told so: {error}"),
        }
    }
}

/// Twelve that change one head at once: each change goes over another one's.
pub async fn racing_transactions_lose_no_update(store: Store) {
    let pk = partition();
    let head = key(&pk, "HEAD");
    put(&store, item(&head, json!({ "version": 0 }))).await;
    let mut racers = Vec::new();
    for number in 0..12 {
        let (store, head, log) = (Arc::clone(&store), head.clone(), key(&pk, &format!("LOG#{number:02}")));
        racers.push(tokio::spawn(async move { increment(&store, &head, log).await }));
    }
    for racer in racers {
        racer.await.expect("no panic");
    }
    assert_eq!(body(&store, &head).await, Some(json!({ "version": 12 })));
    let logs = store.query_all(&prefix(&pk, "LOG#")).await.expect("reading works");
    let mut saw: Vec<i64> = logs.iter().filter_map(|item| item.body["saw"].as_i64()).collect();
    saw.sort_unstable();
    assert_eq!(saw, (0..12).collect::<Vec<_>>());
}

/// A reader of a record that was written together with another finds the other as well.
pub async fn racing_transactions_are_never_half_seen(store: Store) {
    let pk = partition();
    let at = |side: &str, n: i64| key(&pk, &format!("{side}#{n}"));
    let writing = Arc::clone(&store);
    let pairs: Vec<(RecordKey, RecordKey)> = (0..20).map(|n| (at("left", n), at("right", n))).collect();
    let written = pairs.clone();
    let writer = tokio::spawn(async move {
        for (left, right) in written {
            let writes = [&left, &right].map(|key| Write::Put(item(key, json!({})), Condition::Absent));
            writing.transact(writes.into()).await.expect("nobody else writes these");
        }
    });
    for (left, right) in &pairs {
        while store.get(right).await.expect("reading works").is_none() {
            tokio::task::yield_now().await;
        }
        assert!(store.get(left).await.expect("reading works").is_some());
    }
    writer.await.expect("no panic");
    assert_eq!(count(&store, &pk).await, 40);
}

async fn count(store: &Arc<dyn Records>, pk: &str) -> usize {
    let found = store.query_all(&prefix(pk, "")).await.expect("reading works");
    found.iter().filter(|item| Value::Object(item.body.clone()) == json!({})).count()
}
