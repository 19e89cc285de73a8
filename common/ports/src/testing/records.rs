//! The promises of [`Records`]: single writes, conditions, reading many, queries. Transactions and limits are beside.

use std::sync::Arc;

use quarry_model::{RecordKey, RecordPrefix, Timestamp};
use serde_json::{Map, Value, json};

use super::unique;
use crate::{Clock, Condition, Item, QueryOptions, RecordError, Records, SystemClock};

pub use super::records_limits::*;
pub use super::records_model::*;
pub use super::records_transactions::*;

/// Makes a test of every promise of the records port.
#[macro_export]
macro_rules! records_conformance {
    ($fresh:expr) => {
        $crate::promises!(
            records,
            $fresh,
            [
                what_is_put_is_read_back,
                a_put_replaces_the_whole_record,
                every_json_value_comes_back_exactly,
                reserved_words_are_ordinary_fields,
                only_if_absent_refuses_the_second,
                only_if_there_refuses_the_missing,
                only_if_equal_compares_text_and_numbers,
                only_if_below_compares_numbers,
                a_delete_obeys_its_condition,
                many_are_read_in_the_order_asked,
                many_are_written_and_removed,
                a_query_is_complete_and_in_order,
                a_query_pages_both_ways,
                a_query_stays_under_its_prefix,
                a_query_of_large_records_is_complete,
                an_expired_record_counts_as_absent,
                a_record_expires_by_itself,
                large_records_fit_and_larger_are_refused,
                counters_lose_nothing,
                counters_live_beside_fields,
                one_of_many_puts_wins,
                a_transaction_writes_all,
                a_refused_transaction_writes_nothing_and_says_why,
                a_transaction_takes_a_hundred_writes,
                a_transaction_names_each_record_once,
                racing_transactions_lose_no_update,
                racing_transactions_are_never_half_seen,
                random_calls_agree_with_a_model,
            ]
        );
    };
}

pub(super) type Store = Arc<dyn Records>;

/// A partition of its own.
pub(super) fn partition() -> String {
    format!("TEST#{}", unique())
}

pub(super) fn key(pk: &str, sk: &str) -> RecordKey {
    RecordKey { pk: pk.to_owned(), sk: sk.to_owned() }
}

pub(super) fn prefix(pk: &str, sk: &str) -> RecordPrefix {
    RecordPrefix { pk: pk.to_owned(), sk: sk.to_owned() }
}

pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(body) => body,
        other => panic!("{other} is no object"),
    }
}

pub(super) fn item(key: &RecordKey, body: Value) -> Item {
    Item { key: key.clone(), body: object(body), expires_at: None }
}

pub(super) async fn put(store: &Store, item: Item) {
    store.put(item, Condition::None).await.expect("an unconditional put succeeds");
}

pub(super) async fn body(store: &Store, key: &RecordKey) -> Option<Value> {
    store.get(key).await.expect("reading works").map(|item| Value::Object(item.body))
}

pub(super) fn in_millis(millis: i64) -> Timestamp {
    SystemClock.now().plus_millis(millis)
}

pub(super) fn is_refused(result: Result<(), RecordError>, key: &RecordKey) -> bool {
    matches!(result, Err(RecordError::Condition(named)) if named == *key)
}

/// Key, body and end of life; an absent record is none.
pub async fn what_is_put_is_read_back(store: Store) {
    let pk = partition();
    let written = Item { expires_at: Some(in_millis(3_600_000)), ..item(&key(&pk, "A"), json!({ "name": "Größe", "count": 3 })) };
    put(&store, written.clone()).await;
    assert_eq!(store.get(&written.key).await.expect("reading works"), Some(written));
    assert_eq!(store.get(&key(&pk, "B")).await.expect("reading works"), None);
    let empty = item(&key(&pk, "empty"), json!({}));
    put(&store, empty.clone()).await;
    assert_eq!(store.get(&empty.key).await.expect("reading works"), Some(empty));
}

/// Fields and end of life of the predecessor are gone.
pub async fn a_put_replaces_the_whole_record(store: Store) {
    let key = key(&partition(), "A");
    put(&store, item(&key, json!({ "a": 1, "b": 2 })).expiring(in_millis(3_600_000))).await;
    let second = item(&key, json!({ "b": 3 }));
    put(&store, second.clone()).await;
    assert_eq!(store.get(&key).await.expect("reading works"), Some(second));
}

/// Numbers to the last digit, nesting, empty things, every script.
pub async fn every_json_value_comes_back_exactly(store: Store) {
    let key = key(&partition(), "Größe#漢字 🦀");
    let deep = (0..60).fold(json!("leaf"), |inner, _| json!([inner]));
    let value = json!({
        "whole": [0, -1, i64::MIN, i64::MAX, u64::MAX],
        "largest": u64::MAX,
        "smallest": i64::MIN,
        "floats": [0.1, 0.1 + 0.2, 1.0 / 3.0, 1e300, -1e300, 5e-324, 1.0, 123_456_789.123_456_79, 2.0_f64.powi(70)],
        "float": 0.1 + 0.2,
        "round float": 1.0,
        "tiny": 5e-324,
        "huge": 1.797_693_134_862_315_7e308,
        "truth": true,
        "lie": false,
        "null": null,
        "empty text": "",
        "empty list": [],
        "empty object": {},
        "": "an empty name",
        "nested": { "": 1, "a.b": { "#c": [null, { "d": "" }] }, "_x": 0 },
        "deep": deep,
        "text": "\u{0}\u{1f}\"\\ \u{10FFFF} ü u\u{308} 漢字 \u{202E}",
        "größe 漢": "a name in another script",
    });
    put(&store, item(&key, value.clone())).await;
    assert_eq!(body(&store, &key).await, Some(value));
}

/// No name of a field collides with what a store writes beside the body, nor with its query language.
pub async fn reserved_words_are_ordinary_fields(store: Store) {
    let key = key(&partition(), "A");
    let names =
        ["pk", "sk", "ttl", "expires", "expires_at", "body", "_pk", "__pk", "_", "#a", ":a", "a.b", "a[0]", "size", "NAME", "name", "and"];
    let value = Value::Object(names.iter().enumerate().map(|(n, name)| ((*name).to_owned(), json!(n))).collect());
    put(&store, item(&key, value.clone())).await;
    assert_eq!(body(&store, &key).await, Some(value.clone()));
    for (n, name) in names.iter().enumerate() {
        let replaced = store.put(item(&key, value.clone()), Condition::Equals((*name).to_owned(), json!(n))).await;
        replaced.unwrap_or_else(|error| panic!("{name}: {error}"));
        let added = store.add(&key, &[(name, 0)], Map::new(), None).await.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(Value::Object(added.body), value, "{name}");
    }
}

/// The first stays; after a delete there is room again.
pub async fn only_if_absent_refuses_the_second(store: Store) {
    let key = key(&partition(), "A");
    let first = item(&key, json!({ "n": 1 }));
    store.put(first.clone(), Condition::Absent).await.expect("nothing is there");
    assert!(is_refused(store.put(item(&key, json!({ "n": 2 })), Condition::Absent).await, &key));
    assert_eq!(store.get(&key).await.expect("reading works"), Some(first.clone()));
    store.delete(&key, Condition::None).await.expect("delete");
    store.put(first, Condition::Absent).await.expect("nothing is there again");
}

/// Nothing is created by it.
pub async fn only_if_there_refuses_the_missing(store: Store) {
    let key = key(&partition(), "A");
    assert!(is_refused(store.put(item(&key, json!({ "n": 1 })), Condition::Exists).await, &key));
    assert_eq!(body(&store, &key).await, None);
    put(&store, item(&key, json!({ "n": 1 }))).await;
    store.put(item(&key, json!({ "n": 2 })), Condition::Exists).await.expect("it is there");
    assert_eq!(body(&store, &key).await, Some(json!({ "n": 2 })));
}

/// Text and number of the same spelling differ; a missing field and a missing record equal nothing.
pub async fn only_if_equal_compares_text_and_numbers(store: Store) {
    let key = key(&partition(), "A");
    let value = json!({ "version": 7, "state": "running", "digits": "7", "big": u64::MAX });
    let equals = |field: &str, value: Value| Condition::Equals(field.to_owned(), value);
    assert!(is_refused(store.put(item(&key, value.clone()), equals("version", json!(7))).await, &key));
    put(&store, item(&key, value.clone())).await;
    for (field, wanted) in
        [("version", json!(8)), ("version", json!("7")), ("digits", json!(7)), ("state", json!("done")), ("missing", json!(7))]
    {
        let refused = store.put(item(&key, json!({})), equals(field, wanted.clone())).await;
        assert!(is_refused(refused, &key), "{field} = {wanted}");
    }
    for (field, wanted) in [("version", json!(7)), ("digits", json!("7")), ("state", json!("running")), ("big", json!(u64::MAX))] {
        store.put(item(&key, value.clone()), equals(field, wanted)).await.unwrap_or_else(|error| panic!("{field}: {error}"));
    }
}

/// Absent or lower lets through; equal, higher and no number do not.
pub async fn only_if_below_compares_numbers(store: Store) {
    let key = key(&partition(), "A");
    let below = |bound: i64| Condition::AbsentOrBelow("order".to_owned(), bound);
    store.put(item(&key, json!({ "order": 10 })), below(0)).await.expect("nothing is there");
    for bound in [10, 9, -1, i64::MIN] {
        assert!(is_refused(store.put(item(&key, json!({ "order": 99 })), below(bound)).await, &key), "{bound}");
    }
    store.put(item(&key, json!({ "order": -5 })), below(11)).await.expect("10 is below 11");
    store.put(item(&key, json!({ "order": "text" })), below(-4)).await.expect("-5 is below -4");
    assert!(is_refused(store.put(item(&key, json!({})), below(i64::MAX)).await, &key), "text is no number");
    put(&store, item(&key, json!({ "other": 1 }))).await;
    assert!(is_refused(store.put(item(&key, json!({})), below(i64::MAX)).await, &key), "a missing field is no number");
}

/// Deleting what is not there is no error, unless something must be there.
pub async fn a_delete_obeys_its_condition(store: Store) {
    let key = key(&partition(), "A");
    store.delete(&key, Condition::None).await.expect("an absent record is no error");
    assert!(is_refused(store.delete(&key, Condition::Exists).await, &key));
    put(&store, item(&key, json!({ "version": 1 }))).await;
    assert!(is_refused(store.delete(&key, Condition::Equals("version".to_owned(), json!(2))).await, &key));
    assert!(body(&store, &key).await.is_some());
    store.delete(&key, Condition::Equals("version".to_owned(), json!(1))).await.expect("the version fits");
    assert_eq!(body(&store, &key).await, None);
}

/// More than a request may carry, with gaps and with one asked twice.
pub async fn many_are_read_in_the_order_asked(store: Store) {
    let pk = partition();
    let at = |n: usize| key(&pk, &format!("{n:04}"));
    store.write_many((0..130).map(|n| item(&at(n * 2), json!({ "n": n * 2 }))).collect(), Vec::new()).await.expect("writing");
    let mut asked: Vec<RecordKey> = (0..260).rev().map(at).collect();
    asked.push(at(4));
    asked.insert(0, at(4));
    let found = store.get_many(&asked).await.expect("reading works");
    assert_eq!(found.len(), asked.len());
    for (asked, found) in asked.iter().zip(found) {
        let n: usize = asked.sk.parse().expect("a number");
        let expected = n.is_multiple_of(2).then(|| item(asked, json!({ "n": n })));
        assert_eq!(found, expected, "{n}");
    }
    assert_eq!(store.get_many(&[]).await.expect("reading works"), Vec::new());
}

/// More than a request may carry, both at once; of one record named twice the last stays, and a delete goes over a put.
pub async fn many_are_written_and_removed(store: Store) {
    let pk = partition();
    let at = |n: usize| key(&pk, &format!("{n:04}"));
    store.write_many((0..120).map(|n| item(&at(n), json!({ "n": n }))).collect(), Vec::new()).await.expect("writing");
    let mut puts: Vec<Item> = (100..230).map(|n| item(&at(n), json!({ "n": n, "second": true }))).collect();
    puts.push(item(&at(100), json!({ "n": 100, "last": true })));
    store.write_many(puts, (0..60).map(at).chain([at(229), at(999)]).collect()).await.expect("writing");
    let left = store.query_all(&prefix(&pk, "")).await.expect("reading works");
    let expected: Vec<Item> = (60..229)
        .map(|n| match n {
            100 => item(&at(n), json!({ "n": n, "last": true })),
            101.. => item(&at(n), json!({ "n": n, "second": true })),
            _ => item(&at(n), json!({ "n": n })),
        })
        .collect();
    assert_eq!(left, expected);
    store.write_many(Vec::new(), Vec::new()).await.expect("nothing to do");
}

async fn pages(store: &Store, prefix: &RecordPrefix, limit: usize, descending: bool) -> Vec<String> {
    let mut keys = Vec::new();
    let mut options = QueryOptions { limit, cursor: None, descending };
    loop {
        let page = store.query(prefix, options.clone()).await.expect("reading works");
        assert!(limit == 0 || page.items.len() <= limit);
        keys.extend(page.items.into_iter().map(|item| item.key.sk));
        match page.cursor {
            Some(cursor) => options.cursor = Some(cursor),
            None => return keys,
        }
    }
}

async fn fill(store: &Store, pk: &str, sks: &[String]) {
    let items = sks.iter().map(|sk| item(&key(pk, sk), json!({ "sk": sk }))).collect();
    store.write_many(items, Vec::new()).await.expect("writing");
}

/// Sort keys sort by their bytes.
pub async fn a_query_is_complete_and_in_order(store: Store) {
    let pk = partition();
    let mut sks: Vec<String> =
        ["b", "a", "a#1", "a#10", "a#2", "A", "é", "z", "漢", "🦀", "\u{E000}", " ", "~"].map(str::to_owned).to_vec();
    fill(&store, &pk, &sks).await;
    sks.sort();
    assert_eq!(pages(&store, &prefix(&pk, ""), 0, false).await, sks);
    let found = store.query_all(&prefix(&pk, "")).await.expect("reading works");
    assert!(found.iter().all(|item| item.body["sk"] == item.key.sk.as_str() && item.key.pk == pk));
    assert_eq!(store.query_all(&prefix(&partition(), "")).await.expect("reading works"), Vec::new());
}

/// Pages of any size join to the whole, up and down.
pub async fn a_query_pages_both_ways(store: Store) {
    let pk = partition();
    let sks: Vec<String> = (0..24).map(|n| format!("CHK#{n:06}")).collect();
    fill(&store, &pk, &sks).await;
    let reversed: Vec<String> = sks.iter().rev().cloned().collect();
    for limit in [1, 5, 8, 24, 25] {
        assert_eq!(pages(&store, &prefix(&pk, "CHK#"), limit, false).await, sks, "limit {limit}");
        assert_eq!(pages(&store, &prefix(&pk, "CHK#"), limit, true).await, reversed, "limit {limit}, descending");
    }
}

/// Neighbouring sort keys and partitions stay out, in both directions.
pub async fn a_query_stays_under_its_prefix(store: Store) {
    let pk = partition();
    let sks: Vec<String> = ["DOC", "DOC#", "DOC#a", "DOC#\u{10FFFF}", "DOC$", "DOB#a", "DOCX", "doc#a"].map(str::to_owned).to_vec();
    fill(&store, &pk, &sks).await;
    fill(&store, &format!("{pk}0"), &["DOC#other".to_owned()]).await;
    assert_eq!(pages(&store, &prefix(&pk, "DOC#"), 2, false).await, ["DOC#", "DOC#a", "DOC#\u{10FFFF}"]);
    assert_eq!(pages(&store, &prefix(&pk, "DOC#"), 2, true).await, ["DOC#\u{10FFFF}", "DOC#a", "DOC#"]);
}

/// More than a megabyte in one partition.
pub async fn a_query_of_large_records_is_complete(store: Store) {
    let pk = partition();
    let text = "x".repeat(150_000);
    let items = (0..10).map(|n| item(&key(&pk, &format!("{n:02}")), json!({ "text": text }))).collect();
    store.write_many(items, Vec::new()).await.expect("writing");
    let found = store.query_all(&prefix(&pk, "")).await.expect("reading works");
    assert_eq!(found.len(), 10);
    assert!(found.iter().all(|item| item.body["text"] == text.as_str()));
    assert_eq!(pages(&store, &prefix(&pk, ""), 0, true).await.len(), 10);
}

/// Of sixteen that create at once, one wins and the others are told.
pub async fn one_of_many_puts_wins(store: Store) {
    let key = key(&partition(), "A");
    let mut racers = Vec::new();
    for number in 0..16 {
        let (store, item) = (Arc::clone(&store), item(&key, json!({ "number": number })));
        racers.push(tokio::spawn(async move { store.put(item, Condition::Absent).await.map(|()| number) }));
    }
    let mut winners = Vec::new();
    for racer in racers {
        match racer.await.expect("no panic") {
            Ok(number) => winners.push(number),
            Err(RecordError::Condition(_)) => (),
            Err(error) => panic!("a loser is told so: {error}"),
        }
    }
    assert_eq!(winners.len(), 1);
    assert_eq!(body(&store, &key).await, Some(json!({ "number": winners[0] })));
}
