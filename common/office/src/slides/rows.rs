//! Shapes → rows: the title of a slide, and what stands on it in reading order.

use std::collections::BTreeSet;

use quarry_model::{Evidence, Heading, Parsed, Row};

use super::geometry::Rect;
use super::order::reading_order;
use super::shape::{Content, Shape};
use super::template::Purpose;
use super::text::{Paragraph, is_slide_number};

/// Longest first text that stands in for a title, in characters.
const TITLE_CHARS: usize = 120;
/// A text this much larger than the first one is the title of a slide without one.
const TITLE_SIZE: f64 = 1.25;
/// Size of text that says none, in hundredths of a point.
const USUAL_SIZE: u32 = 1_800;

/// A slide as read.
#[derive(Debug, Default)]
pub(crate) struct Slide {
    pub shapes: Vec<Shape>,
    /// What the speaker is told.
    pub notes: Vec<Paragraph>,
    /// Comments, each with its author.
    pub comments: Vec<String>,
    /// Whether it is left out when the slides are shown.
    pub hidden: bool,
}

/// Collects the rows of a presentation.
#[derive(Default)]
pub(crate) struct Rows {
    pub parsed: Parsed,
    /// Footers and dates that stand on a slide already: they repeat, and are told once.
    told: BTreeSet<String>,
}

/// A shape in reading order, groups dissolved.
struct Item {
    place: Option<Rect>,
    hidden: bool,
    content: Content,
}

impl Rows {
    /// Adds a slide: one section, with its page.
    pub(crate) fn slide(&mut self, page: u32, height: f64, slide: Slide) {
        let mut items = Vec::new();
        flatten(slide.shapes, &mut items);
        let title = take_title(&mut items).or_else(|| take_first_text(&mut items, height)).unwrap_or_else(|| format!("Slide {page}"));
        let section = Some(self.parsed.headings.len());
        self.parsed.headings.push(Heading { number: None, title, level: 1, page: Some(page), evidence: Evidence::Slide });
        let mut place = Place { section, page, hidden: slide.hidden, rect: None };
        for item in items {
            place.rect = item.place;
            place.hidden = slide.hidden || item.hidden;
            match item.content {
                Content::Text(Some(Purpose::Number), paragraphs) if paragraphs.iter().all(|p| is_slide_number(&p.text)) => {}
                Content::Text(Some(Purpose::Footer | Purpose::Number), paragraphs) => {
                    let new = paragraphs.into_iter().filter(|paragraph| self.told.insert(fold(&paragraph.text)));
                    let new: Vec<Paragraph> = new.collect();
                    self.paragraphs(&new, "", place);
                }
                Content::Text(_, paragraphs) => self.paragraphs(&paragraphs, "", place),
                Content::Table(table) => self.push(Row::table(section, table), place),
                Content::Picture(asset, said) => self.push(Row { asset, ..Row::image(section, 0, said) }, place),
                Content::Group(_) => {}
            }
        }
        let place = Place { rect: None, hidden: slide.hidden, ..place };
        self.paragraphs(&slide.notes, "Notes: ", place);
        for comment in slide.comments {
            self.push(Row::text(section, comment), place);
        }
    }

    /// One row for each paragraph; items of a list follow one another closely.
    fn paragraphs(&mut self, paragraphs: &[Paragraph], before: &str, place: Place) {
        let mut in_list = false;
        for (index, paragraph) in paragraphs.iter().enumerate() {
            let item = paragraph.label.is_some();
            let line = paragraph.line();
            let line = if index == 0 && !before.is_empty() { format!("{before}{line}") } else { line };
            self.push(Row { tight: in_list && item, ..Row::text(place.section, line) }, place);
            in_list = item;
        }
    }

    fn push(&mut self, row: Row, place: Place) {
        let boxes = place.rect.map(|rect| rect.on_page(place.page)).into_iter().collect();
        self.parsed.rows.push(Row { pages: vec![place.page], boxes, hidden: place.hidden, ..row });
    }
}

/// Where rows stand.
#[derive(Debug, Clone, Copy)]
struct Place {
    section: Option<usize>,
    page: u32,
    hidden: bool,
    rect: Option<Rect>,
}

/// Shapes in reading order; a group is read as one, its shapes by themselves. Nesting is bounded by the depth of the part.
fn flatten(shapes: Vec<Shape>, out: &mut Vec<Item>) {
    let order = reading_order(&shapes.iter().map(|shape| shape.place).collect::<Vec<_>>());
    let mut shapes: Vec<Option<Shape>> = shapes.into_iter().map(Some).collect();
    for index in order {
        match shapes.get_mut(index).and_then(Option::take) {
            Some(Shape { content: Content::Group(inner), .. }) => flatten(inner, out),
            Some(Shape { place, hidden, content }) => out.push(Item { place, hidden, content }),
            None => {}
        }
    }
}

/// The text of the title placeholder. Where there are several, the others stay text.
fn take_title(items: &mut Vec<Item>) -> Option<String> {
    let title = items.iter().position(|item| matches!(item.content, Content::Text(Some(Purpose::Title), _)))?;
    let Content::Text(_, paragraphs) = items.remove(title).content else { return None };
    let title = paragraphs.iter().map(|paragraph| fold(&paragraph.text)).collect::<Vec<_>>().join(" ");
    (!title.is_empty()).then_some(title)
}

/// The first paragraph that can stand in for a title: the first text of all, or a clearly larger one in the upper half.
/// It is taken out of the text; a first text that is too long for a title stays where it is.
fn take_first_text(items: &mut Vec<Item>, height: f64) -> Option<String> {
    let candidates = items.iter().enumerate().filter_map(|(index, item)| {
        let Content::Text(None | Some(Purpose::Body), paragraphs) = &item.content else { return None };
        let paragraph = paragraphs.first().filter(|paragraph| !item.hidden && paragraph.text.chars().any(char::is_alphabetic))?;
        let upper = item.place.is_none_or(|place| place.y0 < height / 2.0);
        Some((index, f64::from(paragraph.size.unwrap_or(USUAL_SIZE)), upper))
    });
    let candidates: Vec<(usize, f64, bool)> = candidates.collect();
    let (first, size, _) = candidates.first().copied()?;
    let mut best = (first, size * TITLE_SIZE);
    for (index, size, upper) in candidates {
        if upper && size >= best.1 && (index != first) && (best.0 == first || size > best.1) {
            best = (index, size);
        }
    }
    let item = items.get_mut(best.0)?;
    let Content::Text(_, paragraphs) = &mut item.content else { return None };
    let title = fold(&paragraphs.first()?.text);
    if title.chars().nth(TITLE_CHARS).is_some() {
        return None;
    }
    paragraphs.remove(0);
    if paragraphs.is_empty() {
        items.remove(best.0);
    }
    Some(title)
}

/// White space folded to single spaces.
fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
