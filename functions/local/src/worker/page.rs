//! Drawing pages in child processes.

use async_trait::async_trait;
use bytes::Bytes;
use quarry_upload::{DrawError, DrawPages, PATIENCE};

use super::errand::Errands;
use crate::exit::{Exit, Failure};

/// Sends `draw-page` for every page.
pub(crate) struct ChildDrawer {
    errands: Errands,
}

impl ChildDrawer {
    /// Draws at most `size` pages at once.
    pub(crate) fn new(size: usize) -> Result<Self, Failure> {
        Ok(Self { errands: Errands::new(size)? })
    }
}

#[async_trait]
impl DrawPages for ChildDrawer {
    async fn draw(&self, source: Bytes, page: u32) -> Result<Bytes, DrawError> {
        let page = page.to_string();
        let args = ["draw-page", page.as_str()];
        let done = tokio::time::timeout(PATIENCE, self.errands.send(&args, &source)).await.map_err(|_| DrawError::TimedOut(PATIENCE))?;
        let done = done.map_err(|error| DrawError::Failed(error.to_string()))?;
        if done.status.success() {
            return Ok(Bytes::from(done.result));
        }
        if done.status.code() == Some(i32::from(Exit::NotFound.code())) {
            return Err(DrawError::NoPage);
        }
        Err(DrawError::Failed(format!("{}: {}", done.status, done.said)))
    }
}
