//! Search segments.
//!
//! What this room is for: turning the chunks of documents into immutable, content-addressed *splits* on object
//! storage, and answering the three channels of a query from them. What enters: chunks, an [`quarry_model::record::IndexManifest`], object reads.
//! What leaves: split bytes with their manifest entry, hits, stored chunks. What it must never do: write objects or
//! records, decide what is live (the manifest says so), fuse channels, or let Tantivy be seen outside.
//!
//! In data order: [`document`] (what is indexed) → [`build`] (a split) → [`bundle`] (its file) → [`cache`]
//! (its bytes, fetched as needed) → [`snapshot`] (one pinned manifest, searched).

mod alias;
mod blob;
pub mod build;
mod bundle;
pub mod cache;
pub mod channel;
mod directory;
mod disk;
pub mod document;
pub mod error;
mod exact;
pub mod filter;
mod gather;
mod grams;
mod impact;
mod learned;
mod lists;
mod open;
#[cfg(test)]
mod plain;
pub mod rank;
mod schema;
pub mod snapshot;
mod text;
mod tokenizer;
mod view;
mod vocabulary;

#[cfg(test)]
extern crate self as quarry_index;
#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;

pub use build::{BuiltSplit, WHOLE_MAX_BYTES, build_split, read_documents};
pub use cache::SplitCache;
pub use channel::Channel;
pub use document::{IndexedChunk, IndexedDocument, SectionText};
pub use error::{IndexError, MissingReason, MissingSplit};
pub use filter::{Filter, FilterMode, SectionFilter};
pub use rank::Ranking;
pub use snapshot::{Hit, LiveDocument, Snapshot, StoredChunk};
