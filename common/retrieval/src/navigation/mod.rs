//! Walks the section trees of the documents that hits stand in: what is opened, and what is only named.
//!
//! A [`Navigator`] sees a few sections at a time and the actions that are legal there, each with an id, and answers with
//! ids only: whatever else it says is ignored, so that no text of a document can make it do anything else. Without a
//! model the same actions are chosen by score.

mod by_model;
mod by_score;
mod tree;
mod walk;

use async_trait::async_trait;
use quarry_model::{DocumentId, Revision};

use crate::evidence::Outline;
use crate::spending::Spending;

pub use by_model::ModelNavigator;
pub use by_score::ScoreNavigator;
pub use tree::{Section, Tree};
pub(crate) use walk::walk;

/// A document that discovery found: what is handed to navigation.
#[derive(Debug, Clone)]
pub struct CandidateDocument {
    /// Which.
    pub document_id: DocumentId,
    /// Its pinned revision.
    pub revision: Revision,
    /// As uploaded.
    pub file_name: String,
    /// Its language.
    pub lang: String,
    /// Its best hit, 0 to 1.
    pub score: f32,
    /// Sections with hits by path, each with its best, 0 to 1.
    pub sections: Vec<(String, f32)>,
}

/// What a navigator may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Take a section with all its text.
    Collect(usize),
    /// Name a section: title and summary.
    Outline(usize),
    /// Look at what is below a section.
    Expand(usize),
    /// Look at what is above.
    Back,
    /// Take the tables of the document that say most of the query.
    FindTables,
    /// Take the pictures of the document that say most of the query.
    FindImages,
    /// End the walk of this document.
    Finish,
}

/// A legal action and its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// `C1`, `O1`, `E1`, `B1`, `T1`, `I1`, `F1`.
    pub id: String,
    /// What it does.
    pub action: Action,
}

/// What a navigator sees in one round.
#[derive(Debug)]
pub struct View<'a> {
    /// The query.
    pub query: &'a str,
    /// The document's name.
    pub document: &'a str,
    /// The sections of the document.
    pub tree: &'a Tree,
    /// Indexes of those that are visible now, in reading order.
    pub visible: &'a [usize],
    /// What is legal now.
    pub offers: &'a [Offer],
    /// From 0.
    pub round: usize,
}

/// Chooses actions.
#[async_trait]
pub trait Navigator: Send + Sync {
    /// What chooses: part of every cache key.
    fn name(&self) -> String;

    /// The ids of the actions to take, in order. Ids that were not offered are ignored. The error is one word; the walk
    /// then goes on by score.
    async fn choose(&self, view: &View<'_>, spending: &Spending<'_>) -> Result<Vec<String>, &'static str>;
}

/// What the walk of one document gives: what is handed to evidence.
#[derive(Debug, Default)]
pub struct Walked {
    /// Paths of the sections to be shown in full.
    pub collected: Vec<String>,
    /// Ordinals of tables and pictures to be shown.
    pub assets: Vec<u32>,
    /// Sections to be named only.
    pub outlines: Vec<Outline>,
    /// Whether a model chose: its choice then ranks before what it left.
    pub by_model: bool,
    /// Why the navigator failed, where it did: the rest was walked by score.
    pub failed: Option<&'static str>,
}
