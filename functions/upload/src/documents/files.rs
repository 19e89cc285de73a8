//! Files of a document's current revision: the outline, and where the source is.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, State};
use quarry_model::api::{OutlineBody, SourceAddress};
use quarry_model::record::KeyScope;
use quarry_model::{DocNav, Manifest, ObjectKey};
use quarry_runtime::http::{Caller, Failure};
use serde::de::DeserializeOwned;

use super::{Found, absent, find, served};
use crate::Upload;

/// How long a source's address is good for, in seconds.
const SOURCE_LIFE: u64 = 3600;

pub(crate) async fn outline(
    State(upload): State<Arc<Upload>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<OutlineBody>, Failure> {
    caller.require(KeyScope::Query)?;
    let found = find(&upload, &caller.owner, &id).await?;
    let nav: DocNav = artifact(&upload, &found, "doc_nav.json").await?;
    Ok(Json(OutlineBody {
        job_result_id: served(&found.record)?.clone(),
        document_id: found.record.document_id,
        namespace: found.scope.namespace,
        file_name: nav.file_name,
        stats: nav.stats,
        sections: nav.sections,
        resources: nav.resources,
    }))
}

pub(crate) async fn source(
    State(upload): State<Arc<Upload>>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<SourceAddress>, Failure> {
    caller.require(KeyScope::Query)?;
    let found = find(&upload, &caller.owner, &id).await?;
    let revision = served(&found.record)?;
    let manifest: Manifest = artifact(&upload, &found, "manifest.json").await?;
    let extension = manifest.source.detected_format.extension();
    let key = ObjectKey::artifact(&found.scope, &found.record.document_id, revision, &format!("source/original.{extension}"));
    let url = upload.objects.presign_get(&key, Duration::from_secs(SOURCE_LIFE), Some(&found.record.source_file_name)).await?;
    Ok(Json(SourceAddress {
        document_id: found.record.document_id.clone(),
        namespace: found.scope.namespace.clone(),
        job_id: found.record.active_job.clone(),
        job_result_id: revision.clone(),
        variant: "original".to_owned(),
        file_name: found.record.source_file_name.clone(),
        content_type: manifest.source.media_type,
        url,
        expires_at: upload.jobs.now().plus_millis(i64::try_from(SOURCE_LIFE * 1000).unwrap_or(i64::MAX)),
    }))
}

/// A JSON file of the revision served.
async fn artifact<T: DeserializeOwned>(upload: &Upload, found: &Found, name: &str) -> Result<T, Failure> {
    let revision = served(&found.record)?;
    let key = ObjectKey::artifact(&found.scope, &found.record.document_id, revision, name);
    match upload.objects.get(&key).await {
        Ok((bytes, _)) => serde_json::from_slice(&bytes).map_err(|error| Failure::internal(&error)),
        // The revision was replaced and swept between two reads.
        Err(quarry_ports::ObjectError::NotFound(_)) => Err(absent(found.record.document_id.as_str())),
        Err(error) => Err(error.into()),
    }
}
