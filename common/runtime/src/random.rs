//! Random identities and secrets, from the operating system's generator.

use quarry_model::{DocumentId, JobId};

use crate::error::Error;

/// `N` random bytes.
pub fn bytes<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| Error::Random(error.to_string()))?;
    Ok(bytes)
}

/// A new job's identity.
pub fn job_id() -> Result<JobId, Error> {
    Ok(JobId::from_random(bytes()?))
}

/// A new document's identity.
pub fn document_id() -> Result<DocumentId, Error> {
    Ok(DocumentId::from_random(bytes()?))
}

/// 32 hex digits: request ids, fencing tokens.
pub fn token() -> Result<String, Error> {
    Ok(hex::encode(bytes::<16>()?))
}

/// `base` with up to half of it added or taken away, so that many who wait do not come back at once.
pub fn jitter(base: std::time::Duration) -> std::time::Duration {
    let share = bytes::<1>().map_or(0.5, |[byte]| f64::from(byte) / 255.0);
    base.mul_f64(0.5 + share)
}
