//! `POST /jobs`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{FromRequest as _, Request, State};
use http::HeaderMap;
use quarry_model::api::{CreateJob, JobCreated};
use quarry_model::job::SourceType;
use quarry_model::record::{DocumentStatus, KeyScope};
use quarry_model::{ApiError, DocumentId, Format, Job, JobState, Namespace, Owner, Scope};
use quarry_runtime::http::{Body, Caller, Failure};
use quarry_runtime::jobs::NewJob;

use super::remote;
use crate::Upload;
use crate::documents::{absent, known};
use crate::input::Violations;

pub(crate) async fn create(
    State(upload): State<Arc<Upload>>,
    caller: Caller,
    headers: HeaderMap,
    request: Request,
) -> Result<Json<JobCreated>, Failure> {
    // Who may not is told so, whatever the body says.
    caller.require(KeyScope::Ingest)?;
    let Body(request): Body<CreateJob> = Body::from_request(request, &()).await?;
    let new = checked(&upload, &caller.owner, &headers, request).await?;
    let job = match new.source_url.clone() {
        Some(url) => remote::create(&upload, new, &url).await?,
        None => upload.jobs.create(new).await?.job(),
    };
    Ok(Json(created(&upload, job).await?))
}

/// A job as its creation answers it: with an address for the bytes while they are waited for.
pub(crate) async fn created(upload: &Upload, job: Job) -> Result<JobCreated, Failure> {
    let (mut url, mut headers, mut expires) = (None, None, None);
    if job.state == JobState::WaitingFile {
        let media_type = Format::of_file_name(&job.file_name).map_or("application/octet-stream", Format::media_type);
        let life = Duration::from_secs(upload.limits.upload_url_seconds);
        let put = upload.objects.presign_put(&job.source, life, media_type).await?;
        let mut sent: BTreeMap<String, String> = put.headers.into_iter().collect();
        if !sent.keys().any(|name| name.eq_ignore_ascii_case("content-type")) {
            sent.insert("Content-Type".to_owned(), media_type.to_owned());
        }
        (url, headers, expires) = (Some(put.url), Some(sent), Some(put.expires_in));
    }
    Ok(JobCreated {
        job_id: job.job_id,
        namespace: job.scope.namespace,
        document_id: job.document_id,
        status: job.state,
        source_type: job.source_type.public_name().to_owned(),
        data_id: job.data_id,
        created_at: job.created_at,
        upload_url: url,
        upload_headers: headers,
        expires_in: expires,
    })
}

async fn checked(upload: &Upload, owner: &Owner, headers: &HeaderMap, request: CreateJob) -> Result<NewJob, Failure> {
    let mut bad = Violations::default();
    let source_url = remote::address(upload, &mut bad, &request);
    let source_type = if source_url.is_some() { SourceType::Url } else { SourceType::File };
    // A file at an address can be named by the address.
    let named = request.file_name.as_deref().filter(|name| !name.trim().is_empty());
    let file_name = match (&source_url, named) {
        (Some(_), None) => String::new(),
        _ => bad.file_name("body.file_name", named),
    };
    let namespace = bad.namespace("body.namespace", request.namespace.as_deref());
    let data_id = bad.data_id("body.data_id", request.data_id);
    let document_metadata = bad.object("body.document_metadata", request.document_metadata);
    let parsing_params = bad.object("body.parsing_params", request.parsing_params);
    let idempotency_key = bad.idempotency_key(headers);
    if let Some(webhook) = &request.webhook {
        webhook_is_callable(upload, &mut bad, &webhook.url);
    }
    // What is accepted is honoured; this is not yet.
    if request.llm_config.is_some() {
        bad.add("body.llm_config", "documents are read without a model by this version; leave it out");
    }
    bad.check()?;
    let (document_id, scope) = target(upload, owner, request.document_id.as_deref(), namespace).await?;
    Ok(NewJob {
        scope,
        document_id,
        source_type,
        source_url,
        file_name,
        data_id,
        document_metadata,
        parsing_params,
        webhook: request.webhook,
        idempotency_key,
    })
}

/// Adds a violation when a webhook could not be delivered. What its name resolves to is checked when it is called.
fn webhook_is_callable(upload: &Upload, bad: &mut Violations, url: &str) {
    if !upload.webhooks {
        bad.add("body.webhook", "webhooks are off here: set QUARRY_WEBHOOK_SECRET, or leave it out and poll GET /jobs/{job_id}");
    } else if let Err(error) = upload.outbound.check(url) {
        bad.add("body.webhook.url", error.to_string());
    }
}

/// The document to renew and its scope, or a new one's.
///
/// `NOT_FOUND` for a document that is absent, another owner's, archived or deleted.
pub(crate) async fn target(
    upload: &Upload,
    owner: &Owner,
    document: Option<&str>,
    namespace: Option<Namespace>,
) -> Result<(Option<DocumentId>, Scope), Failure> {
    let Some(id) = document.filter(|id| !id.is_empty()) else {
        return Ok((None, Scope::new(owner.clone(), namespace.unwrap_or_default())));
    };
    let known = known(upload, owner, id).await?;
    if known.record.is_some_and(|record| record.status != DocumentStatus::Active) {
        return Err(absent(id));
    }
    if namespace.is_some_and(|namespace| namespace != known.scope.namespace) {
        let description = format!("the document lives in namespace {}; leave it out or name that one", known.scope.namespace);
        return Err(ApiError::invalid_field("body.namespace", &description).into());
    }
    // An upload that never came must not block the document for ever.
    if let Some(job) = known.job {
        upload.jobs.settle(job, &upload.limits).await?;
    }
    Ok((Some(id.parse().map_err(|_| absent(id))?), known.scope))
}
