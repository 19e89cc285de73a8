//! From a request to cited evidence.
//!
//! What this room is for: finding what answers a query in one pinned publication of a namespace, and showing it within
//! a token budget so that every line can be cited. What enters: a scope and a [`quarry_model::NormalizedRequest`].
//! What leaves: a [`quarry_model::RetrievalAnswer`]; runs, steps, hit counts and cached answers as records. What it
//! must never do: write an answer of its own, change documents or the index, mix two publications, exceed the budget.
//!
//! In data order: [`snapshot`] pins a publication → [`channels`] find candidates → [`fusion`] joins them → [`ranking`]
//! orders them by how well they match ([`discovery`] is these together) → [`hydration`] puts assets in their places →
//! [`evidence`] packs the budget → [`retriever`] ties it together with [`cache`], [`hits`] and [`trace`].
//!
//! Agentic mode stands on the same: [`plan`] divides the query → [`workflow`] runs the steps, each a discovery, a
//! dependent one [`follow`]ing names → [`navigation`] walks the documents found → evidence.
//!
//! Beside it stand [`tools`]: plain questions about one namespace, for agents that find their own way.

mod assembly;
pub mod budget;
pub mod cache;
pub mod channels;
pub mod classic;
pub mod corpus;
pub mod discovery;
pub mod error;
pub mod evidence;
pub mod filters;
pub mod follow;
pub mod fusion;
pub mod hits;
pub mod hydration;
pub mod journal;
pub mod leaves;
pub mod navigation;
pub mod passage;
pub mod pictures;
pub mod plan;
pub mod query;
pub mod ranking;
pub mod references;
pub mod results;
pub mod retriever;
pub mod snapshot;
pub mod spending;
#[cfg(test)]
mod testing;
pub mod tools;
pub mod trace;
pub mod work;
pub mod workflow;

pub use corpus::{ChunkKey, Corpus};
pub use error::RetrievalError;
pub use retriever::{Options, Retriever};
pub use workflow::Policies;

/// Changes whenever the same index and the same request may give another answer: part of every cache key.
pub const CODE_VERSION: &str = "retrieval-3";

/// Builds what answering needs once in a process (the tokenizer, about 0.2 s) beside whatever the caller does next, so that the
/// first question does not wait for it.
pub fn warm() {
    std::thread::spawn(quarry_language::tokens::warm);
}
