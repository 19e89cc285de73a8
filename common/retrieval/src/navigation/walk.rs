//! The walk of one document: rounds of seeing and choosing, from the discovery hits and the top.

use std::collections::BTreeSet;

use quarry_index::Filter;
use quarry_model::record::SectionRecord;
use quarry_model::{ChunkType, RecordPrefix};
use serde_json::json;

use super::tree::Tree;
use super::{Action, CandidateDocument, Navigator, Offer, View, Walked, by_score};
use crate::corpus::ChunkKey;
use crate::error::RetrievalError;
use crate::evidence::Outline;
use crate::ranking::Matcher;
use crate::spending::Spending;
use crate::work::Work;

/// Most rounds.
const ROUNDS: usize = 4;
/// Most sections seen at once.
const BREADTH: usize = 12;
/// Most sections named of one document.
const OUTLINES: usize = 8;
/// Most tables, and most pictures, that one action takes.
const ASSETS: usize = 4;
/// Most assets of a document that are looked at.
const ASSETS_SEEN: usize = 50;

/// Walks a document. A tree that cannot be read, or has one section, leaves the hits as they are. Where the navigator
/// fails, the rest is walked by score.
pub(crate) async fn walk(
    work: &Work<'_>,
    matcher: &Matcher<'_>,
    document: &CandidateDocument,
    navigator: &dyn Navigator,
    spending: &Spending<'_>,
) -> Result<Walked, RetrievalError> {
    let input = json!({ "document_id": document.document_id, "document": document.file_name, "score": document.score });
    let step = work.trace.step("navigate", "walk", input, work.budget);
    let mut walk = Walk::new(Tree::new(&sections(work, document).await, document, matcher));
    let mut rounds = Vec::new();
    let mut failed = None;
    for round in 0..ROUNDS {
        if walk.tree.sections.len() < 2 || spending.left().is_zero() {
            break;
        }
        let visible = walk.visible();
        let offers = walk.offers(&visible, work, document);
        let view =
            View { query: &work.request.query, document: &document.file_name, tree: &walk.tree, visible: &visible, offers: &offers, round };
        let ids = if failed.is_none() { navigator.choose(&view, spending).await } else { Ok(by_score::choose(&view)) };
        let ids = ids.unwrap_or_else(|why| {
            failed = Some(why);
            by_score::choose(&view)
        });
        let titles: Vec<&str> = visible.iter().map(|&at| walk.tree.sections[at].title.as_str()).collect();
        let unknown = ids.iter().filter(|id| !offers.iter().any(|offer| offer.id == **id)).count();
        rounds.push(json!({ "visible": titles, "offers": offers.iter().map(|offer| &offer.id).collect::<Vec<_>>(), "chosen": ids, "unknown_ids": unknown }));
        let chosen: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
        let mut ended =
            !offers.iter().any(|offer| chosen.contains(offer.id.as_str()) && matches!(offer.action, Action::Expand(_) | Action::Back));
        for offer in offers.iter().filter(|offer| chosen.contains(offer.id.as_str())) {
            ended |= offer.action == Action::Finish;
            match offer.action {
                Action::FindTables => walk.assets.extend(find(work, matcher, document, ChunkType::Table).await?),
                Action::FindImages => walk.assets.extend(find(work, matcher, document, ChunkType::Image).await?),
                other => walk.take(other),
            }
        }
        if ended {
            break;
        }
    }
    let by_model = failed.is_none() && navigator.name() != "score" && !rounds.is_empty();
    let walked = Walked { failed, ..walk.end(document, by_model) };
    let output = json!({
        "sections": document.sections.len(), "rounds": rounds, "by": if by_model { navigator.name() } else { "score".into() }, "failed": failed,
        "collected": walked.collected, "outlined": walked.outlines.iter().map(|outline| &outline.path).collect::<Vec<_>>(),
    });
    step.end(output, work.budget);
    Ok(walked)
}

async fn sections(work: &Work<'_>, document: &CandidateDocument) -> Vec<SectionRecord> {
    match work.records.query_all(&RecordPrefix::sections(&document.document_id, &document.revision)).await {
        Ok(items) => items.iter().filter_map(|item| item.read().ok()).collect(),
        Err(error) => {
            tracing::warn!(%error, "sections not read");
            Vec::new()
        }
    }
}

fn of_type(document: &CandidateDocument, kind: ChunkType) -> Filter {
    Filter { include_documents: Some([document.document_id.clone()].into()), chunk_types: Some([kind].into()), ..Filter::default() }
}

/// The assets of a document that say most of the query.
async fn find(work: &Work<'_>, matcher: &Matcher<'_>, document: &CandidateDocument, kind: ChunkType) -> Result<Vec<u32>, RetrievalError> {
    let all = work.reader.corpus().all(&of_type(document, kind));
    let keys: Vec<ChunkKey> = all.into_iter().take(ASSETS_SEEN).map(|hit| (hit.document_id, hit.ordinal)).collect();
    let mut found: Vec<(f32, u32)> = Vec::new();
    for passage in work.reader.passages(&keys).await? {
        found.push((matcher.coverage(&passage.words, passage.lang()), passage.key().1));
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    Ok(found.into_iter().take(ASSETS).map(|(_, ordinal)| ordinal).collect())
}

struct Walk {
    tree: Tree,
    scope: Option<usize>,
    expanded: BTreeSet<usize>,
    collected: BTreeSet<usize>,
    outlined: BTreeSet<usize>,
    assets: BTreeSet<u32>,
}

impl Walk {
    fn new(tree: Tree) -> Self {
        Self {
            tree,
            scope: None,
            expanded: BTreeSet::new(),
            collected: BTreeSet::new(),
            outlined: BTreeSet::new(),
            assets: BTreeSet::new(),
        }
    }

    /// Children of the scope and, from the top, the sections that hold hits; the most relevant, in reading order.
    fn visible(&self) -> Vec<usize> {
        let mut seen: BTreeSet<usize> = self.tree.children(self.scope).collect();
        if self.scope.is_none() {
            seen.extend((0..self.tree.sections.len()).filter(|&at| self.tree.sections[at].hit > 0.0));
        }
        seen.extend(self.expanded.iter().flat_map(|&at| self.tree.children(Some(at)).collect::<Vec<_>>()));
        let mut seen: Vec<usize> = seen.into_iter().filter(|at| !self.tree.is_too_deep(*at) && !self.collected.contains(at)).collect();
        seen.sort_by(|&a, &b| self.tree.relevance(b).total_cmp(&self.tree.relevance(a)).then(a.cmp(&b)));
        seen.truncate(BREADTH);
        seen.sort_unstable();
        seen
    }

    fn offers(&self, visible: &[usize], work: &Work<'_>, document: &CandidateDocument) -> Vec<Offer> {
        let mut offers = Vec::new();
        let mut offer = |id: String, action| offers.push(Offer { id, action });
        for (n, &at) in visible.iter().enumerate() {
            offer(format!("C{}", n + 1), Action::Collect(at));
            if !self.outlined.contains(&at) {
                offer(format!("O{}", n + 1), Action::Outline(at));
            }
            if !self.expanded.contains(&at) && self.tree.children(Some(at)).next().is_some() {
                offer(format!("E{}", n + 1), Action::Expand(at));
            }
        }
        if self.scope.is_some() {
            offer("B1".into(), Action::Back);
        }
        let types = &work.request.filters.chunk_types;
        for (kind, id, action) in [(ChunkType::Table, "T1", Action::FindTables), (ChunkType::Image, "I1", Action::FindImages)] {
            if types.contains(&kind) && work.reader.corpus().count(&of_type(document, kind)) > 0 {
                offer(id.into(), action);
            }
        }
        offer("F1".into(), Action::Finish);
        offers
    }

    fn take(&mut self, action: Action) {
        match action {
            Action::Collect(at) => drop(self.collected.insert(at)),
            Action::Outline(at) => drop(self.outlined.insert(at)),
            Action::Expand(at) => {
                self.expanded.insert(at);
                self.scope = Some(at);
            }
            Action::Back => self.scope = self.scope.and_then(|at| self.tree.sections.get(at)?.parent),
            Action::FindTables | Action::FindImages | Action::Finish => {}
        }
    }

    /// In reading order; what is collected is not named as well.
    fn end(self, document: &CandidateDocument, by_model: bool) -> Walked {
        let sections = &self.tree.sections;
        let mut named: Vec<usize> =
            self.outlined.iter().copied().filter(|at| !self.collected.contains(at) && !sections[*at].summary.is_empty()).collect();
        named.sort_by(|&a, &b| sections[b].says.total_cmp(&sections[a].says).then(a.cmp(&b)));
        named.truncate(OUTLINES);
        named.sort_unstable();
        let outline = |at: usize| Outline {
            document_id: document.document_id.clone(),
            path: sections[at].path.clone(),
            summary: sections[at].summary.clone(),
        };
        Walked {
            collected: self.collected.iter().map(|&at| sections[at].path.clone()).collect(),
            assets: self.assets.into_iter().collect(),
            outlines: named.into_iter().map(outline).collect(),
            by_model,
            failed: None,
        }
    }
}
