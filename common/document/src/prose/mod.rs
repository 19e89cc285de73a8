//! What the readers of text formats share: folding white space, prefixing nested lines, collecting rows.

mod collector;
mod holders;
mod inline;

pub use collector::{Collector, Embedded, Picture, Place, percent_decoded};
pub use holders::{Holders, List};
pub use inline::Inline;
