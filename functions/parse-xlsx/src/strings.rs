//! The table of shared texts.

/// All texts in one piece, with the end of each.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    pool: String,
    ends: Vec<u32>,
}

impl Strings {
    /// The text of this number.
    pub(crate) fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)? as usize;
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default() as usize;
        self.pool.get(start..end)
    }

    /// Adds the next text.
    pub(crate) fn push(&mut self, text: &str) {
        // Parts are limited to far less than 4 GiB.
        self.pool.push_str(text);
        self.ends.push(u32::try_from(self.pool.len()).unwrap_or(u32::MAX));
    }
}
