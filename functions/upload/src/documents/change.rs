//! Archiving and deleting. Both are publications: the publisher does them, and the answer waits until they are committed,
//! so that the caller's next query does not see the document.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use quarry_model::api::DocumentBody;
use quarry_model::message::{PublishAction, PublishMessage, QueueName};
use quarry_model::record::{DocumentRecord, DocumentStatus, KeyScope, Order};
use quarry_model::{ApiError, DocumentCode, DocumentFailure, DocumentId, RecordKey, Scope};
use quarry_ports::Outgoing;
use quarry_runtime::http::{Caller, Failure};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{absent, body, find, known};
use crate::Upload;

/// How long the answer waits for the commit; below the 29 s after which a gateway gives up.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) async fn archive(
    State(upload): State<Arc<Upload>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<DocumentBody>, Failure> {
    caller.require(KeyScope::Ingest)?;
    let found = find(&upload, &caller.owner, &id).await?;
    if found.record.status == DocumentStatus::Archived {
        return Ok(Json(body(found.record)));
    }
    let record = withdraw(&upload, &found.scope, &found.record.document_id, DocumentStatus::Archived).await?;
    Ok(Json(body(record)))
}

pub(crate) async fn delete(State(upload): State<Arc<Upload>>, caller: Caller, Path(id): Path<String>) -> Result<Json<Value>, Failure> {
    caller.require(KeyScope::Ingest)?;
    let known = known(&upload, &caller.owner, &id).await?;
    let document: DocumentId = id.parse().map_err(|_| absent(&id))?;
    let deleted = known.record.as_ref().is_some_and(|record| record.status == DocumentStatus::Deleted);
    let job = known.job.filter(|job| job.state.is_active());
    if job.is_none() && (deleted || known.record.is_none()) {
        return Err(absent(&id));
    }
    // Work in flight is called off first; what the publisher is committing at this moment is older than the delete.
    if let Some(job) = job {
        upload.jobs.fail(&job.job_id, &job.stage, &DocumentFailure::new(DocumentCode::Cancelled, "its document was deleted")).await?;
    }
    withdraw(&upload, &known.scope, &document, DocumentStatus::Deleted).await?;
    Ok(Json(json!({ "document_id": document, "namespace": known.scope.namespace, "status": DocumentStatus::Deleted })))
}

/// Asks the publisher to take a document out of search, and waits until it has.
pub(crate) async fn withdraw(
    upload: &Upload,
    scope: &Scope,
    document: &DocumentId,
    into: DocumentStatus,
) -> Result<DocumentRecord, Failure> {
    let mut order = Order { created_millis: upload.jobs.now().millis(), sequencer: None };
    if let Some(item) = upload.jobs.records().get(&RecordKey::document(scope, document)).await? {
        order = order.after(&item.read::<DocumentRecord>()?.order);
    }
    let action = if into == DocumentStatus::Deleted { PublishAction::Delete } else { PublishAction::Archive };
    let word = if into == DocumentStatus::Deleted { "delete" } else { "archive" };
    let deduplication = format!("{word}-{document}-{}", order.created_millis);
    let message = PublishMessage { scope: scope.clone(), document_id: document.clone(), order, action };
    let outgoing = Outgoing {
        group: Some(PublishMessage::group(scope)),
        deduplication: Some(deduplication),
        ..Outgoing::traced(serde_json::to_string(&message).map_err(|error| Failure::internal(&error))?)
    };
    upload.queue.send(QueueName::Publish, vec![outgoing]).await?;
    let deadline = Instant::now() + PATIENCE;
    let mut pause = Duration::from_millis(10);
    loop {
        let item = upload.jobs.records().get(&RecordKey::document(scope, document)).await?;
        let record: Option<DocumentRecord> = item.map(|item| item.read()).transpose()?;
        match record {
            Some(record) if record.status == into || record.status == DocumentStatus::Deleted => return Ok(record),
            _ if Instant::now() >= deadline => return Err(ApiError::unavailable(5).into()),
            _ => sleep(pause).await,
        }
        pause = (pause * 2).min(Duration::from_millis(250));
    }
}
