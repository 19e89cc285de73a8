//! Objects: immutable bytes under a key, with conditional creation and ranged reads.

use std::ops::Range;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use quarry_model::{ObjectKey, ObjectPrefix};

/// Why a call to the object store failed, by meaning.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// No object under this key.
    #[error("no object {}", .0.for_logs())]
    NotFound(ObjectKey),
    /// The condition of a write did not hold.
    #[error("condition failed on object {}", .0.for_logs())]
    Precondition(ObjectKey),
    /// The range lies outside the object.
    #[error("range outside object {}", .0.for_logs())]
    Range(ObjectKey),
    /// Throttled, slow, broken off: trying again can help.
    #[error("object store unavailable: {0}")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Anything else: trying again will not help.
    #[error("object store failed: {0}")]
    Other(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl ObjectError {
    /// Whether trying again can help.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable(_))
    }
}

/// What is known of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectMeta {
    /// Its key.
    pub key: ObjectKey,
    /// Bytes.
    pub size: u64,
    /// Content tag, without quotes; changes with the content.
    pub etag: String,
}

/// When a write may happen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum PutCondition {
    /// Always.
    #[default]
    Always,
    /// Only if nothing is there.
    IfAbsent,
    /// Only if what is there has this tag.
    IfMatch(String),
}

/// How to write.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PutOptions {
    /// When the write may happen.
    pub condition: PutCondition,
    /// Media type to be served with.
    pub content_type: Option<String>,
}

/// One page of a listing, in key order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ObjectPage {
    /// Objects.
    pub objects: Vec<ObjectMeta>,
    /// Where to go on; `None` at the end.
    pub cursor: Option<String>,
}

/// An address that accepts one upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresignedPut {
    /// The address.
    pub url: String,
    /// Headers that must be sent with it.
    pub headers: Vec<(String, String)>,
    /// Seconds it is good for.
    pub expires_in: u64,
}

/// A store of objects.
#[async_trait]
pub trait ObjectStore: Send + Sync + 'static {
    /// Writes an object whole; readers see all of it or nothing.
    async fn put(&self, key: &ObjectKey, body: Bytes, options: PutOptions) -> Result<ObjectMeta, ObjectError>;

    /// Reads an object whole. The length is verified.
    async fn get(&self, key: &ObjectKey) -> Result<(Bytes, ObjectMeta), ObjectError>;

    /// Reads bytes `range.start..range.end`; exactly that many, or an error.
    async fn get_range(&self, key: &ObjectKey, range: Range<u64>) -> Result<Bytes, ObjectError>;

    /// What is known of an object.
    async fn head(&self, key: &ObjectKey) -> Result<ObjectMeta, ObjectError>;

    /// Removes an object; an absent one is no error.
    async fn delete(&self, key: &ObjectKey) -> Result<(), ObjectError>;

    /// Lists at most `limit` (1 to 1,000) objects under a prefix in key order, after `cursor`.
    async fn list(&self, prefix: &ObjectPrefix, cursor: Option<&str>, limit: usize) -> Result<ObjectPage, ObjectError>;

    /// An address from which the object can be read without a key for `life`. `file_name` is offered as the name to save under.
    async fn presign_get(&self, key: &ObjectKey, life: Duration, file_name: Option<&str>) -> Result<String, ObjectError>;

    /// An address to which the object can be written once for `life`, with exactly this content type.
    async fn presign_put(&self, key: &ObjectKey, life: Duration, content_type: &str) -> Result<PresignedPut, ObjectError>;
}
