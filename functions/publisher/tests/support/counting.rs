//! A records store that counts.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use quarry_model::{RecordKey, RecordPrefix, Timestamp};
use quarry_ports::{Condition, Item, Page, QueryOptions, RecordError, Records, TransactError, Write};
use serde_json::{Map, Value};

/// Counts by what was done to which kind of record: the first part of its partition and of its sort key.
pub struct CountingRecords(pub Arc<dyn Records>, Mutex<BTreeMap<String, usize>>);

impl CountingRecords {
    pub fn new(records: Arc<dyn Records>) -> Self {
        Self(records, Mutex::default())
    }

    pub fn counts(&self) -> BTreeMap<String, usize> {
        std::mem::take(&mut self.1.lock().unwrap())
    }

    fn count(&self, what: &str, key: &RecordKey, times: usize) {
        let kind = |key: &str| key.split('#').next().unwrap_or_default().to_owned();
        *self.1.lock().unwrap().entry(format!("{what} {} {}", kind(&key.pk), kind(&key.sk))).or_default() += times;
    }

    fn count_page(&self, page: &Page) {
        page.items.iter().for_each(|item| self.count("seen", &item.key, 1));
    }
}

#[async_trait]
impl Records for CountingRecords {
    async fn get(&self, key: &RecordKey) -> Result<Option<Item>, RecordError> {
        self.count("get", key, 1);
        self.0.get(key).await
    }
    async fn get_many(&self, keys: &[RecordKey]) -> Result<Vec<Option<Item>>, RecordError> {
        keys.iter().for_each(|key| self.count("get", key, 1));
        self.0.get_many(keys).await
    }
    async fn put(&self, item: Item, condition: Condition) -> Result<(), RecordError> {
        self.count("put", &item.key, 1);
        self.0.put(item, condition).await
    }
    async fn delete(&self, key: &RecordKey, condition: Condition) -> Result<(), RecordError> {
        self.count("delete", key, 1);
        self.0.delete(key, condition).await
    }
    async fn write_many(&self, puts: Vec<Item>, deletes: Vec<RecordKey>) -> Result<(), RecordError> {
        puts.iter().for_each(|item| self.count("put", &item.key, 1));
        deletes.iter().for_each(|key| self.count("delete", key, 1));
        self.0.write_many(puts, deletes).await
    }
    async fn transact(&self, writes: Vec<Write>) -> Result<(), TransactError> {
        self.0.transact(writes).await
    }
    async fn query(&self, prefix: &RecordPrefix, options: QueryOptions) -> Result<Page, RecordError> {
        let page = self.0.query(prefix, options).await?;
        self.count_page(&page);
        Ok(page)
    }
    async fn add(
        &self,
        key: &RecordKey,
        counters: &[(&str, i64)],
        set: Map<String, Value>,
        expires_at: Option<Timestamp>,
    ) -> Result<Item, RecordError> {
        self.0.add(key, counters, set, expires_at).await
    }
}
