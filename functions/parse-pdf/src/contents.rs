//! Contents pages: what they list stands elsewhere.

use std::collections::BTreeSet;

use quarry_pdf::contents_of;

use crate::page::PageText;

/// The pages that list what stands elsewhere.
pub(crate) fn pages_of(pages: &[PageText]) -> BTreeSet<u32> {
    pages.iter().filter(|page| !contents_of(&page.lines).is_empty()).map(|page| page.number).collect()
}
