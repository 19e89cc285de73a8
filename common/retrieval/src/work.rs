//! What a route works with, and what it hands back.

use std::time::Instant;

use quarry_model::retrieval::{OmittedPart, ReferencedChunk, RetrievalResult, RouterUsed, StopReason};
use quarry_model::{NormalizedRequest, Scope};
use quarry_ports::Records;

use crate::budget::Budget;
use crate::corpus::ChunkKey;
use crate::evidence::Rendered;
use crate::hits::HitBook;
use crate::snapshot::Reader;
use crate::spending::Spending;
use crate::trace::Trace;

/// What a route works with: one request, one publication, one budget.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// Whose data.
    pub scope: &'a Scope,
    /// The request.
    pub request: &'a NormalizedRequest,
    /// The pinned publication.
    pub reader: &'a Reader,
    /// Section trees.
    pub records: &'a dyn Records,
    /// Hit counts.
    pub hits: &'a HitBook,
    /// Bound of their influence; 0 turns it off.
    pub hit_boost: f32,
    /// What may be spent.
    pub budget: &'a Budget,
    /// When the work ends with what it has.
    pub deadline: Instant,
    /// What was done.
    pub trace: &'a Trace,
}

impl<'a> Work<'a> {
    /// What policies may spend.
    pub fn spending(&self) -> Spending<'a> {
        Spending { budget: self.budget, deadline: self.deadline, trace: self.trace }
    }
}

/// What a route found.
#[derive(Debug)]
pub struct Outcome {
    /// Which route it was.
    pub router: RouterUsed,
    /// Hits, best first.
    pub results: Vec<RetrievalResult>,
    /// What the marks stand for.
    pub referenced: Vec<ReferencedChunk>,
    /// The evidence.
    pub rendered: Rendered,
    /// What did not fit.
    pub omitted: Vec<OmittedPart>,
    /// Why it ended.
    pub stop: StopReason,
    /// Why it is not complete, where it is not.
    pub failure: Option<String>,
    /// The chunks to be counted as hits.
    pub counted: Vec<ChunkKey>,
}
