//! Random calls against [`crate::Records`] and against the simplest thing that could be right: a sorted map.

use std::collections::BTreeMap;

use quarry_model::{RecordKey, RecordPrefix};
use serde_json::{Map, Value, json};

use super::records::{Store, key, object, partition, prefix};
use crate::{Condition, Item, QueryOptions, RecordError, TransactError, Write};

/// Calls of one run.
const CALLS: usize = 250;

type Model = BTreeMap<String, Map<String, Value>>;

/// A small generator with a fixed start, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn sk(&mut self) -> String {
        let group = ["A#", "B#", "B", "C#漢"][self.below(4) as usize];
        format!("{group}{}", self.below(5))
    }

    fn condition(&mut self) -> Condition {
        match self.below(6) {
            0 => Condition::Absent,
            1 => Condition::Exists,
            2 => Condition::Equals("n".to_owned(), json!(self.below(4))),
            3 => Condition::AbsentOrBelow("n".to_owned(), self.below(5) as i64),
            _ => Condition::None,
        }
    }

    fn body(&mut self) -> Map<String, Value> {
        object(json!({ "n": self.below(4), "text": "x".repeat(self.below(40) as usize) }))
    }
}

fn holds(model: &Model, sk: &str, condition: &Condition) -> bool {
    let found = model.get(sk);
    match condition {
        Condition::None => true,
        Condition::Absent => found.is_none(),
        Condition::Exists => found.is_some(),
        Condition::Equals(field, value) => found.is_some_and(|body| body.get(field) == Some(value)),
        Condition::AbsentOrBelow(field, bound) => {
            found.is_none_or(|body| body.get(field).and_then(Value::as_i64).is_some_and(|number| number < *bound))
        }
    }
}

fn range(model: &Model, prefix: &RecordPrefix, descending: bool) -> Vec<(String, Map<String, Value>)> {
    let mut found: Vec<_> =
        model.iter().filter(|(sk, _)| sk.starts_with(&prefix.sk)).map(|(sk, body)| (sk.clone(), body.clone())).collect();
    if descending {
        found.reverse();
    }
    found
}

fn apply(model: &mut Model, write: &Write) {
    match write {
        Write::Put(item, _) => {
            model.insert(item.key.sk.clone(), item.body.clone());
        }
        Write::Delete(key, _) => {
            model.remove(&key.sk);
        }
        Write::Check(..) => (),
    }
}

fn target(write: &Write) -> (&RecordKey, &Condition) {
    match write {
        Write::Put(item, condition) => (&item.key, condition),
        Write::Delete(key, condition) | Write::Check(key, condition) => (key, condition),
    }
}

/// Every answer and the final state agree, for some hundred random calls.
pub async fn random_calls_agree_with_a_model(store: Store) {
    let pk = partition();
    let mut random = Random(20_261_130);
    let mut model = Model::new();
    for call in 0..CALLS {
        match random.below(6) {
            0 | 1 => write_one(&store, &pk, &mut random, &mut model, call).await,
            2 => transact(&store, &pk, &mut random, &mut model, call).await,
            3 => count(&store, &pk, &mut random, &mut model, call).await,
            4 => query(&store, &pk, &mut random, &model, call).await,
            _ => {
                let sk = random.sk();
                let found = store.get(&key(&pk, &sk)).await.expect("reading works");
                assert_eq!(found.map(|item| item.body).as_ref(), model.get(&sk), "call {call}");
            }
        }
    }
    query(&store, &pk, &mut random, &model, CALLS).await;
}

fn any_write(pk: &str, random: &mut Random, kinds: u64) -> Write {
    let key = key(pk, &random.sk());
    let condition = random.condition();
    match random.below(kinds) {
        0 => Write::Delete(key, condition),
        1 | 2 => Write::Put(Item { key, body: random.body(), expires_at: None }, condition),
        _ => Write::Check(key, condition),
    }
}

async fn write_one(store: &Store, pk: &str, random: &mut Random, model: &mut Model, call: usize) {
    let write = any_write(pk, random, 3);
    let (target, condition) = target(&write);
    let expected = holds(model, &target.sk, condition);
    let outcome = match write.clone() {
        Write::Put(item, condition) => store.put(item, condition).await,
        Write::Delete(key, condition) => store.delete(&key, condition).await,
        Write::Check(..) => unreachable!("not drawn"),
    };
    match outcome {
        Ok(()) => assert!(expected, "call {call}: {write:?} was let through"),
        Err(RecordError::Condition(_)) => assert!(!expected, "call {call}: {write:?} was refused"),
        Err(error) => panic!("call {call}: {write:?}: {error}"),
    }
    if expected {
        apply(model, &write);
    }
}

async fn transact(store: &Store, pk: &str, random: &mut Random, model: &mut Model, call: usize) {
    let mut writes: Vec<Write> = Vec::new();
    for _ in 0..=random.below(5) {
        let write = any_write(pk, random, 4);
        if !writes.iter().any(|other| target(other).0 == target(&write).0) {
            writes.push(write);
        }
    }
    let at_fault: Vec<bool> = writes.iter().map(|write| !holds(model, &target(write).0.sk, target(write).1)).collect();
    match store.transact(writes.clone()).await {
        Ok(()) => {
            assert!(!at_fault.contains(&true), "call {call}: {writes:?} was let through");
            for write in &writes {
                apply(model, write);
            }
        }
        Err(TransactError::Conditions(found)) => assert_eq!(found, at_fault, "call {call}: {writes:?}"),
        Err(error) => panic!("call {call}: {writes:?}: {error}"),
    }
}

async fn count(store: &Store, pk: &str, random: &mut Random, model: &mut Model, call: usize) {
    let (sk, by) = (random.sk(), random.below(3) as i64 - 1);
    let answered = store.add(&key(pk, &sk), &[("n", by)], Map::new(), None).await.expect("counting works");
    let body = model.entry(sk).or_default();
    let before = body.get("n").and_then(Value::as_i64).unwrap_or(0);
    body.insert("n".to_owned(), json!(before + by));
    assert_eq!(answered.body, *body, "call {call}");
}

async fn query(store: &Store, pk: &str, random: &mut Random, model: &Model, call: usize) {
    let prefix = prefix(pk, ["", "A", "A#", "B", "B#", "C#漢"][random.below(6) as usize]);
    let descending = random.below(2) == 1;
    let mut options = QueryOptions { limit: random.below(5) as usize, cursor: None, descending };
    let mut found = Vec::new();
    loop {
        let page = store.query(&prefix, options.clone()).await.expect("reading works");
        found.extend(page.items.into_iter().map(|item| (item.key.sk, item.body)));
        match page.cursor {
            Some(cursor) => options.cursor = Some(cursor),
            None => break,
        }
    }
    assert_eq!(found, range(model, &prefix, descending), "call {call}: {prefix:?}");
}
