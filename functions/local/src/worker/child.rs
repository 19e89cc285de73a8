//! One child process.

use std::path::Path;
use std::process::Stdio;

use quarry_model::message::ParseMessage;
use quarry_model::{Outcome, Trace};
use quarry_ports::trace;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// Address space of a child in KiB: 4 GiB. A parser's limits keep it far below; this is for what they do not foresee.
const MEMORY_KIB: u64 = 4 << 20;

/// What a child is told: one line of JSON.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Told {
    /// The document.
    pub(crate) message: ParseMessage,
    /// The trace that the work belongs to.
    pub(crate) trace: Option<Trace>,
}

/// A running child, idle or at work.
pub(super) struct Worker {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

/// Why a child gave no outcome.
#[derive(Debug, thiserror::Error)]
pub(super) enum WorkerError {
    /// It could not be started.
    #[error("the parser process cannot be started: {0}")]
    Start(#[source] std::io::Error),
    /// It died at work.
    #[error("the parser process died ({0})")]
    Died(String),
    /// What it wrote is no outcome.
    #[error("the parser process answered something else than an outcome")]
    Answer(#[from] serde_json::Error),
}

impl Worker {
    /// Starts a child on a data folder.
    pub(super) fn start(program: &Path, data: &Path) -> Result<Self, WorkerError> {
        let mut command = bounded(program);
        command.arg("--data").arg(data).arg("parse-worker");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        // Ctrl-C at the terminal is meant for us; we let the child finish or kill it.
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn().map_err(WorkerError::Start)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(WorkerError::Start(std::io::Error::other("no pipes")));
        };
        Ok(Self { child, input, output: BufReader::new(output).lines() })
    }

    /// Gives it a document and waits for the outcome.
    pub(super) async fn parse(&mut self, message: &ParseMessage) -> Result<Outcome<()>, WorkerError> {
        let told = Told { message: message.clone(), trace: trace::current() };
        let mut line = serde_json::to_string(&told)?;
        line.push('\n');
        let written = async {
            self.input.write_all(line.as_bytes()).await?;
            self.input.flush().await
        };
        let answer = match written.await {
            Ok(()) => self.output.next_line().await,
            Err(error) => Err(error),
        };
        match answer {
            Ok(Some(line)) => Ok(serde_json::from_str(&line)?),
            Ok(None) | Err(_) => Err(WorkerError::Died(self.status().await)),
        }
    }

    async fn status(&mut self) -> String {
        match tokio::time::timeout(std::time::Duration::from_secs(2), self.child.wait()).await {
            Ok(Ok(status)) => status.to_string(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "its output is closed".to_owned(),
        }
    }

    /// Closes its input and waits for its end.
    pub(super) async fn farewell(self) -> Result<(), WorkerError> {
        let Self { mut child, input, output: _output } = self;
        drop(input);
        match tokio::time::timeout(std::time::Duration::from_secs(10), child.wait()).await {
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(Ok(status)) => Err(WorkerError::Died(status.to_string())),
            Ok(Err(error)) => Err(WorkerError::Start(error)),
            Err(_) => Err(WorkerError::Died("it does not end".to_owned())),
        }
    }

    /// Ends it at once.
    pub(super) async fn kill(mut self) {
        if let Err(error) = self.child.kill().await {
            tracing::warn!(%error, "a parser process could not be killed");
        }
    }
}

/// The program under a cap on its address space, where the system has one.
#[cfg(unix)]
pub(super) fn bounded(program: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    // A system without the limit (macOS) says so; the program runs all the same.
    command.arg("-c").arg(format!("ulimit -v {MEMORY_KIB} 2>/dev/null; exec \"$0\" \"$@\"")).arg(program);
    command
}

#[cfg(not(unix))]
pub(super) fn bounded(program: &Path) -> Command {
    let _ = MEMORY_KIB;
    Command::new(program)
}
