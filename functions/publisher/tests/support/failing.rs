//! Stores that die at a given step, as a killed process does: from then on nothing works any more.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use quarry_model::{ObjectKey, ObjectPrefix, RecordKey, RecordPrefix, Timestamp};
use quarry_ports::{
    Condition, Item, ObjectError, ObjectMeta, ObjectPage, ObjectStore, Page, PresignedPut, PutOptions, QueryOptions, RecordError, Records,
    TransactError, Write,
};
use serde_json::{Map, Value};

/// Counts changes down; at zero the process is dead. With `answer_lost` the last change still happens, but nobody learns of it.
#[derive(Clone)]
pub struct Life {
    left: Arc<AtomicI64>,
    answer_lost: bool,
}

/// What a step of a process that may die does.
enum Step {
    Alive,
    Last,
    Dead,
}

impl Life {
    pub fn of(changes: i64, answer_lost: bool) -> Self {
        Self { left: Arc::new(AtomicI64::new(changes)), answer_lost }
    }

    /// Changes that were not made use of.
    pub fn left(&self) -> i64 {
        self.left.load(Ordering::SeqCst)
    }

    fn step(&self) -> Step {
        match self.left.fetch_sub(1, Ordering::SeqCst) {
            n if n > 0 => Step::Alive,
            0 if self.answer_lost => Step::Last,
            _ => Step::Dead,
        }
    }

    fn is_dead(&self) -> bool {
        self.left.load(Ordering::SeqCst) < 0
    }
}

#[derive(Debug, thiserror::Error)]
#[error("killed")]
struct Killed;

fn object() -> ObjectError {
    ObjectError::Other(Box::new(Killed))
}

fn record() -> RecordError {
    RecordError::Other(Box::new(Killed))
}

pub struct FailingObjects(pub Arc<dyn ObjectStore>, pub Life);
pub struct FailingRecords(pub Arc<dyn Records>, pub Life);

/// Runs a change if the process still lives, and answers only if it lives on.
macro_rules! change {
    ($life:expr, $dead:expr, $call:expr) => {
        match $life.step() {
            Step::Alive => $call.await,
            Step::Last => {
                let _ = $call.await;
                Err($dead.into())
            }
            Step::Dead => Err($dead.into()),
        }
    };
}

macro_rules! look {
    ($life:expr, $dead:expr, $call:expr) => {
        if $life.is_dead() { Err($dead.into()) } else { $call.await }
    };
}

#[async_trait]
impl ObjectStore for FailingObjects {
    async fn put(&self, key: &ObjectKey, body: Bytes, options: PutOptions) -> Result<ObjectMeta, ObjectError> {
        change!(self.1, object(), self.0.put(key, body, options))
    }
    async fn get(&self, key: &ObjectKey) -> Result<(Bytes, ObjectMeta), ObjectError> {
        look!(self.1, object(), self.0.get(key))
    }
    async fn get_range(&self, key: &ObjectKey, range: Range<u64>) -> Result<Bytes, ObjectError> {
        look!(self.1, object(), self.0.get_range(key, range))
    }
    async fn head(&self, key: &ObjectKey) -> Result<ObjectMeta, ObjectError> {
        look!(self.1, object(), self.0.head(key))
    }
    async fn delete(&self, key: &ObjectKey) -> Result<(), ObjectError> {
        change!(self.1, object(), self.0.delete(key))
    }
    async fn list(&self, prefix: &ObjectPrefix, cursor: Option<&str>, limit: usize) -> Result<ObjectPage, ObjectError> {
        look!(self.1, object(), self.0.list(prefix, cursor, limit))
    }
    async fn presign_get(&self, key: &ObjectKey, life: Duration, file_name: Option<&str>) -> Result<String, ObjectError> {
        self.0.presign_get(key, life, file_name).await
    }
    async fn presign_put(&self, key: &ObjectKey, life: Duration, content_type: &str) -> Result<PresignedPut, ObjectError> {
        self.0.presign_put(key, life, content_type).await
    }
}

#[async_trait]
impl Records for FailingRecords {
    async fn get(&self, key: &RecordKey) -> Result<Option<Item>, RecordError> {
        look!(self.1, record(), self.0.get(key))
    }
    async fn get_many(&self, keys: &[RecordKey]) -> Result<Vec<Option<Item>>, RecordError> {
        look!(self.1, record(), self.0.get_many(keys))
    }
    async fn put(&self, item: Item, condition: Condition) -> Result<(), RecordError> {
        change!(self.1, record(), self.0.put(item, condition))
    }
    async fn delete(&self, key: &RecordKey, condition: Condition) -> Result<(), RecordError> {
        change!(self.1, record(), self.0.delete(key, condition))
    }
    /// Not as one: half of it is written when the process dies in the middle.
    async fn write_many(&self, puts: Vec<Item>, deletes: Vec<RecordKey>) -> Result<(), RecordError> {
        match self.1.step() {
            Step::Alive => self.0.write_many(puts, deletes).await,
            Step::Last => {
                let (puts, deletes) = (puts[..puts.len() / 2].to_vec(), deletes[..deletes.len() / 2].to_vec());
                self.0.write_many(puts, deletes).await?;
                Err(record())
            }
            Step::Dead => Err(record()),
        }
    }
    async fn transact(&self, writes: Vec<Write>) -> Result<(), TransactError> {
        change!(self.1, record(), self.0.transact(writes))
    }
    async fn query(&self, prefix: &RecordPrefix, options: QueryOptions) -> Result<Page, RecordError> {
        look!(self.1, record(), self.0.query(prefix, options))
    }
    async fn add(
        &self,
        key: &RecordKey,
        counters: &[(&str, i64)],
        set: Map<String, Value>,
        expires_at: Option<Timestamp>,
    ) -> Result<Item, RecordError> {
        change!(self.1, record(), self.0.add(key, counters, set, expires_at))
    }
}
