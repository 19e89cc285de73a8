//! The measuring itself, and who does it: a thread of this process, or whoever the program puts in its place.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use quarry_model::pdf::PdfProfile;
use quarry_model::{DocumentCode, DocumentFailure, Limits};
use quarry_pdf::{Page, Pdf, PdfError};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::anatomy::Anatomist;
use super::category::category;
use super::features::{Facts, columns, sizes};
use super::route::route;

/// Stack of the thread that measures: what the parsers' stage gives its own.
const STACK_BYTES: usize = 64 << 20;
/// How long measuring may take; what takes longer is read the general way.
const PATIENCE: Duration = Duration::from_secs(40);
/// Pages whose words tell the category, and the characters that are enough.
const FIRST_PAGES: usize = 3;
const FIRST_CHARACTERS: usize = 6_000;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// At most five words.
    pub category: String,
    /// `atlas`, `scanned`, `slides` or `generic`.
    pub routing_category: String,
    /// The numbers behind it.
    pub profile: PdfProfile,
}

/// Measures a document here and now. Fails as the parser would: `ENCRYPTED`, `CORRUPT`, `BOMB`, `TOO_MANY_PAGES`.
pub fn measure(bytes: &[u8], limits: &Limits) -> Result<Measured, DocumentFailure> {
    let pdf = Pdf::open(bytes.to_vec(), limits).map_err(|error| {
        let code = match error {
            PdfError::Encrypted => DocumentCode::Encrypted,
            PdfError::TooManyPages { .. } => DocumentCode::TooManyPages,
            PdfError::Bomb => DocumentCode::Bomb,
            PdfError::Corrupt => DocumentCode::Corrupt,
        };
        DocumentFailure::new(code, error.to_string())
    })?;
    let mut pages: Vec<Facts> = Vec::with_capacity(pdf.page_count());
    let mut first = String::new();
    // A document of more pages than one message reads is cut.
    let mut anatomist = (pdf.page_count() > limits.pdf_shard_pages as usize).then(Anatomist::default);
    pdf.read(|number, page, fonts| {
        pages.push(Facts::of(&page));
        if let Some(anatomist) = &mut anatomist {
            anatomist.see(&page, fonts);
        }
        if number <= FIRST_PAGES {
            add_words(&mut first, &page);
        }
        true
    });
    let sizes = sizes(&pages);
    let routed = route(&pages, &sizes);
    let title = pdf.title();
    let anatomy = anatomist.map(|anatomist| anatomist.anatomy(&pdf.outline(), limits.pdf_shard_pages));
    Ok(Measured {
        category: category(title.as_deref(), &first, routed.route).to_owned(),
        routing_category: routed.route.to_owned(),
        profile: PdfProfile { evidence: routed.evidence, sizes, pages: columns(&pages), anatomy },
    })
}

/// The characters of a page in the order in which they are drawn, parted where the pen jumps: enough to find words in.
fn add_words(out: &mut String, page: &Page) {
    let mut end: Option<(f32, f32)> = None;
    for glyph in &page.glyphs {
        if out.len() > FIRST_CHARACTERS {
            return;
        }
        let near = |(x, y): (f32, f32)| (glyph.origin.0 - x).abs() < 0.2 * glyph.size && (glyph.origin.1 - y).abs() < 0.5 * glyph.size;
        if !end.is_some_and(near) && !out.ends_with(' ') {
            out.push(' ');
        }
        out.push_str(&glyph.text);
        end = Some(glyph.end);
    }
    out.push('\n');
}

/// Measures documents of unknown origin. `Ok(None)`: it could not be measured (too slow, a crash), which is for the
/// parser's own attempts to find out.
#[async_trait]
pub trait MeasurePdf: Send + Sync + 'static {
    /// Measures one document.
    async fn measure(&self, source: Bytes) -> Result<Option<Measured>, DocumentFailure>;
}

/// On a thread of this process with a large stack: its panics are caught, its time is limited.
#[derive(Debug, Clone)]
pub struct InProcess {
    limits: Arc<Limits>,
}

impl InProcess {
    /// Within `limits`.
    pub fn new(limits: Arc<Limits>) -> Self {
        Self { limits }
    }
}

#[async_trait]
impl MeasurePdf for InProcess {
    async fn measure(&self, source: Bytes) -> Result<Option<Measured>, DocumentFailure> {
        let (send, receive) = oneshot::channel();
        let limits = Arc::clone(&self.limits);
        let work = move || {
            // The receiver is gone after a time-out.
            let _ = send.send(catch_unwind(AssertUnwindSafe(|| measure(&source, &limits))));
        };
        if let Err(error) = std::thread::Builder::new().name("measure".to_owned()).stack_size(STACK_BYTES).spawn(work) {
            tracing::warn!(%error, "no thread to measure a document on");
            return Ok(None);
        }
        match tokio::time::timeout(PATIENCE, receive).await {
            Ok(Ok(Ok(measured))) => measured.map(Some),
            Ok(Ok(Err(_)) | Err(_)) => {
                tracing::warn!("measuring a document panicked; it is read the general way");
                Ok(None)
            }
            Err(_) => {
                tracing::warn!("measuring a document took too long; it is read the general way");
                Ok(None)
            }
        }
    }
}
