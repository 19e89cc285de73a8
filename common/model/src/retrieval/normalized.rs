//! The request once every rule holds: what retrieval works with.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::request::SectionExclusion;
use crate::chunk::ChunkType;
use crate::scope::Namespace;

/// How the work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RetrievalMode {
    /// Channels and fusion.
    Classic,
    /// Plan, discovery, navigation, evidence.
    Agentic,
}

/// A way of finding chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    /// File name, section path, title.
    Path,
    /// Content and section summary.
    Content,
    /// Exact substrings of content and path.
    Term,
}

impl Channel {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Path, Self::Content, Self::Term];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Content => "content",
            Self::Term => "term",
        }
    }

    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|channel| channel.name() == name)
    }
}

/// Weight of each channel in the fusion; 0 for one that is not asked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "named by the channel")]
pub struct ChannelWeights {
    pub path: f64,
    pub content: f64,
    pub term: f64,
}

impl Default for ChannelWeights {
    fn default() -> Self {
        Self { path: 1.0, content: 2.0, term: 1.5 }
    }
}

impl ChannelWeights {
    /// The weight of one.
    pub fn of(&self, channel: Channel) -> f64 {
        match channel {
            Channel::Path => self.path,
            Channel::Content => self.content,
            Channel::Term => self.term,
        }
    }

    pub(super) fn of_mut(&mut self, channel: Channel) -> &mut f64 {
        match channel {
            Channel::Path => &mut self.path,
            Channel::Content => &mut self.content,
            Channel::Term => &mut self.term,
        }
    }

    /// All of them together.
    pub fn sum(&self) -> f64 {
        self.path + self.content + self.term
    }
}

/// What the signal paths do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FilterMode {
    /// Only chunks whose path holds one of them.
    Keep,
    /// Only chunks whose path holds none of them.
    #[default]
    Delete,
}

/// Which documents are searched. Ids that name nothing of the caller's match nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DocumentSelection {
    /// Only these; `None` means all, an empty set none.
    pub include: Option<BTreeSet<String>>,
    /// Never these, included or not.
    pub exclude: BTreeSet<String>,
}

impl DocumentSelection {
    /// Whether a document is searched.
    pub fn allows(&self, document_id: &str) -> bool {
        !self.exclude.contains(document_id) && self.include.as_ref().is_none_or(|set| set.contains(document_id))
    }
}

/// What may be in an answer. The same in every route, before ranking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetrievalFilters {
    /// Never empty.
    pub chunk_types: BTreeSet<ChunkType>,
    /// Documents.
    pub documents: DocumentSelection,
    /// Sections left out, with everything below them.
    pub exclude_sections: BTreeSet<SectionExclusion>,
    /// Literal text, compared without regard to case, any one of them.
    pub signal_paths: BTreeSet<String>,
    /// What the signal paths do.
    pub filter_mode: FilterMode,
}

impl Default for RetrievalFilters {
    fn default() -> Self {
        Self {
            chunk_types: [ChunkType::Text, ChunkType::Image, ChunkType::Table].into(),
            documents: DocumentSelection::default(),
            exclude_sections: BTreeSet::new(),
            signal_paths: BTreeSet::new(),
            filter_mode: FilterMode::default(),
        }
    }
}

/// A query in which every rule holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NormalizedRequest {
    /// Trimmed; may be empty.
    pub query: String,
    /// Where to search.
    pub namespace: Namespace,
    /// Hits wanted: 1 to 100.
    pub top_k: usize,
    /// How.
    pub mode: RetrievalMode,
    /// What may be in the answer.
    pub filters: RetrievalFilters,
    /// At least one is above 0.
    pub weights: ChannelWeights,
    /// Candidates per channel: `internal_recall_k`, or four times `top_k`.
    pub recall: usize,
    /// Hits scored below this are dropped; see [`super::RetrievalResult::score`].
    pub threshold: f64,
    /// Whether the best hits are ordered once more by how closely the query's words stand together in them.
    pub rerank: bool,
    /// Tokens the evidence may have.
    pub token_budget: u64,
    /// The caller's own thread of questions; kept with the run.
    pub conversation_id: Option<String>,
}
