//! The jobs of publications that change nothing: a job always ends.

use quarry_model::{DocumentId, JobId, Revision, Scope};
use quarry_ports::TransactError;

use crate::Publisher;
use crate::error::PublishError;
use quarry_publication::folder;

/// How often a job that others change at the same moment is tried again.
const TRIES: u32 = 8;

/// Ends the job of a revision that need not be published, because it is published already or something newer is: the
/// job has done its work and its result can be fetched, so it is `done`.
pub(crate) async fn end(
    publisher: &Publisher,
    scope: &Scope,
    document: &DocumentId,
    job: &JobId,
    revision: &Revision,
) -> Result<(), PublishError> {
    for _ in 0..TRIES {
        let Some(found) = publisher.jobs.load(job).await?.filter(|job| job.state.is_active()) else {
            return Ok(());
        };
        let (sha256, progress) = folder::result(&*publisher.stores.objects, scope, document, revision).await?;
        let writes = publisher.jobs.done_writes(&found, revision, Some(&sha256), progress)?;
        match publisher.stores.records.transact(writes).await {
            Ok(()) => return Ok(()),
            Err(TransactError::Conditions(_) | TransactError::Conflict) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(PublishError::Contended(TRIES))
}
