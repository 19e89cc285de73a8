//! Names of records.

use super::{ObjectKey, segment};
use crate::identity::{ChunkId, DocumentId, JobId, Revision};
use crate::scope::{Owner, Scope};

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
    /// The key as errors and logs show it: without words out of documents and without names that callers gave.
    pub fn for_logs(&self) -> String {
        match self.pk.split('#').next() {
            Some(kind @ ("KW" | "IDEM")) => format!("{kind}#…"),
            _ => format!("{}/{}", self.pk, self.sk),
        }
    }

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

    /// An object that nothing names: removed if that is still so a day later.
    pub fn orphan(scope: &Scope, key: &ObjectKey) -> Self {
        Self::new(format!("SWEEP#{}", scoped(scope)), format!("OBJ#{}", segment(key.as_str())))
    }

    /// A namespace in which there may be something to merge or to remove: in one list over all owners.
    pub fn compaction(scope: &Scope) -> Self {
        Self::new("COMPACT".to_owned(), scoped(scope))
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

    /// The running attempt of a stage at a job, or at one part of its work there: written before the work, removed after
    /// it.
    pub fn attempt(job: &JobId, stage: &str, part: Option<u32>) -> Self {
        let part = part.map_or_else(String::new, |part| format!("#{part:05}"));
        Self::new(format!("JOB#{job}"), format!("TRY#{stage}{part}"))
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

    /// How often somebody (a hash) has asked in one window, counted from the epoch.
    pub fn rate(who: &str, window: i64) -> Self {
        Self::new(format!("RATE#{}", segment(who)), format!("{window:012}"))
    }

    /// An API key in its owner's list.
    pub fn api_key_listing(owner: &Owner, sha256_hex: &str) -> Self {
        Self::new(format!("KEYS#{}", segment(owner.as_str())), segment(sha256_hex))
    }

    /// A webhook to be delivered: in one list, by the moment it is due.
    pub fn outbox(due_millis: i64, job: &JobId) -> Self {
        Self::new("OUTBOX".to_owned(), format!("{due_millis:015}#{job}"))
    }

    /// A job that is to be looked at: in one list, by the moment of the look.
    pub fn watch(due_millis: i64, job: &JobId) -> Self {
        Self::new("WATCH".to_owned(), format!("{due_millis:015}#{job}"))
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

    /// All jobs that are to be looked at, the earliest first.
    pub fn watches() -> Self {
        Self::new("WATCH".to_owned(), "")
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

    /// The objects of a namespace that nothing named when they were last looked at.
    pub fn orphans(scope: &Scope) -> Self {
        Self::new(format!("SWEEP#{}", scoped(scope)), "OBJ#")
    }

    /// All namespaces in which there may be something to merge or to remove.
    pub fn compactions() -> Self {
        Self::new("COMPACT".to_owned(), "")
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
