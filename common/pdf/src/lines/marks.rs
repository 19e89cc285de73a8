//! Raised marks: the numbers of footnotes, and exponents. Drawn apart from the line they are set on, they belong into it.

use super::Fragment;
use crate::geometry::Rect;
use crate::page::Glyph;

/// Most raised marks that one page may hold; what comes after stays apart from its line.
const MAX_MARKS: usize = 2_000;
/// Most characters of a raised mark.
const MARK_GLYPHS: usize = 6;

/// Puts raised marks (the number of a footnote, an exponent) into the lines they are set on: small, short, higher than the
/// baseline by less than a line, and right behind a character or right before the first.
pub(super) fn with_marks(lines: Vec<Fragment<'_>>) -> Vec<Fragment<'_>> {
    let of = |f: &Fragment<'_>| (f.baseline(), f.size(), f.rect());
    let mut measured: Vec<(usize, f32, f32, Rect)> = Vec::with_capacity(lines.len());
    let mut marks: Vec<(usize, f32, f32, Rect)> = Vec::new();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| line.angle() == 0) {
        let (baseline, size, rect) = of(line);
        measured.push((index, baseline, size, rect));
        if line.glyphs.iter().filter(|g| !g.text.trim().is_empty()).count() <= MARK_GLYPHS && marks.len() < MAX_MARKS {
            marks.push((index, baseline, size, rect));
        }
    }
    measured.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut hosts: Vec<Option<usize>> = vec![None; lines.len()];
    for (index, baseline, size, rect) in &marks {
        let first = measured.partition_point(|line| line.1 <= *baseline);
        let host = measured.iter().skip(first).take(48).find(|(at, line_baseline, line_size, line_rect)| {
            let above = (line_baseline - baseline) / line_size;
            let near = |gap: f32, most: f32| (-0.15..=most).contains(&(gap / line_size));
            *at != *index
                && *size <= 0.8 * line_size
                && (0.15..=0.6).contains(&above)
                && rect.x1 > line_rect.x0 - line_size
                && rect.x0 < line_rect.x1 + line_size
                && lines.get(*at).is_some_and(|line| {
                    let behind = |g: &Glyph| !g.text.trim().is_empty() && near(rect.x0 - g.rect.x1, 0.6);
                    near(line_rect.x0 - rect.x1, 1.0) || line.glyphs.iter().any(|g| behind(g))
                })
        });
        if let (Some((at, ..)), Some(slot)) = (host, hosts.get_mut(*index)) {
            *slot = Some(*at);
        }
    }
    // A mark on a mark stays apart: what it is set on is no line.
    let is_mark: Vec<bool> = hosts.iter().map(Option::is_some).collect();
    let mut out: Vec<Option<Fragment<'_>>> = lines.into_iter().map(Some).collect();
    for (index, host) in hosts.into_iter().enumerate() {
        let Some(host) = host.filter(|host| !is_mark.get(*host).copied().unwrap_or(true)) else { continue };
        let Some(mark) = out.get_mut(index).and_then(Option::take) else { continue };
        if let Some(Some(line)) = out.get_mut(host) {
            line.drawn = line.drawn.min(mark.drawn);
            line.glyphs.extend(mark.glyphs);
        }
    }
    let mut out: Vec<Fragment<'_>> = out.into_iter().flatten().collect();
    out.sort_by_key(|fragment| fragment.drawn);
    out
}

/// Whether a glyph is set small and higher than the one before it.
pub(super) fn is_raised(glyph: &Glyph, last: &Glyph, size: f32) -> bool {
    glyph.angle == 0 && glyph.size <= 0.8 * last.size && last.origin.1 - glyph.origin.1 > 0.15 * size
}
