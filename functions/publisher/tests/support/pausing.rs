//! Stores that stop the process before a given change, for somebody to kill it there.

use std::io::Write as _;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use quarry_model::{ObjectKey, ObjectPrefix, RecordKey, RecordPrefix, Timestamp};
use quarry_ports::{
    Condition, Item, ObjectError, ObjectMeta, ObjectPage, ObjectStore, Page, PresignedPut, PutOptions, QueryOptions, RecordError, Records,
    TransactError, Write,
};
use serde_json::{Map, Value};

/// Says each change on the output before it happens, and stops for ever at one of them.
#[derive(Clone)]
pub struct Points {
    next: Arc<AtomicUsize>,
    stop: Option<usize>,
}

impl Points {
    pub fn new(stop: Option<usize>) -> Self {
        Self { next: Arc::default(), stop }
    }

    /// The point before what `name` says. The whole thread stops: nothing goes on beside it.
    pub fn pass(&self, name: &str) {
        let at = self.next.fetch_add(1, Ordering::SeqCst);
        let mut out = std::io::stdout().lock();
        writeln!(out, "point {at} {name}").unwrap();
        out.flush().unwrap();
        drop(out);
        while self.stop == Some(at) {
            std::thread::park();
        }
    }
}

fn object(key: &ObjectKey) -> &'static str {
    let key = key.as_str();
    match () {
        () if key.contains("/splits/") => "a split",
        () if key.contains("/manifests/") => "a manifest of the index",
        () if key.ends_with("/graph.json") => "graph.json",
        () if key.ends_with("/manifest.json") => "the manifest of a revision",
        () if key.starts_with("documents/") => "a file of a revision",
        () => "a source",
    }
}

fn record(key: &RecordKey) -> String {
    let first = |text: &str| text.split('#').next().unwrap_or_default().to_owned();
    let name = match (first(&key.pk).as_str(), first(&key.sk).as_str()) {
        ("DOC" | "REV", _) => "records of a revision",
        ("NS", "HEAD") => "the head",
        ("NS", "PUB") => "the mark of an open publication",
        ("OWNER", _) => "the list of namespaces",
        ("GRAPH", _) => "the graph",
        ("HASH", _) => "a posting of a content",
        ("KW", _) => "a posting of a keyword",
        ("SWEEP", "OBJ") => "the note of an orphan",
        ("SWEEP", _) => "the mark of a superseded revision",
        ("COMPACT", _) => "the mark of a due compaction",
        ("JOB", _) => "a job",
        (pk, sk) => return format!("{pk} {sk}"),
    };
    name.to_owned()
}

pub struct PausingObjects(pub Arc<dyn ObjectStore>, pub Points);
pub struct PausingRecords(pub Arc<dyn Records>, pub Points);

#[async_trait]
impl ObjectStore for PausingObjects {
    async fn put(&self, key: &ObjectKey, body: Bytes, options: PutOptions) -> Result<ObjectMeta, ObjectError> {
        self.1.pass(&format!("before storing {}", object(key)));
        self.0.put(key, body, options).await
    }
    async fn get(&self, key: &ObjectKey) -> Result<(Bytes, ObjectMeta), ObjectError> {
        self.0.get(key).await
    }
    async fn get_range(&self, key: &ObjectKey, range: Range<u64>) -> Result<Bytes, ObjectError> {
        self.0.get_range(key, range).await
    }
    async fn head(&self, key: &ObjectKey) -> Result<ObjectMeta, ObjectError> {
        self.0.head(key).await
    }
    async fn delete(&self, key: &ObjectKey) -> Result<(), ObjectError> {
        self.1.pass(&format!("before removing {}", object(key)));
        self.0.delete(key).await
    }
    async fn list(&self, prefix: &ObjectPrefix, cursor: Option<&str>, limit: usize) -> Result<ObjectPage, ObjectError> {
        self.0.list(prefix, cursor, limit).await
    }
    async fn presign_get(&self, key: &ObjectKey, life: Duration, file_name: Option<&str>) -> Result<String, ObjectError> {
        self.0.presign_get(key, life, file_name).await
    }
    async fn presign_put(&self, key: &ObjectKey, life: Duration, content_type: &str) -> Result<PresignedPut, ObjectError> {
        self.0.presign_put(key, life, content_type).await
    }
}

#[async_trait]
impl Records for PausingRecords {
    async fn get(&self, key: &RecordKey) -> Result<Option<Item>, RecordError> {
        self.0.get(key).await
    }
    async fn get_many(&self, keys: &[RecordKey]) -> Result<Vec<Option<Item>>, RecordError> {
        self.0.get_many(keys).await
    }
    async fn put(&self, item: Item, condition: Condition) -> Result<(), RecordError> {
        self.1.pass(&format!("before writing {}", record(&item.key)));
        self.0.put(item, condition).await
    }
    async fn delete(&self, key: &RecordKey, condition: Condition) -> Result<(), RecordError> {
        self.1.pass(&format!("before deleting {}", record(key)));
        self.0.delete(key, condition).await
    }
    /// In two halves: the port does not promise that many writes are one.
    async fn write_many(&self, mut puts: Vec<Item>, mut deletes: Vec<RecordKey>) -> Result<(), RecordError> {
        let (verb, key) = match (puts.first(), deletes.first()) {
            (Some(item), _) => ("writing", &item.key),
            (None, Some(key)) => ("deleting", key),
            (None, None) => return self.0.write_many(puts, deletes).await,
        };
        let name = format!("{verb} {}", record(key));
        self.1.pass(&format!("before {name}"));
        let (later_puts, later_deletes) = (puts.split_off(puts.len() / 2), deletes.split_off(deletes.len() / 2));
        if !puts.is_empty() || !deletes.is_empty() {
            self.0.write_many(puts, deletes).await?;
            self.1.pass(&format!("half through {name}"));
        }
        self.0.write_many(later_puts, later_deletes).await
    }
    async fn transact(&self, writes: Vec<Write>) -> Result<(), TransactError> {
        let named = writes.iter().find_map(|write| match write {
            Write::Put(item, _) => Some(record(&item.key)),
            Write::Delete(key, _) => Some(record(key)),
            Write::Check(..) => None,
        });
        self.1.pass(&format!("before the commit of {}", named.unwrap_or_default()));
        self.0.transact(writes).await
    }
    async fn query(&self, prefix: &RecordPrefix, options: QueryOptions) -> Result<Page, RecordError> {
        self.0.query(prefix, options).await
    }
    async fn add(
        &self,
        key: &RecordKey,
        counters: &[(&str, i64)],
        set: Map<String, Value>,
        expires_at: Option<Timestamp>,
    ) -> Result<Item, RecordError> {
        self.1.pass(&format!("before counting {}", record(key)));
        self.0.add(key, counters, set, expires_at).await
    }
}
