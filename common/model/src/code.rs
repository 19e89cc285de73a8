//! The closed lists of public failures: what an HTTP caller and what a document's owner can be told.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ApiCode {
    /// The request itself is wrong; `details.violations` says where.
    InvalidArgument,
    /// No valid key.
    Unauthenticated,
    /// The key may not do this.
    PermissionDenied,
    /// Not there, or another owner's.
    NotFound,
    /// The route exists, the method does not.
    MethodNotAllowed,
    /// Somebody else is at it; try again.
    Aborted,
    /// It exists already.
    AlreadyExists,
    /// The body is larger than allowed.
    PayloadTooLarge,
    /// No parser for this kind of file, or a body of a kind that is not read.
    UnsupportedMediaType,
    /// Too many requests; `details.retry_after` says when to come back.
    ResourceExhausted,
    /// A fault of ours.
    InternalError,
    /// Temporarily out of order; `details.retry_after` says when to come back.
    Unavailable,
    /// It took too long.
    DeadlineExceeded,
}

impl ApiCode {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::InvalidArgument,
        Self::Unauthenticated,
        Self::PermissionDenied,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::Aborted,
        Self::AlreadyExists,
        Self::PayloadTooLarge,
        Self::UnsupportedMediaType,
        Self::ResourceExhausted,
        Self::InternalError,
        Self::Unavailable,
        Self::DeadlineExceeded,
    ];

    /// As it is written in answers and logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::NotFound => "NOT_FOUND",
            Self::MethodNotAllowed => "METHOD_NOT_ALLOWED",
            Self::Aborted => "ABORTED",
            Self::AlreadyExists => "ALREADY_EXISTS",
            Self::PayloadTooLarge => "PAYLOAD_TOO_LARGE",
            Self::UnsupportedMediaType => "UNSUPPORTED_MEDIA_TYPE",
            Self::ResourceExhausted => "RESOURCE_EXHAUSTED",
            Self::InternalError => "INTERNAL_ERROR",
            Self::Unavailable => "UNAVAILABLE",
            Self::DeadlineExceeded => "DEADLINE_EXCEEDED",
        }
    }

    /// The HTTP status.
    pub fn status(self) -> u16 {
        match self {
            Self::InvalidArgument => 400,
            Self::Unauthenticated => 401,
            Self::PermissionDenied => 403,
            Self::NotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::Aborted | Self::AlreadyExists => 409,
            Self::PayloadTooLarge => 413,
            Self::UnsupportedMediaType => 415,
            Self::ResourceExhausted => 429,
            Self::InternalError => 500,
            Self::Unavailable => 503,
            Self::DeadlineExceeded => 504,
        }
    }
}

/// One thing wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldViolation {
    /// Where, dotted: `body.top_k`, `query.page`.
    pub field: String,
    /// What is wrong, and what would be right.
    pub description: String,
}

/// A failure as a caller sees it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code:?}: {message}")]
pub struct ApiError {
    /// From the closed list.
    pub code: ApiCode,
    /// One sentence for a person, saying what to do.
    pub message: String,
    /// More for a program; left out when empty.
    pub details: Map<String, Value>,
}

impl ApiError {
    /// A failure without details.
    pub fn new(code: ApiCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Map::new() }
    }

    /// Adds one detail.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// A wrong request, with every violation found.
    pub fn invalid(violations: &[FieldViolation]) -> Self {
        let message =
            violations.first().map_or_else(|| "The request is not valid.".to_owned(), |v| format!("{}: {}", v.field, v.description));
        Self::new(ApiCode::InvalidArgument, message).with("violations", json!(violations))
    }

    /// A wrong field.
    pub fn invalid_field(field: &str, description: &str) -> Self {
        Self::invalid(&[FieldViolation { field: field.to_owned(), description: description.to_owned() }])
    }

    /// Absent, or another owner's: the same answer for both.
    pub fn not_found(resource: &str, id: &str) -> Self {
        Self::new(ApiCode::NotFound, format!("{resource} not found")).with("resource", resource).with("id", id)
    }

    /// A fault of ours; what happened is in the log, not in the answer.
    pub fn internal() -> Self {
        Self::new(ApiCode::InternalError, "Something went wrong on our side. Try again; the request id names it in the log.")
    }

    /// Out of order for now.
    pub fn unavailable(retry_after_seconds: u64) -> Self {
        Self::new(ApiCode::Unavailable, format!("Temporarily unavailable. Try again in {retry_after_seconds} seconds."))
            .with("retry_after", retry_after_seconds)
    }

    /// The JSON body every failed request is answered with.
    pub fn envelope(&self, request_id: &str) -> Value {
        let mut error = Map::new();
        error.insert("code".into(), json!(self.code));
        error.insert("message".into(), json!(self.message));
        error.insert("request_id".into(), json!(request_id));
        if !self.details.is_empty() {
            error.insert("details".into(), Value::Object(self.details.clone()));
        }
        json!({ "success": false, "error": error })
    }
}

/// Why a document could not be read, or not in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[allow(missing_docs, reason = "each has its sentence below")]
pub enum DocumentCode {
    Empty,
    Corrupt,
    Encrypted,
    Unsupported,
    TooLarge,
    TooDeep,
    TooManyPages,
    TooManyEntries,
    Bomb,
    TimedOut,
    Crashed,
    NoText,
    ConverterMissing,
    UploadExpired,
    ModelUnavailable,
    Cancelled,
}

impl DocumentCode {
    /// All of them.
    pub const ALL: [Self; 16] = [
        Self::Empty,
        Self::Corrupt,
        Self::Encrypted,
        Self::Unsupported,
        Self::TooLarge,
        Self::TooDeep,
        Self::TooManyPages,
        Self::TooManyEntries,
        Self::Bomb,
        Self::TimedOut,
        Self::Crashed,
        Self::NoText,
        Self::ConverterMissing,
        Self::UploadExpired,
        Self::ModelUnavailable,
        Self::Cancelled,
    ];

    /// Whether trying the same bytes again can help.
    pub fn retryable(self) -> bool {
        matches!(
            self,
            Self::TimedOut | Self::Crashed | Self::ConverterMissing | Self::UploadExpired | Self::ModelUnavailable | Self::Cancelled
        )
    }

    /// One sentence for the document's owner that says what to do.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Empty => "The file is empty. Upload a file with content.",
            Self::Corrupt => "The file is damaged and cannot be read. Open it in its own program, save it again and upload the new copy.",
            Self::Encrypted => "The file is protected with a password. Remove the password and upload it again.",
            Self::Unsupported => "This kind of file is not supported. Convert it to one of the supported formats and upload it again.",
            Self::TooLarge => "The file, or something inside it, is larger than allowed. Split it and upload the parts.",
            Self::TooDeep => "The file is nested deeper than allowed. Save a simplified copy and upload it again.",
            Self::TooManyPages => "The document has more pages than allowed. Split it and upload the parts.",
            Self::TooManyEntries => "The archive holds more entries than allowed. Remove what is not needed and upload it again.",
            Self::Bomb => "The file expands to far more data than its size allows. Upload an ordinary copy.",
            Self::TimedOut => "Reading the file took too long. Try again, or split it and upload the parts.",
            Self::Crashed => "Reading the file failed repeatedly. Try again; if it fails again, save a simplified copy and upload that.",
            Self::NoText => "No text was found. Configure text recognition, or upload a copy with a text layer.",
            Self::ConverterMissing => {
                "The converter for this format is not installed. Install LibreOffice, or upload the file in its modern format."
            }
            Self::UploadExpired => "The upload address expired before a file arrived. Create a new job and upload again.",
            Self::Cancelled => "The job was cancelled, or its document deleted, before it was published. Retry the job or upload again.",
            Self::ModelUnavailable => "The configured model could not be reached. Try again later, or remove its configuration.",
        }
    }

    /// The code as it is written: `TOO_LARGE`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "EMPTY",
            Self::Corrupt => "CORRUPT",
            Self::Encrypted => "ENCRYPTED",
            Self::Unsupported => "UNSUPPORTED",
            Self::TooLarge => "TOO_LARGE",
            Self::TooDeep => "TOO_DEEP",
            Self::TooManyPages => "TOO_MANY_PAGES",
            Self::TooManyEntries => "TOO_MANY_ENTRIES",
            Self::Bomb => "BOMB",
            Self::TimedOut => "TIMED_OUT",
            Self::Crashed => "CRASHED",
            Self::NoText => "NO_TEXT",
            Self::ConverterMissing => "CONVERTER_MISSING",
            Self::UploadExpired => "UPLOAD_EXPIRED",
            Self::ModelUnavailable => "MODEL_UNAVAILABLE",
            Self::Cancelled => "CANCELLED",
        }
    }
}

/// A document that could not be read: the public code, and one line about this very file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{}: {detail}", .code.name())]
pub struct DocumentFailure {
    /// From the closed list.
    pub code: DocumentCode,
    /// What was found where, without the document's content: "entry word/document.xml expands past 1 GiB".
    pub detail: String,
}

impl DocumentFailure {
    /// A failure with its detail.
    pub fn new(code: DocumentCode, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into() }
    }

    /// The public sentence followed by the detail.
    pub fn message(&self) -> String {
        if self.detail.is_empty() { self.code.sentence().to_owned() } else { format!("{} ({})", self.code.sentence(), self.detail) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_serde_writes() {
        for code in ApiCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.name());
        }
        for code in DocumentCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.name());
            assert!(code.sentence().ends_with('.'));
        }
    }

    #[test]
    fn envelope_has_the_fixed_form() {
        let body = ApiError::invalid_field("body.top_k", "must be between 1 and 100").envelope("req-1");
        assert_eq!(body["success"], false);
        assert_eq!(body["error"]["code"], "INVALID_ARGUMENT");
        assert_eq!(body["error"]["request_id"], "req-1");
        assert_eq!(body["error"]["details"]["violations"][0]["field"], "body.top_k");
        assert!(ApiError::internal().envelope("r")["error"].get("details").is_none());
    }
}
