//! Objects in a folder, queues and records in one SQLite file.
//!
//! What this room is for: the whole of Quarry on one machine, with nothing to install. What enters: calls of the three
//! ports, from this process and from others that share the data folder. What leaves: the same answers the cloud's stores
//! give, for it passes the same conformance suites. What it must never do: answer a write before it would survive the
//! process being killed, show half a write, or know what the stages do with it.
//!
//! The data folder holds `objects/` (see `path`), `writing/` and `locks/` for the moment of a write, `store.sqlite` with its
//! write-ahead log, and `address.key`, the secret of signed addresses. What was acknowledged survives `kill -9`; after a
//! power cut the last writes can be missing.

mod database;
mod error;
mod listing;
mod objects;
mod path;
mod queues;
mod records;
mod signed;
mod tags;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use quarry_model::{Limits, ObjectKey, Timestamp};
use quarry_ports::{Clock, ObjectError, ObjectMeta, ObjectStore, PutCondition, PutOptions, Queue, QueueError, Records, SystemClock};
use tokio::sync::Notify;

use crate::database::Database;
use crate::objects::Folder;
use crate::queues::SqliteQueues;
use crate::records::SqliteRecords;
use crate::signed::Signer;

pub use crate::error::LocalError;
pub use crate::signed::{PublicBase, SignedUrlError};

/// The three ports on one data folder. Cloning shares them.
#[derive(Clone)]
pub struct LocalStore {
    folder: Folder,
    queues: Arc<SqliteQueues>,
    records: Arc<SqliteRecords>,
    signer: Arc<Signer>,
}

/// How to open a data folder.
#[derive(Clone)]
pub struct LocalOptions {
    /// Where the local server is reached; signed addresses begin with it.
    pub base: PublicBase,
    /// How often a message is received before it becomes a dead letter.
    pub max_receives: u32,
    /// Tells the time for visibility, ends of life and signed addresses.
    pub clock: Arc<dyn Clock>,
}

impl Default for LocalOptions {
    fn default() -> Self {
        Self { base: PublicBase::default(), max_receives: Limits::default().receives, clock: Arc::new(SystemClock) }
    }
}

impl LocalStore {
    /// Opens a data folder, making what is missing. Several processes may have it open.
    pub fn open(data: &Path, base: PublicBase) -> Result<Self, LocalError> {
        Self::open_with(data, LocalOptions { base, ..LocalOptions::default() })
    }

    /// Opens a data folder with other than the usual options.
    pub fn open_with(data: &Path, options: LocalOptions) -> Result<Self, LocalError> {
        fs::create_dir_all(data).map_err(LocalError::file("create", data))?;
        let LocalOptions { base, max_receives, clock } = options;
        let signer = Arc::new(Signer::open(data, base)?);
        let folder = Folder::open(data, Arc::clone(&signer), Arc::clone(&clock))?;
        let database = Arc::new(Database::open(&data.join("store.sqlite"), Arc::clone(&clock))?);
        let queues = SqliteQueues { database: Arc::clone(&database), clock: Arc::clone(&clock), max_receives, bell: Notify::new() };
        let records = SqliteRecords { database, clock };
        Ok(Self { folder, queues: Arc::new(queues), records: Arc::new(records), signer })
    }

    /// The object port.
    pub fn objects(&self) -> Arc<dyn ObjectStore> {
        Arc::new(self.folder.clone())
    }

    /// The queue port.
    pub fn queues(&self) -> Arc<dyn Queue> {
        Arc::clone(&self.queues) as Arc<dyn Queue>
    }

    /// The records port.
    pub fn records(&self) -> Arc<dyn Records> {
        Arc::clone(&self.records) as Arc<dyn Records>
    }

    /// Gives back every message that somebody has received and not settled, as if it had not been received: for the one
    /// process that works on the queues, when it starts and finds what a killed one has left. Returns how many.
    pub async fn release_all(&self) -> Result<usize, QueueError> {
        self.queues.release_all().await
    }

    /// Checks a signed address as a request brought it: `path_and_query` begins with `/objects/`, `content_type` is the
    /// request's header. An address for `GET` also allows `HEAD`. Every refusal is answered 403.
    pub fn verify_signed(
        &self,
        method: &str,
        path_and_query: &str,
        content_type: Option<&str>,
        now: Timestamp,
    ) -> Result<ObjectKey, SignedUrlError> {
        self.signer.verify(method, path_and_query, content_type, now).map(|grant| grant.into_parts().0)
    }

    /// The name to save under that a signed address carries; for `Content-Disposition`, after [`Self::verify_signed`].
    pub fn signed_file_name(&self, method: &str, path_and_query: &str, now: Timestamp) -> Option<String> {
        self.signer.verify(method, path_and_query, None, now).ok().and_then(|grant| grant.into_parts().1)
    }

    /// Stores what a signed `PUT` brought, after [`Self::verify_signed`]. The address is good once: when the object is
    /// there, other bytes are refused with [`ObjectError::Precondition`] (answered 412, as S3 does), while the same bytes
    /// are accepted again, so that a client whose answer was lost can repeat its upload. An upload that broke off stored
    /// nothing and can be repeated.
    pub async fn accept_signed_put(&self, key: &ObjectKey, body: Bytes, content_type: &str) -> Result<ObjectMeta, ObjectError> {
        let options = PutOptions { condition: PutCondition::IfAbsent, content_type: Some(content_type.to_owned()) };
        match self.folder.put(key, body.clone(), options).await {
            Err(ObjectError::Precondition(refused)) => {
                let (there, meta) = self.folder.get(key).await?;
                if there == body { Ok(meta) } else { Err(ObjectError::Precondition(refused)) }
            }
            other => other,
        }
    }
}
