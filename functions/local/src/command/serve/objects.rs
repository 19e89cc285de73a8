//! Signed addresses of the local store: what presigned addresses of a bucket are in the cloud.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, OriginalUri, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use quarry_model::message::{ObjectArrived, QueueName};
use quarry_model::record::Order;
use quarry_model::{ApiCode, ApiError, ObjectKey};
use quarry_ports::{ObjectError, Outgoing};
use quarry_runtime::http::Failure;

use crate::engine::Engine;

/// `GET`, `HEAD` and `PUT /objects/{key}`; the signature in the address is all the authority needed.
pub(super) fn routes(engine: Arc<Engine>) -> Router {
    let limit = usize::try_from(engine.limits.file_bytes).unwrap_or(usize::MAX);
    Router::new().route("/objects/{*key}", get(read).put(write).layer(DefaultBodyLimit::max(limit))).with_state(engine)
}

async fn read(State(engine): State<Arc<Engine>>, method: Method, OriginalUri(uri): OriginalUri) -> Result<Response, Failure> {
    let address = uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    let now = engine.clock.now();
    let key = engine.store.verify_signed(method.as_str(), &address, None, now).map_err(forbidden)?;
    let name = engine.store.signed_file_name(method.as_str(), &address, now);
    let (bytes, meta) = engine.objects.get(&key).await.map_err(absent(&key))?;
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type(key.as_str())));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(meta.size));
    if let Ok(etag) = HeaderValue::from_str(&format!("\"{}\"", meta.etag)) {
        headers.insert(header::ETAG, etag);
    }
    if let Some(disposition) = name.and_then(|name| disposition(&name)) {
        headers.insert(header::CONTENT_DISPOSITION, disposition);
    }
    // Documents are data here, whatever they hold: nothing in them runs.
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox"));
    let body = if method == Method::HEAD { Body::empty() } else { Body::from(bytes) };
    Ok((headers, body).into_response())
}

/// Takes an upload, and says so to the profiler as a bucket would.
async fn write(
    State(engine): State<Arc<Engine>>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Failure> {
    let address = uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let now = engine.clock.now();
    let key = engine.store.verify_signed("PUT", &address, content_type, now).map_err(forbidden)?;
    let meta = match engine.store.accept_signed_put(&key, body, content_type.unwrap_or_default()).await {
        Ok(meta) => meta,
        Err(ObjectError::Precondition(_)) => {
            return Err(ApiError::new(ApiCode::AlreadyExists, "Something else was uploaded to this address before.").into());
        }
        Err(error) => return Err(error.into()),
    };
    let order = Order { created_millis: now.millis(), sequencer: None };
    let event = ObjectArrived { key, size: meta.size, etag: meta.etag.clone(), order };
    let body = serde_json::to_string(&event).map_err(|error| Failure::internal(&error))?;
    // As a bucket's event: without a trace, so that the job's goes on.
    engine.queue.send(QueueName::Profile, vec![Outgoing { body, ..Outgoing::default() }]).await?;
    Ok((StatusCode::OK, [(header::ETAG, format!("\"{}\"", meta.etag))]).into_response())
}

fn forbidden(error: quarry_store_local::SignedUrlError) -> Failure {
    ApiError::new(ApiCode::PermissionDenied, format!("This address is not valid: {error}.")).into()
}

fn absent(key: &ObjectKey) -> impl FnOnce(ObjectError) -> Failure {
    let key = key.clone();
    move |error| match error {
        ObjectError::NotFound(_) => ApiError::not_found("Object", key.as_str()).into(),
        error => error.into(),
    }
}

/// By our own artifact names; what a caller uploaded is bytes.
fn content_type(key: &str) -> &'static str {
    match key.rsplit_once('.').map(|(_, extension)| extension) {
        Some("json") => "application/json",
        Some("zip") => "application/zip",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("gif") => "image/gif",
        Some("webp") => "image/webp",
        Some("md") => "text/markdown; charset=utf-8",
        Some("html") => "text/html; charset=utf-8",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// The name as RFC 6266 writes it: ASCII for old readers, UTF-8 for the others.
fn disposition(name: &str) -> Option<HeaderValue> {
    let plain: String = name.chars().map(|c| if c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '%') { c } else { '_' }).collect();
    let exact: String =
        name.bytes()
            .map(|byte| {
                if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
            })
            .collect();
    HeaderValue::from_str(&format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{exact}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_break_out_of_its_header() {
        let value = disposition("Mü\"ller\r\nX: y.md").unwrap();
        assert_eq!(value.to_str().unwrap(), "attachment; filename=\"M__ller__X:_y.md\"; filename*=UTF-8''M%C3%BC%22ller%0D%0AX%3A%20y.md");
    }
}
