//! Failures on their way out.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use quarry_model::{ApiCode, ApiError};
use quarry_ports::{ObjectError, QueueError, RecordError, TransactError, trace};

use crate::error::Error;

/// Seconds a caller waits before trying a store again.
const STORE_RETRY_SECONDS: u64 = 2;

/// What a handler fails with. The shell writes the envelope, for only it knows the request's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure(pub ApiError);

/// Marks a response whose body is an envelope.
#[derive(Debug, Clone)]
pub(super) struct Enveloped(pub(super) ApiError);

impl Failure {
    /// A fault of ours: the cause goes to the log, not to the caller.
    pub fn internal(cause: &dyn std::fmt::Display) -> Self {
        tracing::error!(target: "quarry::http", trace_id = trace::current_id(), %cause, "internal error");
        Self(ApiError::internal())
    }

    fn store(transient: bool, cause: &dyn std::fmt::Display) -> Self {
        if transient {
            tracing::warn!(target: "quarry::http", trace_id = trace::current_id(), %cause, "store unavailable");
            return Self(ApiError::unavailable(STORE_RETRY_SECONDS));
        }
        Self::internal(cause)
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self(error)
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        Self::store(matches!(error, RecordError::Unavailable(_)), &error)
    }
}

impl From<TransactError> for Failure {
    fn from(error: TransactError) -> Self {
        match error {
            TransactError::Store(error) => error.into(),
            TransactError::Conflict => Self::store(true, &error),
            TransactError::Conditions(_) => {
                Self(ApiError::new(ApiCode::Aborted, "Somebody else changed this at the same time. Try again."))
            }
        }
    }
}

impl From<ObjectError> for Failure {
    fn from(error: ObjectError) -> Self {
        Self::store(error.is_transient(), &error)
    }
}

impl From<QueueError> for Failure {
    fn from(error: QueueError) -> Self {
        Self::store(matches!(error, QueueError::Unavailable(_)), &error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::NoJob(id) => Self(ApiError::not_found("Job", id.as_str())),
            Error::Transition { job, from, to } => Self(
                ApiError::new(ApiCode::Aborted, format!("The job is {} and cannot become {}.", from.name(), to.name()))
                    .with("reason", "ABORTED")
                    .with("resource", "Job")
                    .with("id", job.as_str()),
            ),
            Error::KeyReused(job) => Self(
                ApiError::new(ApiCode::AlreadyExists, "This Idempotency-Key was used for a different request. Use a new one.")
                    .with("reason", "ALREADY_EXISTS")
                    .with("resource", "Job")
                    .with("id", job.as_str()),
            ),
            Error::DocumentBusy { document, job } => Self(
                ApiError::new(ApiCode::Aborted, format!("Document already has an active ingestion job. Active job: {job}."))
                    .with("reason", "ABORTED")
                    .with("resource", "Document")
                    .with("id", document.as_str())
                    .with("job_id", job.as_str()),
            ),
            Error::Contended(job) => Self(
                ApiError::new(ApiCode::Aborted, "The job is being changed by others. Try again.")
                    .with("reason", "ABORTED")
                    .with("resource", "Job")
                    .with("id", job.as_str())
                    .with("retry_after", 1),
            ),
            Error::Records(error) => error.into(),
            Error::Transact(error) => error.into(),
            Error::Objects(error) => error.into(),
            Error::Queue(error) => error.into(),
            error @ (Error::Config { .. } | Error::Random(_)) => Self::internal(&error),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = envelope(&self.0, "");
        response.extensions_mut().insert(Enveloped(self.0));
        response
    }
}

/// The response for a failure.
pub(super) fn envelope(error: &ApiError, request_id: &str) -> Response {
    let status = StatusCode::from_u16(error.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, axum::Json(error.envelope(request_id))).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(seconds) = error.details.get("retry_after").and_then(serde_json::Value::as_u64) {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if error.code == ApiCode::Unauthenticated {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// What a bare status means, for responses that no handler of ours made.
pub(super) fn of_status(status: StatusCode, path: &str, text: &str) -> ApiError {
    match status {
        StatusCode::NOT_FOUND => ApiError::new(ApiCode::NotFound, "Resource not found").with("resource", "Route").with("id", path),
        StatusCode::METHOD_NOT_ALLOWED => {
            ApiError::new(ApiCode::MethodNotAllowed, "This address exists, but not for this method; the Allow header says which.")
        }
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::new(ApiCode::PayloadTooLarge, "The body is larger than allowed."),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            ApiError::new(ApiCode::UnsupportedMediaType, "The body's content type is not read here; send application/json.")
        }
        StatusCode::UNAUTHORIZED => ApiError::new(ApiCode::Unauthenticated, "Authentication required. Provide Authorization header."),
        StatusCode::FORBIDDEN => ApiError::new(ApiCode::PermissionDenied, "This is not allowed."),
        StatusCode::TOO_MANY_REQUESTS => ApiError::new(ApiCode::ResourceExhausted, "Too many requests.").with("retry_after", 1),
        StatusCode::SERVICE_UNAVAILABLE => ApiError::unavailable(STORE_RETRY_SECONDS),
        StatusCode::GATEWAY_TIMEOUT => ApiError::new(ApiCode::DeadlineExceeded, "It took too long."),
        status if status.is_client_error() => {
            let text = if text.is_empty() { "the request is not valid" } else { text };
            ApiError::invalid_field("request", text)
        }
        _ => ApiError::internal(),
    }
}
