//! `submit` and `job_status`: handed on to the API that everybody else uses, with the caller's own key, so that they
//! mean the same and may do the same.

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use quarry_model::{ApiCode, ApiError, JobId};
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::{between, document_id};
use super::page::Page;
use super::{Call, ToolAnswer};

/// Largest content of a submission, in bytes; larger files are uploaded.
const CONTENT_BYTES: usize = 3 << 20;

/// A request to the rest of the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiCall {
    /// `GET` or `POST`.
    pub method: &'static str,
    /// Below a version: `/jobs?…`.
    pub path: String,
    /// Names and values; the caller's `Authorization` among them.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Bytes,
}

/// Its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiAnswer {
    /// HTTP status.
    pub status: u16,
    /// JSON.
    pub body: Value,
}

/// The rest of the API: in process, or over HTTP.
#[async_trait]
pub trait Api: Send + Sync + 'static {
    /// Sends a request; `UNAVAILABLE` when there is no answer.
    async fn send(&self, call: ApiCall) -> Result<ApiAnswer, ApiError>;
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SubmitArguments {
    file_name: String,
    content: Option<String>,
    content_base64: Option<String>,
    document_id: Option<String>,
}

pub(super) async fn submit(call: Call<'_>) -> Result<ToolAnswer, ApiError> {
    let arguments: SubmitArguments = call.arguments()?;
    if let Some(id) = &arguments.document_id {
        document_id("document_id", id)?;
    }
    let content = match (arguments.content, arguments.content_base64) {
        (Some(_), Some(_)) => return Err(ApiError::invalid_field("content", "and content_base64 exclude one another")),
        (Some(text), None) => Some(Bytes::from(text)),
        (None, Some(text)) => {
            let bytes = STANDARD.decode(text.trim()).map_err(|_| ApiError::invalid_field("content_base64", "must be base64"))?;
            Some(Bytes::from(bytes))
        }
        (None, None) => None,
    };
    let namespace = call.scope.namespace.as_str();
    let body = match content {
        Some(content) if content.len() > CONTENT_BYTES => {
            let problem = format!("has more than {CONTENT_BYTES} bytes; leave it out and PUT the file to the address of the answer");
            return Err(ApiError::invalid_field("content", &problem));
        }
        // A form carries any name and namespace without a second way of escaping.
        Some(content) => {
            let mut fields = vec![("file_name", arguments.file_name.as_str()), ("namespace", namespace)];
            fields.extend(arguments.document_id.as_deref().map(|id| ("document_id", id)));
            let (content_type, body) = form(&fields, &content);
            call.send("POST", "/documents".to_owned(), content_type, body).await?
        }
        None => {
            let job = json!({ "source_type": "file", "file_name": arguments.file_name, "namespace": namespace, "document_id": arguments.document_id });
            call.send("POST", "/jobs".to_owned(), "application/json".to_owned(), Bytes::from(job.to_string())).await?
        }
    };
    let said = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    let mut page = Page::new(call.budget);
    page.push(&said("document_id"), &format!("job {} is {}; document {}", said("job_id"), said("status"), said("document_id")));
    if let Some(url) = body["upload_url"].as_str() {
        let headers = body["upload_headers"].to_string();
        page.head(&format!("PUT the file to {url}\nwith headers {headers}\nwithin {} s", body["expires_in"]));
    }
    Ok(page.finish())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StatusArguments {
    job_id: String,
    wait: Option<i64>,
}

pub(super) async fn job_status(call: Call<'_>) -> Result<ToolAnswer, ApiError> {
    let arguments: StatusArguments = call.arguments()?;
    let wait = between("wait", arguments.wait, 5, 0, 20)?;
    let wrong = |_| ApiError::invalid_field("job_id", "must be a job id like job_0a1b2c3d4e5f, as submit gives it");
    let job: JobId = arguments.job_id.trim().parse().map_err(wrong)?;
    let body = call.send("GET", format!("/jobs/{job}?wait={wait}"), String::new(), Bytes::new()).await?;
    let said = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    let mut page = Page::new(call.budget);
    page.push(
        &said("document_id"),
        &format!("job {job} is {}; document {} in namespace {}", said("status"), said("document_id"), said("namespace")),
    );
    if let Some(error) = body["error"].as_object() {
        let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        page.head(&format!("{}: {}", text("code"), text("message")));
    }
    Ok(page.finish())
}

impl Call<'_> {
    async fn send(&self, method: &'static str, path: String, content_type: String, body: Bytes) -> Result<Value, ApiError> {
        let Some(api) = &self.tools.api else { return Err(ApiError::internal()) };
        let mut headers: Vec<(&'static str, String)> = Vec::new();
        headers.extend(self.caller.authorization.clone().map(|value| ("authorization", value)));
        headers.extend((!content_type.is_empty()).then_some(("content-type", content_type)));
        let answer = api.send(ApiCall { method, path, headers, body }).await?;
        if answer.status < 400 {
            return Ok(answer.body);
        }
        // The API's own envelope: its code and sentence are public.
        let error = &answer.body["error"];
        let code: ApiCode = serde_json::from_value(error["code"].clone()).unwrap_or(ApiCode::InternalError);
        let mut failure = ApiError::new(code, error["message"].as_str().unwrap_or("The API refused the call."));
        if let Some(details) = error["details"].as_object() {
            failure.details = details.clone();
        }
        Err(failure)
    }
}

/// A form: the fields, then the file. The boundary stands in none of them.
fn form(fields: &[(&str, &str)], content: &[u8]) -> (String, Bytes) {
    let boundary = format!("quarry-{}", blake3::hash(content).to_hex());
    let mut body = Vec::with_capacity(content.len() + 1024);
    for (name, value) in fields {
        body.extend_from_slice(format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n").as_bytes());
    }
    let head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"file\"\r\nContent-Type: application/octet-stream\r\n\r\n"
    );
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(content);
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={boundary}"), Bytes::from(body))
}
