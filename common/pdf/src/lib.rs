//! The reading layer for PDF.
//!
//! What this room is for: turning the bytes of a PDF into what stands on its pages: glyphs with their character, place,
//! font and size; lines in reading order; ruling lines and filled rectangles; placed pictures; the outline. What enters:
//! bytes and limits. What leaves: [`Page`] by page, so that a damaged page costs itself and no other. What it must never
//! do: run anything found in the document, fetch anything, or decide what a heading is.
//!
//! All coordinates are in points from the top left corner of the page as it is shown (rotation applied), y downwards.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

mod accents;
mod columns;
mod contents;
mod direction;
mod document;
mod facts;
mod filters;
mod font;
mod geometry;
mod guard;
mod interpret;
mod lattice;
mod lines;
mod notes;
mod outline;
mod page;
mod path;
mod pictures;
mod render;
mod state;
#[cfg(feature = "testing")]
pub mod testing;
mod to_unicode;

pub use columns::{bodies, reading_order};
pub use contents::{ContentsEntry, contents_of};
pub use document::{Pdf, PdfError};
pub use font::FontInfo;
pub use geometry::{Rect, Rule};
pub use lattice::{Grid, GridCell, grids_of};
pub use lines::{Line, Word, lines_of};
pub use notes::{Note, NoteKind};
pub use outline::OutlineEntry;
pub use page::{Fill, Glyph, Page, Picture};
pub use pictures::PictureData;
pub use render::{PAGE_DPI, PageImage, RenderError, mark, smaller};
