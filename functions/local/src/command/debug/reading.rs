//! Reading one file without a store.

use std::path::Path;
use std::thread;

use anyhow::Context;
use bytes::Bytes;
use quarry_document::{RevisionFolder, RevisionRequest, parse_to_folder};
use quarry_model::message::Profile;
use quarry_model::{Format, Limits, Namespace, Owner, Scope};
use quarry_ports::SystemClock;
use quarry_profiler::pdf::measure;
use quarry_profiler::{Detection, Pieces, Stop, detect};
use serde_json::Map;

use crate::exit::{Exit, Failure};
use crate::files;
use crate::parsers::parser_with;

/// Stack of the thread that parses: what the parsers' stage gives it.
const STACK_BYTES: usize = 64 << 20;

/// A file with its name.
pub(super) struct Source {
    pub(super) name: String,
    pub(super) bytes: Bytes,
}

/// Reads a file.
pub(super) fn open(file: &Path) -> Result<Source, Failure> {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let bytes = std::fs::read(file).map_err(|error| Failure::not_found(format!("{}: {error}", file.display())))?;
    Ok(Source { name, bytes: Bytes::from(bytes) })
}

/// What the profiler says of it.
pub(super) fn profile(source: &Source, limits: &Limits) -> Result<Detection, Failure> {
    let mut pieces = Pieces::new(source.bytes.len() as u64);
    pieces.add(0, source.bytes.clone());
    detect(&pieces, &source.name, limits).map_err(|stop| match stop {
        Stop::Failure(failure) => refused(failure),
        Stop::Missing(range) => anyhow::anyhow!("the profiler asks for bytes {range:?} of a file it has in full").into(),
    })
}

/// All that goes to the parser: of a PDF with what was measured of its pages.
pub(super) fn whole_profile(found: &Detection, source: &Source, limits: &Limits) -> Result<Profile, Failure> {
    let profile = found.profile();
    if found.format != Format::Pdf {
        return Ok(profile);
    }
    let measured = apart(|| measure(&source.bytes, limits))?.map_err(refused)?;
    Ok(Profile { category: measured.category, routing_category: measured.routing_category, pdf: Some(measured.profile), ..profile })
}

/// Runs on a thread with a large stack.
fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work).context("no thread to read on")?;
        thread.join().map_err(|_| anyhow::anyhow!("reading panicked").into())
    })
}

/// Its revision folder.
pub(super) fn parse(file: &Path, source: &Source, limits: &Limits) -> Result<RevisionFolder, Failure> {
    let found = profile(source, limits)?;
    let family = found.format.row().family;
    let family = family.ok_or_else(|| refused(quarry_profiler::detect::unsupported(found.format)))?;
    let scope = Scope::new(Owner::local(), Namespace::default());
    let request = RevisionRequest {
        job_id: None,
        data_id: None,
        document_id: files::document(&scope, &file.canonicalize().unwrap_or_else(|_| file.to_owned())),
        file_name: source.name.clone(),
        profile: whole_profile(&found, source, limits)?,
        parsing_params: Map::new(),
    };
    apart(|| parse_to_folder(&*parser_with(family, quarry_ocr::on_this_machine()), &source.bytes, &request, limits, &SystemClock))?
        .map_err(refused)
}

/// A document that cannot be read.
pub(super) fn refused(failure: quarry_model::DocumentFailure) -> Failure {
    Failure { exit: Exit::SomeFailed, error: anyhow::anyhow!("{}: {}", failure.code.name(), failure.message()) }
}
