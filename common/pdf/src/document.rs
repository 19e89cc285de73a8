//! Opening a document, and reading it page by page.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use hayro_syntax::object::{Dict, ObjectIdentifier};
use hayro_syntax::{DecryptionError, LoadPdfError};
use quarry_model::Limits;

use crate::font::{FontInfo, Fonts};
use crate::interpret::read_page;
use crate::outline::{OutlineEntry, read_outline};
use crate::page::Page;

/// Why a document cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PdfError {
    /// It needs a password that we do not have.
    #[error("a password is needed")]
    Encrypted,
    /// It has more pages than allowed.
    #[error("{pages} pages, at most {limit} are read")]
    TooManyPages {
        /// Pages found.
        pages: usize,
        /// Pages allowed.
        limit: u32,
    },
    /// It expands to far more than is allowed.
    #[error("it expands past the limit")]
    Bomb,
    /// No page can be found in it.
    #[error("no page can be found")]
    Corrupt,
}

/// An opened document.
pub struct Pdf {
    inner: hayro_syntax::Pdf,
    cut_off: bool,
    page_time: Duration,
}

/// Longest that one page may take to read. An ordinary page takes some milliseconds, the slowest drawing we have seen two
/// seconds on a busy machine; a page beyond this is made to take long.
const PAGE_TIME: Duration = Duration::from_secs(10);

/// How far before its last byte a whole file says that it ends.
const END_BYTES: usize = 2048;

impl Pdf {
    /// Opens a document, with the empty password when it is encrypted.
    pub fn open(bytes: Vec<u8>, limits: &Limits) -> Result<Self, PdfError> {
        if crate::guard::is_bomb(&bytes, limits) {
            return Err(PdfError::Bomb);
        }
        Self::open_again(bytes, limits)
    }

    /// Opens a document that [`Pdf::open`] has accepted before: what it expands to is not measured again.
    pub fn open_again(bytes: Vec<u8>, limits: &Limits) -> Result<Self, PdfError> {
        let end = bytes.get(bytes.len().saturating_sub(END_BYTES)..).unwrap_or_default();
        let cut_off = memchr::memmem::find(end, b"%%EOF").is_none();
        let inner = hayro_syntax::Pdf::new(Arc::new(bytes)).map_err(|error| match error {
            LoadPdfError::Decryption(DecryptionError::PasswordProtected) => PdfError::Encrypted,
            LoadPdfError::Decryption(_) => PdfError::Encrypted,
            LoadPdfError::Invalid => PdfError::Corrupt,
        })?;
        let pages = inner.pages().len();
        if pages == 0 {
            return Err(PdfError::Corrupt);
        }
        if pages > limits.pdf_pages as usize {
            return Err(PdfError::TooManyPages { pages, limit: limits.pdf_pages });
        }
        Ok(Self { inner, cut_off, page_time: PAGE_TIME })
    }

    /// With another limit on the time that each page may take.
    #[must_use]
    pub fn with_page_time(self, page_time: Duration) -> Self {
        Self { page_time, ..self }
    }

    /// Whether the file lacks its end: what stood there, pages among it, is missing.
    pub fn is_cut_off(&self) -> bool {
        self.cut_off
    }

    /// How many pages it has.
    pub fn page_count(&self) -> usize {
        self.inner.pages().len()
    }

    /// The title by its own metadata.
    pub fn title(&self) -> Option<String> {
        let title = self.inner.metadata().title.as_ref()?;
        Some(crate::outline::text_string(title)).filter(|title| !title.trim().is_empty())
    }

    /// The outline with pages and heights; empty when there is none.
    pub fn outline(&self) -> Vec<OutlineEntry> {
        let places: Vec<Option<ObjectIdentifier>> = self.inner.pages().iter().map(|page| page.raw().obj_id()).collect();
        read_outline(self.inner.xref(), &places, &|index| {
            self.inner.pages().get(index).map(|page| (page.initial_transform(true), page.render_dimensions()))
        })
    }

    /// Reads every page in order, handing each to `take` with its number (from 1), until `take` answers `false`.
    pub fn read(&self, take: impl FnMut(usize, Page, &[FontInfo]) -> bool) {
        self.read_run(1..=usize::MAX, take);
    }

    /// The same for the pages of a run, from 1; pages that the document does not have are passed over.
    pub fn read_run(&self, run: RangeInclusive<usize>, mut take: impl FnMut(usize, Page, &[FontInfo]) -> bool) {
        let mut fonts = Fonts::new();
        let before = run.start().saturating_sub(1);
        for (index, page) in self.inner.pages().iter().enumerate().skip(before) {
            let number = index.saturating_add(1);
            if number > *run.end() {
                return;
            }
            let read = read_page(page, &mut fonts, self.page_time);
            if !take(number, read, &fonts.infos) {
                return;
            }
        }
    }

    /// The parsed file.
    pub(crate) fn inner(&self) -> &hayro_syntax::Pdf {
        &self.inner
    }

    /// The catalog.
    pub(crate) fn catalog(&self) -> Option<Dict<'_>> {
        self.inner.xref().get(self.inner.xref().root_id())
    }

    /// Whether the document carries scripts, actions, forms or files that are noted and never run.
    pub fn active_content(&self) -> Vec<&'static str> {
        let Some(catalog) = self.catalog() else { return Vec::new() };
        let mut found = Vec::new();
        if catalog.contains_key("OpenAction") || catalog.contains_key("AA") {
            found.push("open action");
        }
        if let Some(names) = catalog.get::<Dict<'_>>("Names") {
            if names.contains_key("JavaScript") {
                found.push("script");
            }
            if names.contains_key("EmbeddedFiles") {
                found.push("embedded files");
            }
        }
        if catalog.get::<Dict<'_>>("AcroForm").is_some_and(|form| form.contains_key("XFA")) {
            found.push("XFA form");
        }
        found
    }
}
