//! Records: JSON objects under (partition, sort key), with conditions, transactions, ordered queries, counters and TTL.

use async_trait::async_trait;
use quarry_model::{RecordKey, RecordPrefix, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Why a call to the records store failed, by meaning.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The condition of a write did not hold.
    #[error("condition failed on {}", .0.for_logs())]
    Condition(RecordKey),
    /// The record is larger than one may be (400 KB).
    #[error("record {} is too large", .0.for_logs())]
    TooLarge(RecordKey),
    /// The stored JSON is not what the caller expects.
    #[error("record {} cannot be read", .0.for_logs())]
    Shape(RecordKey, #[source] serde_json::Error),
    /// Throttled, slow, broken off: trying again can help.
    #[error("records store unavailable: {0}")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Anything else.
    #[error("records store failed: {0}")]
    Other(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Why a transaction failed.
#[derive(Debug, thiserror::Error)]
pub enum TransactError {
    /// Conditions did not hold: for each write in order, whether it was at fault. Nothing was written.
    #[error("transaction refused by its conditions")]
    Conditions(Vec<bool>),
    /// Another transaction was at the same records; trying again can help.
    #[error("transaction conflicts with another")]
    Conflict,
    /// Anything else.
    #[error(transparent)]
    Store(#[from] RecordError),
}

/// A record: its key, its JSON object, and when it may vanish.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Where.
    pub key: RecordKey,
    /// What. Top-level fields can be named in conditions and counters.
    pub body: Map<String, Value>,
    /// From this moment on the record counts as absent.
    pub expires_at: Option<Timestamp>,
}

impl Item {
    /// A record from any type that serialises to a JSON object.
    pub fn of<T: Serialize>(key: RecordKey, value: &T) -> Result<Self, RecordError> {
        match serde_json::to_value(value) {
            Ok(Value::Object(body)) => Ok(Self { key, body, expires_at: None }),
            Ok(_) => Err(RecordError::Shape(key, serde::de::Error::custom("not an object"))),
            Err(error) => Err(RecordError::Shape(key, error)),
        }
    }

    /// The same record with an end of life.
    #[must_use]
    pub fn expiring(mut self, at: Timestamp) -> Self {
        self.expires_at = Some(at);
        self
    }

    /// The record as a type.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, RecordError> {
        T::deserialize(Value::Object(self.body.clone())).map_err(|e| RecordError::Shape(self.key.clone(), e))
    }
}

/// When a write may happen. An expired record counts as absent.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// Always.
    None,
    /// Only if nothing is there.
    Absent,
    /// Only if something is there.
    Exists,
    /// Only if the top-level field (a string or a whole number) has this value.
    Equals(String, Value),
    /// Only if nothing is there, or the top-level field is a whole number below this.
    AbsentOrBelow(String, i64),
}

/// One write of a transaction.
#[derive(Debug, Clone, PartialEq)]
pub enum Write {
    /// Replaces the record whole.
    Put(Item, Condition),
    /// Removes it.
    Delete(RecordKey, Condition),
    /// Writes nothing, but the condition must hold.
    Check(RecordKey, Condition),
}

/// How to read a partition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueryOptions {
    /// At most this many (the store may give fewer with a cursor); 0 means the store's own page.
    pub limit: usize,
    /// Where the last page ended.
    pub cursor: Option<String>,
    /// From the largest sort key down.
    pub descending: bool,
}

/// One page of a query.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// Records in sort-key order.
    pub items: Vec<Item>,
    /// Where to go on; `None` at the end.
    pub cursor: Option<String>,
}

/// The largest number of writes in a transaction.
pub const MAX_TRANSACTION: usize = 100;

/// A store of records. Reads are strongly consistent.
#[async_trait]
pub trait Records: Send + Sync + 'static {
    /// Reads one record.
    async fn get(&self, key: &RecordKey) -> Result<Option<Item>, RecordError>;

    /// Reads many, in the order asked; any number: the adapter cuts batches and repeats what was left unprocessed.
    async fn get_many(&self, keys: &[RecordKey]) -> Result<Vec<Option<Item>>, RecordError>;

    /// Writes one record whole under a condition.
    async fn put(&self, item: Item, condition: Condition) -> Result<(), RecordError>;

    /// Removes one record under a condition; an absent one is no error under [`Condition::None`].
    async fn delete(&self, key: &RecordKey, condition: Condition) -> Result<(), RecordError>;

    /// Writes and removes many without conditions and not as one; any number: batches, repeats, nothing lost.
    async fn write_many(&self, puts: Vec<Item>, deletes: Vec<RecordKey>) -> Result<(), RecordError>;

    /// Writes all or none of at most [`MAX_TRANSACTION`] writes.
    async fn transact(&self, writes: Vec<Write>) -> Result<(), TransactError>;

    /// One page of a partition's records whose sort key begins with the prefix's.
    async fn query(&self, prefix: &RecordPrefix, options: QueryOptions) -> Result<Page, RecordError>;

    /// Adds to top-level whole-number fields, creating record and fields as needed, and sets the given fields; returns
    /// the record afterwards.
    async fn add(
        &self,
        key: &RecordKey,
        counters: &[(&str, i64)],
        set: Map<String, Value>,
        expires_at: Option<Timestamp>,
    ) -> Result<Item, RecordError>;

    /// All records of a prefix, page after page.
    async fn query_all(&self, prefix: &RecordPrefix) -> Result<Vec<Item>, RecordError> {
        let mut items = Vec::new();
        let mut options = QueryOptions::default();
        loop {
            let page = self.query(prefix, options.clone()).await?;
            items.extend(page.items);
            match page.cursor {
                Some(cursor) => options.cursor = Some(cursor),
                None => return Ok(items),
            }
        }
    }
}
