//! Reads Office Open XML into rows.
//!
//! What this room is for: what the formats of Office share and what more than one parser reads: packages with their parts
//! and relationships, `DrawingML` text, charts, `SmartArt`, formulas as LaTeX; and on top of them text documents
//! ([`word`]) and presentations ([`slides`]), which their own parsers and the legacy parser both read. What enters: the
//! bytes of a package. What leaves: [`quarry_model::Parsed`]; what could not be read is a warning in it. What it must
//! never do: open an address, run a macro or a field, use a name out of the package for a path, trust a size.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

pub mod binary;
pub mod chart;
pub mod diagram;
pub mod drawing;
pub mod math;
mod math_symbols;
pub mod media;
pub mod package;
pub mod slides;
pub mod word;
