//! Pages that are pictures of text: their hidden text layer when it is text, else recognition, else the picture of the
//! page. A scanned document is never empty and never an error.

use std::time::{Duration, Instant};

use quarry_language::detect;
use quarry_model::{Asset, DocumentCode, Limits, PageBox, Parsed, Row, Warning};
use quarry_pdf::{PAGE_DPI, Pdf};
use quarry_ports::Ocr;
use serde::{Deserialize, Serialize};

use super::notes::insert_after_page;
use super::recognise::{self, Job};
use crate::page::PageText;

/// A page with fewer visible characters than this, and a picture over [`SCAN_COVERAGE`] of it, is a scan: a stamp or a
/// page number printed on a scan stays below, a sentence does not.
const SCAN_CHARACTERS: usize = 50;
pub(crate) const SCAN_COVERAGE: f32 = 0.5;
/// Share of a hidden layer's characters that must be letters or digits: recognised noise is full of marks.
const LAYER_LETTERS: f32 = 0.65;
/// Share of a page's glyphs without meaning above which its text is no text.
const UNMAPPED: f32 = 0.5;
/// Share of the time for a document that recognition may take; the rest is for reading and writing.
const TIME_SHARE: f64 = 0.6;
/// A language is asked for only when this many characters tell it.
const LANGUAGE_CHARACTERS: usize = 200;

/// What was found out about scanned pages.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scans {
    /// Pages shown as pictures, for nobody could read them.
    pictures: Vec<u32>,
    pub(crate) warnings: Vec<Complaint>,
    /// Whether pages that could have been read were left for want of time.
    pub(crate) partial: bool,
}

/// A warning in a form that is written without names: every field stands, present or not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Complaint {
    code: DocumentCode,
    message: String,
    page: Option<u32>,
}

impl From<Warning> for Complaint {
    fn from(Warning { code, message, page }: Warning) -> Self {
        Self { code, message, page }
    }
}

impl From<&Complaint> for Warning {
    fn from(said: &Complaint) -> Self {
        Self { code: said.code, message: said.message.clone(), page: said.page }
    }
}

/// What tells the language of the document where it does not declare one.
pub(crate) enum Spoken {
    /// Whoever has seen all of it.
    Told(Option<String>),
    /// The pages at hand, which are all pages.
    ByItsPages,
}

/// Gives scanned pages their text, as far as anybody can read it.
pub(crate) fn read(pages: &mut [PageText], pdf: &Pdf, ocr: Option<&dyn Ocr>, spoken: Spoken, limits: &Limits) -> Scans {
    let mut scans = Scans::default();
    let spoken = pdf.language().or_else(|| match spoken {
        Spoken::Told(language) => language,
        Spoken::ByItsPages => language_of(pages),
    });
    let mut wanted: Vec<Job> = Vec::new();
    for (index, page) in pages.iter_mut().enumerate() {
        match kind_of(page, spoken.as_deref()) {
            Kind::Text => {}
            Kind::Layer => drop_visible_repetition(page),
            Kind::Scan => {
                page.lines.retain(|line| !line.hidden);
                wanted.push(Job { index, page: page.number });
            }
            Kind::Unmapped => wanted.push(Job { index, page: page.number }),
        }
    }
    if wanted.is_empty() {
        return scans;
    }
    let unread = match ocr {
        Some(ocr) => {
            let patience = Duration::from_secs(limits.parse_seconds).mul_f64(TIME_SHARE);
            recognise::read(pages, wanted, pdf, ocr, spoken, Instant::now().checked_add(patience), &mut scans)
        }
        None => wanted,
    };
    let who = if ocr.is_some() { "no text was recognised in it" } else { "text recognition is not configured" };
    for job in unread {
        let Some(page) = pages.get_mut(job.index) else { continue };
        if page.unmapped as f32 > UNMAPPED * page.glyphs as f32 && page.glyphs > 0 {
            continue;
        }
        let warning =
            Warning { code: DocumentCode::NoText, message: format!("the page is a picture without text: {who}"), page: Some(job.page) };
        scans.warnings.push(warning.into());
        // One picture is kept as the file holds it; strips, tiles and layers are drawn as the page they make up.
        if page.pictures.len() != 1 {
            page.pictures.clear();
            scans.pictures.push(job.page);
        }
    }
    scans
}

impl Scans {
    /// Adds what was found out about later pages.
    pub(crate) fn append(&mut self, mut later: Self) {
        self.pictures.append(&mut later.pictures);
        self.warnings.append(&mut later.warnings);
        self.partial |= later.partial;
    }

    /// Puts warnings of pages in the pages' order, whoever read them; those of no page come last.
    pub(crate) fn in_page_order(&mut self) {
        self.warnings.sort_by_key(|warning| warning.page.unwrap_or(u32::MAX));
    }

    /// Puts the pictures of pages that nobody could read where those pages stand.
    pub(crate) fn add_pictures(&self, parsed: &mut Parsed, pdf: &Pdf) {
        for page in &self.pictures {
            match pdf.render(*page, PAGE_DPI) {
                Ok(image) => {
                    let asset = parsed.assets.len();
                    parsed.assets.push(Asset { bytes: image.png, original_name: format!("page {page}") });
                    let mut row = Row::image(None, asset, String::new());
                    row.pages = vec![*page];
                    row.boxes = page_box(pdf, *page).into_iter().collect();
                    insert_after_page(parsed, row);
                }
                Err(error) => parsed.warnings.push(Warning { code: DocumentCode::Corrupt, message: error.to_string(), page: Some(*page) }),
            }
        }
    }
}

/// The whole page as a box.
pub(super) fn page_box(pdf: &Pdf, page: u32) -> Option<PageBox> {
    let (width, height) = pdf.page_size(page)?;
    Some(PageBox { page, x0: 0.0, y0: 0.0, x1: width, y1: height })
}

enum Kind {
    /// Has text of its own.
    Text,
    /// A scan with a hidden layer of text.
    Layer,
    /// A scan.
    Scan,
    /// Its characters have no meaning.
    Unmapped,
}

fn kind_of(page: &PageText, language: Option<&str>) -> Kind {
    let count =
        |hidden: bool| page.lines.iter().filter(|line| line.hidden == hidden).flat_map(|l| &l.words).map(|w| w.text.chars().count()).sum();
    let (visible, hidden): (usize, usize) = (count(false), count(true));
    if page.glyphs > 20 && page.unmapped as f32 > UNMAPPED * page.glyphs as f32 {
        return Kind::Unmapped;
    }
    if visible >= SCAN_CHARACTERS {
        return Kind::Text;
    }
    if hidden > visible && is_text(page, language) {
        return Kind::Layer;
    }
    if page.coverage >= SCAN_COVERAGE { Kind::Scan } else { Kind::Text }
}

/// Whether a hidden layer says something: mostly letters, and not in another script than the rest of the document.
fn is_text(page: &PageText, language: Option<&str>) -> bool {
    let text: String = page.lines.iter().filter(|line| line.hidden).map(|line| line.text() + " ").collect();
    let solid = text.chars().filter(|c| !c.is_whitespace()).count();
    let letters = text.chars().filter(|c| c.is_alphanumeric() && *c != char::REPLACEMENT_CHARACTER).count();
    if solid == 0 || (letters as f32) < LAYER_LETTERS * solid as f32 {
        return false;
    }
    if solid < LANGUAGE_CHARACTERS {
        return true;
    }
    match (detect(&text), language) {
        // Words of no language are what a wrong encoding, or recognition of a photograph, leaves.
        ("und", _) => false,
        (found, Some(expected)) => is_cjk(found) == is_cjk(expected),
        (_, None) => true,
    }
}

fn is_cjk(language: &str) -> bool {
    matches!(language, "zh" | "ja" | "ko")
}

/// A stamp on a scan is part of its hidden layer as well: what stands twice in one place is kept once.
fn drop_visible_repetition(page: &mut PageText) {
    let hidden: Vec<_> = page.lines.iter().filter(|line| line.hidden).map(|line| line.rect).collect();
    page.lines.retain(|line| line.hidden || !hidden.iter().any(|rect| crate::page::inside(&line.rect, rect)));
}

/// The language of the pages that have text of their own.
fn language_of(pages: &[PageText]) -> Option<String> {
    let mut text = String::new();
    for line in pages.iter().flat_map(|page| &page.lines).filter(|line| !line.hidden) {
        text.push_str(&line.text());
        text.push('\n');
        if text.len() > 4_000 {
            break;
        }
    }
    known_language(&text)
}

pub(super) fn known_language(text: &str) -> Option<String> {
    if text.chars().count() < LANGUAGE_CHARACTERS {
        return None;
    }
    Some(detect(text)).filter(|language| *language != "und").map(str::to_owned)
}
