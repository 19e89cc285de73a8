//! `quarry measure-pdf`: measures the document on standard input for the process that started it; the measures, or the
//! document's failure, as JSON on standard output.

use std::io::{Read, Write};
use std::thread;

use anyhow::Context;
use quarry_profiler::pdf::measure;
use quarry_runtime::Config;

use crate::exit::{Exit, Failure};

/// Stack of the thread that measures: what the parsers' stage gives its own.
const STACK_BYTES: usize = 64 << 20;

pub(crate) fn run(config: &Config) -> Result<Exit, Failure> {
    let mut source = Vec::new();
    std::io::stdin().lock().take(config.limits.file_bytes.saturating_add(1)).read_to_end(&mut source)?;
    let measured = thread::scope(|scope| {
        let work = || measure(&source, &config.limits);
        let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work).context("no thread to measure on")?;
        thread.join().map_err(|_| anyhow::anyhow!("measuring panicked"))
    })?;
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, &measured)?;
    out.flush()?;
    Ok(Exit::Ok)
}
