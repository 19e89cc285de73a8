//! Runs the program on a folder of files and looks at how every job ended.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Address space of the program and of each of its workers, in KiB. Reading one document takes a small part of it: what is
/// above that are the stacks and maps that are reserved and never used.
const ADDRESS_SPACE_KIB: u64 = 4 << 20;
/// Wall clock of one run.
const WALL_CLOCK: Duration = Duration::from_mins(1);

const NEIGHBOUR: &str = "neighbour.md";
const NEIGHBOUR_TEXT: &str = "# Neighbour\n\nThe neighbour is unharmed.\n";

/// A folder of files on its way through the program.
pub(crate) struct Road {
    work: TempDir,
    variables: Vec<(String, String)>,
    hostile: Option<String>,
    offline: bool,
    report: Value,
}

impl Road {
    /// An empty folder but for the neighbour.
    pub(crate) fn new() -> Self {
        let work = TempDir::new().expect("folder");
        std::fs::create_dir(work.path().join("files")).expect("folder");
        let road = Self { work, variables: Vec::new(), hostile: None, offline: false, report: Value::Null };
        road.file(NEIGHBOUR, NEIGHBOUR_TEXT.as_bytes())
    }

    /// One hostile file beside the neighbour, ingested.
    pub(crate) fn with(name: &str, content: &[u8]) -> Self {
        let mut road = Self::new().file(name, content);
        road.hostile = Some(name.to_owned());
        road.run()
    }

    pub(crate) fn file(self, name: &str, content: &[u8]) -> Self {
        std::fs::write(self.work.path().join("files").join(name), content).expect("file");
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Without a network, where the system lets us take it away, and without anybody's credentials.
    pub(crate) fn offline(mut self) -> Self {
        self.offline = true;
        self
    }

    pub(crate) fn run(mut self) -> Self {
        let output = self.quarry(&["ingest", self.work.path().join("files").to_str().expect("path"), "--wait", "--json"]);
        self.report = serde_json::from_str(&output).unwrap_or_else(|e| panic!("not JSON ({e}): {output}"));
        let (state, _) = self.outcome(NEIGHBOUR);
        assert_eq!(state, "done", "the neighbour is harmed: {}", self.report);
        self
    }

    /// Runs the program under its caps; what it writes on standard output.
    fn quarry(&self, arguments: &[&str]) -> String {
        let program = program();
        let script = format!("ulimit -v {ADDRESS_SPACE_KIB}; exec \"$0\" \"$@\"");
        let mut command = Command::new("bash");
        if self.offline {
            if Command::new("unshare").args(["-rn", "true"]).status().is_ok_and(|status| status.success()) {
                command = Command::new("unshare");
                command.args(["-rn", "bash"]);
            }
            for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("AWS_") || name.starts_with("QUARRY_")) {
                command.env_remove(name);
            }
        }
        let mut child = command
            .args(["-c", &script])
            .arg(&program)
            .args(arguments)
            .arg("--data")
            .arg(self.work.path().join("data"))
            .envs(self.variables.iter().cloned())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{}: {e}", program.display()));
        let begun = Instant::now();
        // The output of a run is small: it fits the pipe, so waiting before reading cannot block.
        while child.try_wait().expect("wait").is_none() {
            if begun.elapsed() > WALL_CLOCK {
                child.kill().expect("kill");
                panic!("{arguments:?} is not done after {WALL_CLOCK:?}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let output = child.wait_with_output().expect("output");
        assert!(
            matches!(output.status.code(), Some(0 | 3 | 4)),
            "{arguments:?} ended with {:?}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// State and code of a file's job; `("refused", reason)` for a file that was not taken at all.
    fn outcome(&self, name: &str) -> (String, String) {
        let documents = self.report["documents"].as_array();
        let document =
            documents.into_iter().flatten().find(|one| one["path"].as_str().is_some_and(|path| path.ends_with(&format!("/{name}"))));
        match document.map(|one| (one["status"].as_str().unwrap_or_default(), one["error"]["code"].as_str().unwrap_or_default())) {
            Some((state @ ("done" | "failed"), code)) => (state.to_owned(), code.to_owned()),
            _ => ("refused".to_owned(), self.report.to_string()),
        }
    }

    fn name(&self) -> &str {
        self.hostile.as_deref().expect("one hostile file")
    }

    /// How the hostile file ended.
    pub(crate) fn ended(&self) -> (String, String) {
        let (state, code) = self.outcome(self.name());
        assert!(state == "done" || state == "failed", "the job of {} is {state}", self.name());
        (state, code)
    }

    pub(crate) fn fails_with(&self, codes: &[&str]) {
        let (state, code) = self.ended();
        assert!(state == "failed" && codes.contains(&code.as_str()), "{}: {state} {code}, expected one of {codes:?}", self.name());
    }

    /// Read, or failed with one of these codes: either way in time.
    pub(crate) fn ends_within(&self, codes: &[&str]) {
        let (state, code) = self.ended();
        assert!(state == "done" || codes.contains(&code.as_str()), "{}: {state} {code}", self.name());
    }

    pub(crate) fn refused_or_failed(&self, name: &str, code: &str) {
        let (state, found) = self.outcome(name);
        assert!(state == "refused" && found.contains(name) || state == "failed" && found == code, "{name}: {state} {found}");
    }

    pub(crate) fn and_is_read(self) -> Self {
        let (state, code) = self.ended();
        assert_eq!(state, "done", "{}: {code}", self.name());
        self
    }

    pub(crate) fn markdown_if_read(&self) -> Option<String> {
        (self.ended().0 == "done").then(|| self.markdown())
    }

    pub(crate) fn markdown(&self) -> String {
        std::fs::read_to_string(self.artifact("full.md")).expect("full.md")
    }

    pub(crate) fn manifest(&self) -> Value {
        self.json("manifest.json")
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.artifact(name)).expect(name)).expect(name)
    }

    /// The HTML of every stored table.
    pub(crate) fn tables(&self) -> Vec<String> {
        let folder = self.artifact("manifest.json").with_file_name("tables");
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        files.map(|file| std::fs::read_to_string(file.path()).expect("table")).collect()
    }

    /// A file of the hostile document's revision folder, written out by the program.
    fn artifact(&self, name: &str) -> PathBuf {
        let out = self.work.path().join("out");
        if !out.exists() {
            let file = self.work.path().join("files").join(self.name());
            self.quarry(&["debug", "parse", file.to_str().expect("path"), "--out", out.to_str().expect("path")]);
        }
        out.join(name)
    }

    /// The names of all stored objects.
    pub(crate) fn keys(&self) -> Vec<String> {
        fn walk(folder: &Path, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                found.push(entry.file_name().to_string_lossy().into_owned());
                if entry.path().is_dir() {
                    walk(&entry.path(), found);
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.work.path().join("data"), &mut found);
        found
    }

    pub(crate) fn search(&self, query: &str) -> Value {
        self.ask(query, &[])
    }

    /// A search with further arguments.
    pub(crate) fn ask(&self, query: &str, more: &[&str]) -> Value {
        let arguments: Vec<&str> = ["search", query, "--json"].into_iter().chain(more.iter().copied()).collect();
        serde_json::from_str(&self.quarry(&arguments)).expect("answer")
    }
}

/// The program, as built for this run of the tests.
fn program() -> PathBuf {
    let here = std::env::current_exe().expect("this test");
    let profile = here.ancestors().nth(2).expect("the folder of this profile");
    let program = profile.join("quarry");
    assert!(program.is_file(), "{} is not built: `cargo build -p quarry` first, or test the whole workspace", program.display());
    program
}
