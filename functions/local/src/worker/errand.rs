//! One piece of work in a child process of its own: this program again, with the document on its standard input and the
//! result on its standard output. Whatever a document does to it, the child dies of it alone.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Child;
use tokio::sync::Semaphore;

use super::child::bounded;
use crate::exit::Failure;

/// Most bytes of a result.
const MAX_RESULT_BYTES: u64 = 64 << 20;
/// Most bytes of what a child says about its failure.
const MAX_WORDS: u64 = 4096;

/// How a child ended, and what it left.
pub(super) struct Errand {
    pub(super) status: ExitStatus,
    pub(super) result: Vec<u8>,
    pub(super) said: String,
}

/// Sends children, at most so many at once; who finds no place waits.
pub(super) struct Errands {
    program: PathBuf,
    places: Semaphore,
}

impl Errands {
    pub(super) fn new(size: usize) -> Result<Self, Failure> {
        Ok(Self { program: std::env::current_exe()?, places: Semaphore::new(size.max(1)) })
    }

    /// Sends a child. When the future is dropped, the child is killed.
    pub(super) async fn send(&self, args: &[&str], input: &[u8]) -> std::io::Result<Errand> {
        let _place = self.places.acquire().await.map_err(std::io::Error::other)?;
        let mut command = bounded(&self.program);
        command.args(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        attend(&mut command.spawn()?, input).await
    }
}

/// Feeds the child and reads it to its end.
async fn attend(child: &mut Child, source: &[u8]) -> std::io::Result<Errand> {
    let (Some(mut input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take()) else {
        return Err(std::io::Error::other("no pipes"));
    };
    let (mut result, mut said) = (Vec::new(), Vec::new());
    let (mut output, mut errors) = (output.take(MAX_RESULT_BYTES), errors.take(MAX_WORDS));
    let feed = async {
        // A child that has seen enough closes its end; its status says what it made of it.
        let _ = input.write_all(source).await;
        drop(input);
    };
    let ((), read, heard) = tokio::join!(feed, output.read_to_end(&mut result), errors.read_to_end(&mut said));
    read?;
    heard?;
    Ok(Errand { status: child.wait().await?, result, said: String::from_utf8_lossy(&said).trim().to_owned() })
}
