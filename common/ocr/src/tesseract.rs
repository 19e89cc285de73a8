//! The `tesseract` program.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use quarry_ports::{Ocr, OcrError, OcrPicture, Recognised};

use crate::process::{Run, RunError, run};
use crate::{language, tsv};

/// The first version that writes tables and reads with neural networks.
const LEAST_VERSION: u32 = 4;
/// How long the program may take to say who it is.
const INTRODUCTION: Duration = Duration::from_secs(10);
/// Most bytes of a table: a page of 30,000 words.
const MOST_OUTPUT: u64 = 4 << 20;

/// The program on this machine. It is asked who it is when the first picture is to be read: that takes longer than most documents.
#[derive(Debug)]
pub struct Tesseract {
    program: PathBuf,
    known: OnceLock<Result<Known, String>>,
}

/// What the program says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Known {
    name: String,
    languages: Vec<String>,
}

impl Tesseract {
    /// The program of the search path, if there is one. It reads when it is of version 4 or newer and has data for a language.
    pub fn find() -> Option<Self> {
        let path = std::env::var_os("PATH")?;
        Self::find_in(&path)
    }

    fn find_in(path: &OsStr) -> Option<Self> {
        let name = format!("tesseract{}", std::env::consts::EXE_SUFFIX);
        // Relative entries of the path would make it depend on the folder we stand in.
        let program = std::env::split_paths(path).filter(|folder| folder.is_absolute()).map(|folder| folder.join(&name));
        program.into_iter().find(|program| program.is_file()).map(Self::at)
    }

    fn at(program: PathBuf) -> Self {
        Self { program, known: OnceLock::new() }
    }

    fn known(&self) -> Result<&Known, &str> {
        self.known.get_or_init(|| Known::of(&self.program)).as_ref().map_err(String::as_str)
    }
}

impl Known {
    fn of(program: &Path) -> Result<Self, String> {
        let asked = said(program, "--version")?;
        let first = asked.lines().next().unwrap_or_default();
        let version = first.split_whitespace().nth(1).unwrap_or_default().trim_start_matches('v').to_owned();
        let major: u32 = version.split('.').next().and_then(|major| major.parse().ok()).ok_or("it does not say its version")?;
        if major < LEAST_VERSION {
            return Err(format!("version {version}, at least {LEAST_VERSION} is needed"));
        }
        // One sentence, then one language a line.
        let mut languages: Vec<String> = said(program, "--list-langs")?.lines().skip(1).map(|line| line.trim().to_owned()).collect();
        languages.retain(|language| !language.is_empty());
        languages.sort();
        language::choose(None, &languages).ok_or("no data for any language")?;
        Ok(Self { name: format!("tesseract {version}"), languages })
    }
}

fn said(program: &Path, argument: &str) -> Result<String, String> {
    let run = run(Command::new(program).arg(argument), b"", INTRODUCTION, 1 << 16).map_err(|error| error.to_string())?;
    // Older versions introduce themselves on standard error.
    let text = if run.out.is_empty() { run.err } else { run.out };
    run.status.success().then(|| String::from_utf8_lossy(&text).into_owned()).ok_or_else(|| format!("{argument} fails: {}", run.status))
}

impl Ocr for Tesseract {
    fn name(&self) -> &str {
        self.known().map_or("tesseract", |known| &known.name)
    }

    fn recognise(&self, picture: &OcrPicture<'_>) -> Result<Recognised, OcrError> {
        let known = self.known().map_err(|why| OcrError::Unavailable(why.to_owned()))?;
        let languages = language::choose(picture.language, &known.languages);
        let languages = languages.ok_or_else(|| OcrError::Unavailable("no language data".to_owned()))?;
        // Turned pages are found out where the data for that is there.
        let mode = if known.languages.iter().any(|one| one == "osd") { "1" } else { "3" };
        let dpi = (picture.dpi.clamp(70.0, 2400.0) as u32).to_string();
        let mut command = Command::new(&self.program);
        command.args(["stdin", "stdout", "-l", &languages, "--dpi", &dpi, "--psm", mode, "tsv"]);
        // One thread a page: several pages are read side by side instead.
        command.env("OMP_THREAD_LIMIT", "1");
        match run(&mut command, picture.png, picture.patience, MOST_OUTPUT) {
            Ok(Run { status, out, .. }) if status.success() => Ok(Recognised::Lines(tsv::read(&String::from_utf8_lossy(&out)))),
            Ok(Run { status, err, .. }) => {
                let said = String::from_utf8_lossy(&err);
                let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
                Err(OcrError::Failed(format!("{status}: {last}")))
            }
            Err(RunError::TimedOut) => Err(OcrError::TimedOut(picture.patience)),
            Err(RunError::Start(error)) => Err(OcrError::Unavailable(error.to_string())),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A program that answers as told.
    fn fake(script: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("tesseract");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        (folder, program)
    }

    const TALKS: &str = "case \"$1\" in --version) echo 'tesseract 5.3.0'; exit;; --list-langs) printf 'List:\\neng\\nosd\\n'; exit;; esac";

    fn picture(patience: Duration) -> OcrPicture<'static> {
        OcrPicture { png: b"png", width: 10, height: 10, dpi: 200.0, language: Some("en"), patience }
    }

    #[test]
    fn it_is_found_on_the_path_with_its_version_and_languages() {
        let (folder, _) = fake(TALKS);
        let found = Tesseract::find_in(folder.path().as_os_str()).unwrap();
        assert_eq!(
            (found.name(), found.known().unwrap().languages.as_slice()),
            ("tesseract 5.3.0", ["eng".to_owned(), "osd".to_owned()].as_slice())
        );
        assert!(Tesseract::find_in(OsStr::new("relative:/nowhere")).is_none());
    }

    #[test]
    fn what_is_too_old_or_has_no_data_is_not_used() {
        for script in ["echo 'tesseract 3.05.01'", "echo nonsense", "exit 1", &TALKS.replace("eng\\nosd", "osd")] {
            let (folder, _) = fake(script);
            let found = Tesseract::find_in(folder.path().as_os_str()).unwrap();
            let answer = found.recognise(&picture(Duration::from_secs(10)));
            assert!(matches!(answer, Err(OcrError::Unavailable(_))), "{script}: {answer:?}");
            assert_eq!(found.name(), "tesseract");
        }
    }

    #[test]
    fn its_table_is_read_and_its_failures_have_a_meaning() {
        let row = "5\\t1\\t1\\t1\\t1\\t1\\t1\\t2\\t3\\t4\\t90\\tword\\n";
        let (_folder, program) = fake(&format!("{TALKS}\ncat >/dev/null; printf '{row}'"));
        let Recognised::Lines(lines) = Tesseract::at(program).recognise(&picture(Duration::from_secs(10))).unwrap() else {
            panic!("lines")
        };
        assert_eq!(lines[0][0].text, "word");
        let (_folder, program) = fake(&format!("{TALKS}\necho 'bad picture' >&2; exit 3"));
        let failed = Tesseract::at(program).recognise(&picture(Duration::from_secs(10)));
        assert!(matches!(failed, Err(OcrError::Failed(why)) if why.contains("bad picture")));
        let (_folder, program) = fake(&format!("{TALKS}\nsleep 600"));
        let late = Tesseract::at(program).recognise(&picture(Duration::from_millis(200)));
        assert_eq!(late, Err(OcrError::TimedOut(Duration::from_millis(200))));
    }
}
