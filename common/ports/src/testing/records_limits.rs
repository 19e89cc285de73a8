//! The promises of [`crate::Records`] about ends of life, sizes and counters.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::records::{Store, body, in_millis, is_refused, item, key, object, partition, prefix, put};
use crate::{Condition, QueryOptions, RecordError, TransactError, Write};

/// For reading, for queries and their pages, for conditions, for counters.
pub async fn an_expired_record_counts_as_absent(store: Store) {
    let pk = partition();
    let key = |sk: &str| key(&pk, sk);
    let past = in_millis(-1_000);
    for sk in ["1", "3", "5"] {
        put(&store, item(&key(sk), json!({ "n": 100 })).expiring(past)).await;
    }
    for sk in ["2", "4"] {
        put(&store, item(&key(sk), json!({ "n": 1 })).expiring(in_millis(3_600_000))).await;
    }
    assert_eq!(body(&store, &key("1")).await, None);
    let many = store.get_many(&[key("1"), key("2")]).await.expect("reading works");
    assert!(many[0].is_none() && many[1].is_some());
    let mut options = QueryOptions { limit: 1, ..QueryOptions::default() };
    let mut seen = Vec::new();
    loop {
        let page = store.query(&prefix(&pk, ""), options.clone()).await.expect("reading works");
        seen.extend(page.items.into_iter().map(|item| item.key.sk));
        match page.cursor {
            Some(cursor) => options.cursor = Some(cursor),
            None => break,
        }
    }
    assert_eq!(seen, ["2", "4"]);
    assert!(is_refused(store.put(item(&key("1"), json!({})), Condition::Exists).await, &key("1")));
    assert!(is_refused(store.delete(&key("1"), Condition::Equals("n".to_owned(), json!(100))).await, &key("1")));
    store.put(item(&key("1"), json!({ "n": 5 })), Condition::AbsentOrBelow("n".to_owned(), 6)).await.expect("absent");
    store.put(item(&key("3"), json!({ "n": 5 })), Condition::Absent).await.expect("absent");
    let counted = store.add(&key("5"), &[("n", 2)], Map::new(), None).await.expect("counting works");
    assert_eq!((Value::Object(counted.body), counted.expires_at), (json!({ "n": 2 }), None));
    assert_eq!(body(&store, &key("5")).await, Some(json!({ "n": 2 })));
    put(&store, item(&key("6"), json!({ "n": 1 })).expiring(past)).await;
    let checked = store.transact(vec![Write::Check(key("6"), Condition::Exists), Write::Check(key("2"), Condition::Exists)]).await;
    assert!(matches!(checked, Err(TransactError::Conditions(at_fault)) if at_fault == [true, false]));
    store.transact(vec![Write::Put(item(&key("6"), json!({ "n": 2 })), Condition::Absent)]).await.expect("absent");
}

/// Present until its moment, to a fraction of a second.
pub async fn a_record_expires_by_itself(store: Store) {
    let key = key(&partition(), "A");
    put(&store, item(&key, json!({})).expiring(in_millis(2_500))).await;
    assert!(body(&store, &key).await.is_some());
    tokio::time::sleep(Duration::from_millis(2_600)).await;
    assert_eq!(body(&store, &key).await, None);
}

/// 390,000 bytes come back whole; beyond 400 KiB the record is refused by name, whatever the call.
pub async fn large_records_fit_and_larger_are_refused(store: Store) {
    let pk = partition();
    let (fits, larger) = (key(&pk, "fits"), key(&pk, "larger"));
    let large = json!({ "text": "é".repeat(150_000), "list": vec!["0123456789"; 6_000] });
    put(&store, item(&fits, large.clone())).await;
    assert_eq!(body(&store, &fits).await, Some(large));
    let too_large = item(&larger, json!({ "text": "x".repeat(450_000) }));
    let named = |error: &RecordError| matches!(error, RecordError::TooLarge(named) if *named == larger);
    assert!(store.put(too_large.clone(), Condition::None).await.is_err_and(|error| named(&error)));
    let many = vec![item(&key(&pk, "beside"), json!({})), too_large.clone()];
    assert!(store.write_many(many, Vec::new()).await.is_err_and(|error| named(&error)));
    let refused = store.transact(vec![Write::Put(too_large, Condition::None)]).await;
    assert!(matches!(refused, Err(TransactError::Store(error)) if named(&error)));
    assert_eq!(body(&store, &larger).await, None);
}

/// Sixteen that count at once add up exactly.
pub async fn counters_lose_nothing(store: Store) {
    let key = key(&partition(), "A");
    let mut counting = Vec::new();
    for by in 1..=16_i64 {
        let (store, key) = (Arc::clone(&store), key.clone());
        counting.push(tokio::spawn(async move {
            for _ in 0..10 {
                store.add(&key, &[("hits", by), ("calls", 1)], Map::new(), None).await.expect("counting works");
            }
        }));
    }
    for one in counting {
        one.await.expect("no panic");
    }
    assert_eq!(body(&store, &key).await, Some(json!({ "hits": 136 * 10, "calls": 160 })));
}

/// Counting makes the record, keeps other fields, sets the given ones, goes below zero, and answers what is there now.
pub async fn counters_live_beside_fields(store: Store) {
    let key = key(&partition(), "A");
    let set = object(json!({ "last": "2026-11-30", "list": [1, { "a": 0.5 }] }));
    let expires = in_millis(3_600_000);
    let made = store.add(&key, &[("n", 5)], set.clone(), Some(expires)).await.expect("counting works");
    assert_eq!(Value::Object(made.body.clone()), json!({ "n": 5, "last": "2026-11-30", "list": [1, { "a": 0.5 }] }));
    assert_eq!((made.key.clone(), made.expires_at), (key.clone(), Some(expires)));
    assert_eq!(store.get(&key).await.expect("reading works"), Some(made));
    let next = store.add(&key, &[("n", -7), ("m", 0)], object(json!({ "last": "later" })), None).await.expect("counting works");
    assert_eq!(Value::Object(next.body), json!({ "n": -2, "m": 0, "last": "later", "list": [1, { "a": 0.5 }] }));
    assert_eq!(next.expires_at, Some(expires), "an end of life stays until another is given");
    let touched = store.add(&key, &[], object(json!({ "last": "last" })), None).await.expect("setting works");
    assert_eq!(touched.body["last"], "last");
}
