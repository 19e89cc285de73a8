//! Measuring PDF documents in child processes.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use quarry_model::DocumentFailure;
use quarry_profiler::pdf::{MeasurePdf, Measured};

use super::errand::Errands;
use crate::exit::Failure;

/// How long a document may take; what takes longer is read the general way.
const PATIENCE: Duration = Duration::from_secs(45);

/// Sends `measure-pdf` for every document.
pub(crate) struct ChildMeasurer {
    errands: Errands,
}

impl ChildMeasurer {
    /// Measures at most `size` documents at once.
    pub(crate) fn new(size: usize) -> Result<Self, Failure> {
        Ok(Self { errands: Errands::new(size)? })
    }
}

#[async_trait]
impl MeasurePdf for ChildMeasurer {
    async fn measure(&self, source: Bytes) -> Result<Option<Measured>, DocumentFailure> {
        let done = match tokio::time::timeout(PATIENCE, self.errands.send(&["measure-pdf"], &source)).await {
            Ok(Ok(done)) if done.status.success() => done,
            Ok(Ok(done)) => {
                tracing::warn!(status = %done.status, said = done.said, "a document was not measured; it is read the general way");
                return Ok(None);
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "a document was not measured; it is read the general way");
                return Ok(None);
            }
            Err(_) => {
                tracing::warn!("measuring a document took too long; it is read the general way");
                return Ok(None);
            }
        };
        match serde_json::from_slice::<Result<Measured, DocumentFailure>>(&done.result) {
            Ok(measured) => measured.map(Some),
            Err(error) => {
                tracing::warn!(%error, "what measuring a document gave cannot be read");
                Ok(None)
            }
        }
    }
}
