//! Reads PDF into rows.
//!
//! What this room is for: structure from the file's own evidence: headings by outline, numbering and setting; paragraphs
//! over lines, columns and pages; tables; figures; every row with its pages and boxes. What enters: the bytes of a PDF.
//! What leaves: [`Parsed`]. What it must never do: run scripts, open embedded files, guess in silence.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

mod aligned;
mod blocks;
mod caption;
mod contents;
mod continued;
mod figures;
mod footnotes;
mod furniture;
mod headings;
mod page;
mod paged;
mod pictures;
mod reading;
mod routes;
mod rows;
mod tables;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use quarry_document::{ParseInParts, Parser, Source};
use quarry_model::message::Profile;
use quarry_model::pdf::Shard;
use quarry_model::{DocumentCode, DocumentFailure, Limits, Parsed, Warning};
use quarry_pdf::{OutlineEntry, Pdf};
use quarry_ports::Ocr;

use crate::page::PageText;
use crate::reading::Reading;
use crate::routes::Route;

/// The parser of PDF. By itself it reads no text in pictures.
#[derive(Clone, Default)]
pub struct PdfParser {
    ocr: Option<Arc<dyn Ocr>>,
    page_time: Option<Duration>,
}

impl PdfParser {
    /// A parser that has scanned pages read by `ocr`.
    #[must_use]
    pub fn with_ocr(ocr: Option<Arc<dyn Ocr>>) -> Self {
        Self { ocr, ..Self::default() }
    }

    /// With another limit on the time that each page may take to read.
    #[must_use]
    pub fn with_page_time(self, page_time: Duration) -> Self {
        Self { page_time: Some(page_time), ..self }
    }

    /// Opens a document; `before`: as one that the profiler has opened.
    fn open(&self, source: &Source<'_>, limits: &Limits, before: bool) -> Result<Pdf, DocumentFailure> {
        let pdf = reading::open(source, limits, before)?;
        Ok(match self.page_time {
            Some(page_time) => pdf.with_page_time(page_time),
            None => pdf,
        })
    }
}

impl Parser for PdfParser {
    fn name(&self) -> &'static str {
        "parse-pdf"
    }

    fn version(&self) -> &'static str {
        // Text that was recognised makes another revision.
        if self.ocr.is_some() { "2+ocr" } else { "2" }
    }

    fn parse(&self, source: &Source<'_>, limits: &Limits) -> Result<Parsed, DocumentFailure> {
        let pdf = self.open(source, limits, false)?;
        let reading = Reading::of(&pdf, None, source.profile, self.ocr.as_deref(), limits);
        Ok(structured(&pdf, reading, source.profile, limits))
    }

    fn in_parts(&self) -> Option<&dyn ParseInParts> {
        Some(self)
    }
}

impl ParseInParts for PdfParser {
    fn read_part(&self, source: &Source<'_>, shard: Shard, limits: &Limits) -> Result<Vec<u8>, DocumentFailure> {
        let pdf = self.open(source, limits, true)?;
        Reading::of(&pdf, Some(shard), source.profile, self.ocr.as_deref(), limits).written()
    }

    fn join(&self, source: &Source<'_>, parts: Vec<Bytes>, limits: &Limits) -> Result<Option<Parsed>, DocumentFailure> {
        let pdf = self.open(source, limits, true)?;
        let reading = Reading::joined(parts, pdf.page_count());
        Ok(reading.map(|reading| structured(&pdf, reading, source.profile, limits)))
    }
}

/// Everything that needs all pages: furniture, headings, paragraphs, tables and figures.
fn structured(pdf: &Pdf, reading: Reading, profile: &Profile, limits: &Limits) -> Parsed {
    let Reading { pages, mut scans } = reading;
    scans.in_page_order();
    let mut warnings = warnings_of(&pages, pdf);
    warnings.extend(scans.warnings.iter().map(Warning::from));
    let route = Route::of(profile);
    let count = pages.len();
    let outline = pdf.outline();
    let mut parsed = match route {
        Route::Atlas => routes::atlas::parse(pages, &outline, pdf, limits),
        _ => flow(pages, &outline, route, pdf, limits),
    };
    if route != Route::Atlas {
        scans.add_pictures(&mut parsed, pdf);
    }
    routes::notes::add(&mut parsed, pdf);
    parsed.outline = rows::outline_of(&outline);
    parsed.title = pdf.title();
    parsed.page_count = u32::try_from(count).ok();
    parsed.partial |=
        scans.partial || pdf.is_cut_off() || warnings.iter().any(|w| matches!(w.code, DocumentCode::TooLarge | DocumentCode::TimedOut));
    parsed.warnings.append(&mut warnings);
    parsed
}

/// Pages of running text, or of slides.
fn flow(mut pages: Vec<PageText>, outline: &[OutlineEntry], route: Route, pdf: &Pdf, limits: &Limits) -> Parsed {
    let running = furniture::take(&mut pages);
    let body = page::body_of(&pages);
    let contents = contents::pages_of(&pages);
    let figures = figures::figures_of(&pages);
    let parts: Vec<_> =
        pages.iter_mut().zip(figures).map(|(page, figures)| (tables::take(page, contents.contains(&page.number)), figures)).collect();
    if route == Route::Slides {
        let heights: Vec<f32> = pages.iter().map(|page| page.height).collect();
        let each = pages.into_iter().zip(parts).map(|(page, part)| blocks::blocks_of(vec![page], vec![part], body));
        let blocks: Vec<_> = each.flatten().collect();
        let found = routes::slides::headings_of(&blocks, &heights);
        return rows::rows_of(blocks, found, running, pdf, limits);
    }
    let count = pages.len();
    let blocks = footnotes::place(continued::join(blocks::blocks_of(pages, parts, body)), body);
    let found = headings::headings_of(&blocks, outline, body, count, &contents);
    rows::rows_of(blocks, found, running, pdf, limits)
}

/// What of the pages could not be read, and what was found and never run.
fn warnings_of(pages: &[PageText], pdf: &Pdf) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for page in pages {
        let mut warn = |code, message: String| warnings.push(Warning { code, message, page: Some(page.number) });
        if page.cut {
            warn(DocumentCode::TooLarge, "the page holds more than is read; what came after is missing".to_owned());
        }
        if page.late {
            warn(DocumentCode::TimedOut, "reading the page took longer than a page may take; what came after is missing".to_owned());
        }
        if page.glyphs > 20 && (page.unmapped as usize).saturating_mul(10) > page.glyphs.saturating_mul(3) {
            warn(
                DocumentCode::NoText,
                format!("{} of {} characters have no known meaning in the file's fonts", page.unmapped, page.glyphs),
            );
        }
        if page.lines.is_empty() && !page.pictures.is_empty() && page.coverage < routes::scanned::SCAN_COVERAGE {
            warn(DocumentCode::NoText, "the page is a picture without text".to_owned());
        }
    }
    if pdf.is_cut_off() {
        let message = "the file is cut off: its end is missing, and with it perhaps pages; what was found is read";
        warnings.push(Warning::new(DocumentCode::Corrupt, message));
    }
    for what in pdf.active_content() {
        warnings.push(Warning::new(DocumentCode::Unsupported, format!("the file carries {what}: noted, never run or opened")));
    }
    warnings
}
