//! Sources that are fetched from an address.

use std::time::Duration;

use bytes::Bytes;
use quarry_model::api::CreateJob;
use quarry_model::{ApiError, Format, Job, JobState};
use quarry_outbound::Answer;
use quarry_ports::{PutCondition, PutOptions};
use quarry_runtime::http::Failure;
use quarry_runtime::jobs::{NewJob, RequestNames};

use super::announce;
use crate::Upload;
use crate::input::Violations;

/// Most bytes fetched: they pass through memory.
const SOURCE_BYTES: u64 = 100 << 20;
/// Time for the whole of it: the gateway in front of us waits thirty seconds.
const SOURCE_TIME: Duration = Duration::from_secs(25);
/// The name of a file whose address has none.
const UNNAMED: &str = "document";

/// The address to fetch, if the request names one; what is wrong with it, or with the kind of source, is a violation.
pub(super) fn address(upload: &Upload, bad: &mut Violations, request: &CreateJob) -> Option<String> {
    match request.source_type.as_str() {
        "file" => {
            // It would wait for an upload that its caller does not mean to make.
            if request.source_url.as_deref().is_some_and(|url| !url.trim().is_empty()) {
                bad.add("body.source_url", "goes with source_type url; leave it out for a file that is uploaded");
            }
            None
        }
        "url" => {
            let url = request.source_url.as_deref().unwrap_or_default().trim();
            if url.is_empty() {
                bad.add("body.source_url", "is required: the address of the file");
            } else if let Err(error) = upload.outbound.check(url) {
                bad.add("body.source_url", error.to_string());
            }
            Some(url.to_owned())
        }
        _ => {
            bad.add("body.source_type", "must be file or url");
            None
        }
    }
}

/// Fetches the file and makes its job, in this order: an address that gives nothing leaves no job behind. An equal
/// request finds the job of the first one, and fetches only if the first died before the bytes were kept.
pub(super) async fn create(upload: &Upload, mut new: NewJob, url: &str) -> Result<Job, Failure> {
    let names = RequestNames::of(&new);
    let known = upload.jobs.known(&names).await?;
    if let Some(job) = known.as_ref().filter(|job| job.state != JobState::WaitingFile) {
        return Ok(job.clone());
    }
    let most = SOURCE_BYTES.min(upload.limits.file_bytes);
    let fetched = upload.outbound.fetch(url, most, SOURCE_TIME).await;
    let answer = fetched.map_err(|error| ApiError::invalid_field("body.source_url", &error.to_string()))?;
    if new.file_name.is_empty() {
        new.file_name = name_of(&answer)?;
    }
    let job = match known {
        Some(job) => job,
        None => upload.jobs.create_as(&names, new).await?.job(),
    };
    // Two equal requests at once: the other one has brought the bytes.
    if job.state != JobState::WaitingFile {
        return Ok(job);
    }
    keep(upload, &job, answer.bytes).await
}

async fn keep(upload: &Upload, job: &Job, bytes: Bytes) -> Result<Job, Failure> {
    let media_type = Format::of_file_name(&job.file_name).map_or("application/octet-stream", Format::media_type);
    let options = PutOptions { condition: PutCondition::Always, content_type: Some(media_type.to_owned()) };
    let meta = upload.objects.put(&job.source, bytes, options).await?;
    announce(upload, job, &meta).await
}

/// The file's name as the server or the address gives it, with an extension by media type when it has none.
fn name_of(answer: &Answer) -> Result<String, Failure> {
    let given = answer.file_name.as_deref().unwrap_or(UNNAMED);
    let claimed = answer.media_type.as_deref().and_then(Format::of_media_type);
    let name = match claimed {
        Some(format) if Format::of_file_name(given).is_none() => format!("{given}.{}", format.extension()),
        _ => given.to_owned(),
    };
    let mut bad = Violations::default();
    let name = bad.file_name("body.file_name", Some(&name));
    bad.check()?;
    Ok(name)
}
