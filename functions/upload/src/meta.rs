//! What needs no key: health, version, the API's description.

use std::sync::{Arc, LazyLock};

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header;
use serde_json::{Value, json};

use crate::Upload;

/// The API's description, written by hand in YAML and served as JSON.
static OPENAPI: LazyLock<Result<String, String>> = LazyLock::new(|| {
    let document: Value = serde_yaml_ng::from_str(include_str!("../../../infra/openapi.yaml")).map_err(|error| error.to_string())?;
    serde_json::to_string_pretty(&document).map_err(|error| error.to_string())
});

/// `infra/openapi.yaml` as JSON. A test reads it, so that an error cannot reach a running server.
pub fn openapi_json() -> Result<&'static str, &'static str> {
    OPENAPI.as_deref().map_err(String::as_str)
}

pub(crate) async fn openapi() -> Response {
    match openapi_json() {
        Ok(text) => ([(header::CONTENT_TYPE, "application/json")], text).into_response(),
        Err(error) => quarry_runtime::http::Failure::internal(&error).into_response(),
    }
}

pub(crate) async fn health() -> Json<Value> {
    Json(json!({ "status": "healthy", "service": "quarry", "version": env!("CARGO_PKG_VERSION") }))
}

pub(crate) async fn version(State(upload): State<Arc<Upload>>) -> Json<Value> {
    Json(json!({ "version": env!("CARGO_PKG_VERSION"), "service": "quarry", "environment": upload.environment }))
}
