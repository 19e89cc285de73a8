//! Drawing pages in child processes: the child is this program again, as `draw-page`, with the document on its standard
//! input and the image on its standard output. It lives for one page.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use async_trait::async_trait;
use bytes::Bytes;
use quarry_upload::{DrawError, DrawPages, PATIENCE};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Child;
use tokio::sync::Semaphore;

use super::child::bounded;
use crate::exit::{Exit, Failure};

/// Most bytes of an image that are taken from a child.
const MAX_IMAGE_BYTES: u64 = 64 << 20;

/// As many children as there are places; who finds none waits.
pub(crate) struct ChildDrawer {
    program: PathBuf,
    places: Semaphore,
}

impl ChildDrawer {
    /// Draws at most `size` pages at once.
    pub(crate) fn new(size: usize) -> Result<Self, Failure> {
        Ok(Self { program: std::env::current_exe()?, places: Semaphore::new(size.max(1)) })
    }

    fn start(&self, page: u32) -> std::io::Result<Child> {
        let mut command = bounded(&self.program);
        command.arg("draw-page").arg(page.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        command.spawn()
    }
}

/// Feeds the child and reads it to its end.
async fn attend(child: &mut Child, source: &[u8]) -> std::io::Result<(ExitStatus, Vec<u8>, String)> {
    let (Some(mut input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take()) else {
        return Err(std::io::Error::other("no pipes"));
    };
    let (mut image, mut said) = (Vec::new(), String::new());
    let (mut output, mut errors) = (output.take(MAX_IMAGE_BYTES), errors.take(4096));
    let feed = async {
        // A child that has seen enough closes its end; its status says what it made of it.
        let _ = input.write_all(source).await;
        drop(input);
    };
    let ((), read, heard) = tokio::join!(feed, output.read_to_end(&mut image), errors.read_to_string(&mut said));
    read?;
    heard?;
    Ok((child.wait().await?, image, said))
}

#[async_trait]
impl DrawPages for ChildDrawer {
    async fn draw(&self, source: Bytes, page: u32) -> Result<Bytes, DrawError> {
        let work = async {
            // The semaphore is never closed.
            let _place = self.places.acquire().await.map_err(|_| DrawError::Busy)?;
            let mut child = self.start(page).map_err(|error| DrawError::Failed(error.to_string()))?;
            attend(&mut child, &source).await.map_err(|error| DrawError::Failed(error.to_string()))
        };
        // On a time-out the child is dropped, and killed by that.
        let (status, image, said) = tokio::time::timeout(PATIENCE, work).await.map_err(|_| DrawError::TimedOut(PATIENCE))??;
        if status.success() {
            return Ok(Bytes::from(image));
        }
        if status.code() == Some(i32::from(Exit::NotFound.code())) {
            return Err(DrawError::NoPage);
        }
        Err(DrawError::Failed(format!("{status}: {}", said.trim())))
    }
}
