//! Making jobs: by request (random identities, idempotent under a key) and for dropped files (derived identities).

use quarry_model::job::{SourceType, Webhook};
use quarry_model::record::{DocumentRecord, Order};
use quarry_model::{DocumentId, Job, JobId, JobState, ObjectKey, Progress, RecordKey, SCHEMA_VERSION, Scope};
use quarry_ports::{Condition, Item, TransactError, Write, trace};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Jobs, TRIES, event, watch};
use crate::error::Error;
use crate::random;

/// How long an idempotency key is remembered: a day.
const REMEMBERED_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// What a request for a job says.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJob {
    /// Whose.
    pub scope: Scope,
    /// The document to renew, once the caller may; `None` makes a new one. While a job is at work on it, another is refused.
    pub document_id: Option<DocumentId>,
    /// How the bytes come.
    pub source_type: SourceType,
    /// The address that the bytes come from; not kept, since addresses can hold secrets.
    pub source_url: Option<String>,
    /// As uploaded.
    pub file_name: String,
    /// The caller's own name for it. The same request with the same name returns the job that is still at work on it.
    pub data_id: Option<String>,
    /// Kept with the document.
    pub document_metadata: Map<String, Value>,
    /// Part of the revision.
    pub parsing_params: Map<String, Value>,
    /// Where to report the end.
    pub webhook: Option<Webhook>,
    /// The request's `Idempotency-Key`: under it the same request returns the same job for a day, another one is refused.
    pub idempotency_key: Option<String>,
}

/// A dropped or locally ingested file.
#[derive(Debug, Clone, PartialEq)]
pub struct DropIn {
    /// Whose.
    pub scope: Scope,
    /// Where the bytes are.
    pub source: ObjectKey,
    /// The place that names the document: the object key, or a path on disk. Usually equal to `source`.
    pub place: String,
    /// Tag of the content: etag or hash.
    pub content_tag: String,
    /// The file's own name.
    pub file_name: String,
    /// Which of two drops at one place is newer.
    pub order: Order,
}

impl DropIn {
    /// The job it means: one place, content and sequencer mean one job, so that a doubled event starts nothing new while
    /// a file that returns to an earlier content is read again.
    pub fn job_id(&self) -> JobId {
        drop_in_job(&self.scope, &self.place, &self.content_tag, &self.order)
    }
}

/// As [`DropIn::job_id`], for those who have no file name yet.
pub fn drop_in_job(scope: &Scope, place: &str, content_tag: &str, order: &Order) -> JobId {
    match &order.sequencer {
        Some(sequencer) => JobId::for_drop_in(scope, place, &format!("{content_tag}#{sequencer}")),
        None => JobId::for_drop_in(scope, place, content_tag),
    }
}

/// A job, and whether this call made it.
#[derive(Debug, Clone, PartialEq)]
pub enum Created {
    /// Just now.
    New(Job),
    /// It was there before.
    Known(Job),
}

impl Created {
    /// The job.
    pub fn job(self) -> Job {
        match self {
            Self::New(job) | Self::Known(job) => job,
        }
    }

    /// Whether this call made it.
    pub fn is_new(&self) -> bool {
        matches!(self, Self::New(_))
    }
}

/// What an idempotency key stands for.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Remembered {
    job_id: JobId,
    fingerprint: String,
}

/// What a request is remembered by: made of it before anything in it is filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestNames {
    fingerprint: String,
    by_key: Option<RecordKey>,
    by_data: Option<RecordKey>,
}

impl RequestNames {
    /// The names of a request as it came.
    pub fn of(new: &NewJob) -> Self {
        let fingerprint = fingerprint(new);
        let named = |name: String| RecordKey::idempotency(&new.scope.owner, &name);
        Self {
            by_key: new.idempotency_key.as_ref().map(|key| named(format!("key {key}"))),
            by_data: new.data_id.as_ref().map(|data| named(format!("data {} {data} {fingerprint}", new.scope.namespace))),
            fingerprint,
        }
    }
}

/// What is remembered of a request.
enum LookedUp {
    /// The job it has made.
    Known(Box<Job>),
    /// Nothing: what to remember a new job under, and on which condition.
    Free(Vec<(RecordKey, Condition)>),
}

impl Jobs {
    /// Makes a job in `waiting-file`, or returns the one that an equal request has made before.
    pub async fn create(&self, new: NewJob) -> Result<Created, Error> {
        self.create_as(&RequestNames::of(&new), new).await
    }

    /// As [`Self::create`], for a request that has been completed since it came.
    pub async fn create_as(&self, names: &RequestNames, new: NewJob) -> Result<Created, Error> {
        for _ in 0..TRIES {
            let writes = match self.looked_up(names).await? {
                LookedUp::Known(job) => return Ok(Created::Known(*job)),
                LookedUp::Free(writes) => writes,
            };
            let busy_with = match &new.document_id {
                Some(document) => self.latest_job(document).await?,
                None => None,
            };
            if let Some(job) = busy_with.as_ref().filter(|job| job.state.is_active()) {
                return Err(Error::DocumentBusy { document: job.document_id.clone(), job: job.job_id.clone() });
            }
            let mut job = self.fresh(&new)?;
            if let Some(document) = &new.document_id
                && let Some(item) = self.records().get(&RecordKey::document(&new.scope, document)).await?
            {
                job.order = job.order.after(&item.read::<DocumentRecord>()?.order);
            }
            let expires = job.created_at.plus_millis(REMEMBERED_MILLIS);
            let remembered = Remembered { job_id: job.job_id.clone(), fingerprint: names.fingerprint.clone() };
            let latest = match (&new.document_id, &busy_with) {
                (None, _) => Condition::None,
                (Some(_), None) => Condition::Absent,
                (Some(_), Some(earlier)) => Condition::Equals("job_id".to_owned(), json!(earlier.job_id)),
            };
            let mut all = Self::first_writes(&job, latest)?;
            for (key, condition) in writes {
                all.push(Write::Put(Item::of(key, &remembered)?.expiring(expires), condition));
            }
            match self.records().transact(all).await {
                Ok(()) => return Ok(Created::New(job)),
                // Somebody made the same job, or drew the same identity: look again.
                Err(TransactError::Conditions(_) | TransactError::Conflict) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Error::Random("no free identity".to_owned()))
    }

    /// The job that an equal request has made before and that [`Self::create`] would return now.
    pub async fn known(&self, names: &RequestNames) -> Result<Option<Job>, Error> {
        match self.looked_up(names).await? {
            LookedUp::Known(job) => Ok(Some(*job)),
            LookedUp::Free(_) => Ok(None),
        }
    }

    async fn looked_up(&self, names: &RequestNames) -> Result<LookedUp, Error> {
        let mut writes = Vec::new();
        if let Some(key) = &names.by_key {
            if let Some(known) = self.remembered(key).await? {
                if known.fingerprint != names.fingerprint {
                    return Err(Error::KeyReused(known.job_id));
                }
                if let Some(job) = self.load(&known.job_id).await? {
                    return Ok(LookedUp::Known(Box::new(job)));
                }
            }
            writes.push((key.clone(), Condition::Absent));
        }
        if let Some(key) = &names.by_data {
            let mut condition = Condition::Absent;
            if let Some(known) = self.remembered(key).await? {
                if let Some(job) = self.load(&known.job_id).await?.filter(|job| job.state.is_active()) {
                    return Ok(LookedUp::Known(Box::new(job)));
                }
                condition = Condition::Equals("job_id".to_owned(), json!(known.job_id));
            }
            writes.push((key.clone(), condition));
        }
        Ok(LookedUp::Free(writes))
    }

    /// Makes the job of a dropped file in `pending`, or returns it: one place and one content mean one job.
    pub async fn create_drop_in(&self, drop: DropIn) -> Result<Created, Error> {
        let job_id = drop.job_id();
        let now = self.now();
        let job = Job {
            schema_version: SCHEMA_VERSION,
            document_id: DocumentId::for_drop_in(&drop.scope, &drop.place),
            scope: drop.scope,
            state: JobState::Pending,
            stage: "profiler".to_owned(),
            version: 1,
            source_type: SourceType::DropIn,
            source: drop.source,
            file_name: drop.file_name,
            data_id: None,
            document_metadata: Map::new(),
            parsing_params: Map::new(),
            webhook: None,
            order: drop.order,
            revision: None,
            result_sha256: None,
            progress: Progress::default(),
            attempts: 0,
            error: None,
            created_at: now,
            updated_at: now,
            ended_at: None,
            trace: trace::current(),
            job_id,
        };
        if let Some(known) = self.load(&job.job_id).await? {
            return Ok(Created::Known(known));
        }
        match self.records().transact(Self::first_writes(&job, Condition::None)?).await {
            Ok(()) => Ok(Created::New(job)),
            Err(TransactError::Conditions(_) | TransactError::Conflict) => {
                let known = self.load(&job.job_id).await?.ok_or_else(|| Error::Contended(job.job_id.clone()))?;
                Ok(Created::Known(known))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The job last created for a document.
    pub async fn latest_job(&self, document: &DocumentId) -> Result<Option<Job>, Error> {
        let item = self.records().get(&RecordKey::document_job(document)).await?;
        let id = item.as_ref().and_then(|item| item.body.get("job_id")).and_then(Value::as_str).and_then(|id| id.parse().ok());
        match id {
            Some(id) => self.load(&id).await,
            None => Ok(None),
        }
    }

    /// The order of a file dropped at `place` just now, for stores that give no sequencer: it has one only when the same
    /// content was dropped there before and its job has ended, so that first drops are named by their content alone.
    pub async fn drop_in_order(&self, scope: &Scope, place: &str, content_tag: &str) -> Result<Order, Error> {
        let plain = Order { created_millis: self.now().millis(), sequencer: None };
        let earlier = self.load(&drop_in_job(scope, place, content_tag, &plain)).await?;
        Ok(match earlier {
            Some(job) if !job.state.is_active() => Order { sequencer: Some(format!("{:016X}", plain.created_millis)), ..plain },
            _ => plain,
        })
    }

    async fn remembered(&self, key: &RecordKey) -> Result<Option<Remembered>, Error> {
        Ok(self.records().get(key).await?.map(|item| item.read()).transpose()?)
    }

    fn fresh(&self, new: &NewJob) -> Result<Job, Error> {
        let job_id = random::job_id()?;
        let now = self.now();
        Ok(Job {
            schema_version: SCHEMA_VERSION,
            source: ObjectKey::upload(&new.scope.owner, &job_id),
            job_id,
            scope: new.scope.clone(),
            document_id: match &new.document_id {
                Some(id) => id.clone(),
                None => random::document_id()?,
            },
            state: JobState::WaitingFile,
            stage: "upload".to_owned(),
            version: 1,
            source_type: new.source_type,
            file_name: new.file_name.clone(),
            data_id: new.data_id.clone(),
            document_metadata: new.document_metadata.clone(),
            parsing_params: new.parsing_params.clone(),
            webhook: new.webhook.clone(),
            order: Order { created_millis: now.millis(), sequencer: None },
            revision: None,
            result_sha256: None,
            progress: Progress::default(),
            attempts: 0,
            error: None,
            created_at: now,
            updated_at: now,
            ended_at: None,
            trace: trace::current(),
        })
    }

    fn first_writes(job: &Job, latest: Condition) -> Result<Vec<Write>, Error> {
        let listing = RecordKey::job_listing(&job.scope.owner, job.created_at.millis(), &job.job_id);
        let entry = json!({ "job_id": job.job_id, "namespace": job.scope.namespace, "created_at": job.created_at });
        Ok(vec![
            Write::Put(Item::of(RecordKey::job(&job.job_id), job)?, Condition::Absent),
            Write::Put(event(job)?, Condition::None),
            Write::Put(Item::of(listing, &entry)?, Condition::None),
            Write::Put(Item::of(RecordKey::document_job(&job.document_id), &json!({ "job_id": job.job_id }))?, latest),
            watch::first(&job.job_id, job.created_at)?,
        ])
    }
}

/// Equal for equal requests.
fn fingerprint(new: &NewJob) -> String {
    let parts = json!([
        new.scope,
        new.document_id,
        new.source_type,
        new.source_url,
        new.file_name,
        new.data_id,
        new.document_metadata,
        new.parsing_params,
        new.webhook,
    ]);
    blake3::hash(parts.to_string().as_bytes()).to_hex().as_str()[..32].to_owned()
}
