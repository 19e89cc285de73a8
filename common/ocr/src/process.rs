//! A program run under a clock: its input fed, its output taken up to a limit, its process group killed when time is up.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How often a running program is looked at.
const STEP: Duration = Duration::from_millis(5);

/// How a run ended.
pub(crate) struct Run {
    pub(crate) status: ExitStatus,
    pub(crate) out: Vec<u8>,
    pub(crate) err: Vec<u8>,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error("cannot be started: {0}")]
    Start(#[from] std::io::Error),
    #[error("not done in time")]
    TimedOut,
}

/// Runs a program to its end.
pub(crate) fn run(command: &mut Command, input: &[u8], patience: Duration, most_output: u64) -> Result<Run, RunError> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own, so that whatever it starts ends with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let deadline = Instant::now().checked_add(patience);
    let mut child = command.spawn()?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        let feed = scope.spawn(move || {
            // A program that has seen enough closes its end; its status says what it made of it.
            if let Some(mut stdin) = stdin {
                let _ = stdin.write_all(input);
            }
        });
        let out = scope.spawn(move || drain(stdout, most_output));
        let err = scope.spawn(move || drain(stderr, 4096));
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Ok(status),
                Ok(None) if deadline.is_some_and(|deadline| Instant::now() >= deadline) => break Err(RunError::TimedOut),
                Ok(None) => thread::sleep(STEP),
                Err(error) => break Err(error.into()),
            }
        };
        if status.is_err() {
            kill(&mut child);
        }
        // The pipes are closed now, by the program's end or by ours.
        let _ = feed.join();
        let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
        Ok(Run { status: status?, out, err })
    })
}

/// Everything up to a limit; the rest is read and dropped, so that the program does not wait for a reader.
fn drain(pipe: Option<impl Read>, most: u64) -> Vec<u8> {
    let mut kept = Vec::new();
    let Some(mut pipe) = pipe else { return kept };
    // What was read before a pipe broke is all there is.
    let _ = pipe.by_ref().take(most).read_to_end(&mut kept);
    let _ = std::io::copy(&mut pipe, &mut std::io::sink());
    kept
}

/// Ends the program and all it has started.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw)
        && let Err(error) = rustix::process::kill_process_group(group, rustix::process::Signal::KILL)
    {
        tracing::warn!(%error, "a process group could not be killed");
    }
    // It is dead already where groups can be killed; its entry is taken here.
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn input_and_output_and_status() {
        let run = run(&mut Command::new("cat"), b"hello", Duration::from_secs(10), 3).unwrap();
        assert!(run.status.success());
        assert_eq!((run.out, run.err), (b"hel".to_vec(), Vec::new()));
    }

    #[test]
    fn what_takes_too_long_dies_with_all_it_started() {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg("sleep 600 & echo $!; wait");
        let began = Instant::now();
        assert!(matches!(run(&mut shell, b"", Duration::from_millis(300), 100), Err(RunError::TimedOut)));
        // The grandchild held the output open: had it lived, reading would not have ended.
        assert!(began.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn what_is_not_there_cannot_be_started() {
        assert!(matches!(run(&mut Command::new("/no/such/program"), b"", STEP, 1), Err(RunError::Start(_))));
    }
}
