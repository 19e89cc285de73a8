//! One grid for the tables of every format: built cell by cell, laid out, written as HTML or Markdown, cut into windows.

mod build;
mod html;
mod layout;
mod markdown;
mod read;
mod window;

pub use build::{BuiltTable, TableBuilder};
pub use html::{text_of, to_html};
pub use markdown::to_markdown;
pub use read::from_html;
pub use window::{TableWindow, windows};
