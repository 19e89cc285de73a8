//! Documents: finding, reading, taking out of search.

mod change;
mod chunks;
mod files;
mod read;

pub(crate) use change::{archive, delete, withdraw};
pub(crate) use chunks::{chunk, chunks};
pub(crate) use files::{outline, source};
pub(crate) use read::{list, read};

use quarry_model::api::DocumentBody;
use quarry_model::record::{DocumentPlace, DocumentRecord, DocumentStatus};
use quarry_model::{ApiError, DocumentId, Job, Owner, RecordKey, Revision, Scope};
use quarry_runtime::http::Failure;
use serde_json::Value;

use crate::Upload;

/// A document of the caller's.
pub(crate) struct Found {
    pub(crate) scope: Scope,
    pub(crate) record: DocumentRecord,
}

/// What is known of a document id: where it lives, and the job last made for it.
pub(crate) struct Known {
    pub(crate) scope: Scope,
    pub(crate) record: Option<DocumentRecord>,
    pub(crate) job: Option<Job>,
}

/// The document of an owner; absent, deleted, and another owner's are one answer, and cost the same reads.
pub(crate) async fn find(upload: &Upload, owner: &Owner, id: &str) -> Result<Found, Failure> {
    let known = known(upload, owner, id).await?;
    match known.record.filter(|record| record.status != DocumentStatus::Deleted) {
        Some(record) => Ok(Found { scope: known.scope, record }),
        None => Err(absent(id)),
    }
}

/// Everything known of a document id that is this owner's, published or not.
pub(crate) async fn known(upload: &Upload, owner: &Owner, id: &str) -> Result<Known, Failure> {
    let document: DocumentId = id.parse().map_err(|_| absent(id))?;
    let records = upload.jobs.records();
    let found = records.get_many(&[RecordKey::document_place(&document), RecordKey::document_job(&document)]).await?;
    let place: Option<DocumentPlace> = found.first().and_then(Option::as_ref).map(quarry_ports::Item::read).transpose()?;
    if place.as_ref().is_some_and(|place| &place.scope.owner != owner) {
        return Err(absent(id));
    }
    let job = found.get(1).and_then(Option::as_ref).and_then(|item| item.body.get("job_id")).and_then(Value::as_str);
    let job = match job.and_then(|id| id.parse().ok()) {
        Some(job) => upload.jobs.load(&job).await?,
        None => None,
    };
    let scope = place.map(|place| place.scope).or_else(|| job.as_ref().map(|job| job.scope.clone()));
    let scope = scope.filter(|scope| &scope.owner == owner).ok_or_else(|| absent(id))?;
    let record = records.get(&RecordKey::document(&scope, &document)).await?;
    Ok(Known { record: record.map(|item| item.read()).transpose()?, scope, job })
}

pub(crate) fn absent(id: &str) -> Failure {
    ApiError::not_found("Document", &id.chars().take(80).collect::<String>()).into()
}

/// The revision served, of a document that has one.
pub(crate) fn served(record: &DocumentRecord) -> Result<&Revision, Failure> {
    record.active_revision.as_ref().ok_or_else(|| absent(record.document_id.as_str()))
}

pub(crate) fn body(record: DocumentRecord) -> DocumentBody {
    DocumentBody {
        document_id: record.document_id,
        namespace: record.scope.namespace,
        status: record.status,
        current_job_result_id: record.active_revision,
        current_job_id: record.active_job,
        source_file_name: record.source_file_name,
        document_metadata: record.metadata,
        summary: record.summary,
        chunk_count: record.chunk_count,
        created_at: record.created_at,
        updated_at: record.updated_at,
        archived_at: record.archived_at,
    }
}
