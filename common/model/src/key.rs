//! Names of objects and records. A key can be built only from a [`Scope`] (or from an identity that a scope check
//! follows), so that no store method can be called without saying whose data is meant.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::identity::{ChunkId, DocumentId, JobId, Revision};
use crate::scope::{Namespace, Owner, Scope};

/// Longest encoded segment; longer names are cut and closed with their hash. S3 keys hold 1,024 bytes in all.
const SEGMENT_MAX: usize = 160;

/// One segment of a key: unreserved ASCII stays, every other byte is `%XX`; long ones end in `~` and 32 hex digits.
pub fn segment(text: &str) -> String {
    use fmt::Write as _;
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        let dotted = byte == b'.' && !text.contains(|c: char| c.is_ascii_alphanumeric());
        if (byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')) && !dotted {
            out.push(byte as char);
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    if out.len() > SEGMENT_MAX {
        let hash = blake3::hash(text.as_bytes()).to_hex();
        let mut cut = SEGMENT_MAX - 33;
        while out.as_bytes()[cut - 1] == b'%' || out.as_bytes()[cut - 2] == b'%' {
            cut -= 1;
        }
        out.truncate(cut);
        out.push('~');
        out.push_str(&hash.as_str()[..32]);
    }
    out
}

/// The name of one object.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ObjectKey(String);

impl ObjectKey {
    /// Uploaded bytes of a job: `uploads/{owner}/{job_id}`.
    pub fn upload(owner: &Owner, job: &JobId) -> Self {
        Self(format!("uploads/{}/{job}", segment(owner.as_str())))
    }

    /// A key as an object event named it, already URL-decoded. [`EventKey::of`] says what it means.
    pub fn from_event(key: &str) -> Self {
        Self(key.to_owned())
    }

    /// An artifact of a document revision, e.g. `chunks.json` or `images/image-3.png`.
    pub fn artifact(scope: &Scope, document: &DocumentId, revision: &Revision, name: &str) -> Self {
        Self(format!("{}{name}", ObjectPrefix::revision(scope, document, revision).as_str()))
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

/// The name of one record: partition and sort key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordKey {
    /// Partition key.
    pub pk: String,
    /// Sort key.
    pub sk: String,
}

fn scoped(scope: &Scope) -> String {
    format!("{}#{}", segment(scope.owner.as_str()), segment(scope.namespace.as_str()))
}

impl RecordKey {
    fn new(pk: String, sk: impl Into<String>) -> Self {
        Self { pk, sk: sk.into() }
    }

    /// The namespace head: the one item whose conditional write publishes.
    pub fn head(scope: &Scope) -> Self {
        Self::new(format!("NS#{}", scoped(scope)), "HEAD")
    }

    /// A document of a namespace.
    pub fn document(scope: &Scope, document: &DocumentId) -> Self {
        Self::new(format!("NS#{}", scoped(scope)), format!("DOC#{document}"))
    }

    /// Where a document lives: owner and namespace, for callers who know the id alone.
    pub fn document_place(document: &DocumentId) -> Self {
        Self::new(format!("DOC#{document}"), "PLACE")
    }

    /// The job last created for a document: whoever asks for another while it is at work is told so.
    pub fn document_job(document: &DocumentId) -> Self {
        Self::new(format!("DOC#{document}"), "JOB")
    }

    /// A namespace of an owner, for listing.
    pub fn namespace(scope: &Scope) -> Self {
        Self::new(format!("OWNER#{}", segment(scope.owner.as_str())), format!("NS#{}", segment(scope.namespace.as_str())))
    }

    /// A section of a revision, in reading order.
    pub fn section(document: &DocumentId, revision: &Revision, order: u32) -> Self {
        Self::new(format!("REV#{document}#{revision}"), format!("SEC#{order:06}"))
    }

    /// A chunk of a revision.
    pub fn chunk(document: &DocumentId, revision: &Revision, ordinal: u32) -> Self {
        Self::new(format!("REV#{document}#{revision}"), format!("CHK#{ordinal:06}"))
    }

    /// What a revision is about: its node for the graph, kept with the revision until it is the active one.
    pub fn revision_node(document: &DocumentId, revision: &Revision) -> Self {
        Self::new(format!("REV#{document}#{revision}"), "NODE")
    }

    /// One live occurrence of a content hash.
    pub fn content_hash(scope: &Scope, chunk: &ChunkId, document: &DocumentId, ordinal: u32) -> Self {
        Self::new(format!("HASH#{}#{chunk}", scoped(scope)), format!("DOC#{document}#{ordinal:06}"))
    }

    /// A publication whose consequences (listing, graph, postings) are still being written.
    pub fn publication(scope: &Scope, version: u64) -> Self {
        Self::new(format!("NS#{}", scoped(scope)), format!("PUB#{version:020}"))
    }

    /// A revision that is no longer served: what is left of it waits to be swept.
    pub fn superseded(scope: &Scope, document: &DocumentId, revision: &Revision) -> Self {
        Self::new(format!("SWEEP#{}", scoped(scope)), format!("DOC#{document}#{revision}"))
    }

    /// A document's node in the graph.
    pub fn graph_node(scope: &Scope, document: &DocumentId) -> Self {
        Self::new(format!("GRAPH#{}", scoped(scope)), format!("NODE#{document}"))
    }

    /// The undirected edge between two documents.
    pub fn graph_edge(scope: &Scope, one: &DocumentId, other: &DocumentId) -> Self {
        let (a, b) = if one <= other { (one, other) } else { (other, one) };
        Self::new(format!("GRAPH#{}", scoped(scope)), format!("EDGE#{a}#{b}"))
    }

    /// The posting of a keyword for a document.
    pub fn keyword(scope: &Scope, word: &str, document: &DocumentId) -> Self {
        Self::new(RecordPrefix::keyword(scope, word).pk, format!("DOC#{document}"))
    }

    /// A job. Whoever reads it for a caller compares the owner and answers as for an absent one.
    pub fn job(job: &JobId) -> Self {
        Self::new(format!("JOB#{job}"), "JOB")
    }

    /// An event in a job's history.
    pub fn job_event(job: &JobId, sequence: u64) -> Self {
        Self::new(format!("JOB#{job}"), format!("EVT#{sequence:08}"))
    }

    /// The running attempt of a stage at a job: written before the work, removed after it.
    pub fn attempt(job: &JobId, stage: &str) -> Self {
        Self::new(format!("JOB#{job}"), format!("TRY#{stage}"))
    }

    /// A job in its owner's list, newest last.
    pub fn job_listing(owner: &Owner, created_millis: i64, job: &JobId) -> Self {
        Self::new(format!("JOBS#{}", segment(owner.as_str())), format!("{created_millis:015}#{job}"))
    }

    /// The job that an idempotency key stands for.
    pub fn idempotency(owner: &Owner, key: &str) -> Self {
        Self::new(format!("IDEM#{}", segment(owner.as_str())), segment(key))
    }

    /// Hit statistics of a document, or of one of its chunks.
    pub fn hits(scope: &Scope, document: &DocumentId, ordinal: Option<u32>) -> Self {
        let sk = ordinal.map_or_else(|| format!("DOC#{document}"), |n| format!("DOC#{document}#CHK#{n:06}"));
        Self::new(format!("HITS#{}", scoped(scope)), sk)
    }

    /// The mark that a query's answer has been counted: while it lives, repeats of the query do not count.
    pub fn hits_counted(scope: &Scope, query_hash: &str) -> Self {
        Self::new(format!("HITQ#{}", scoped(scope)), segment(query_hash))
    }

    /// A retrieval run (`run_id` is 32 hex digits).
    pub fn run(run_id: &str) -> Self {
        Self::new(format!("RUN#{}", segment(run_id)), "RUN")
    }

    /// A step of a retrieval run.
    pub fn run_step(run_id: &str, step: u32) -> Self {
        Self::new(format!("RUN#{}", segment(run_id)), format!("STEP#{step:04}"))
    }

    /// A cached answer.
    pub fn cache(scope: &Scope, hash: &str) -> Self {
        Self::new(format!("CACHE#{}", scoped(scope)), hash)
    }

    /// An API key, by the SHA-256 of its secret in hex.
    pub fn api_key(sha256_hex: &str) -> Self {
        Self::new(format!("KEY#{}", segment(sha256_hex)), "KEY")
    }

    /// An API key in its owner's list.
    pub fn api_key_listing(owner: &Owner, sha256_hex: &str) -> Self {
        Self::new(format!("KEYS#{}", segment(owner.as_str())), segment(sha256_hex))
    }

    /// A webhook to be delivered: in one list, by the moment it is due.
    pub fn outbox(due_millis: i64, job: &JobId) -> Self {
        Self::new("OUTBOX".to_owned(), format!("{due_millis:015}#{job}"))
    }

    /// How the webhook of a job fared, once it has been delivered or given up.
    pub fn webhook(job: &JobId) -> Self {
        Self::new(format!("JOB#{job}"), "WEBHOOK")
    }
}

/// A partition and the beginning of the sort keys wanted from it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RecordPrefix {
    /// Partition key.
    pub pk: String,
    /// What the sort keys begin with; empty means all.
    pub sk: String,
}

impl RecordPrefix {
    fn new(pk: String, sk: &str) -> Self {
        Self { pk, sk: sk.to_owned() }
    }

    /// All webhooks to be delivered, the earliest due first.
    pub fn outbox() -> Self {
        Self::new("OUTBOX".to_owned(), "")
    }

    /// All documents of a namespace.
    pub fn documents(scope: &Scope) -> Self {
        Self::new(format!("NS#{}", scoped(scope)), "DOC#")
    }

    /// All namespaces of an owner.
    pub fn namespaces(owner: &Owner) -> Self {
        Self::new(format!("OWNER#{}", segment(owner.as_str())), "NS#")
    }

    /// All sections of a revision, in order.
    pub fn sections(document: &DocumentId, revision: &Revision) -> Self {
        Self::new(format!("REV#{document}#{revision}"), "SEC#")
    }

    /// All chunks of a revision, in order.
    pub fn chunks(document: &DocumentId, revision: &Revision) -> Self {
        Self::new(format!("REV#{document}#{revision}"), "CHK#")
    }

    /// Every record of a revision.
    pub fn revision(document: &DocumentId, revision: &Revision) -> Self {
        Self::new(format!("REV#{document}#{revision}"), "")
    }

    /// All live occurrences of a content hash.
    pub fn content_hash(scope: &Scope, chunk: &ChunkId) -> Self {
        Self::new(format!("HASH#{}#{chunk}", scoped(scope)), "")
    }

    /// The publications of a namespace whose consequences are still being written, oldest first.
    pub fn publications(scope: &Scope) -> Self {
        Self::new(format!("NS#{}", scoped(scope)), "PUB#")
    }

    /// The revisions of a namespace that wait to be swept.
    pub fn superseded(scope: &Scope) -> Self {
        Self::new(format!("SWEEP#{}", scoped(scope)), "DOC#")
    }

    /// The revisions of one document that wait to be swept.
    pub fn superseded_of(scope: &Scope, document: &DocumentId) -> Self {
        Self::new(format!("SWEEP#{}", scoped(scope)), &format!("DOC#{document}#"))
    }

    /// The graph of a namespace: nodes and edges.
    pub fn graph(scope: &Scope) -> Self {
        Self::new(format!("GRAPH#{}", scoped(scope)), "")
    }

    /// The documents that carry a keyword.
    pub fn keyword(scope: &Scope, word: &str) -> Self {
        Self::new(format!("KW#{}#{}", scoped(scope), segment(word)), "DOC#")
    }

    /// A job's history.
    pub fn job_events(job: &JobId) -> Self {
        Self::new(format!("JOB#{job}"), "EVT#")
    }

    /// An owner's jobs, oldest first.
    pub fn job_listing(owner: &Owner) -> Self {
        Self::new(format!("JOBS#{}", segment(owner.as_str())), "")
    }

    /// The hit statistics of a namespace.
    pub fn hits(scope: &Scope) -> Self {
        Self::new(format!("HITS#{}", scoped(scope)), "")
    }

    /// The steps of a retrieval run.
    pub fn run_steps(run_id: &str) -> Self {
        Self::new(format!("RUN#{}", segment(run_id)), "STEP#")
    }

    /// An owner's API keys.
    pub fn api_keys(owner: &Owner) -> Self {
        Self::new(format!("KEYS#{}", segment(owner.as_str())), "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_cannot_leave_their_place() {
        assert_eq!(segment("a b/ü"), "a%20b%2F%C3%BC");
        assert_eq!(segment(".."), "%2E%2E");
        assert_eq!(segment("v1.2"), "v1.2");
        let long = segment(&"漢".repeat(255));
        assert!(long.len() <= SEGMENT_MAX && long.contains('~'));
        assert_ne!(long, segment(&"漢".repeat(254)));
    }

    #[test]
    fn event_keys_are_read_once() {
        let job: JobId = "job_0a1b2c3d4e5f".parse().unwrap();
        let key = ObjectKey::upload(&Owner::new("a/b").unwrap(), &job);
        assert_eq!(EventKey::of(key.as_str()), EventKey::Upload { job });
        assert_eq!(
            EventKey::of("inbox/legal/2026/Müller + Söhne %41.docx"),
            EventKey::DropIn { namespace: Namespace::new("legal").unwrap(), file_name: "Müller + Söhne %41.docx".into() }
        );
        assert_eq!(EventKey::of("inbox/a.md"), EventKey::DropIn { namespace: Namespace::default(), file_name: "a.md".into() });
        for other in ["inbox/", "inbox/x/", "documents/a", "uploads/x", ""] {
            assert_eq!(EventKey::of(other), EventKey::Other, "{other}");
        }
    }

    #[test]
    fn an_edge_has_one_key() {
        let scope = Scope::new(Owner::local(), Namespace::default());
        let (a, b) = (DocumentId::from_random([0; 6]), DocumentId::from_random([1; 6]));
        assert_eq!(RecordKey::graph_edge(&scope, &a, &b), RecordKey::graph_edge(&scope, &b, &a));
    }
}
