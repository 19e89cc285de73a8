//! Text in pictures.
//!
//! What this room is for: the two ways of reading text in a picture: the `tesseract` program when it is on this machine,
//! and a vision model when one is configured. What enters: a PNG with its resolution and the language to expect. What
//! leaves: words with their places, or lines of text. What it must never do: fail a document; whoever asks goes on
//! without.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

mod choice;
mod language;
mod model;
mod process;
mod tesseract;
mod tsv;

pub use choice::{configured, on_this_machine};
pub use model::ModelOcr;
pub use tesseract::Tesseract;
