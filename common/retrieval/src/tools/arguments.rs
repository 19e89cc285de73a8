//! Arguments as types; what does not fit is named field by field.

use quarry_model::{ApiError, ChunkType, DocumentId, Namespace};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Call, TOKENS, TOKENS_DEFAULT};

/// What every tool takes.
pub(super) struct Common {
    pub(super) namespace: Namespace,
    pub(super) token_budget: u32,
}

impl Common {
    /// Takes the common arguments out of a call's.
    pub(super) fn take(arguments: Value, namespace: Option<&str>) -> Result<(Self, Value), ApiError> {
        let mut fields = match arguments {
            Value::Null => serde_json::Map::new(),
            Value::Object(fields) => fields,
            _ => return Err(ApiError::invalid_field("arguments", "must be an object")),
        };
        let name = match fields.remove("namespace") {
            None | Some(Value::Null) => namespace.unwrap_or_default().to_owned(),
            Some(Value::String(name)) => name,
            Some(_) => return Err(ApiError::invalid_field("namespace", "must be a string")),
        };
        let namespace = if name.trim().is_empty() {
            Namespace::default()
        } else {
            Namespace::new(&name).map_err(|error| ApiError::invalid_field("namespace", &error.to_string()))?
        };
        let wrong = || ApiError::invalid_field("token_budget", &format!("must be a whole number between {} and {}", TOKENS.0, TOKENS.1));
        let token_budget = match fields.remove("token_budget") {
            None | Some(Value::Null) => TOKENS_DEFAULT,
            Some(value) => value.as_u64().and_then(|tokens| u32::try_from(tokens).ok()).ok_or_else(wrong)?,
        };
        if !(TOKENS.0..=TOKENS.1).contains(&token_budget) {
            return Err(wrong());
        }
        // `null` means the same as leaving it out, as models write it.
        fields.retain(|_, value| !value.is_null());
        Ok((Self { namespace, token_budget }, Value::Object(fields)))
    }
}

impl Call<'_> {
    /// The tool's own arguments.
    pub(super) fn arguments<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        serde_json::from_value(self.arguments.clone()).map_err(|error| ApiError::invalid_field("arguments", &error.to_string()))
    }
}

/// A document's id.
pub(super) fn document_id(field: &str, text: &str) -> Result<DocumentId, ApiError> {
    text.trim()
        .parse()
        .map_err(|_| ApiError::invalid_field(field, "must be a document id like doc_0a1b2c3d4e5f, as list_documents gives it"))
}

/// Several; `None` for all.
pub(super) fn document_ids(given: Option<&Vec<String>>) -> Result<Option<std::collections::BTreeSet<DocumentId>>, ApiError> {
    given.map(|ids| ids.iter().map(|id| document_id("document_ids", id)).collect()).transpose()
}

/// Chunk types by name; `None` for all.
pub(super) fn chunk_types(given: Option<&Vec<String>>) -> Result<Option<std::collections::BTreeSet<ChunkType>>, ApiError> {
    let one = |name: &String| match name.as_str() {
        "text" => Ok(ChunkType::Text),
        "table" => Ok(ChunkType::Table),
        "image" => Ok(ChunkType::Image),
        _ => Err(ApiError::invalid_field("chunk_types", "must be text, table or image")),
    };
    given.map(|names| names.iter().map(one).collect()).transpose()
}

/// A number within bounds, or its default.
pub(super) fn between(field: &str, given: Option<i64>, default: usize, least: usize, most: usize) -> Result<usize, ApiError> {
    let Some(given) = given else { return Ok(default) };
    let value = usize::try_from(given).ok().filter(|value| (least..=most).contains(value));
    value.ok_or_else(|| ApiError::invalid_field(field, &format!("must be between {least} and {most}")))
}
