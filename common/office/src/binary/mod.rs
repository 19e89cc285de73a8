//! The binary formats of Office before 2007: Word 97 to 2003 and `PowerPoint` 97 to 2003.

mod compound;
pub mod doc;
mod drawing;
mod numbers;
pub mod ppt;
