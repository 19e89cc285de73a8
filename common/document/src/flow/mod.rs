//! What the formats of word processors share (DOCX, ODT, RTF): blocks in reading order → rows.
//!
//! A reader of such a format walks through its source once and gives [`Block`]s: paragraphs with their label, tables,
//! notes, each with what is anchored in it. [`promote`] finds headings that no style marks; [`assemble`] makes rows of
//! it all. Nothing here knows a syntax.

mod assemble;
mod block;
mod contents;
mod evidence;
mod fields;
mod label;
mod paragraph;
mod purpose;
mod running;
mod table;

pub use assemble::assemble;
pub use block::{Block, ContentsEntry, Note, Paragraph, Picture, Role, TableBlock};
pub use contents::ends_in_page_number;
pub use evidence::promote;
pub use fields::{FieldKind, Fields, anchor, kind, sequence};
pub use label::{Label, Suffix};
pub use paragraph::ParagraphBuilder;
pub use purpose::Purpose;
pub use running::RunningText;
pub use table::{FlowCell, FlowRow, FlowTable, HeaderCells, Merge};
