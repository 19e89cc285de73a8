//! One page as the parser works on it.

use std::collections::BTreeMap;

use quarry_document::symbols;
use quarry_language::script::Script;
use quarry_pdf::{FontInfo, Grid, Line, Page, Picture, Rect, Rule, grids_of, lines_of};
use serde::{Deserialize, Serialize};

/// Fewer visible characters than this, and a page counts as one without text of its own.
const FEW_CHARACTERS: usize = 50;

/// What is kept of a page once its glyphs are lines.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PageText {
    /// From 1.
    pub(crate) number: u32,
    pub(crate) height: f32,
    /// Lines in the order of drawing; furniture and table text are taken out on the way.
    pub(crate) lines: Vec<Line>,
    pub(crate) grids: Vec<Grid>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) pictures: Vec<Picture>,
    /// Share of the page's area under pictures.
    pub(crate) coverage: f32,
    /// Glyphs whose characters are not known.
    pub(crate) unmapped: u32,
    /// All glyphs.
    pub(crate) glyphs: usize,
    /// Whether the page was cut at a limit.
    pub(crate) cut: bool,
    /// Whether reading it took longer than a page may take.
    pub(crate) late: bool,
}

impl PageText {
    pub(crate) fn of(number: usize, page: &Page, fonts: &[FontInfo]) -> Self {
        let mut lines = lines_of(page, fonts);
        for line in &mut lines {
            without_private_use(line, fonts);
            // Fonts are counted by whoever reads them; from here on their numbers would mean nothing.
            line.font = usize::MAX;
            line.words.iter_mut().for_each(|word| word.font = usize::MAX);
        }
        lines.retain(|line| !line.words.is_empty());
        let visible: usize = lines.iter().filter(|l| !l.hidden).flat_map(|l| &l.words).map(|w| w.text.chars().count()).sum();
        let hidden_layer = visible < FEW_CHARACTERS && lines.iter().any(|line| line.hidden);
        // Hidden text beside visible text repeats it, or is not meant for readers.
        let lines = if hidden_layer { lines } else { lines.into_iter().filter(|line| !line.hidden).collect() };
        Self {
            number: u32::try_from(number).unwrap_or(u32::MAX),
            height: page.height,
            lines,
            grids: grids_of(page),
            rules: page.rules.iter().filter(|rule| rule.horizontal).copied().collect(),
            pictures: page.pictures.clone(),
            coverage: page.picture_coverage(),
            unmapped: page.unmapped,
            glyphs: page.glyphs.len(),
            cut: page.cut,
            late: page.late,
        }
    }
}

/// Private-use characters as what symbol fonts mean by them. One that stands alone at the beginning of a line is a list's
/// mark whatever its font; any other that no known font explains is an icon, which is no text.
fn without_private_use(line: &mut Line, fonts: &[FontInfo]) {
    let private = |c: char| matches!(c, '\u{e000}'..='\u{f8ff}');
    if !line.words.iter().any(|word| word.text.contains(private)) {
        return;
    }
    let several = line.words.len() > 1;
    for (index, word) in line.words.iter_mut().enumerate().filter(|(_, word)| word.text.contains(private)) {
        let font = fonts.get(word.font).map(|info| info.name.as_str()).unwrap_or_default();
        word.text = symbols::replace(&word.text, Some(font)).chars().filter(|c| !c.is_control()).collect();
        if word.text.chars().all(private) {
            word.text = if index == 0 && several { "•".to_owned() } else { String::new() };
        }
    }
    line.words.retain(|word| !word.text.is_empty());
}

/// What the running text of a document looks like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Body {
    /// The size most characters have, in points.
    pub(crate) size: f32,
    /// Whether the running text itself is bold.
    pub(crate) bold: bool,
    /// The usual distance between two baselines, in sizes.
    pub(crate) leading: f32,
}

/// The most common size, weight and leading, by characters.
pub(crate) fn body_of(pages: &[PageText]) -> Body {
    let mut sizes: BTreeMap<(u32, bool), usize> = BTreeMap::new();
    let mut leadings: Vec<f32> = Vec::new();
    // Listings are set smaller than the text around them: they say what the body looks like only where they are all there is.
    let of = |monospace: bool| pages.iter().flat_map(|p| &p.lines).filter(|l| l.monospace == monospace).map(characters_of).sum::<usize>();
    let listings = of(true) > of(false).saturating_mul(4);
    for page in pages {
        let mut before: Option<&Line> = None;
        for line in page.lines.iter().filter(|line| line.angle == 0 && (listings || !line.monospace)) {
            let characters = characters_of(line);
            let slot = sizes.entry(((line.size * 4.0).round() as u32, line.bold)).or_insert(0);
            *slot = slot.saturating_add(characters);
            if let Some(last) = before {
                let step = (line.baseline - last.baseline) / line.size.max(1.0);
                if (0.8..2.5).contains(&step) && (line.size - last.size).abs() < 0.3 && line.rect.horizontal_overlap(&last.rect) > 0.0 {
                    leadings.push(step);
                }
            }
            before = Some(line);
        }
    }
    // Neighbouring quarter sizes are one size: a font scaled to 9.96 and to 10.04 points is the same text.
    let best = sizes.iter().max_by_key(|((size, bold), _)| {
        let near: usize = sizes.iter().filter(|((s, b), _)| b == bold && s.abs_diff(*size) <= 1).map(|(_, n)| n).sum();
        (near, std::cmp::Reverse(*size))
    });
    leadings.sort_by(f32::total_cmp);
    let leading = leadings.get(leadings.len() / 2).copied().unwrap_or(1.2);
    best.map_or(Body { size: 10.0, bold: false, leading }, |((size, bold), _)| Body { size: *size as f32 / 4.0, bold: *bold, leading })
}

/// Characters of a line; a Chinese, Japanese or Korean one counts twice, for it says as much.
fn characters_of(line: &Line) -> usize {
    let wide = |c: char| matches!(Script::of(c), Some(Script::Han | Script::Kana | Script::Hangul));
    line.words.iter().flat_map(|w| w.text.chars()).map(|c| if wide(c) { 2 } else { 1 }).sum()
}

/// Whether a rectangle lies mostly inside another.
pub(crate) fn inside(inner: &Rect, outer: &Rect) -> bool {
    let area = inner.area().max(0.01);
    inner.intersection(outer).area() / area > 0.6
}
