//! Names of objects.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::segment;
use crate::identity::{DocumentId, JobId, Revision};
use crate::pdf::Shard;
use crate::scope::{Namespace, Owner, Scope};

/// The name of one object.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ObjectKey(String);

impl ObjectKey {
    /// Uploaded bytes of a job: `uploads/{owner}/{job_id}`.
    pub fn upload(owner: &Owner, job: &JobId) -> Self {
        Self(format!("uploads/{}/{job}", segment(owner.as_str())))
    }

    /// The key as errors and logs show it: without the name of a dropped file, which says what it is about.
    pub fn for_logs(&self) -> String {
        match self.0.strip_prefix("inbox/") {
            Some(rest) => match rest.split_once('/') {
                Some((namespace, _)) => format!("inbox/{namespace}/…"),
                None => "inbox/…".to_owned(),
            },
            None => self.0.clone(),
        }
    }

    /// A key as an object event named it, already URL-decoded. [`EventKey::of`] says what it means.
    pub fn from_event(key: &str) -> Self {
        Self(key.to_owned())
    }

    /// An artifact of a document revision, e.g. `chunks.json` or `images/image-3.png`.
    pub fn artifact(scope: &Scope, document: &DocumentId, revision: &Revision, name: &str) -> Self {
        Self(format!("{}{name}", ObjectPrefix::revision(scope, document, revision).as_str()))
    }

    /// What one message read of a document that is read in parts, until the parts are put together.
    pub fn part(scope: &Scope, document: &DocumentId, revision: &Revision, plan: &str, shard: Shard) -> Self {
        let parts = ObjectPrefix::parts(scope, document, revision);
        Self(format!("{}{plan}/{:05}-{:05}", parts.as_str(), shard.first, shard.last))
    }

    /// Who puts the parts together: written once.
    pub fn part_claim(scope: &Scope, document: &DocumentId, revision: &Revision, plan: &str) -> Self {
        Self(format!("{}{plan}/claim", ObjectPrefix::parts(scope, document, revision).as_str()))
    }

    /// The graph of a namespace.
    pub fn graph(scope: &Scope) -> Self {
        Self(format!("{}graph.json", ObjectPrefix::namespace_documents(scope).as_str()))
    }

    /// The hit statistics of a namespace.
    pub fn hit_stats(scope: &Scope) -> Self {
        Self(format!("{}hit_stats.json", ObjectPrefix::namespace_documents(scope).as_str()))
    }

    /// A search split, named by the blake3 of its bytes.
    pub fn split(scope: &Scope, blake3_hex: &str) -> Self {
        Self(format!("{}splits/{blake3_hex}.split", ObjectPrefix::index(scope).as_str()))
    }

    /// An index manifest that is too large for the head record.
    pub fn index_manifest(scope: &Scope, version: u64, blake3_hex: &str) -> Self {
        Self(format!("{}manifests/{version:020}-{blake3_hex}.json", ObjectPrefix::index(scope).as_str()))
    }

    /// The key as the store knows it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The beginning that a set of keys shares; always ends in `/`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ObjectPrefix(String);

impl ObjectPrefix {
    /// All artifacts of one revision.
    pub fn revision(scope: &Scope, document: &DocumentId, revision: &Revision) -> Self {
        Self(format!("{}{revision}/", Self::document(scope, document).0))
    }

    /// What is read of a revision in parts; gone once they are put together.
    pub fn parts(scope: &Scope, document: &DocumentId, revision: &Revision) -> Self {
        Self(format!("{}parts/", Self::revision(scope, document, revision).0))
    }

    /// All revisions of one document.
    pub fn document(scope: &Scope, document: &DocumentId) -> Self {
        Self(format!("{}{document}/", Self::namespace_documents(scope).0))
    }

    /// All documents of one namespace.
    pub fn namespace_documents(scope: &Scope) -> Self {
        Self(format!("documents/{}/{}/", segment(scope.owner.as_str()), segment(scope.namespace.as_str())))
    }

    /// The search index of one namespace.
    pub fn index(scope: &Scope) -> Self {
        Self(format!("index/{}/{}/", segment(scope.owner.as_str()), segment(scope.namespace.as_str())))
    }

    /// Uploads of one owner.
    pub fn uploads(owner: &Owner) -> Self {
        Self(format!("uploads/{}/", segment(owner.as_str())))
    }

    /// The prefix as the store knows it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What an object event's key means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKey {
    /// The bytes of a job's presigned upload.
    Upload {
        /// The job whose bytes these are.
        job: JobId,
    },
    /// A file dropped by hand: `inbox/{namespace}/{any path}`, or `inbox/{file}` for `default`.
    DropIn {
        /// The namespace named by the key.
        namespace: Namespace,
        /// The file's own name: the last segment.
        file_name: String,
    },
    /// Anything else: acknowledged and left alone.
    Other,
}

impl EventKey {
    /// Reads a URL-decoded key.
    pub fn of(key: &str) -> Self {
        if let Some(rest) = key.strip_prefix("uploads/") {
            let job = rest.rsplit('/').next().and_then(|last| last.parse().ok());
            return job.map_or(Self::Other, |job| Self::Upload { job });
        }
        let Some(rest) = key.strip_prefix("inbox/") else {
            return Self::Other;
        };
        let (namespace, path) = rest.split_once('/').unwrap_or(("", rest));
        let file_name = path.rsplit('/').next().unwrap_or_default();
        match Namespace::new(namespace) {
            Ok(namespace) if !file_name.is_empty() => Self::DropIn { namespace, file_name: file_name.to_owned() },
            _ => Self::Other,
        }
    }
}
