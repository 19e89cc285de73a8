//! What is on a page, in numbers.

use std::collections::BTreeMap;

use quarry_model::pdf::{PageFeatures, PageSize};
use quarry_pdf::{Page, grids_of};

/// Most sizes that are listed.
const MOST_SIZES: usize = 16;

/// What is known of one page while deciding on the document.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Facts {
    /// Points.
    pub(crate) width: f32,
    /// Points.
    pub(crate) height: f32,
    /// Characters with ink.
    pub(crate) text: usize,
    /// Characters without.
    pub(crate) hidden: usize,
    /// From 0 to 1.
    pub(crate) coverage: f32,
    pub(crate) pictures: usize,
    pub(crate) tables: usize,
    pub(crate) drawings: u32,
    /// From 0 to 1.
    pub(crate) unmapped: f32,
    /// The usual size of its characters, in points; 0 without text.
    pub(crate) usual: f32,
    /// The largest size that at least three characters have, in points.
    pub(crate) largest: f32,
}

impl Facts {
    pub(crate) fn of(page: &Page) -> Self {
        let (mut text, mut hidden) = (0usize, 0usize);
        let mut sizes: Vec<f32> = Vec::new();
        for glyph in page.glyphs.iter().filter(|glyph| !glyph.text.trim().is_empty()) {
            if glyph.hidden {
                hidden = hidden.saturating_add(1);
            } else {
                text = text.saturating_add(1);
                sizes.push(glyph.size);
            }
        }
        sizes.sort_by(f32::total_cmp);
        let share = if page.glyphs.is_empty() { 0.0 } else { page.unmapped as f32 / page.glyphs.len() as f32 };
        Self {
            width: page.width,
            height: page.height,
            text,
            hidden,
            coverage: page.picture_coverage(),
            pictures: page.pictures.len(),
            tables: if page.rules.is_empty() { 0 } else { grids_of(page).len() },
            drawings: page.drawings,
            unmapped: share,
            usual: sizes.get(sizes.len() / 2).copied().unwrap_or(0.0),
            largest: sizes.iter().rev().nth(2).copied().unwrap_or(0.0),
        }
    }

    /// Whether nothing at all stands on it.
    pub(crate) fn is_blank(&self) -> bool {
        self.text == 0 && self.hidden == 0 && self.pictures == 0 && self.drawings == 0 && self.tables == 0
    }
}

/// The facts in columns, as they travel.
pub(crate) fn columns(pages: &[Facts]) -> PageFeatures {
    let small = |n: usize, most: usize| u16::try_from(n.min(most)).unwrap_or(u16::MAX);
    let tiny = |n: usize| u8::try_from(n.min(99)).unwrap_or(u8::MAX);
    let percent = |share: f32| (share.clamp(0.0, 1.0) * 100.0).round() as u8;
    PageFeatures {
        text: pages.iter().map(|page| small(page.text, 9_999)).collect(),
        hidden: pages.iter().map(|page| small(page.hidden, 9_999)).collect(),
        coverage: pages.iter().map(|page| percent(page.coverage)).collect(),
        pictures: pages.iter().map(|page| tiny(page.pictures)).collect(),
        tables: pages.iter().map(|page| tiny(page.tables)).collect(),
        drawings: pages.iter().map(|page| small(page.drawings as usize, 999)).collect(),
        unmapped: pages.iter().map(|page| percent(page.unmapped)).collect(),
    }
}

/// Sizes with their number of pages, most common first.
pub(crate) fn sizes(pages: &[Facts]) -> Vec<PageSize> {
    let mut counts: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for page in pages {
        let count = counts.entry((page.width.round() as u32, page.height.round() as u32)).or_insert(0);
        *count = count.saturating_add(1);
    }
    let mut sizes: Vec<PageSize> = counts.into_iter().map(|((width, height), pages)| PageSize { width, height, pages }).collect();
    sizes.sort_by_key(|size| std::cmp::Reverse(size.pages));
    sizes.truncate(MOST_SIZES);
    sizes
}
