//! Who draws a page. Drawing cannot be interrupted and a crafted file can overflow a stack: on Lambda that costs one
//! instance, and one thread is enough; a server of many callers draws in a child process instead.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use quarry_model::Limits;
use quarry_pdf::{PAGE_DPI, Pdf, RenderError};
use tokio::sync::{Semaphore, oneshot};

/// How long a page may take; below the 29 s after which a gateway gives up.
pub const PATIENCE: Duration = Duration::from_secs(20);
/// Stack of the thread that draws: what the parsers' stage gives its own.
const STACK_BYTES: usize = 64 << 20;
/// Pages drawn at once; one that ran out of time counts until its thread ends.
const AT_ONCE: usize = 2;

/// Why there is no image.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DrawError {
    /// The document has no such page.
    #[error("there is no such page")]
    NoPage,
    /// Not drawn in time.
    #[error("not drawn after {} s", .0.as_secs())]
    TimedOut(Duration),
    /// Too many pages are being drawn.
    #[error("too many pages are being drawn")]
    Busy,
    /// The file cannot be opened or drawn.
    #[error("{0}")]
    Failed(String),
}

/// Draws pages of PDF documents.
#[async_trait]
pub trait DrawPages: Send + Sync + 'static {
    /// The page (from 1) of a document as a PNG of [`PAGE_DPI`].
    async fn draw(&self, source: Bytes, page: u32) -> Result<Bytes, DrawError>;
}

/// Draws on a thread of this process: its panics are caught, its time is limited.
#[derive(Debug)]
pub struct InProcess {
    limits: Arc<Limits>,
    places: Arc<Semaphore>,
}

impl InProcess {
    /// A drawer of documents within `limits`.
    pub fn new(limits: Arc<Limits>) -> Self {
        Self { limits, places: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

/// Draws here and now: the work of one thread, or of one child process.
pub(crate) fn draw(source: &[u8], page: u32, limits: &Limits) -> Result<Bytes, DrawError> {
    let pdf = Pdf::open_again(source.to_vec(), limits).map_err(|error| DrawError::Failed(error.to_string()))?;
    match pdf.render(page, PAGE_DPI) {
        Ok(image) => Ok(Bytes::from(image.png)),
        Err(RenderError::NoPage { .. }) => Err(DrawError::NoPage),
        Err(error) => Err(DrawError::Failed(error.to_string())),
    }
}

#[async_trait]
impl DrawPages for InProcess {
    async fn draw(&self, source: Bytes, page: u32) -> Result<Bytes, DrawError> {
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| DrawError::Busy)?;
        let (send, receive) = oneshot::channel();
        let limits = Arc::clone(&self.limits);
        let work = move || {
            let drawn = catch_unwind(AssertUnwindSafe(|| draw(&source, page, &limits)));
            drop(place);
            // The receiver is gone after a time-out.
            let _ = send.send(drawn);
        };
        let thread = std::thread::Builder::new().name("page".to_owned()).stack_size(STACK_BYTES).spawn(work);
        thread.map_err(|error| DrawError::Failed(format!("no thread: {error}")))?;
        match tokio::time::timeout(PATIENCE, receive).await {
            Ok(Ok(Ok(drawn))) => drawn,
            Ok(Ok(Err(_)) | Err(_)) => Err(DrawError::Failed("drawing panicked".to_owned())),
            Err(_) => Err(DrawError::TimedOut(PATIENCE)),
        }
    }
}
