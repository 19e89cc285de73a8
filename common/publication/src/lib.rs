//! What publisher and compactor share.
//!
//! What this room is for: reading finished revision folders, the namespace head and its conditional succession, building
//! splits again from what is stored, and removing what is no longer served. What enters: a scope and the stores. What
//! leaves: folders, heads, splits, the one write that flips a head. What it must never do: decide what is published, or
//! write a head itself: the caller puts the succession into its own transaction.

pub mod erase;
pub mod error;
pub mod folder;
pub mod head;
pub mod postings;
pub mod rebuild;

use std::sync::Arc;

use quarry_ports::{ObjectStore, Records};

pub use error::PublicationError;
pub use folder::{Folder, FolderError};
pub use head::Head;

/// The two stores that a publication lives in.
#[derive(Clone)]
pub struct Stores {
    /// Folders and splits.
    pub objects: Arc<dyn ObjectStore>,
    /// Heads, rows, postings, marks.
    pub records: Arc<dyn Records>,
}

impl std::fmt::Debug for Stores {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stores")
    }
}
