//! Bodies and query strings as types; what does not fit is named field by field.

use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, FromRequestParts, Request};
use bytes::Bytes;
use http::request::Parts;
use http::{StatusCode, header};
use quarry_model::{ApiCode, ApiError};
use serde::de::DeserializeOwned;

use super::failure::Failure;

/// A JSON body.
#[derive(Debug, Clone, Copy, Default)]
pub struct Body<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Result<Self, Failure> {
        if !is_json(request.headers().get(header::CONTENT_TYPE).map(http::HeaderValue::as_bytes)) {
            return Err(ApiError::new(ApiCode::UnsupportedMediaType, "Send the body as application/json.").into());
        }
        let bytes = Bytes::from_request(request, state).await.map_err(|error| unread(&error))?;
        Self::parse(&bytes)
    }
}

impl<T: DeserializeOwned> Body<T> {
    /// Reads a body; the field that does not fit is `body.<path>`.
    pub fn parse(bytes: &[u8]) -> Result<Self, Failure> {
        let mut reader = serde_json::Deserializer::from_slice(bytes);
        let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let path = error.path().to_string();
            // Where even the shape is unknown the path is `.` or ends in `?`.
            let path = path.trim_end_matches(['?', '.']);
            violation("body", path, &error.inner().to_string())
        })?;
        reader.end().map_err(|error| violation("body", "", &error.to_string()))?;
        Ok(Self(value))
    }
}

/// A query string.
#[derive(Debug, Clone, Copy, Default)]
pub struct Params<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        match axum::extract::Query::try_from_uri(&parts.uri) {
            Ok(axum::extract::Query(params)) => Ok(Self(params)),
            Err(error) => {
                let text = error.body_text();
                let text = text.strip_prefix("Failed to deserialize query string: ").unwrap_or(&text);
                let (field, problem) = text.split_once(": ").unwrap_or(("", text));
                Err(violation("query", field, problem))
            }
        }
    }
}

fn is_json(content_type: Option<&[u8]>) -> bool {
    let Some(content_type) = content_type else { return true };
    let bare = content_type.split(|b| *b == b';').next().unwrap_or_default().trim_ascii().to_ascii_lowercase();
    bare == b"application/json" || (bare.starts_with(b"application/") && bare.ends_with(b"+json"))
}

/// A body that did not arrive whole.
fn unread(error: &BytesRejection) -> Failure {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return ApiError::new(ApiCode::PayloadTooLarge, "The body is larger than allowed.").into();
    }
    violation("body", "", "the body did not arrive whole")
}

/// One violation. A missing field is named by its own name, not by the object it is missing from.
fn violation(place: &str, path: &str, problem: &str) -> Failure {
    let missing = problem.strip_prefix("missing field `").and_then(|rest| rest.split_once('`')).map(|(field, _)| field);
    // Serde reports it for the whole; the field has a name.
    let duplicate = problem.strip_prefix("duplicate field `").and_then(|rest| rest.split_once('`')).map(|(field, _)| field);
    let duplicate = duplicate.filter(|field| !path.ends_with(field));
    let parts = [place, path, missing.or(duplicate).unwrap_or_default()];
    let field = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".");
    let problem = match missing {
        Some(_) => "is required",
        // Where in the text it stands helps nobody who sees the field's name.
        None => plain(problem.rsplit_once(" at line ").map_or(problem, |(text, _)| text)),
    };
    ApiError::invalid_field(&field, problem).into()
}

/// What the readers of numbers and of JSON say, in words that say what to do.
fn plain(problem: &str) -> &str {
    match problem {
        "invalid digit found in string" | "cannot parse integer from empty string" => "must be a whole number",
        "number too large to fit in target type" | "number too small to fit in target type" => "is out of range",
        "provided string was not `true` or `false`" => "must be true or false",
        "EOF while parsing a value" => "is empty or ends too early; send a JSON object",
        other => other,
    }
}
