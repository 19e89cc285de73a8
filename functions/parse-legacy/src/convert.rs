//! LibreOffice as a converter: found on the machine, run apart from everything, ended in time.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use quarry_model::{DocumentCode, DocumentFailure, Limits};

/// Names of the program.
const NAMES: [&str; 2] = ["soffice", "libreoffice"];
/// Between two looks at whether it has ended.
const PAUSE: Duration = Duration::from_millis(50);
/// Macros are never run, and nothing that a document links to is fetched.
const SETTINGS: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="BlockUntrustedRefererLinks" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting"><prop oor:name="MacroSecurityLevel" oor:op="fuse"><value>3</value></prop></item>
</oor:items>
"#;

/// The program on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibreOffice {
    program: PathBuf,
}

impl LibreOffice {
    /// Looks for it where programs are.
    pub fn detect() -> Option<Self> {
        let path = std::env::var_os("PATH")?;
        let mut places = std::env::split_paths(&path).flat_map(|folder| NAMES.map(|name| folder.join(name)));
        places.find(|place| place.is_file()).map(Self::at)
    }

    /// The program at this place.
    pub fn at(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into() }
    }

    /// Converts a file from one extension to another.
    ///
    /// Fails with `TIMED_OUT` after half the time that a parse may take, with `CORRUPT` when nothing comes out, and with
    /// `TOO_LARGE` when what comes out is larger than a file may be.
    pub fn convert(&self, bytes: &[u8], from: &str, to: &str, limits: &Limits) -> Result<Vec<u8>, DocumentFailure> {
        let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
        let place = folder.path();
        let input = place.join(format!("input.{from}"));
        let settings = place.join("profile/user");
        fs::create_dir_all(&settings).map_err(|error| failed(&error))?;
        fs::write(settings.join("registrymodifications.xcu"), SETTINGS).map_err(|error| failed(&error))?;
        fs::write(&input, bytes).map_err(|error| failed(&error))?;
        let mut child = self.start(place, &input, to).map_err(|error| failed(&error))?;
        let status = wait(&mut child, Duration::from_secs(limits.parse_seconds / 2)).map_err(|error| failed(&error))?;
        let Some(status) = status else {
            return Err(DocumentFailure::new(DocumentCode::TimedOut, "LibreOffice did not end in time"));
        };
        let output = place.join("out").join(format!("input.{to}"));
        let Ok(file) = File::open(output) else {
            return Err(DocumentFailure::new(DocumentCode::Corrupt, format!("LibreOffice made nothing of it ({status})")));
        };
        let mut out = Vec::new();
        file.take(limits.file_bytes.saturating_add(1)).read_to_end(&mut out).map_err(|error| failed(&error))?;
        if out.len() as u64 > limits.file_bytes {
            return Err(DocumentFailure::new(DocumentCode::TooLarge, "what LibreOffice made of it is too large"));
        }
        Ok(out)
    }

    fn start(&self, place: &Path, input: &Path, to: &str) -> std::io::Result<Child> {
        let mut command = Command::new(&self.program);
        command
            .arg(format!("-env:UserInstallation=file://{}", place.join("profile").display()))
            .args(["--headless", "--norestore", "--nolockcheck", "--nodefault", "--nofirststartwizard", "--convert-to", to, "--outdir"])
            .arg(place.join("out"))
            .arg(input)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", place)
            .env("TMPDIR", place)
            .current_dir(place)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn()
    }
}

/// Waits for the end; after `limit` the program and everything it started are killed.
fn wait(child: &mut Child, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if begun.elapsed() >= limit {
            kill_group(child);
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(PAUSE);
    }
}

/// The launcher starts others, which are in its group.
fn kill_group(child: &mut Child) {
    let group = format!("-{}", child.id());
    let killed = Command::new("kill").args(["-KILL", "--", &group]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !killed.is_ok_and(|status| status.success()) {
        // Where there is no such program, at least the launcher ends.
        let _ = child.kill();
    }
}

fn failed(error: &std::io::Error) -> DocumentFailure {
    DocumentFailure::new(DocumentCode::ConverterMissing, format!("LibreOffice could not be run: {error}"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn program(folder: &Path, script: &str) -> LibreOffice {
        let path = folder.join("soffice");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        LibreOffice::at(path)
    }

    #[test]
    fn what_it_writes_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let converter =
            program(folder.path(), "mkdir -p out && cp input.doc out/input.docx && test -f profile/user/registrymodifications.xcu");
        assert_eq!(converter.convert(b"words", "doc", "docx", &Limits::default()).unwrap(), b"words");
        assert_eq!(converter.convert(b"words", "ppt", "pptx", &Limits::default()).unwrap_err().code, DocumentCode::Corrupt);
        let small = Limits { file_bytes: 3, ..Limits::default() };
        assert_eq!(converter.convert(b"words", "doc", "docx", &small).unwrap_err().code, DocumentCode::TooLarge);
    }

    #[test]
    fn one_that_hangs_is_killed_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("alive");
        let converter = program(folder.path(), &format!("(sleep 4; touch {}) & wait", mark.display()));
        let limits = Limits { parse_seconds: 2, ..Limits::default() };
        assert_eq!(converter.convert(b"x", "doc", "docx", &limits).unwrap_err().code, DocumentCode::TimedOut);
        std::thread::sleep(Duration::from_secs(4));
        assert!(!mark.exists(), "the child outlived its group");
    }

    #[test]
    fn one_that_is_not_there_says_what_to_do() {
        let failure = LibreOffice::at("/nowhere/soffice").convert(b"x", "doc", "docx", &Limits::default()).unwrap_err();
        assert_eq!(failure.code, DocumentCode::ConverterMissing);
    }
}
