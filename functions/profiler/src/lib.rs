//! Recognises what has arrived and sends it on.
//!
//! What this room is for: from an object event to one pointer message in the queue of the format's parser. What enters:
//! [`quarry_model::message::ObjectArrived`]. What leaves: a [`quarry_model::message::ParseMessage`] with the profile, or a
//! job that failed with its code. What it must never do: parse, decompress, trust a name or a declared size, read more of
//! an object than its decision needs.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

pub mod detect;
mod stage;

pub use detect::{Detection, Pieces, Stop, detect};
pub use stage::Profiler;
