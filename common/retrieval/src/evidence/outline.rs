//! Sections that were not opened: a line each, at the end of their document, as far as the budget goes.

use quarry_model::{DocumentId, path};

use super::render::{Line, one_line};
use super::{Rendered, counts};

/// A section that was not opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// Its document.
    pub document_id: DocumentId,
    /// File name and headings.
    pub path: String,
    /// Leading sentences, or `Covers: …`.
    pub summary: String,
}

impl Rendered {
    /// Adds outlines at the end of their documents, in the order given, as long as the whole stays within `limit`
    /// tokens. Returns how many were added. Documents that are not shown get none.
    pub fn outline(&mut self, outlines: &[Outline], limit: u64) -> usize {
        let mut used = self.tokens();
        let mut added = 0;
        for outline in outlines {
            let Some(end) = self.end_of(&outline.document_id) else { continue };
            let title = path::shown(&outline.path);
            let text = format!("▸ {} — outline: {}", one_line(&title), one_line(&outline.summary));
            let tokens = counts::line(&text);
            if used + u64::from(tokens) <= limit {
                used += u64::from(tokens);
                added += 1;
                self.lines.insert(end, Line { text, tokens, image: None });
            }
        }
        added
    }

    /// Where the lines of a document end. Document lines and no others begin without an indent or a section's sign.
    fn end_of(&self, document: &DocumentId) -> Option<usize> {
        let opens = |line: &Line| line.text.starts_with("[Document] ");
        let own = format!("  ({document})");
        let start = self.lines.iter().position(|line| opens(line) && line.text.ends_with(&own))?;
        Some(self.lines.iter().skip(start + 1).position(opens).map_or(self.lines.len(), |after| start + 1 + after))
    }
}
