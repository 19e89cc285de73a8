//! Recognises what has arrived and sends it on.
//!
//! What this room is for: from an object event to one pointer message in the queue of the format's parser
//! (or one for each run of pages of a long PDF). What enters:
//! [`quarry_model::message::ObjectArrived`]. What leaves: a [`quarry_model::message::ParseMessage`] with the profile, or a
//! job that failed with its code. What it must never do: turn a document into rows, trust a name or a declared size, read
//! more of an object than its decision needs (of a PDF all of it: it is measured once, here, and nowhere later).
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

pub mod detect;
pub mod pdf;
mod stage;

pub use detect::{Detection, Pieces, Stop, detect};
pub use stage::Profiler;
