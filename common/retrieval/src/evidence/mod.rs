//! Packs ranked leaves into a token budget, each line citable.
//!
//! A *leaf* is a section that something was found in, with all its chunks. What fits is shown whole, in reading order.
//! What does not fit is shown by its best sentences and table rows: whole sentences, `…` where something is missing,
//! never half a row; whatever is missing is named in `omitted`.

mod counts;
mod leaf;
mod outline;
mod render;
mod select;
mod units;

use std::sync::Arc;

use quarry_model::retrieval::OmittedPart;

use crate::passage::Passage;
use crate::ranking::Matcher;

pub use leaf::Leaf;
pub use outline::Outline;
pub use render::{ImageOf, Line, Rendered};

/// Evidence, packed.
#[derive(Debug)]
pub struct Packed {
    /// Lines in order with what each costs.
    pub rendered: Rendered,
    /// What did not fit, best first.
    pub omitted: Vec<OmittedPart>,
    /// Chunks shown, in whole or in part, with the mark of their leaf.
    pub shown: Vec<(String, Arc<Passage>)>,
}

/// Packs `leaves`, best first, into `limit` tokens. The result never costs more.
pub fn pack(leaves: &[Leaf], matcher: &Matcher<'_>, limit: u64) -> Packed {
    let units = units::of(leaves, matcher);
    let chosen = select::choose(leaves, units, limit);
    render::finish(leaves, chosen, limit)
}

#[cfg(test)]
mod tests;
