//! The request as it comes: the wire's own words. A field that is accepted is honoured; one that is not honoured is
//! refused. [`RetrievalRequest::validate`] applies every rule.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A query as it comes.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(missing_docs, reason = "contract §7 and `RetrievalRequest::validate` say what each means")]
pub struct RetrievalRequest {
    pub query: Option<String>,
    pub namespace: Option<String>,
    pub top_k: Option<i64>,
    pub use_agentic: Option<bool>,
    pub data_type: Option<i64>,
    pub chunk_types: Option<Vec<String>>,
    pub channels: Option<Vec<String>>,
    pub channel_weights: Option<BTreeMap<String, f64>>,
    pub internal_recall_k: Option<i64>,
    pub signal_paths: Option<Vec<String>>,
    pub filter_mode: Option<String>,
    pub include_document_ids: Option<Vec<String>>,
    pub exclude_document_ids: Option<Vec<String>>,
    pub exclude_sections: Option<Vec<SectionExclusion>>,
    pub threshold: Option<f64>,
    pub rerank: Option<bool>,
    pub token_budget: Option<i64>,
    pub conversation_id: Option<String>,
    pub llm_config: Option<LlmConfig>,
}

impl RetrievalRequest {
    /// A request for a query with everything else left at its default.
    pub fn of(query: impl Into<String>) -> Self {
        Self { query: Some(query.into()), ..Self::default() }
    }
}

/// A section to leave out, with everything below it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SectionExclusion {
    /// The document.
    pub document_id: String,
    /// As an answer gives it: `source.section_path`, or the exact path of a section.
    pub section_path: String,
}

/// The caller's own model keys for one request. Never stored, logged or echoed: it can be read but not written.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LlmConfig {
    /// For every task without a slot of its own.
    #[serde(default)]
    pub api_key: Option<String>,
    /// Model for every task.
    #[serde(default)]
    pub model: Option<String>,
    /// Where.
    #[serde(default)]
    pub base_url: Option<String>,
    /// Models by kind (`text`, `vision`) on one address.
    #[serde(default)]
    pub models: Option<BTreeMap<String, String>>,
    /// Key, model and address for text.
    #[serde(default)]
    pub text: Option<BTreeMap<String, String>>,
    /// Key, model and address for pictures.
    #[serde(default)]
    pub vision: Option<BTreeMap<String, String>>,
}

impl fmt::Debug for LlmConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LlmConfig(…)")
    }
}
