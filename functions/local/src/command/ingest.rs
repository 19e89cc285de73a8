//! `quarry ingest`: reading files into a namespace.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use futures::stream::{self, StreamExt, TryStreamExt};
use quarry_model::message::{ObjectArrived, QueueName};
use quarry_model::record::{DocumentRecord, DocumentStatus};
use quarry_model::{DocumentCode, DocumentId, Job, JobId, JobState, RecordKey, Scope};
use quarry_ports::{Outgoing, PutOptions};
use quarry_runtime::jobs::drop_in_job;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::cli::Ingest;
use crate::engine::Engine;
use crate::exit::{Exit, Failure};
use crate::files::{self, Found};
use crate::output;
use crate::progress::Progress;
use crate::road::Road;
use crate::wait;

/// Files read and stored at once.
const FILES_AT_ONCE: usize = 16;
/// Events sent together: enough for one write to carry many, few enough for the stages to begin early.
const EVENTS_TOGETHER: usize = 32;

/// What became of the files of a call.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Files that a job reads, with the job once it has ended.
    pub(crate) read: BTreeMap<PathBuf, (DocumentId, JobId, Option<Job>)>,
    /// Files that are published as they are.
    pub(crate) unchanged: BTreeMap<PathBuf, DocumentId>,
    /// Of a kind that nothing reads.
    pub(crate) unsupported: BTreeSet<PathBuf>,
    /// That could not be opened, or are too large.
    pub(crate) refused: BTreeMap<PathBuf, Refusal>,
}

pub(crate) async fn run(engine: &Engine, args: Ingest, json: bool) -> Result<Exit, Failure> {
    let scope = engine.scope(&args.place.namespace)?;
    let report = if args.wait || !Road::is_elsewhere(engine)? {
        ingest(engine, &scope, &args.paths, args.force, json).await?
    } else {
        // A running server does the work.
        offer(engine, &scope, &files::find(&args.paths, &engine.data)?, args.force).await?
    };
    report.print(&scope, json)?;
    Ok(report.exit())
}

/// Reads what is new or changed and waits for the end of it.
pub(crate) async fn ingest(engine: &Engine, scope: &Scope, paths: &[PathBuf], force: bool, json: bool) -> Result<Report, Failure> {
    let found = files::find(paths, &engine.data)?;
    let progress = Progress::documents(found.files.len(), json);
    let work = async {
        let mut report = offer(engine, scope, &found, force).await?;
        let mut ended = wait::for_jobs(engine, &report.jobs(), &progress).await?;
        for (_, id, job) in report.read.values_mut() {
            *job = ended.remove(id);
        }
        Ok(report)
    };
    wait::on_the_road(engine, work).await
}

/// The records of the documents that these files are.
async fn known(engine: &Engine, scope: &Scope, found: &Found) -> Result<BTreeMap<DocumentId, DocumentRecord>, Failure> {
    let keys: Vec<RecordKey> = found.files.iter().map(|file| RecordKey::document(scope, &files::document(scope, file))).collect();
    let mut known = BTreeMap::new();
    for item in engine.records.get_many(&keys).await?.iter().flatten() {
        let record: DocumentRecord = item.read()?;
        known.insert(record.document_id.clone(), record);
    }
    Ok(known)
}

/// Why a file was not taken.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// From the closed list; `None` when the file system is at fault.
    code: Option<DocumentCode>,
    message: String,
}

impl Refusal {
    fn unreadable(error: &std::io::Error) -> Self {
        Self { code: None, message: error.to_string() }
    }
}

/// What was done with one file.
enum Offer {
    Unchanged,
    Refused(Refusal),
    Sent(ObjectArrived),
}

/// Stores the files that are new or changed and tells the profiler.
pub(crate) async fn offer(engine: &Engine, scope: &Scope, found: &Found, force: bool) -> Result<Report, Failure> {
    files::check_namespace(&scope.namespace)?;
    let mut report = Report { unsupported: found.unsupported.clone(), ..Report::default() };
    let known = &known(engine, scope, found).await?;
    let files: Vec<(PathBuf, DocumentId)> = found.files.iter().map(|file| (file.clone(), files::document(scope, file))).collect();
    let mut groups = stream::iter(files)
        .map(|(path, document)| async move {
            let offer = offer_file(engine, scope, &path, known.get(&document), force).await?;
            Ok::<_, Failure>((path, document, offer))
        })
        .buffered(FILES_AT_ONCE)
        .try_chunks(EVENTS_TOGETHER);
    while let Some(group) = groups.try_next().await.map_err(|error| error.1)? {
        let mut messages = Vec::new();
        for (path, document, offer) in group {
            match offer {
                Offer::Unchanged => drop(report.unchanged.insert(path, document)),
                Offer::Refused(why) => drop(report.refused.insert(path, why)),
                Offer::Sent(event) => {
                    let job = drop_in_job(scope, event.key.as_str(), &event.etag, &event.order);
                    messages.push(Outgoing { body: serde_json::to_string(&event)?, ..Outgoing::default() });
                    report.read.insert(path, (document, job, None));
                }
            }
        }
        if !messages.is_empty() {
            engine.queue.send(QueueName::Profile, messages).await?;
        }
    }
    Ok(report)
}

async fn offer_file(engine: &Engine, scope: &Scope, path: &Path, record: Option<&DocumentRecord>, force: bool) -> Result<Offer, Failure> {
    let bytes = match read(path, engine.limits.file_bytes).await {
        Ok(bytes) => bytes,
        Err(why) => return Ok(Offer::Refused(why)),
    };
    let sha256 = hex::encode(Sha256::digest(&bytes));
    let served = record.filter(|record| matches!(record.status, DocumentStatus::Active | DocumentStatus::Archived));
    if !force && served.is_some_and(|record| record.source_sha256.as_deref() == Some(sha256.as_str())) {
        return Ok(Offer::Unchanged);
    }
    let key = files::place(&scope.namespace, path);
    let meta = engine.objects.put(&key, bytes, PutOptions::default()).await?;
    let mut order = engine.jobs.drop_in_order(scope, key.as_str(), &meta.etag).await?;
    if let Some(record) = record {
        order = order.after(&record.order);
    }
    Ok(Offer::Sent(ObjectArrived { key, size: meta.size, etag: meta.etag, order }))
}

async fn read(path: &Path, limit: u64) -> Result<Bytes, Refusal> {
    let size = tokio::fs::metadata(path).await.map_err(|error| Refusal::unreadable(&error))?.len();
    if size > limit {
        let message = format!("{} ({size} bytes, at most {limit} are allowed)", DocumentCode::TooLarge.sentence());
        return Err(Refusal { code: Some(DocumentCode::TooLarge), message });
    }
    tokio::fs::read(path).await.map(Bytes::from).map_err(|error| Refusal::unreadable(&error))
}

impl Report {
    fn jobs(&self) -> Vec<JobId> {
        self.read.values().map(|(_, job, _)| job.clone()).collect()
    }

    /// The documents that can be searched now.
    pub(crate) fn documents(&self) -> BTreeSet<DocumentId> {
        let read = self.read.values().filter(|(_, _, job)| is_done(job.as_ref())).map(|(document, _, _)| document);
        read.chain(self.unchanged.values()).cloned().collect()
    }

    fn failed(&self) -> Vec<(&PathBuf, &Job)> {
        let ended = self.read.iter().filter_map(|(path, (_, _, job))| Some((path, job.as_ref()?)));
        ended.filter(|(_, job)| job.state != JobState::Done).collect()
    }

    /// Files given to a running server, whose jobs nobody has waited for.
    fn handed_over(&self) -> usize {
        self.read.values().filter(|(_, _, job)| job.is_none()).count()
    }

    /// 3 when some could not be read, 4 when there was nothing to read.
    pub(crate) fn exit(&self) -> Exit {
        if !self.failed().is_empty() || !self.refused.is_empty() {
            Exit::SomeFailed
        } else if self.read.is_empty() && self.unchanged.is_empty() {
            Exit::NotFound
        } else {
            Exit::Ok
        }
    }

    fn print(&self, scope: &Scope, json: bool) -> Result<(), Failure> {
        if json {
            return output::json(&self.json(scope));
        }
        let read = self.read.len() - self.failed().len() - self.handed_over();
        let mut line = format!("{read} read, {} unchanged", self.unchanged.len());
        let failed = self.failed().len() + self.refused.len();
        for (count, what) in
            [(self.handed_over(), "handed to the running server"), (failed, "failed"), (self.unsupported.len(), "unsupported")]
        {
            if count > 0 {
                line.push_str(&format!(", {count} {what}"));
            }
        }
        output::text(line)?;
        self.complain();
        Ok(())
    }

    /// Names every file that was not read, on standard error.
    pub(crate) fn complain(&self) {
        for (path, job) in self.failed() {
            let why = job.error.as_ref().map(|error| format!("{}: {}", error.code.name(), error.message())).unwrap_or_default();
            output::note(format!("failed: {}: {why}", path.display()));
        }
        for (path, why) in &self.refused {
            output::note(format!("failed: {}: {}", path.display(), why.message));
        }
        for path in &self.unsupported {
            output::note(format!("unsupported: {}", path.display()));
        }
    }

    fn json(&self, scope: &Scope) -> Value {
        let read = self.read.iter().map(|(path, (document, job, ended))| {
            json!({
                "path": path,
                "status": ended.as_ref().map_or("pending", |job| job.state.name()),
                "document_id": document,
                "job_id": job,
                "revision": ended.as_ref().and_then(|job| job.revision.as_ref()),
                "error": ended.as_ref().and_then(|job| job.error.as_ref()).map(|error| json!({
                    "code": error.code, "message": error.message(), "retryable": error.code.retryable(),
                })),
            })
        });
        let unchanged =
            self.unchanged.iter().map(|(path, document)| json!({ "path": path, "status": "unchanged", "document_id": document }));
        let refused = self
            .refused
            .iter()
            .map(|(path, why)| json!({ "path": path, "status": "failed", "error": { "code": why.code, "message": why.message } }));
        let unsupported = self.unsupported.iter().map(|path| json!({ "path": path, "status": "unsupported" }));
        json!({
            "namespace": scope.namespace,
            "documents": read.chain(unchanged).chain(refused).chain(unsupported).collect::<Vec<_>>(),
        })
    }
}

fn is_done(job: Option<&Job>) -> bool {
    job.is_some_and(|job| job.state == JobState::Done)
}
