//! The profiler's stage: event → job → format → queue.

use std::sync::Arc;

use async_trait::async_trait;
use quarry_model::job::SourceType;
use quarry_model::key::EventKey;
use quarry_model::message::{ObjectArrived, ParseMessage, Profile, QueueName};
use quarry_model::record::DocumentRecord;
use quarry_model::{
    DocumentCode, DocumentFailure, DocumentId, Format, Job, JobId, JobState, Limits, Outcome, Owner, Progress, RecordKey, Scope, SkipReason,
};
use quarry_ports::{ObjectError, ObjectStore, Outgoing, Queue, Stage};
use quarry_runtime::Error;
use quarry_runtime::jobs::{Change, DropIn, Jobs, drop_in_job};

use crate::detect::{Detection, HEAD_BYTES, Pieces, Stop, detect, unsupported};
use crate::pdf::{InProcess, MeasurePdf, Measured};

/// A source of at most this size is read in one piece.
const SMALL_BYTES: u64 = 4 * HEAD_BYTES;
/// Most pieces that one decision may ask for.
const MAX_PIECES: usize = 200;
/// Most bytes that one decision may read.
const MAX_BYTES: u64 = 16 << 20;

/// The stage.
pub struct Profiler {
    objects: Arc<dyn ObjectStore>,
    queue: Arc<dyn Queue>,
    jobs: Jobs,
    limits: Arc<Limits>,
    drop_in_owner: Owner,
    pdf: Arc<dyn MeasurePdf>,
}

impl Profiler {
    /// A profiler; dropped files belong to `drop_in_owner`.
    pub fn new(objects: Arc<dyn ObjectStore>, queue: Arc<dyn Queue>, jobs: Jobs, limits: Arc<Limits>, drop_in_owner: Owner) -> Self {
        let pdf = Arc::new(InProcess::new(Arc::clone(&limits)));
        Self { objects, queue, jobs, limits, drop_in_owner, pdf }
    }

    /// Has PDF documents measured by somebody else than a thread of this process.
    #[must_use]
    pub fn measured_by(self, pdf: Arc<dyn MeasurePdf>) -> Self {
        Self { pdf, ..self }
    }

    async fn profile(&self, event: &ObjectArrived) -> Result<(), Ending> {
        let job = match EventKey::of(event.key.as_str()) {
            EventKey::Other => return Err(Ending::Skip(SkipReason::NotOurs)),
            EventKey::Upload { job } => self.uploaded(event, &job).await?,
            EventKey::DropIn { namespace, file_name } => {
                let scope = Scope::new(self.drop_in_owner.clone(), namespace);
                self.dropped(event, scope, file_name).await?
            }
        };
        let size = self.current_size(event).await?;
        if size == 0 {
            return Err(DocumentFailure::new(DocumentCode::Empty, "0 bytes").into());
        }
        if size > self.limits.file_bytes {
            let detail = format!("{size} bytes, at most {} are allowed", self.limits.file_bytes);
            return Err(DocumentFailure::new(DocumentCode::TooLarge, detail).into());
        }
        let found = self.detect(event, size, &job.file_name).await?;
        let family = found.format.row().family.ok_or_else(|| unsupported(found.format))?;
        let profile = self.measured(event, found.profile()).await?;
        let message = ParseMessage {
            job_id: job.job_id.clone(),
            scope: job.scope.clone(),
            document_id: job.document_id.clone(),
            source: event.key.clone(),
            etag: event.etag.clone(),
            size,
            file_name: job.file_name.clone(),
            data_id: job.data_id.clone(),
            profile,
            shard: None,
            parsing_params: job.parsing_params.clone(),
            order: job.order.clone(),
        };
        // Parts that are sent twice, because sending all of them failed half-way, are parsed once.
        let mut outgoing = Vec::new();
        for part in message.in_parts() {
            let body = serde_json::to_string(&part).map_err(|error| Ending::Retry(error.to_string()))?;
            outgoing.push(Outgoing::traced(body));
        }
        self.queue.send(QueueName::Parse(family), outgoing).await.map_err(Error::from)?;
        // Only after the message is stored: who sees the parser's name knows that profiling is over.
        self.hand_over(&job.job_id, family.function()).await
    }

    /// The job of a presigned or direct upload.
    async fn uploaded(&self, event: &ObjectArrived, id: &JobId) -> Result<Job, Ending> {
        let job = self.jobs.load(id).await?.ok_or(Ending::Skip(SkipReason::Gone))?;
        if job.source != event.key || job.source_type == SourceType::DropIn {
            return Err(Ending::Skip(SkipReason::NotOurs));
        }
        unless_profiled(job)
    }

    /// The job of a dropped file, made by its first event.
    async fn dropped(&self, event: &ObjectArrived, scope: Scope, file_name: String) -> Result<Job, Ending> {
        let place = event.key.as_str();
        let document = DocumentId::for_drop_in(&scope, place);
        let record = self.jobs.records().get(&RecordKey::document(&scope, &document)).await.map_err(Error::from)?;
        let record: Option<DocumentRecord> = record.map(|item| item.read()).transpose().map_err(Error::from)?;
        if record.is_some_and(|record| record.order.compare(&event.order).is_gt()) {
            return Err(Ending::Skip(SkipReason::Older));
        }
        // Before a job is made for it, the object must still be what the event says.
        self.current_size(event).await?;
        let drop = DropIn {
            scope,
            source: event.key.clone(),
            place: place.to_owned(),
            content_tag: event.etag.clone(),
            file_name,
            order: event.order.clone(),
        };
        unless_profiled(self.jobs.create_drop_in(drop).await?.job())
    }

    /// The object's size, if it is still the one the event is about.
    async fn current_size(&self, event: &ObjectArrived) -> Result<u64, Ending> {
        match self.objects.head(&event.key).await {
            Ok(meta) if event.etag.is_empty() || meta.etag == event.etag => Ok(meta.size),
            // Another content has replaced it; its own event comes, or came.
            Ok(_) => Err(Ending::Skip(SkipReason::Older)),
            Err(ObjectError::NotFound(_)) => Err(Ending::Skip(SkipReason::Gone)),
            Err(error) => Err(Error::from(error).into()),
        }
    }

    /// Reads as little as the decision needs.
    async fn detect(&self, event: &ObjectArrived, size: u64, file_name: &str) -> Result<Detection, Ending> {
        let mut pieces = Pieces::new(size);
        let mut read = 0u64;
        for _ in 0..MAX_PIECES {
            let range = match detect(&pieces, file_name, &self.limits) {
                Ok(found) => return Ok(found),
                Err(Stop::Failure(failure)) => return Err(failure.into()),
                Err(Stop::Missing(_)) if size <= SMALL_BYTES => 0..size,
                Err(Stop::Missing(range)) => range,
            };
            read = read.saturating_add(range.end.saturating_sub(range.start));
            if read > MAX_BYTES {
                break;
            }
            match self.objects.get_range(&event.key, range.clone()).await {
                Ok(bytes) => pieces.add(range.start, bytes),
                Err(ObjectError::NotFound(_) | ObjectError::Range(_)) => return Err(Ending::Skip(SkipReason::Older)),
                Err(error) => return Err(Error::from(error).into()),
            }
        }
        Err(DocumentFailure::new(DocumentCode::Corrupt, "the container's directory is scattered beyond reading").into())
    }

    /// A PDF's profile with what its pages say.
    async fn measured(&self, event: &ObjectArrived, profile: Profile) -> Result<Profile, Ending> {
        if profile.format != Format::Pdf {
            return Ok(profile);
        }
        let bytes = match self.objects.get(&event.key).await {
            Ok((bytes, meta)) if event.etag.is_empty() || meta.etag == event.etag => bytes,
            Ok(_) | Err(ObjectError::NotFound(_)) => return Err(Ending::Skip(SkipReason::Older)),
            Err(error) => return Err(Error::from(error).into()),
        };
        let Some(Measured { category, routing_category, profile: pdf }) = self.pdf.measure(bytes).await? else { return Ok(profile) };
        Ok(Profile { category, routing_category, pdf: Some(pdf), ..profile })
    }

    async fn hand_over(&self, job: &JobId, parser: &str) -> Result<(), Ending> {
        self.jobs
            .change(job, |job| {
                if !job.state.is_active() || is_profiled(job) {
                    return Ok(Change::Keep);
                }
                job.state = JobState::Running;
                parser.clone_into(&mut job.stage);
                job.progress = Progress { total_pages: 1, processed_pages: 0 };
                Ok(Change::Write)
            })
            .await?;
        Ok(())
    }
}

/// Whether the job has left the profiler behind.
fn is_profiled(job: &Job) -> bool {
    !matches!(job.stage.as_str(), "upload" | "profiler")
}

fn unless_profiled(job: Job) -> Result<Job, Ending> {
    match job.state {
        JobState::Failed => Err(Ending::Skip(SkipReason::Gone)),
        JobState::Done => Err(Ending::Skip(SkipReason::Duplicate)),
        _ if is_profiled(&job) => Err(Ending::Skip(SkipReason::Duplicate)),
        _ => Ok(job),
    }
}

/// How profiling ends before its end.
enum Ending {
    Skip(SkipReason),
    Reject(DocumentFailure),
    Retry(String),
}

impl From<DocumentFailure> for Ending {
    fn from(failure: DocumentFailure) -> Self {
        Self::Reject(failure)
    }
}

impl From<Error> for Ending {
    fn from(error: Error) -> Self {
        match error {
            Error::NoJob(_) => Self::Skip(SkipReason::Gone),
            error => Self::Retry(error.to_string()),
        }
    }
}

#[async_trait]
impl Stage for Profiler {
    type Input = ObjectArrived;

    fn name(&self) -> &'static str {
        "profiler"
    }

    fn job(&self, input: &ObjectArrived) -> Option<JobId> {
        match EventKey::of(input.key.as_str()) {
            EventKey::Upload { job } => Some(job),
            EventKey::DropIn { namespace, .. } => {
                let scope = Scope::new(self.drop_in_owner.clone(), namespace);
                Some(drop_in_job(&scope, input.key.as_str(), &input.etag, &input.order))
            }
            EventKey::Other => None,
        }
    }

    async fn run(&self, inputs: Vec<ObjectArrived>) -> Vec<Outcome<()>> {
        let mut outcomes = Vec::with_capacity(inputs.len());
        for input in &inputs {
            outcomes.push(match self.profile(input).await {
                Ok(()) => Outcome::Done(()),
                Err(Ending::Skip(reason)) => Outcome::Skipped(reason),
                Err(Ending::Reject(failure)) => Outcome::Rejected(failure),
                Err(Ending::Retry(cause)) => Outcome::Retry { cause, delay_seconds: 2 },
            });
        }
        outcomes
    }
}
