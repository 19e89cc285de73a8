//! Running headers, running footers and page numbers, recognised by repetition alone and kept out of the text. What they
//! say is said once; page numbers say nothing.

use std::collections::BTreeMap;

use quarry_pdf::{Line, Rect};

use crate::page::PageText;

/// Share of the page's height, from the top and from the bottom, in which furniture stands.
const MARGIN: f32 = 0.13;
/// Pages on which a line must stand again before it is furniture.
const MIN_PAGES: usize = 3;
/// Share of the pages (of one parity, for books set left and right) that must carry it.
const MIN_SHARE: f32 = 0.3;

/// A running title or footer, and the first place where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Running {
    pub(crate) text: String,
    pub(crate) page: u32,
    pub(crate) rect: Rect,
}

/// Takes furniture out of every page, and answers each running text that stands on several pages, once.
pub(crate) fn take(pages: &mut [PageText]) -> Vec<Running> {
    let mut running = Collected::default();
    if pages.len() < MIN_PAGES {
        for page in pages.iter_mut() {
            let height = page.height;
            page.lines.retain(|line| !is_lone_number(line, height));
        }
        return Vec::new();
    }
    let mut seen: BTreeMap<(String, i32), Vec<u32>> = BTreeMap::new();
    for page in pages.iter() {
        for line in page.lines.iter().filter(|line| in_margin(line, page.height)) {
            for key in keys(line) {
                seen.entry(key).or_default().push(page.number);
            }
        }
    }
    let count = pages.len() as f32;
    let repeated = |line: &Line| {
        keys(line).iter().any(|key| {
            let Some(on) = seen.get(key) else { return false };
            let mut distinct = on.clone();
            distinct.dedup();
            let parity = |p: u32| distinct.iter().filter(|n| **n % 2 == p).count() as f32;
            let share = (distinct.len() as f32 / count).max(parity(0).max(parity(1)) / (count / 2.0).max(1.0) * 0.9);
            distinct.len() >= MIN_PAGES && share >= MIN_SHARE || runs_on(&distinct)
        })
    };
    let bands = Bands::of(pages);
    for page in pages.iter_mut() {
        let height = page.height;
        let edge = |line: &Line| bands.holds(line, height);
        let number = page.number;
        page.lines.retain(|line| {
            let taken = in_margin(line, height) && (repeated(line) || is_lone_number(line, height) || edge(line));
            if taken {
                running.add(line, number);
            }
            !taken
        });
    }
    running.said()
}

/// Running texts by what they say, numbers aside.
#[derive(Default)]
struct Collected {
    texts: BTreeMap<String, (Running, u32)>,
}

impl Collected {
    fn add(&mut self, line: &Line, page: u32) {
        let words: Vec<&str> = line.words.iter().map(|w| w.text.as_str()).filter(|w| !is_number(w)).collect();
        let key: String = words.concat().chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).collect();
        // "Page 3 of 9" is a page number in any language: a word or two around numbers.
        let numbered = words.len() < line.words.len();
        if key.chars().count() < 3 || (numbered && words.len() <= 2 && key.chars().count() <= 12) {
            return;
        }
        let entry = self.texts.entry(key).or_insert_with(|| (Running { text: words.join(" "), page, rect: line.rect }, 0));
        entry.1 = entry.1.saturating_add(1);
    }

    /// What stands on one page only is the name of what that page is about (a guide word, a section's title).
    fn said(self) -> Vec<Running> {
        let mut said: Vec<Running> = self.texts.into_values().filter(|(_, times)| *times >= 2).map(|(running, _)| running).collect();
        said.sort_by(|a, b| a.page.cmp(&b.page).then(a.rect.y0.total_cmp(&b.rect.y0)).then(a.rect.x0.total_cmp(&b.rect.x0)));
        said
    }
}

/// Share of the pages on which the outermost line must stand at one height, set apart, to make a band of that height.
const BAND_SHARE: f32 = 0.4;
/// Distance, in sizes, from a running title to the text: more than any ordinary step between two lines.
const BAND_GAP: f32 = 1.75;

/// Heights at which most pages carry a line set apart from the text: running titles that change from section to section.
struct Bands {
    top: Option<f32>,
    bottom: Option<f32>,
}

impl Bands {
    fn of(pages: &[PageText]) -> Self {
        let count = pages.iter().filter(|page| !page.lines.is_empty()).count();
        let common = |mut heights: Vec<f32>| {
            heights.sort_by(f32::total_cmp);
            let middle = *heights.get(heights.len() / 2)?;
            let near = heights.iter().filter(|h| (**h - middle).abs() <= 2.0).count();
            (near >= MIN_PAGES && near as f32 >= BAND_SHARE * count as f32).then_some(middle)
        };
        Self {
            top: common(pages.iter().filter_map(|p| outermost(p, true)).collect()),
            bottom: common(pages.iter().filter_map(|p| outermost(p, false)).collect()),
        }
    }

    fn holds(&self, line: &Line, height: f32) -> bool {
        let band = if line.baseline < height / 2.0 { self.top } else { self.bottom };
        band.is_some_and(|band| (line.baseline - band).abs() <= 2.0)
    }
}

/// The baseline of a page's first (or last) line when it stands in the margin and set apart from its neighbour.
fn outermost(page: &PageText, top: bool) -> Option<f32> {
    let mut lines: Vec<&Line> = page.lines.iter().filter(|line| line.angle == 0).collect();
    lines.sort_by(|a, b| if top { a.baseline.total_cmp(&b.baseline) } else { b.baseline.total_cmp(&a.baseline) });
    let first = lines.first()?;
    let next = lines.iter().find(|line| (line.baseline - first.baseline).abs() > 0.5 * first.size)?;
    let apart = (next.baseline - first.baseline).abs() / first.size.max(next.size) > BAND_GAP;
    (apart && in_margin(first, page.height)).then_some(first.baseline)
}

/// A running title changes from chapter to chapter: standing on three pages in a row (or on three of one side) is enough.
fn runs_on(pages: &[u32]) -> bool {
    let triple =
        |step: u32| pages.windows(3).any(|w| matches!(w, [a, b, c] if b.saturating_sub(*a) == step && c.saturating_sub(*b) == step));
    triple(1) || triple(2)
}

fn in_margin(line: &Line, height: f32) -> bool {
    line.rect.y1 < height * MARGIN || line.rect.y0 > height * (1.0 - MARGIN)
}

/// A line as furniture is compared: digits and Roman numerals count as any number, the height in steps of 6 points.
/// Two keys, so that a line near the edge of a step is still the same.
fn keys(line: &Line) -> [(String, i32); 2] {
    let text: String =
        line.words
            .iter()
            .map(|word| {
                if is_number(&word.text) {
                    "#".to_owned()
                } else {
                    word.text.chars().map(|c| if c.is_numeric() { '#' } else { c }).collect()
                }
            })
            .collect::<Vec<String>>()
            .join(" ");
    let step = (line.baseline / 6.0).floor() as i32;
    [(text.clone(), step), (text, step.saturating_add(if line.baseline.rem_euclid(6.0) > 3.0 { 1 } else { -1 }))]
}

fn is_number(text: &str) -> bool {
    let bare = text.trim_matches(|c: char| !c.is_alphanumeric());
    !bare.is_empty()
        && (bare.chars().all(|c| c.is_ascii_digit()) || (bare.len() <= 7 && bare.chars().all(|c| matches!(c, 'i' | 'v' | 'x' | 'l' | 'c'))))
}

/// A page number standing alone in the margin.
fn is_lone_number(line: &Line, height: f32) -> bool {
    let far = line.rect.y1 < height * 0.08 || line.rect.y0 > height * 0.9;
    far && line.words.len() <= 3
        && line.words.iter().any(|w| is_number(&w.text))
        && line.words.iter().all(|w| is_number(&w.text) || w.text.chars().all(|c| !c.is_alphanumeric()))
}
