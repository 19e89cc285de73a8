//! Glyphs → words → lines.
//!
//! A line here is a run of words on one baseline without a wide gap: two columns, or two cells of a table, are two lines.
//! Which lines belong together is for the layout to say.

mod marks;

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::accents::composed;
use crate::direction::{is_right_to_left, logical_order, word_text};
use crate::font::FontInfo;
use crate::geometry::{Rect, Rule};
use crate::page::{Glyph, Page};
use marks::{is_raised, with_marks};

/// A gap of this many ems ends a line; ordinary word gaps, justified ones included, stay below it.
const LINE_GAP: f32 = 1.15;
/// A gap of this many ems between two glyphs is a space (measured: right on half of ordinary files to the last word).
const WORD_GAP: f32 = 0.16;

/// A word.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Word {
    /// Its characters in reading order: ligatures resolved, soft hyphens removed.
    pub text: String,
    /// Where it stands.
    pub rect: Rect,
    /// Size in points.
    pub size: f32,
    /// Index into the document's fonts.
    pub font: usize,
    /// How far its baseline lies above (negative) or below the line's, in points.
    pub rise: f32,
    /// Whether white space separates it from the word before it on the line.
    pub spaced: bool,
}

/// A line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Words in reading order.
    pub words: Vec<Word>,
    /// Where it stands.
    pub rect: Rect,
    /// Height of its baseline.
    pub baseline: f32,
    /// Size of most of its characters.
    pub size: f32,
    /// Font of most of its characters.
    pub font: usize,
    /// Whether most of its characters are bold.
    pub bold: bool,
    /// Whether most of its characters are italic.
    pub italic: bool,
    /// Whether most of its characters are of one width.
    pub monospace: bool,
    /// Colour of its first character.
    pub color: [u8; 3],
    /// Direction of its baseline in degrees clockwise.
    pub angle: i16,
    /// Whether it is drawn without ink.
    pub hidden: bool,
    /// Place of its first glyph in the order of drawing.
    pub drawn: usize,
}

impl Line {
    /// The line's text.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for word in &self.words {
            if word.spaced && !out.is_empty() {
                out.push(' ');
            }
            out.push_str(&word.text);
        }
        out
    }
}

/// The lines of a page, in the order in which their first glyphs are drawn.
pub fn lines_of(page: &Page, fonts: &[FontInfo]) -> Vec<Line> {
    let mut fragments: Vec<Fragment<'_>> = Vec::new();
    let mut seen: HashSet<(&str, i32, i32, i32)> = HashSet::new();
    let glyphs = composed(&page.glyphs);
    for (index, glyph) in glyphs.iter().enumerate() {
        // Bold faked by drawing twice, and shadows: one glyph in one place is one glyph.
        let place = (glyph.origin.0 * 2.0 / glyph.size.max(4.0) * 4.0, glyph.origin.1 * 2.0 / glyph.size.max(4.0) * 4.0);
        let blank = glyph.text.trim().is_empty();
        if !blank && !seen.insert((&glyph.text, place.0.round() as i32, place.1.round() as i32, glyph.size.round() as i32)) {
            continue;
        }
        match fragments.last_mut() {
            Some(open) if open.takes(glyph) => open.push(glyph),
            _ => fragments.push(Fragment::new(glyph, index)),
        }
    }
    fragments.retain(|fragment| fragment.glyphs.iter().any(|g| !g.text.trim().is_empty()));
    let joined = with_marks(join(fragments, &page.rules));
    joined.into_iter().filter_map(|fragment| fragment.line(fonts)).collect()
}

/// Glyphs on one baseline, drawn one after the other or joined afterwards.
struct Fragment<'g> {
    glyphs: Vec<&'g Glyph>,
    drawn: usize,
}

impl<'g> Fragment<'g> {
    fn new(glyph: &'g Glyph, drawn: usize) -> Self {
        Self { glyphs: vec![glyph], drawn }
    }

    fn push(&mut self, glyph: &'g Glyph) {
        self.glyphs.push(glyph);
    }

    fn takes(&self, glyph: &Glyph) -> bool {
        let Some(last) = self.glyphs.last() else { return false };
        if last.angle != glyph.angle || last.hidden != glyph.hidden {
            return false;
        }
        let size = last.size.max(glyph.size);
        let (along, across) = offset(last, glyph);
        across.abs() <= 0.35 * size && along >= -0.5 * size && along <= LINE_GAP * size
    }

    fn rect(&self) -> Rect {
        let mut glyphs = self.glyphs.iter();
        let first = glyphs.next().map(|g| g.rect).unwrap_or_default();
        glyphs.fold(first, |rect, glyph| rect.union(&glyph.rect))
    }

    /// The size that most characters have.
    fn size(&self) -> f32 {
        let mut sizes: Vec<f32> = self.glyphs.iter().filter(|g| !g.text.trim().is_empty()).map(|g| g.size).collect();
        sizes.sort_by(f32::total_cmp);
        sizes.get(sizes.len() / 2).copied().unwrap_or(10.0)
    }

    /// The baseline that most characters of the main size stand on, measured across the direction of writing.
    fn baseline(&self) -> f32 {
        let size = self.size();
        let mut heights: Vec<f32> = self.glyphs.iter().filter(|g| (g.size - size).abs() < 0.6).map(|g| across(g)).collect();
        heights.sort_by(f32::total_cmp);
        heights.get(heights.len() / 2).copied().unwrap_or(0.0)
    }

    fn line(mut self, fonts: &[FontInfo]) -> Option<Line> {
        self.glyphs.sort_by(|a, b| along(a).total_cmp(&along(b)));
        let baseline = self.baseline();
        let size = self.size();
        let rect = self.rect();
        let gap = word_gap(&self.glyphs);
        let mut words: Vec<Vec<&Glyph>> = Vec::new();
        let mut spaces: Vec<bool> = Vec::new();
        let mut open = false;
        let mut space = false;
        let mut before: Option<&Glyph> = None;
        for glyph in &self.glyphs {
            if glyph.text.trim().is_empty() {
                open = false;
                space = true;
                continue;
            }
            let wide = before.is_some_and(|last| offset(last, glyph).0 > gap * last.size.max(glyph.size));
            // A raised mark is a word of its own that touches the one before it; but an exponent is no further digit.
            let mark = before.is_some_and(|last| is_raised(glyph, last, size));
            // The number that a footnote begins with is no part of its first word.
            let behind = words.len() == 1 && before.is_some_and(|last| is_raised(last, glyph, size));
            if !open || wide || mark || behind {
                let digits = before.is_some_and(|last| last.text.ends_with(|c: char| c.is_ascii_digit()));
                words.push(Vec::new());
                spaces.push(space || wide || behind || mark && digits);
            }
            if let Some(word) = words.last_mut() {
                word.push(glyph);
            }
            open = true;
            space = false;
            before = Some(glyph);
        }
        let first = self.glyphs.first()?;
        let looks = |test: &dyn Fn(&FontInfo) -> bool| share(&self.glyphs, fonts, test);
        // A line is bold when it is as good as whole: a bold word in it is emphasis.
        let (bold, italic, monospace) = (looks(&|f| f.bold) > 0.8, looks(&|f| f.italic) > 0.8, looks(&|f| f.monospace) > 0.5);
        let font = most_common(self.glyphs.iter().map(|g| g.font));
        let (angle, color, hidden, drawn) = (first.angle, first.color, first.hidden, self.drawn);
        let right_to_left = is_right_to_left(&self.glyphs);
        let mut built: Vec<Word> = words
            .iter()
            .zip(spaces)
            .filter_map(|(glyphs, spaced)| {
                let head = glyphs.first()?;
                let rect = glyphs.iter().fold(head.rect, |rect, glyph| rect.union(&glyph.rect));
                let text = word_text(glyphs, right_to_left);
                let rise = across(head) - baseline;
                (!text.is_empty()).then_some(Word { text, rect, size: head.size, font: head.font, rise, spaced })
            })
            .collect();
        if right_to_left {
            built = logical_order(built);
        }
        if built.is_empty() {
            return None;
        }
        Some(Line { words: built, rect, baseline, size, font, bold, italic, monospace, color, angle, hidden, drawn })
    }
}

/// Joins fragments that stand on one baseline with no more than a word's gap between them and no rule in it.
fn join<'g>(fragments: Vec<Fragment<'g>>, rules: &[Rule]) -> Vec<Fragment<'g>> {
    let mut order: Vec<(Fragment<'g>, Rect, f32, f32)> = fragments
        .into_iter()
        .map(|fragment| {
            let (rect, size, baseline) = (fragment.rect(), fragment.size(), fragment.baseline());
            (fragment, rect, size, baseline)
        })
        .collect();
    let mut uprights: Vec<Rect> = rules.iter().filter(|rule| !rule.horizontal).map(|rule| rule.rect).collect();
    uprights.sort_by(|a, b| a.x0.total_cmp(&b.x0));
    order.sort_by(|a, b| a.0.angle().cmp(&b.0.angle()).then(a.3.total_cmp(&b.3)).then(a.1.x0.total_cmp(&b.1.x0)));
    let mut out: Vec<(Fragment<'g>, Rect, f32, f32)> = Vec::new();
    for (fragment, rect, size, baseline) in order {
        let upright = fragment.angle() == 0;
        // Only the last few lines can share a baseline, for they are sorted by it.
        let partner = out.iter_mut().rev().take(48).find(|(other, other_rect, other_size, other_baseline)| {
            let larger = size.max(*other_size);
            let gap = (rect.x0 - other_rect.x1).max(other_rect.x0 - rect.x1);
            upright
                && other.angle() == 0
                && other.hidden() == fragment.hidden()
                && (baseline - other_baseline).abs() <= 0.28 * larger
                && gap <= 0.9 * larger
                && gap >= -0.6 * larger
                && !crosses_rule(&uprights, other_rect, &rect)
        });
        match partner {
            Some((other, other_rect, other_size, _)) => {
                other.drawn = other.drawn.min(fragment.drawn);
                other.glyphs.extend(fragment.glyphs);
                *other_rect = other_rect.union(&rect);
                *other_size = other_size.max(size);
            }
            None => out.push((fragment, rect, size, baseline)),
        }
    }
    out.sort_by_key(|(fragment, ..)| fragment.drawn);
    out.into_iter().map(|(fragment, ..)| fragment).collect()
}

impl Fragment<'_> {
    fn angle(&self) -> i16 {
        self.glyphs.first().map_or(0, |g| g.angle)
    }

    fn hidden(&self) -> bool {
        self.glyphs.first().is_some_and(|g| g.hidden)
    }
}

/// Whether one of the upright rules, sorted by their left edge, stands between two neighbours on one line.
fn crosses_rule(uprights: &[Rect], a: &Rect, b: &Rect) -> bool {
    let (left, right) = if a.x0 <= b.x0 { (a, b) } else { (b, a) };
    let first = uprights.partition_point(|rule| rule.x0 < left.x1 - 1.5);
    let between = uprights.iter().skip(first).take_while(|rule| rule.x0 <= right.x0 + 1.5);
    between.into_iter().any(|rule| rule.x1 <= right.x0 + 1.5 && rule.vertical_overlap(left) > 0.5 * left.height())
}

/// Distance from one glyph's end to the next one's origin: along and across the direction of writing.
fn offset(from: &Glyph, to: &Glyph) -> (f32, f32) {
    let (sin, cos) = f32::from(from.angle).to_radians().sin_cos();
    let (dx, dy) = (to.origin.0 - from.end.0, to.origin.1 - from.end.1);
    (dx * cos + dy * sin, dy * cos - dx * sin)
}

fn along(glyph: &Glyph) -> f32 {
    let (sin, cos) = f32::from(glyph.angle).to_radians().sin_cos();
    glyph.origin.0 * cos + glyph.origin.1 * sin
}

fn across(glyph: &Glyph) -> f32 {
    let (sin, cos) = f32::from(glyph.angle).to_radians().sin_cos();
    glyph.origin.1 * cos - glyph.origin.0 * sin
}

/// The gap, in ems, from which two glyphs are two words.
///
/// Gaps inside words and gaps between words are two heaps: the threshold lies in the widest empty place between them.
/// That finds the narrow spaces of a tightly justified line as well as the spaces of letter-spaced text, where every
/// glyph stands apart. With one heap alone, letter-spaced text is known by its usual gap.
fn word_gap(glyphs: &[&Glyph]) -> f32 {
    let mut gaps: Vec<f32> = glyphs
        .windows(2)
        .filter_map(|pair| {
            let [a, b] = pair else { return None };
            // The dots that lead to a page number stand apart without being words.
            let leader = a.text == b.text && !a.text.chars().all(char::is_alphanumeric);
            let solid = !a.text.trim().is_empty() && !b.text.trim().is_empty() && !leader;
            solid.then(|| offset(a, b).0 / a.size.max(b.size))
        })
        .collect();
    if gaps.len() < 6 {
        return WORD_GAP;
    }
    gaps.sort_by(f32::total_cmp);
    let median = gaps.get(gaps.len() / 2).copied().unwrap_or(0.0);
    let all = gaps.len() as f32;
    let mut widest: Option<(f32, f32)> = None;
    for (i, pair) in gaps.windows(2).enumerate() {
        let [low, high] = pair else { continue };
        let above = all - (i as f32 + 1.0);
        // Between 3 and 45 of a hundred gaps are word gaps, and none is narrower than a tenth of an em.
        let possible = *high >= 0.09 && *high - *low >= 0.045 && (0.03..=0.45).contains(&(above / all));
        if possible && widest.is_none_or(|(jump, _)| high - low > jump) {
            widest = Some((high - low, (low + high) / 2.0));
        }
    }
    match widest {
        // Where glyphs stand close, a wide gap is a space however much wider another one is (after a bullet, among leaders).
        Some((_, threshold)) if median <= 0.08 => threshold.clamp(0.07, WORD_GAP),
        Some((_, threshold)) if threshold < 0.6 => threshold.max(0.07),
        _ if median > 0.08 => (median * 1.5 + 0.06).max(WORD_GAP),
        _ => WORD_GAP,
    }
}

/// Share of the letters and digits whose font passes a test; ideographs weigh twice, for they say as much.
fn share(glyphs: &[&Glyph], fonts: &[FontInfo], test: &dyn Fn(&FontInfo) -> bool) -> f32 {
    let (mut yes, mut all) = (0.0_f32, 0.0_f32);
    for glyph in glyphs {
        let Some(c) = glyph.text.chars().find(|c| c.is_alphanumeric()) else { continue };
        let weight = if matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}') { 2.0 } else { 1.0 };
        all += weight;
        if fonts.get(glyph.font).is_some_and(test) {
            yes += weight;
        }
    }
    if all > 0.0 { yes / all } else { 0.0 }
}

fn most_common(values: impl Iterator<Item = usize>) -> usize {
    let mut counts: std::collections::BTreeMap<usize, usize> = std::collections::BTreeMap::new();
    for value in values {
        let count = counts.entry(value).or_insert(0);
        *count = count.saturating_add(1);
    }
    counts.into_iter().max_by_key(|(value, count)| (*count, std::cmp::Reverse(*value))).map_or(0, |(value, _)| value)
}
