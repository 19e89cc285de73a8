//! Stores that note what is asked of them, in the words of the services' permissions.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use quarry_model::message::QueueName;
use quarry_model::{ObjectKey, ObjectPrefix, RecordKey, RecordPrefix, Timestamp};
use quarry_ports::queue::Chosen;
use quarry_ports::{
    Condition, DeadLetter, Item, ObjectError, ObjectMeta, ObjectPage, ObjectStore, Outgoing, Page, PresignedPut, PutOptions, QueryOptions,
    Queue, QueueError, Received, RecordError, Records, TransactError, Write,
};
use quarry_store_local::LocalStore;
use serde_json::{Map, Value};

/// One thing that was done: the permission it takes, and the object's key, the partition or the queue.
pub(crate) type Use = (&'static str, String);

/// A local store, and what was done with it. Clones share both.
#[derive(Clone)]
pub(crate) struct Recorder {
    store: LocalStore,
    used: Arc<Mutex<BTreeMap<Use, u64>>>,
}

impl Recorder {
    pub(crate) fn new(store: &LocalStore) -> Self {
        Self { store: store.clone(), used: Arc::default() }
    }

    pub(crate) fn objects(&self) -> Arc<dyn ObjectStore> {
        Arc::new(self.clone())
    }

    pub(crate) fn records(&self) -> Arc<dyn Records> {
        Arc::new(self.clone())
    }

    pub(crate) fn queue(&self) -> Arc<dyn Queue> {
        Arc::new(self.clone())
    }

    pub(crate) fn used(&self) -> BTreeSet<Use> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// How often each permission was used, an item of a batch or a transaction as one.
    pub(crate) fn counts(&self) -> BTreeMap<&'static str, u64> {
        let mut counts = BTreeMap::new();
        for ((permission, _), count) in self.used.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            *counts.entry(*permission).or_default() += count;
        }
        counts
    }

    fn note(&self, permission: &'static str, what: &str) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner).entry((permission, what.to_owned())).or_default() += 1;
    }
}

#[async_trait]
impl ObjectStore for Recorder {
    async fn put(&self, key: &ObjectKey, body: Bytes, options: PutOptions) -> Result<ObjectMeta, ObjectError> {
        self.note("s3:PutObject", key.as_str());
        self.store.objects().put(key, body, options).await
    }
    async fn get(&self, key: &ObjectKey) -> Result<(Bytes, ObjectMeta), ObjectError> {
        self.note("s3:GetObject", key.as_str());
        self.store.objects().get(key).await
    }
    async fn get_range(&self, key: &ObjectKey, range: Range<u64>) -> Result<Bytes, ObjectError> {
        self.note("s3:GetObject", key.as_str());
        self.store.objects().get_range(key, range).await
    }
    async fn head(&self, key: &ObjectKey) -> Result<ObjectMeta, ObjectError> {
        self.note("s3:GetObject", key.as_str());
        self.store.objects().head(key).await
    }
    async fn delete(&self, key: &ObjectKey) -> Result<(), ObjectError> {
        self.note("s3:DeleteObject", key.as_str());
        self.store.objects().delete(key).await
    }
    async fn list(&self, prefix: &ObjectPrefix, cursor: Option<&str>, limit: usize) -> Result<ObjectPage, ObjectError> {
        self.note("s3:ListBucket", "");
        self.store.objects().list(prefix, cursor, limit).await
    }
    async fn presign_get(&self, key: &ObjectKey, life: Duration, file_name: Option<&str>) -> Result<String, ObjectError> {
        self.note("s3:GetObject", key.as_str());
        self.store.objects().presign_get(key, life, file_name).await
    }
    async fn presign_put(&self, key: &ObjectKey, life: Duration, content_type: &str) -> Result<PresignedPut, ObjectError> {
        self.note("s3:PutObject", key.as_str());
        self.store.objects().presign_put(key, life, content_type).await
    }
}

#[async_trait]
impl Records for Recorder {
    async fn get(&self, key: &RecordKey) -> Result<Option<Item>, RecordError> {
        self.note("dynamodb:GetItem", &key.pk);
        self.store.records().get(key).await
    }
    async fn get_many(&self, keys: &[RecordKey]) -> Result<Vec<Option<Item>>, RecordError> {
        keys.iter().for_each(|key| self.note("dynamodb:BatchGetItem", &key.pk));
        self.store.records().get_many(keys).await
    }
    async fn put(&self, item: Item, condition: Condition) -> Result<(), RecordError> {
        self.note("dynamodb:PutItem", &item.key.pk);
        self.store.records().put(item, condition).await
    }
    async fn delete(&self, key: &RecordKey, condition: Condition) -> Result<(), RecordError> {
        self.note("dynamodb:DeleteItem", &key.pk);
        self.store.records().delete(key, condition).await
    }
    async fn write_many(&self, puts: Vec<Item>, deletes: Vec<RecordKey>) -> Result<(), RecordError> {
        puts.iter().map(|item| &item.key).chain(&deletes).for_each(|key| self.note("dynamodb:BatchWriteItem", &key.pk));
        self.store.records().write_many(puts, deletes).await
    }
    async fn transact(&self, writes: Vec<Write>) -> Result<(), TransactError> {
        for write in &writes {
            match write {
                Write::Put(item, _) => self.note("dynamodb:PutItem", &item.key.pk),
                Write::Delete(key, _) => self.note("dynamodb:DeleteItem", &key.pk),
                Write::Check(key, _) => self.note("dynamodb:ConditionCheckItem", &key.pk),
            }
        }
        self.store.records().transact(writes).await
    }
    async fn query(&self, prefix: &RecordPrefix, options: QueryOptions) -> Result<Page, RecordError> {
        self.note("dynamodb:Query", &prefix.pk);
        self.store.records().query(prefix, options).await
    }
    async fn add(
        &self,
        key: &RecordKey,
        counters: &[(&str, i64)],
        set: Map<String, Value>,
        expires_at: Option<Timestamp>,
    ) -> Result<Item, RecordError> {
        self.note("dynamodb:UpdateItem", &key.pk);
        // What has expired is removed before it is counted on anew.
        self.note("dynamodb:DeleteItem", &key.pk);
        self.store.records().add(key, counters, set, expires_at).await
    }
}

#[async_trait]
impl Queue for Recorder {
    async fn send(&self, queue: QueueName, messages: Vec<Outgoing>) -> Result<(), QueueError> {
        self.note("sqs:SendMessage", queue.name());
        self.store.queues().send(queue, messages).await
    }
    async fn receive(&self, queue: QueueName, max: usize, visibility: Duration, wait: Duration) -> Result<Vec<Received>, QueueError> {
        self.note("sqs:ReceiveMessage", queue.name());
        self.store.queues().receive(queue, max, visibility, wait).await
    }
    async fn acknowledge(&self, queue: QueueName, receipt: &str) -> Result<(), QueueError> {
        self.note("sqs:DeleteMessage", queue.name());
        self.store.queues().acknowledge(queue, receipt).await
    }
    async fn change_visibility(&self, queue: QueueName, receipt: &str, delay: Duration) -> Result<(), QueueError> {
        self.note("sqs:ChangeMessageVisibility", queue.name());
        self.store.queues().change_visibility(queue, receipt, delay).await
    }
    async fn dead_letters(&self, queue: QueueName, max: usize) -> Result<Vec<DeadLetter>, QueueError> {
        self.store.queues().dead_letters(queue, max).await
    }
    async fn redrive(&self, queue: QueueName, max: usize, chosen: Chosen<'_>) -> Result<usize, QueueError> {
        self.store.queues().redrive(queue, max, chosen).await
    }
}
