//! Splits kept between requests: in memory, and in a folder where there is one.

use std::path::PathBuf;

/// Splits are immutable and named by their hash: what is cached never becomes wrong, only unneeded.
#[derive(Debug)]
pub struct SplitCache {
    max_bytes: u64,
    folder: Option<PathBuf>,
}

impl SplitCache {
    /// A cache that keeps at most `max_bytes` of splits in memory and, with a folder, their bytes on disk as well.
    pub fn new(max_bytes: u64, folder: Option<PathBuf>) -> Self {
        Self { max_bytes, folder }
    }
}
