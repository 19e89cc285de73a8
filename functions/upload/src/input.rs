//! Checks of what callers send; every violation is found, not only the first.

use quarry_model::{ApiError, FieldViolation, Namespace};
use quarry_runtime::http::Failure;
use serde_json::{Map, Value};

/// Longest file name, in characters.
const FILE_NAME_CHARS: usize = 255;
/// Longest `data_id`, in characters.
const DATA_ID_CHARS: usize = 128;
/// Most bytes of `document_metadata` and of `parsing_params` as JSON: they travel in messages of at most 64 KB.
const OBJECT_BYTES: usize = 16 << 10;
/// Longest `Idempotency-Key`, in bytes.
const IDEMPOTENCY_BYTES: usize = 255;

/// Collects what is wrong with a request.
#[derive(Debug, Default)]
pub(crate) struct Violations(Vec<FieldViolation>);

impl Violations {
    /// Adds one.
    pub(crate) fn add(&mut self, field: &str, description: impl Into<String>) {
        self.0.push(FieldViolation { field: field.to_owned(), description: description.into() });
    }

    /// Fails if there is any.
    pub(crate) fn check(self) -> Result<(), Failure> {
        if self.0.is_empty() { Ok(()) } else { Err(ApiError::invalid(&self.0).into()) }
    }

    /// A namespace as given; `None` when none is.
    pub(crate) fn namespace(&mut self, field: &str, given: Option<&str>) -> Option<Namespace> {
        let given = given.filter(|name| !name.trim().is_empty())?;
        match Namespace::new(given) {
            Ok(namespace) => Some(namespace),
            Err(error) => {
                self.add(field, error.to_string());
                None
            }
        }
    }

    /// A file's own name: the last part of what was given, for clients that send a path.
    pub(crate) fn file_name(&mut self, field: &str, given: Option<&str>) -> String {
        let name = given.unwrap_or_default().rsplit(['/', '\\']).next().unwrap_or_default().trim();
        if name.is_empty() {
            self.add(field, "is required: the file's name with its extension");
        } else if name.chars().count() > FILE_NAME_CHARS {
            self.add(field, format!("has at most {FILE_NAME_CHARS} characters"));
        } else if name.chars().any(char::is_control) {
            self.add(field, "holds no control characters");
        } else {
            return name.to_owned();
        }
        String::new()
    }

    /// The caller's own name for the job.
    pub(crate) fn data_id(&mut self, field: &str, given: Option<String>) -> Option<String> {
        let id = given.filter(|id| !id.is_empty())?;
        if id.chars().count() > DATA_ID_CHARS {
            self.add(field, format!("has at most {DATA_ID_CHARS} characters"));
            return None;
        }
        Some(id)
    }

    /// A free object of bounded size.
    pub(crate) fn object(&mut self, field: &str, given: Option<Map<String, Value>>) -> Map<String, Value> {
        let object = given.unwrap_or_default();
        if serde_json::to_string(&object).is_ok_and(|text| text.len() > OBJECT_BYTES) {
            self.add(field, format!("has at most {OBJECT_BYTES} bytes as JSON"));
        }
        object
    }

    /// The request's `Idempotency-Key`.
    pub(crate) fn idempotency_key(&mut self, headers: &http::HeaderMap) -> Option<String> {
        let value = headers.get("idempotency-key")?;
        match value.to_str() {
            Ok(key) if !key.is_empty() && key.len() <= IDEMPOTENCY_BYTES => Some(key.to_owned()),
            _ => {
                self.add("header.Idempotency-Key", format!("has 1 to {IDEMPOTENCY_BYTES} visible ASCII characters"));
                None
            }
        }
    }

    /// A page's number, from 1.
    pub(crate) fn page(&mut self, given: Option<i64>) -> usize {
        self.between("query.page", given, 1, 1, 1_000_000)
    }

    /// A whole number in a range.
    pub(crate) fn between(&mut self, field: &str, given: Option<i64>, default: usize, least: usize, most: usize) -> usize {
        let Some(given) = given else { return default };
        if let Some(number) = usize::try_from(given).ok().filter(|number| (least..=most).contains(number)) {
            number
        } else {
            self.add(field, format!("must be between {least} and {most}"));
            default
        }
    }
}
