//! The half of parsing that takes each page by itself: glyphs become lines, grids and pictures, and scanned pages get
//! their text. What is made of it needs all pages, and comes after.
//!
//! A run of pages may be read anywhere and travel as bytes. So that the cuts change nothing, what concerns the whole
//! document is taken from the document itself or from its anatomy, never from the pages of the run.

use bytes::Bytes;
use quarry_document::Source;
use quarry_model::message::Profile;
use quarry_model::pdf::Shard;
use quarry_model::{DocumentCode, DocumentFailure, Limits};
use quarry_pdf::{Pdf, PdfError};
use quarry_ports::Ocr;
use serde::{Deserialize, Serialize};

use crate::page::PageText;
use crate::routes::scanned::{self, Scans, Spoken};

/// First bytes of a part; changes with its form.
const MARK: &[u8] = b"quarry-pages-1\n";

/// What was read of a run of pages.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reading {
    pub(crate) pages: Vec<PageText>,
    pub(crate) scans: Scans,
}

impl Reading {
    /// Reads a run of pages, or all of them.
    pub(crate) fn of(pdf: &Pdf, shard: Option<Shard>, profile: &Profile, ocr: Option<&dyn Ocr>, limits: &Limits) -> Self {
        let run = shard.map_or(1..=usize::MAX, |shard| shard.first as usize..=shard.last as usize);
        let mut pages: Vec<PageText> = Vec::new();
        pdf.read_run(run, |number, page, fonts| {
            pages.push(PageText::of(number, &page, fonts));
            true
        });
        let spoken = match profile.pdf.as_ref().and_then(|measured| measured.anatomy.as_ref()) {
            Some(anatomy) => Spoken::Told(anatomy.language.clone()),
            None => Spoken::ByItsPages,
        };
        let scans = scanned::read(&mut pages, pdf, ocr, spoken, limits);
        Self { pages, scans }
    }

    /// As bytes, for whoever puts the runs together.
    pub(crate) fn written(&self) -> Result<Vec<u8>, DocumentFailure> {
        postcard::to_extend(self, MARK.to_vec())
            .map_err(|error| DocumentFailure::new(DocumentCode::Crashed, format!("a part cannot be written: {error}")))
    }

    /// Runs of pages as one; `None` when they are no such thing, or not all pages of a document of `count`.
    pub(crate) fn joined(parts: Vec<Bytes>, count: usize) -> Option<Self> {
        let mut whole = Self { pages: Vec::with_capacity(count), scans: Scans::default() };
        for part in parts {
            let read: Self = postcard::from_bytes(part.strip_prefix(MARK)?).ok()?;
            whole.pages.extend(read.pages);
            whole.scans.append(read.scans);
        }
        let complete = whole.pages.len() == count && whole.pages.iter().zip(1u32..).all(|(page, number)| page.number == number);
        complete.then_some(whole)
    }
}

/// Opens a document. A run of pages is of one that the profiler has opened before: what it expands to is known.
pub(crate) fn open(source: &Source<'_>, limits: &Limits, before: bool) -> Result<Pdf, DocumentFailure> {
    let bytes = source.bytes.to_vec();
    let opened = if before { Pdf::open_again(bytes, limits) } else { Pdf::open(bytes, limits) };
    opened.map_err(|error| {
        let code = match error {
            PdfError::Encrypted => DocumentCode::Encrypted,
            PdfError::TooManyPages { .. } => DocumentCode::TooManyPages,
            PdfError::Bomb => DocumentCode::Bomb,
            PdfError::Corrupt => DocumentCode::Corrupt,
        };
        DocumentFailure::new(code, error.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(numbers: std::ops::RangeInclusive<u32>) -> Bytes {
        let pages = numbers.map(|number| PageText { number, height: 0.1, ..PageText::default() }).collect();
        Bytes::from(Reading { pages, ..Reading::default() }.written().unwrap())
    }

    #[test]
    fn what_is_written_is_read() {
        let whole = Reading::joined(vec![part(1..=3), part(4..=5)], 5).unwrap();
        assert_eq!(whole.pages.iter().map(|page| page.number).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
        assert_eq!(whole.pages[4].height.to_bits(), 0.1f32.to_bits());
    }

    #[test]
    fn parts_that_make_no_document_are_told_from_those_that_do() {
        assert!(Reading::joined(vec![part(1..=3), part(5..=6)], 5).is_none(), "a page is missing");
        assert!(Reading::joined(vec![part(1..=3)], 5).is_none(), "the end is missing");
        assert!(Reading::joined(vec![Bytes::from_static(b"something else")], 0).is_none());
        let written = part(1..=3);
        for cut in 0..written.len() {
            assert!(Reading::joined(vec![written.slice(..cut)], 3).is_none(), "cut at {cut}");
        }
    }
}
