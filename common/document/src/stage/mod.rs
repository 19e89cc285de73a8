//! The parse stage: what every `parse-*` function does around its parser.

mod parts;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use quarry_model::message::{ParseMessage, PublishAction, PublishMessage, QueueName};
use quarry_model::{DocumentCode, DocumentFailure, JobId, Limits, ObjectKey, Outcome, Revision, SkipReason};
use quarry_ports::{Clock, Model, NoModel, ObjectError, ObjectStore, Outgoing, PutCondition, PutOptions, Queue, QueueError, Stage};
use tokio::sync::oneshot;

use self::parts::Parts;
use crate::enrich::{enrich, models_in_force};
use crate::parser::Parser;
use crate::revision::{RevisionFolder, RevisionRequest, check_size, finish, read, revision_of};

/// Stack of the thread that parses. Nesting is bounded by the limits; this leaves room for what they allow.
const STACK_BYTES: usize = 64 << 20;
/// Share of the time left after parsing that models may take; the rest is for building the folder.
const MODELS_SHARE: f32 = 0.6;
/// How long to wait before trying again when a store is out of order, in seconds.
const STORE_DELAY: u32 = 10;
/// How long to wait before trying again after a panic, in seconds: the bytes stay the same, the machine may not.
const CRASH_DELAY: u32 = 5;

/// Why work on one message ended early.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// The document is at fault.
    #[error(transparent)]
    Document(#[from] DocumentFailure),
    /// The object store is at fault.
    #[error("object store: {0}")]
    Objects(#[from] ObjectError),
    /// The queue is at fault.
    #[error("queue: {0}")]
    Queue(#[from] QueueError),
    /// A message cannot be written.
    #[error("message: {0}")]
    Message(#[from] serde_json::Error),
    /// The parser panicked, or its thread could not be started.
    #[error("parsing crashed: {0}")]
    Crashed(String),
}

/// Reads one source object, writes one revision folder, tells the publisher.
///
/// Every step is idempotent under (document, revision): a message that comes again finds the finished folder and only
/// tells the publisher again. Artifacts are written first and `manifest.json` last, so a folder with a manifest is
/// complete. A long document comes in several messages, each for a run of its pages; the last of them puts together what
/// all have read (see [`parts`]).
pub struct ParseStage<P> {
    parser: Arc<P>,
    objects: Arc<dyn ObjectStore>,
    queue: Arc<dyn Queue>,
    clock: Arc<dyn Clock>,
    limits: Limits,
    model: Arc<dyn Model>,
}

impl<P: Parser> ParseStage<P> {
    /// A stage around `parser`, without a model.
    pub fn new(parser: P, objects: Arc<dyn ObjectStore>, queue: Arc<dyn Queue>, clock: Arc<dyn Clock>, limits: Limits) -> Self {
        Self { parser: Arc::new(parser), objects, queue, clock, limits, model: Arc::new(NoModel) }
    }

    /// The same stage, asking `model` wherever a model is set for a task.
    #[must_use]
    pub fn with_model(self, model: Arc<dyn Model>) -> Self {
        Self { model, ..self }
    }

    /// The request; with models it names them, for they are part of what makes a revision.
    fn request(&self, message: &ParseMessage) -> RevisionRequest {
        let mut request = RevisionRequest::from(message);
        if let Some(models) = models_in_force(self.model.as_ref()) {
            request.parsing_params.insert("models in force".to_owned(), models);
        }
        request
    }

    async fn parse(&self, message: &ParseMessage) -> Outcome<()> {
        match self.try_parse(message).await {
            Ok(outcome) => outcome,
            Err(StageError::Document(failure)) => Outcome::Rejected(failure),
            Err(StageError::Crashed(cause)) => Outcome::Retry { cause: format!("parsing crashed: {cause}"), delay_seconds: CRASH_DELAY },
            Err(error) => Outcome::Retry { cause: error.to_string(), delay_seconds: STORE_DELAY },
        }
    }

    async fn try_parse(&self, message: &ParseMessage) -> Result<Outcome<()>, StageError> {
        // What the event said is refused before anything is read, what was read before anything is parsed.
        check_size(message.size, &self.limits)?;
        let (bytes, meta) = match self.objects.get(&message.source).await {
            Ok(read) => read,
            Err(ObjectError::NotFound(_)) => {
                return Err(DocumentFailure::new(DocumentCode::UploadExpired, "the uploaded bytes are no longer stored").into());
            }
            Err(error) => return Err(error.into()),
        };
        if meta.etag != message.etag {
            // Newer bytes lie under this key, and have an event and a message of their own.
            return Ok(Outcome::Skipped(SkipReason::Older));
        }
        let blake3 = blake3::hash(&bytes).to_hex();
        let request = self.request(message);
        let revision = revision_of(self.parser.as_ref(), &blake3, &request.parsing_params);
        if self.is_finished(message, &revision).await? {
            return self.again(message, &revision).await;
        }
        let (began, request) = (Instant::now(), Arc::new(request));
        let parts = match self.parts(message, &revision, &request, &bytes, began).await? {
            Parts::None => None,
            Parts::All(parts) => Some(parts),
            Parts::Waiting => return Ok(Outcome::Done(())),
            Parts::Finished => return self.again(message, &revision).await,
        };
        let folder = self.read(request, bytes.clone(), parts, began).await?;
        self.write(message, &folder, bytes).await?;
        self.remove_parts(message, &revision).await;
        self.tell_publisher(message, &revision).await?;
        Ok(Outcome::Done(()))
    }

    /// The revision is there: whoever wrote it may have been stopped before it could say so.
    async fn again(&self, message: &ParseMessage, revision: &Revision) -> Result<Outcome<()>, StageError> {
        self.remove_parts(message, revision).await;
        self.tell_publisher(message, revision).await?;
        Ok(Outcome::Skipped(SkipReason::Duplicate))
    }

    async fn is_finished(&self, message: &ParseMessage, revision: &Revision) -> Result<bool, ObjectError> {
        self.is_there(&ObjectKey::artifact(&message.scope, &message.document_id, revision, "manifest.json")).await
    }

    /// What is left of the time for one message.
    fn left(&self, began: Instant) -> Duration {
        Duration::from_secs(self.limits.parse_seconds).saturating_sub(began.elapsed())
    }

    /// Reads, or puts together what was read in parts, asks the models, and builds the folder, all within one time limit.
    async fn read(
        &self,
        request: Arc<RevisionRequest>,
        bytes: Bytes,
        parts: Option<Vec<Bytes>>,
        began: Instant,
    ) -> Result<RevisionFolder, StageError> {
        let (parser, clock, limits) = (Arc::clone(&self.parser), Arc::clone(&self.clock), self.limits.clone());
        let (about, source) = (Arc::clone(&request), bytes.clone());
        let work = move || read(parser.as_ref(), &source, &about, parts, &limits, clock.as_ref());
        let mut reading = self.apart(self.left(began), work).await?;
        let patience = self.left(began).mul_f32(MODELS_SHARE);
        let enrichment = enrich(&mut reading.parsed, &request.file_name, self.model.as_ref(), patience).await;
        let (parser, clock, limits) = (Arc::clone(&self.parser), Arc::clone(&self.clock), self.limits.clone());
        self.apart(self.left(began), move || finish(parser.as_ref(), &bytes, &request, reading, enrichment, &limits, clock.as_ref())).await
    }

    /// Works on a thread of its own: a large stack, its panics caught, its time limited. A thread cannot be stopped from
    /// outside; after a time-out it ends by itself, or with its process.
    async fn apart<T: Send + 'static>(
        &self,
        patience: Duration,
        work: impl FnOnce() -> Result<T, DocumentFailure> + Send + 'static,
    ) -> Result<T, StageError> {
        let (send, receive) = oneshot::channel();
        let run = move || {
            // The receiver is gone after a time-out.
            let _ = send.send(catch_unwind(AssertUnwindSafe(work)));
        };
        std::thread::Builder::new()
            .name(self.parser.name().to_owned())
            .stack_size(STACK_BYTES)
            .spawn(run)
            .map_err(|error| StageError::Crashed(format!("no thread: {error}")))?;
        match tokio::time::timeout(patience, receive).await {
            Ok(Ok(Ok(done))) => Ok(done?),
            Ok(Ok(Err(panic))) => Err(StageError::Crashed(panic_message(panic.as_ref()))),
            Ok(Err(_)) => Err(StageError::Crashed("the thread ended without an answer".to_owned())),
            Err(_) => {
                let detail = format!("not finished after {} s", self.limits.parse_seconds);
                Err(DocumentFailure::new(DocumentCode::TimedOut, detail).into())
            }
        }
    }

    async fn write(&self, message: &ParseMessage, folder: &RevisionFolder, source: Bytes) -> Result<(), ObjectError> {
        let media_type = message.profile.format.media_type();
        self.put(message, folder, &folder.source_name(), media_type, source, PutCondition::Always).await?;
        for file in &folder.files {
            // These two hold times. Whoever writes them first is right, so that what a client has checked stays true; all
            // other files are equal whoever writes them.
            let times = file.name == "manifest.json" || file.name == "result.zip";
            let condition = if times { PutCondition::IfAbsent } else { PutCondition::Always };
            match self.put(message, folder, &file.name, file.media_type, file.bytes.clone(), condition).await {
                Err(ObjectError::Precondition(_)) if times => {}
                result => result?,
            }
        }
        Ok(())
    }

    async fn put(
        &self,
        message: &ParseMessage,
        folder: &RevisionFolder,
        name: &str,
        media_type: &str,
        body: Bytes,
        condition: PutCondition,
    ) -> Result<(), ObjectError> {
        let key = ObjectKey::artifact(&message.scope, &message.document_id, &folder.manifest.revision, name);
        let options = PutOptions { condition, content_type: Some(media_type.to_owned()) };
        self.objects.put(&key, body, options).await.map(|_| ())
    }

    async fn tell_publisher(&self, message: &ParseMessage, revision: &Revision) -> Result<(), StageError> {
        let publish = PublishMessage {
            scope: message.scope.clone(),
            document_id: message.document_id.clone(),
            order: message.order.clone(),
            action: PublishAction::Publish { job_id: message.job_id.clone(), revision: revision.clone() },
        };
        let outgoing = Outgoing {
            group: Some(PublishMessage::group(&message.scope)),
            // A job that is retried within minutes must reach the publisher again; that it may hear of a revision twice
            // does no harm.
            deduplication: Some(format!("{}-{revision}-{}", message.job_id, self.clock.now().millis())),
            ..Outgoing::traced(serde_json::to_string(&publish)?)
        };
        Ok(self.queue.send(QueueName::Publish, vec![outgoing]).await?)
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panic".to_owned())
}

#[async_trait]
impl<P: Parser> Stage for ParseStage<P> {
    type Input = ParseMessage;

    fn name(&self) -> &'static str {
        self.parser.name()
    }

    fn job(&self, input: &ParseMessage) -> Option<JobId> {
        Some(input.job_id.clone())
    }

    fn part(&self, input: &ParseMessage) -> Option<u32> {
        self.parser.in_parts()?;
        input.part()?;
        input.shard
    }

    async fn run(&self, inputs: Vec<ParseMessage>) -> Vec<Outcome<()>> {
        let mut outcomes = Vec::with_capacity(inputs.len());
        for message in &inputs {
            outcomes.push(self.parse(message).await);
        }
        outcomes
    }
}

#[cfg(test)]
mod parts_tests;
#[cfg(test)]
mod tests;
