//! Facts about a document and its pages that need no layout.

use hayro_syntax::object::String as PdfString;

use crate::document::Pdf;
use crate::page::Page;

/// Points sampled along each side of a page to learn how much of it lies under pictures.
const SAMPLES: usize = 32;
/// Most pictures that are looked at for it.
const MOST_PICTURES: usize = 400;

impl Pdf {
    /// Width and height of a page (from 1) as shown, in points; `None` when there is no such page.
    pub fn page_size(&self, page: u32) -> Option<(f32, f32)> {
        let index = (page as usize).checked_sub(1)?;
        self.inner().pages().get(index).map(hayro_syntax::page::Page::render_dimensions)
    }

    /// The language that the document declares for itself, as an ISO 639-1 code.
    pub fn language(&self) -> Option<String> {
        let declared = self.catalog()?.get::<PdfString<'_>>("Lang")?;
        let text = crate::outline::text_string(declared.as_bytes());
        let primary = text.split(['-', '_']).next().unwrap_or_default().trim().to_ascii_lowercase();
        (primary.len() == 2 && primary.bytes().all(|b| b.is_ascii_lowercase())).then_some(primary)
    }
}

impl Page {
    /// Share of the page's area under pictures, from 0 to 1, by sampling.
    pub fn picture_coverage(&self) -> f32 {
        if self.pictures.is_empty() {
            return 0.0;
        }
        let at = |step: usize, side: f32| (step as f32 + 0.5) / SAMPLES as f32 * side;
        let under = |x: f32, y: f32| self.pictures.iter().take(MOST_PICTURES).any(|picture| picture.rect.contains(x, y));
        let points = (0..SAMPLES).flat_map(|row| (0..SAMPLES).map(move |column| (column, row)));
        let covered = points.filter(|(column, row)| under(at(*column, self.width), at(*row, self.height))).count();
        covered as f32 / SAMPLES.saturating_mul(SAMPLES) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Rect;
    use crate::page::Picture;

    #[test]
    fn coverage_counts_area_once() {
        let picture = |x0, y0, x1, y1| Picture { rect: Rect { x0, y0, x1, y1 }, object: None, width: 1, height: 1 };
        let page = |pictures| Page { width: 400.0, height: 400.0, pictures, ..Page::default() };
        assert_eq!(page(vec![]).picture_coverage(), 0.0);
        let half = page(vec![picture(0.0, 0.0, 400.0, 100.0), picture(0.0, 100.0, 400.0, 200.0), picture(0.0, 50.0, 400.0, 150.0)]);
        assert!((half.picture_coverage() - 0.5).abs() < 0.01);
        assert_eq!(page(vec![picture(0.0, 0.0, 400.0, 400.0)]).picture_coverage(), 1.0);
    }
}
