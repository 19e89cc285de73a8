//! Sections as chunks name them: a path of titles each.

use quarry_document::prose::Collector;
use quarry_model::Evidence;

/// The open path: titles, and the section each opened.
#[derive(Debug, Default)]
pub(crate) struct Sections {
    open: Vec<(String, Option<usize>)>,
}

impl Sections {
    /// The section of a path. What the path shares with the one before it stays open; the rest opens anew.
    pub(crate) fn open(&mut self, path: &[String], out: &mut Collector<'_>) -> Option<usize> {
        let shared = self.open.iter().zip(path).take_while(|((open, _), title)| open == *title).count();
        self.open.truncate(shared);
        for title in path.iter().skip(shared) {
            let level = u32::try_from(self.open.len()).unwrap_or(u32::MAX).saturating_add(1);
            out.heading(title, level, Evidence::Markup);
            self.open.push((title.clone(), out.section()));
        }
        self.open.last().and_then(|(_, section)| *section)
    }
}
