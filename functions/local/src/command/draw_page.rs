//! `quarry draw-page N`: draws one page of the document on standard input for the process that started it.

use std::io::{Read, Write};
use std::thread;

use anyhow::Context;
use quarry_runtime::Config;
use quarry_upload::{DrawError, draw_page};

use crate::exit::{Exit, Failure};

/// Stack of the thread that draws: what the parsers' stage gives its own.
const STACK_BYTES: usize = 64 << 20;

pub(crate) fn run(config: &Config, page: u32) -> Result<Exit, Failure> {
    let mut source = Vec::new();
    std::io::stdin().lock().take(config.limits.file_bytes).read_to_end(&mut source)?;
    let drawn = thread::scope(|scope| {
        let work = || draw_page(&source, page, &config.limits);
        let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work).context("no thread to draw on")?;
        thread.join().map_err(|_| anyhow::anyhow!("drawing panicked"))
    })?;
    let image = drawn.map_err(|error| match error {
        DrawError::NoPage => Failure::not_found(error),
        error => error.into(),
    })?;
    let mut out = std::io::stdout().lock();
    out.write_all(&image)?;
    out.flush()?;
    Ok(Exit::Ok)
}
