//! `POST /documents`: a small file in the request itself, raw or as a form.

use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRequest, Multipart, Request, State};
use bytes::Bytes;
use http::{StatusCode, header};
use percent_encoding::percent_decode_str;
use quarry_model::api::JobBody;
use quarry_model::job::SourceType;
use quarry_model::record::KeyScope;
use quarry_model::{ApiCode, ApiError, Format, JobState};
use quarry_ports::{PutCondition, PutOptions};
use quarry_runtime::http::{Caller, Failure, Params};
use quarry_runtime::jobs::NewJob;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::announce;
use super::create::target;
use super::read::body;
use crate::Upload;
use crate::input::Violations;

/// What may stand beside the file: in the query of a raw body, in the fields of a form.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Beside {
    file_name: Option<String>,
    namespace: Option<String>,
    document_id: Option<String>,
    data_id: Option<String>,
    document_metadata: Option<String>,
    parsing_params: Option<String>,
}

pub(crate) async fn direct(
    State(upload): State<Arc<Upload>>,
    caller: Caller,
    Params(query): Params<Beside>,
    request: Request,
) -> Result<(StatusCode, Json<JobBody>), Failure> {
    caller.require(KeyScope::Ingest)?;
    let mut bad = Violations::default();
    let idempotency_key = bad.idempotency_key(request.headers());
    let (bytes, beside) = received(request, query).await?;
    if bytes.len() as u64 > upload.direct_upload_bytes {
        return Err(too_large(&upload));
    }
    let file_name = bad.file_name("body.file_name", beside.file_name.as_deref());
    let namespace = bad.namespace("body.namespace", beside.namespace.as_deref());
    let data_id = bad.data_id("body.data_id", beside.data_id);
    let document_metadata = bad.json_object("body.document_metadata", beside.document_metadata.as_deref());
    let parsing_params = bad.json_object("body.parsing_params", beside.parsing_params.as_deref());
    bad.check()?;
    let (document_id, scope) = target(&upload, &caller.owner, beside.document_id.as_deref(), namespace).await?;
    let media_type = Format::of_file_name(&file_name).map_or("application/octet-stream", Format::media_type);
    let new = NewJob {
        scope,
        document_id,
        source_type: SourceType::File,
        source_url: None,
        file_name,
        data_id,
        document_metadata,
        parsing_params,
        webhook: None,
        idempotency_key,
    };
    let mut job = upload.jobs.create(new).await?.job();
    // A repeated request whose bytes have arrived before finds its job at work.
    if job.state == JobState::WaitingFile {
        let options = PutOptions { condition: PutCondition::Always, content_type: Some(media_type.to_owned()) };
        let meta = upload.objects.put(&job.source, bytes, options).await?;
        job = announce(&upload, &job, &meta).await?;
    }
    Ok((StatusCode::ACCEPTED, Json(body(&upload, job).await?)))
}

async fn received(request: Request, query: Beside) -> Result<(Bytes, Beside), Failure> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if kind.trim_start().to_ascii_lowercase().starts_with("multipart/form-data") {
        return form(request, query).await;
    }
    let named = request
        .headers()
        .get("x-file-name")
        .map(|value| percent_decode_str(&String::from_utf8_lossy(value.as_bytes())).decode_utf8_lossy().into_owned());
    let fragment = Format::of_media_type(kind) == Some(Format::Fragment);
    let bytes = Bytes::from_request(request, &()).await.map_err(|error| unread(error.status()))?;
    let file_name = named.or(query.file_name);
    let file_name = if fragment { Some(fragment_name(file_name)) } else { file_name };
    if file_name.is_none() {
        return Err(ApiError::invalid_field("header.X-File-Name", "is required with a raw body; or send a form with a field `file`").into());
    }
    Ok((bytes, Beside { file_name, ..query }))
}

/// The name of a posted fragment: its media type says what it is, whatever it is called and if it is called nothing.
fn fragment_name(given: Option<String>) -> String {
    let name = given.unwrap_or_else(|| "note".to_owned());
    if Format::of_file_name(&name) == Some(Format::Fragment) { name } else { format!("{name}.{}", Format::Fragment.extension()) }
}

async fn form(request: Request, query: Beside) -> Result<(Bytes, Beside), Failure> {
    let mut fields = Multipart::from_request(request, &()).await.map_err(|error| unread(error.status()))?;
    let mut beside = query;
    let mut file = None;
    while let Some(field) = fields.next_field().await.map_err(|error| unread(error.status()))? {
        let name = field.name().unwrap_or_default().to_owned();
        if name == "file" {
            let own = field.file_name().map(str::to_owned);
            beside.file_name = beside.file_name.or(own);
            file = Some(field.bytes().await.map_err(|error| unread(error.status()))?);
            continue;
        }
        let value = Some(field.text().await.map_err(|error| unread(error.status()))?);
        match name.as_str() {
            "file_name" => beside.file_name = value,
            "namespace" => beside.namespace = value,
            "document_id" => beside.document_id = value,
            "data_id" => beside.data_id = value,
            "document_metadata" => beside.document_metadata = value,
            "parsing_params" => beside.parsing_params = value,
            _ => {
                let field = format!("body.{}", name.chars().take(80).collect::<String>());
                return Err(ApiError::invalid_field(&field, "is not a field of this form").into());
            }
        }
    }
    let file = file.ok_or_else(|| ApiError::invalid_field("body.file", "is required: the file itself"))?;
    Ok((file, beside))
}

fn unread(status: StatusCode) -> Failure {
    if status == StatusCode::PAYLOAD_TOO_LARGE {
        return ApiError::new(
            ApiCode::PayloadTooLarge,
            "The body is larger than allowed here. Create a job with POST /jobs and upload to its address.",
        )
        .into();
    }
    ApiError::invalid_field("body", "did not arrive whole, or is not the form its content type says").into()
}

fn too_large(upload: &Upload) -> Failure {
    let message = format!(
        "A direct upload has at most {} bytes. Create a job with POST /jobs and upload to its address.",
        upload.direct_upload_bytes
    );
    ApiError::new(ApiCode::PayloadTooLarge, message).with("limit", upload.direct_upload_bytes).into()
}

impl Violations {
    /// A JSON object written into a form's field or a query.
    fn json_object(&mut self, field: &str, given: Option<&str>) -> Map<String, Value> {
        match given.filter(|text| !text.trim().is_empty()).map(serde_json::from_str::<Map<String, Value>>) {
            None => Map::new(),
            Some(Ok(object)) => self.object(field, Some(object)),
            Some(Err(_)) => {
                self.add(field, "must be a JSON object");
                Map::new()
            }
        }
    }
}
