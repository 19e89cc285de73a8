//! Pictures of a page that are part of the document: tiles joined, decoration left out by repetition.

use std::collections::BTreeMap;

use quarry_pdf::{Picture, Rect};

use crate::page::PageText;

/// A figure and the object that holds it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Figure {
    pub(crate) rect: Rect,
    pub(crate) object: Option<(u32, i32)>,
}

/// The figures of every page. A picture on most pages of a longer document is decoration.
pub(crate) fn figures_of(pages: &[PageText]) -> Vec<Vec<Figure>> {
    let mut seen: BTreeMap<(u32, i32), usize> = BTreeMap::new();
    for page in pages {
        let mut here: Vec<(u32, i32)> = page.pictures.iter().filter_map(|p| p.object).collect();
        here.sort_unstable();
        here.dedup();
        for object in here {
            let count = seen.entry(object).or_insert(0);
            *count = count.saturating_add(1);
        }
    }
    let decoration = |picture: &Picture| {
        picture.object.is_some_and(|object| pages.len() >= 4 && seen.get(&object).copied().unwrap_or(0).saturating_mul(2) > pages.len())
    };
    pages.iter().map(|page| of_page(page.pictures.iter().filter(|p| !decoration(p)))).collect()
}

fn of_page<'p>(pictures: impl Iterator<Item = &'p Picture>) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    for picture in pictures.filter(|p| p.rect.width() >= 4.0 && p.rect.height() >= 4.0).take(400) {
        // Strips and tiles of one picture touch each other edge to edge.
        let tile = figures.iter_mut().find(|f| {
            let (a, b) = (&f.rect, &picture.rect);
            let stacked = (a.x0 - b.x0).abs() < 1.0 && (a.x1 - b.x1).abs() < 1.0 && (b.y0 - a.y1).abs().min((a.y0 - b.y1).abs()) < 1.0;
            let beside = (a.y0 - b.y0).abs() < 1.0 && (a.y1 - b.y1).abs() < 1.0 && (b.x0 - a.x1).abs().min((a.x0 - b.x1).abs()) < 1.0;
            let same = a.intersection(b).area() > 0.9 * a.area().max(b.area());
            stacked || beside || same
        });
        match tile {
            Some(figure) => figure.rect = figure.rect.union(&picture.rect),
            None => figures.push(Figure { rect: picture.rect, object: picture.object }),
        }
    }
    figures
}
