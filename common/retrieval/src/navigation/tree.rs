//! The section tree of a document with what discovery found in it.

use quarry_model::record::SectionRecord;

use super::CandidateDocument;
use crate::passage::Words;
use crate::ranking::Matcher;

/// Sections that are looked at: more are not read.
const SECTIONS: usize = 2_000;
/// Deepest level that is walked.
const DEPTH: usize = 6;

/// A section.
#[derive(Debug, Clone)]
pub struct Section {
    /// File name and headings.
    pub path: String,
    /// As shown.
    pub title: String,
    /// Leading sentences, or `Covers: …`.
    pub summary: String,
    /// From 1; 0 for the text before the first heading.
    pub level: u32,
    /// Its parent's index.
    pub parent: Option<usize>,
    /// Chunks, descendants included.
    pub chunks: u32,
    /// Tokens, descendants included.
    pub tokens: u32,
    /// Its best hit, 0 to 1.
    pub hit: f32,
    /// The best hit below it.
    pub below: f32,
    /// The share of the query that title and summary carry, 0 to 1.
    pub says: f32,
}

/// A document's sections in reading order.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// The sections.
    pub sections: Vec<Section>,
}

impl Tree {
    /// Builds the tree from the document's records and its hits.
    pub(super) fn new(records: &[SectionRecord], document: &CandidateDocument, matcher: &Matcher<'_>) -> Self {
        let records = &records[..records.len().min(SECTIONS)];
        let mut sections: Vec<Section> = Vec::with_capacity(records.len());
        for record in records {
            let parent = record.parent.as_ref().and_then(|id| records.iter().take(sections.len()).position(|one| one.section_id == *id));
            let words = Words::of(&format!("{} {}", record.title, record.summary), &document.lang);
            sections.push(Section {
                path: record.path.clone(),
                title: record.title.clone(),
                summary: record.summary.clone(),
                level: record.level,
                parent,
                chunks: record.chunk_count,
                tokens: record.token_count,
                hit: document.sections.iter().filter(|(path, _)| *path == record.path).map(|(_, hit)| *hit).fold(0.0, f32::max),
                below: 0.0,
                says: matcher.coverage(&words, &document.lang),
            });
        }
        for at in (0..sections.len()).rev() {
            let best = sections[at].hit.max(sections[at].below);
            if let Some(parent) = sections[at].parent {
                sections[parent].below = sections[parent].below.max(best);
            }
        }
        Self { sections }
    }

    /// Children of a section, or the top.
    pub(super) fn children(&self, scope: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        self.sections.iter().enumerate().filter(move |(_, section)| section.parent == scope).map(|(at, _)| at)
    }

    /// How far below the top a section stands.
    pub(super) fn is_too_deep(&self, at: usize) -> bool {
        std::iter::successors(Some(at), |&at| self.sections.get(at)?.parent).take(DEPTH + 1).count() > DEPTH
    }

    /// What decides which sections are seen first.
    pub(super) fn relevance(&self, at: usize) -> f32 {
        let section = &self.sections[at];
        section.hit.max(0.9 * section.below).max(0.5 * section.says)
    }
}
