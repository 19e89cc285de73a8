//! Reads a document as the stages do and says how that ended.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use quarry_document::{Parser, RevisionFolder, RevisionRequest, parse_to_folder};
use quarry_model::message::Profile;
use quarry_model::{DocumentCode, DocumentFailure, DocumentId, Format, Limits, Timestamp};
use quarry_parse_pdf::PdfParser;
use quarry_ports::Clock;
use serde_json::Map;

const STACK_BYTES: usize = 64 << 20;
/// Longest reading of any case, in a build for tests on a loaded machine.
const PATIENCE: Duration = Duration::from_mins(1);

struct OneMoment;

impl Clock for OneMoment {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000)
    }
}

/// How it ended.
pub(crate) type Ended = Result<RevisionFolder, DocumentFailure>;

/// Profiles and parses, as the road does. A panic or a hang fails the test.
pub(crate) fn read(bytes: &[u8]) -> Ended {
    read_within(bytes, &Limits::default())
}

pub(crate) fn read_within(bytes: &[u8], limits: &Limits) -> Ended {
    let (send, receive) = mpsc::channel();
    let (bytes, limits) = (Bytes::copy_from_slice(bytes), limits.clone());
    let work = move || {
        let ended = whole(&bytes, &limits);
        send.send(ended).expect("somebody waits");
    };
    let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(work).expect("a thread");
    match receive.recv_timeout(PATIENCE) {
        Ok(ended) => ended,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("no end after {PATIENCE:?}"),
        Err(mpsc::RecvTimeoutError::Disconnected) => panic!("reading panicked: {:?}", thread.join().map(|()| "?")),
    }
}

fn whole(bytes: &Bytes, limits: &Limits) -> Ended {
    let measured = quarry_profiler::pdf::measure(bytes, limits)?;
    let request = RevisionRequest {
        job_id: None,
        data_id: None,
        document_id: DocumentId::from_random([0; 6]),
        file_name: "case.pdf".into(),
        profile: Profile {
            format: Format::Pdf,
            claimed_format: None,
            encoding: None,
            category: measured.category,
            routing_category: measured.routing_category,
            pdf: Some(measured.profile),
        },
        parsing_params: Map::new(),
    };
    let parser: &dyn Parser = &PdfParser::default();
    parse_to_folder(parser, bytes, &request, limits, &OneMoment)
}

/// What a document that must be readable says, in reading order.
#[track_caller]
pub(crate) fn text(bytes: &[u8]) -> String {
    words(&folder(bytes))
}

#[track_caller]
pub(crate) fn folder(bytes: &[u8]) -> RevisionFolder {
    read(bytes).unwrap_or_else(|failure| panic!("it can be read: {failure}"))
}

pub(crate) fn words(folder: &RevisionFolder) -> String {
    String::from_utf8(folder.file("full.md").expect("full.md").to_vec()).expect("UTF-8")
}

/// The code of a document that must be refused.
#[track_caller]
pub(crate) fn refused(bytes: &[u8]) -> DocumentCode {
    match read(bytes) {
        Ok(folder) => panic!("it must be refused, and says {:?}", words(&folder)),
        Err(failure) => failure.code,
    }
}

/// Codes of the warnings in a folder's manifest.
pub(crate) fn warned(folder: &RevisionFolder) -> Vec<DocumentCode> {
    folder.manifest.quality.warnings.iter().map(|warning| warning.code).collect()
}
