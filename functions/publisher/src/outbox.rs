//! Webhooks to be delivered: written by the commit itself, so that none is lost and none tells of what did not happen.

use quarry_model::{Job, RecordKey, Revision, SCHEMA_VERSION, Timestamp};
use quarry_ports::{Condition, Item, RecordError, Write};
use serde_json::json;

/// The row for a finished job that asked to be told of its end.
pub(crate) fn row(job: &Job, revision: &Revision, now: Timestamp) -> Result<Option<Write>, RecordError> {
    let Some(webhook) = &job.webhook else {
        return Ok(None);
    };
    let event = json!({
        "schema_version": SCHEMA_VERSION,
        "event": "job.done",
        "url": webhook.url,
        "job_id": job.job_id,
        "scope": job.scope,
        "document_id": job.document_id,
        "revision": revision,
        "data_id": job.data_id,
        "at": now,
        "attempts": 0,
    });
    Ok(Some(Write::Put(Item::of(RecordKey::outbox(&job.job_id), &event)?, Condition::None)))
}
