//! The rules of a request, each with the field it names when it is broken.

use std::collections::BTreeSet;

use super::normalized::{Channel, ChannelWeights, DocumentSelection, FilterMode, NormalizedRequest, RetrievalFilters, RetrievalMode};
use super::request::RetrievalRequest;
use crate::chunk::ChunkType;
use crate::code::FieldViolation;
use crate::limits::Limits;
use crate::scope::Namespace;

/// Hits when a request names no number.
const TOP_K_DEFAULT: usize = 10;
/// Most hits.
const TOP_K_MAX: i64 = 100;
/// Most candidates per channel.
const RECALL_MAX: i64 = 10_000;
/// Largest evidence budget, in tokens.
const TOKEN_BUDGET_MAX: i64 = 1_000_000;
/// Most entries of a list.
const LIST_MAX: usize = 10_000;
/// Longest entry of a list, in characters.
const ENTRY_MAX: usize = 2_000;
/// Most signal paths: each is compared with every section.
const SIGNAL_PATHS_MAX: usize = 100;
const PAGE_SENTENCE: &str =
    "`page` is not a chunk type here: pages come as citations (`citation.page_nums`, `metadata.boxes`) of text, image and table chunks";

#[derive(Default)]
struct Violations(Vec<FieldViolation>);

impl Violations {
    fn add(&mut self, field: &str, description: impl Into<String>) {
        self.0.push(FieldViolation { field: format!("body.{field}"), description: description.into() });
    }

    fn range(&mut self, field: &str, value: Option<i64>, low: i64, high: i64) {
        if value.is_some_and(|v| v < low || v > high) {
            self.add(field, format!("must be between {low} and {high}"));
        }
    }

    fn list<'a>(&mut self, field: &str, max: usize, entries: impl ExactSizeIterator<Item = &'a str>) {
        if entries.len() > max {
            self.add(field, format!("has more than {max} entries"));
        }
        for (i, entry) in entries.take(max).enumerate() {
            if entry.trim().is_empty() || entry.chars().count() > ENTRY_MAX {
                self.add(&format!("{field}.{i}"), format!("must have 1 to {ENTRY_MAX} characters"));
            }
        }
    }
}

impl RetrievalRequest {
    /// Applies every rule and default; on failure names every field that is wrong.
    pub fn validate(self, limits: &Limits) -> Result<NormalizedRequest, Vec<FieldViolation>> {
        let mut bad = Violations::default();
        let query = self.checked_query(limits, &mut bad);
        let namespace = Namespace::new(self.namespace.as_deref().unwrap_or_default()).unwrap_or_else(|error| {
            bad.add("namespace", error.to_string());
            Namespace::default()
        });
        bad.range("top_k", self.top_k, 1, TOP_K_MAX);
        bad.range("internal_recall_k", self.internal_recall_k, 1, RECALL_MAX);
        bad.range("token_budget", self.token_budget, 1, TOKEN_BUDGET_MAX);
        let threshold = self.threshold.unwrap_or(0.0);
        if !(threshold.is_finite() && threshold >= 0.0) {
            bad.add("threshold", "must be a number from 0 up");
        }
        let weights = self.checked_weights(&mut bad);
        let filters = self.checked_filters(&mut bad);
        if self.conversation_id.as_ref().is_some_and(|id| id.chars().count() > 255) {
            bad.add("conversation_id", "has at most 255 characters");
        }
        let agentic = self.use_agentic.unwrap_or(false);
        if agentic && self.llm_config.is_some() {
            bad.add("llm_config", "is not honoured in agentic mode: planning and navigation run without a model; leave it out");
        }
        if !bad.0.is_empty() {
            return Err(bad.0);
        }
        let top_k = self.top_k.map_or(TOP_K_DEFAULT, |k| k as usize);
        Ok(NormalizedRequest {
            query,
            namespace,
            top_k,
            mode: if agentic { RetrievalMode::Agentic } else { RetrievalMode::Classic },
            filters,
            weights,
            recall: self.internal_recall_k.map_or(4 * top_k, |k| k as usize),
            threshold,
            rerank: self.rerank.unwrap_or(false),
            token_budget: self.token_budget.map_or(u64::from(limits.token_budget), |n| n as u64),
            conversation_id: self.conversation_id,
        })
    }

    fn checked_query(&self, limits: &Limits, bad: &mut Violations) -> String {
        let Some(query) = &self.query else {
            bad.add("query", "is required");
            return String::new();
        };
        if query.len() as u64 > limits.query_bytes {
            bad.add("query", format!("has {} bytes; at most {} are read", query.len(), limits.query_bytes));
            return String::new();
        }
        query.trim().to_owned()
    }

    fn checked_weights(&self, bad: &mut Violations) -> ChannelWeights {
        let mut weights = ChannelWeights::default();
        for (name, &weight) in self.channel_weights.iter().flatten() {
            match Channel::of(name) {
                None => bad.add(&format!("channel_weights.{name}"), "is not a channel: path, content, term"),
                Some(_) if !(weight.is_finite() && (0.0..=1000.0).contains(&weight)) => {
                    bad.add(&format!("channel_weights.{name}"), "must be a number from 0 to 1000");
                }
                Some(channel) => *weights.of_mut(channel) = weight,
            }
        }
        let asked = self.channels.as_deref().unwrap_or_default();
        for (i, name) in asked.iter().enumerate() {
            if Channel::of(name).is_none() {
                bad.add(&format!("channels.{i}"), "is not a channel: path, content, term");
            }
        }
        if !asked.is_empty() {
            for channel in Channel::ALL {
                if !asked.iter().any(|name| name == channel.name()) {
                    *weights.of_mut(channel) = 0.0;
                }
            }
        }
        if bad.0.is_empty() && weights.sum() <= 0.0 {
            bad.add("channel_weights", "at least one of the channels asked must weigh more than 0");
        }
        weights
    }

    fn checked_filters(&self, bad: &mut Violations) -> RetrievalFilters {
        let (signals, include) = (self.signal_paths.as_deref().unwrap_or_default(), self.include_document_ids.as_deref());
        let (exclude, sections) =
            (self.exclude_document_ids.as_deref().unwrap_or_default(), self.exclude_sections.as_deref().unwrap_or_default());
        bad.list("signal_paths", SIGNAL_PATHS_MAX, signals.iter().map(String::as_str));
        bad.list("include_document_ids", LIST_MAX, include.unwrap_or_default().iter().map(String::as_str));
        bad.list("exclude_document_ids", LIST_MAX, exclude.iter().map(String::as_str));
        bad.list("exclude_sections", LIST_MAX, sections.iter().map(|s| s.section_path.as_str()));
        let filter_mode = match self.filter_mode.as_deref() {
            None | Some("delete") => FilterMode::Delete,
            Some("keep") => FilterMode::Keep,
            Some(_) => {
                bad.add("filter_mode", "is `keep` or `delete`");
                FilterMode::Delete
            }
        };
        RetrievalFilters {
            chunk_types: self.checked_types(bad),
            documents: DocumentSelection {
                include: include.map(|ids| ids.iter().map(|id| id.trim().to_owned()).collect()),
                exclude: exclude.iter().map(|id| id.trim().to_owned()).collect(),
            },
            exclude_sections: sections.iter().cloned().collect(),
            signal_paths: signals.iter().map(|text| text.trim().to_lowercase()).collect(),
            filter_mode,
        }
    }

    /// `chunk_types` decides where it names any, else `data_type`, else all three.
    fn checked_types(&self, bad: &mut Violations) -> BTreeSet<ChunkType> {
        use ChunkType::{Image, Table, Text};
        let mut types = BTreeSet::new();
        for (i, name) in self.chunk_types.iter().flatten().enumerate() {
            match [Text, Image, Table].into_iter().find(|kind| kind.name() == name) {
                Some(kind) => types.extend([kind]),
                None if name == "page" => bad.add(&format!("chunk_types.{i}"), PAGE_SENTENCE),
                None => bad.add(&format!("chunk_types.{i}"), "is not a chunk type: text, image, table"),
            }
        }
        if !types.is_empty() || self.chunk_types.as_ref().is_some_and(|names| !names.is_empty()) {
            return types;
        }
        match self.data_type.unwrap_or(1) {
            1 => [Text, Image, Table].into(),
            2 => [Text].into(),
            3 => [Image].into(),
            4 => [Table].into(),
            5 => [Text, Image].into(),
            6 => [Text, Table].into(),
            7 | 8 => {
                bad.add("data_type", format!("must be between 1 and 6; {PAGE_SENTENCE}"));
                types
            }
            _ => {
                bad.add("data_type", "must be between 1 and 6");
                types
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn validate(body: Value) -> Result<NormalizedRequest, Vec<String>> {
        let request: RetrievalRequest = serde_json::from_value(body).map_err(|e| vec![e.to_string()])?;
        request.validate(&Limits::default()).map_err(|bad| bad.into_iter().map(|v| v.field).collect())
    }

    #[test]
    fn defaults_are_those_of_the_contract() {
        let request = validate(json!({ "query": "  torque  ", "namespace": " " })).unwrap();
        assert_eq!((request.query.as_str(), request.namespace.as_str()), ("torque", "default"));
        assert_eq!((request.top_k, request.recall, request.token_budget), (10, 40, 8_000));
        assert_eq!(request.mode, RetrievalMode::Classic);
        assert_eq!(request.filters, RetrievalFilters::default());
        assert_eq!(request.weights, ChannelWeights::default());
    }

    #[test]
    fn every_wrong_field_is_named() {
        let fields = validate(json!({
            "top_k": 1_000_000_000, "data_type": 9, "channels": ["vector"], "channel_weights": { "path": -1.0, "x": 1.0 },
            "threshold": -0.1, "filter_mode": "drop", "token_budget": 0, "internal_recall_k": 0, "signal_paths": [" "]
        }))
        .unwrap_err();
        for field in ["query", "top_k", "data_type", "channels.0", "channel_weights.path", "channel_weights.x", "threshold", "filter_mode"]
        {
            assert!(fields.contains(&format!("body.{field}")), "{field}: {fields:?}");
        }
        for field in ["token_budget", "internal_recall_k", "signal_paths.0"] {
            assert!(fields.contains(&format!("body.{field}")), "{field}: {fields:?}");
        }
    }

    #[test]
    fn unknown_fields_and_huge_queries_are_refused() {
        assert!(validate(json!({ "query": "a", "review_evidence": true })).is_err());
        assert_eq!(validate(json!({ "query": "a".repeat(1 << 20) })).unwrap_err(), ["body.query"]);
        assert!(validate(json!({ "query": vec!["ab"; 10_000].join(" ") })).is_err());
        assert!(validate(json!({ "query": "a", "top_k": 1e30 })).is_err());
    }

    #[test]
    fn chunk_types_override_the_data_type_and_pages_are_refused_with_a_sentence() {
        let request = validate(json!({ "query": "a", "data_type": 3, "chunk_types": ["table", "text"] })).unwrap();
        assert_eq!(request.filters.chunk_types, [ChunkType::Text, ChunkType::Table].into());
        let request: RetrievalRequest = serde_json::from_value(json!({ "query": "a", "chunk_types": ["page"] })).unwrap();
        let bad = request.validate(&Limits::default()).unwrap_err();
        assert!(bad[0].description.contains("citations"), "{bad:?}");
        assert!(validate(json!({ "query": "a", "data_type": 7 })).is_err());
    }

    #[test]
    fn no_list_means_all_an_empty_one_none_and_exclusion_wins() {
        let all = validate(json!({ "query": "a", "include_document_ids": null })).unwrap();
        assert!(all.filters.documents.allows("doc_1"));
        let none = validate(json!({ "query": "a", "include_document_ids": [] })).unwrap();
        assert!(!none.filters.documents.allows("doc_1"));
        let both = validate(json!({ "query": "a", "include_document_ids": ["x", "y"], "exclude_document_ids": ["x"] })).unwrap();
        assert!(!both.filters.documents.allows("x") && both.filters.documents.allows("y"));
    }

    #[test]
    fn channels_not_asked_weigh_nothing() {
        let request = validate(json!({ "query": "a", "channels": ["term"], "channel_weights": { "term": 0.5 } })).unwrap();
        assert_eq!(request.weights, ChannelWeights { path: 0.0, content: 0.0, term: 0.5 });
        assert!(validate(json!({ "query": "a", "channels": ["term"], "channel_weights": { "term": 0 } })).is_err());
    }

    #[test]
    fn a_callers_key_is_never_shown() {
        let request: RetrievalRequest =
            serde_json::from_value(json!({ "query": "a", "llm_config": { "api_key": "sk-secret", "model": "m" } })).unwrap();
        assert!(!format!("{request:?}").contains("secret"));
        assert!(request.clone().validate(&Limits::default()).is_ok());
        let agentic = RetrievalRequest { use_agentic: Some(true), ..request };
        assert_eq!(agentic.validate(&Limits::default()).unwrap_err()[0].field, "body.llm_config");
    }
}
