//! Reading one file without a store.

use std::path::Path;
use std::thread;

use anyhow::Context;
use bytes::Bytes;
use quarry_document::{RevisionFolder, RevisionRequest, parse_to_folder};
use quarry_model::{Limits, Namespace, Owner, Scope};
use quarry_ports::SystemClock;
use quarry_profiler::{Detection, Pieces, Stop, detect};
use serde_json::Map;

use crate::exit::{Exit, Failure};
use crate::files;
use crate::parsers::parser;

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
        profile: found.profile(),
        parsing_params: Map::new(),
    };
    thread::scope(|scope| {
        let work = || parse_to_folder(&*parser(family), &source.bytes, &request, limits, &SystemClock);
        let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work).context("no thread to parse on")?;
        match thread.join() {
            Ok(folder) => folder.map_err(refused),
            Err(_) => Err(anyhow::anyhow!("the parser panicked").into()),
        }
    })
}

/// A document that cannot be read.
pub(super) fn refused(failure: quarry_model::DocumentFailure) -> Failure {
    Failure { exit: Exit::SomeFailed, error: anyhow::anyhow!("{}: {}", failure.code.name(), failure.message()) }
}
