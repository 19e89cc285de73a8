//! What every parser shares.
//!
//! What this room is for: a parser turns bytes into rows; everything between those rows and a finished revision folder
//! happens here, once for all formats: the heading tree, the table grid, rows → chunks, pictures, summaries, the files,
//! and the stage around it. What enters: one source and what its parser read out of it ([`quarry_model::Parsed`]).
//! What leaves: a [`RevisionFolder`] whose counts and references agree. What it must never do: know a format's syntax
//! beyond the bounded readers, use a name or path from a document for a file, read the network, run anything.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

mod annotate;
pub mod archive;
mod assets;
mod chunks;
pub mod encoding;
mod enrich;
pub mod flow;
pub mod grid;
pub mod heading;
#[cfg(feature = "html")]
pub mod html;
mod keywords;
pub mod numbering;
pub mod parser;
pub mod picture;
mod prepare;
pub mod prose;
pub mod revision;
pub mod stage;
mod summary;
pub mod symbols;
mod warnings;
pub mod xml;

pub use grid::{BuiltTable, TableBuilder};
pub use parser::{ParseInParts, Parser, Source};
pub use revision::{Artifact, RevisionFolder, RevisionRequest, parse_to_folder, revision_of};
pub use stage::ParseStage;
pub use warnings::Warnings;
