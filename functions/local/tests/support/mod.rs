//! Runs the built program on a data folder of its own.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]

pub mod server;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use quarry_model::record::{ManifestPlace, NamespaceHead};
use quarry_model::{Namespace, Owner, RecordKey, Scope};
use quarry_store_local::{LocalStore, PublicBase};
use serde_json::Value;

/// The program, a data folder, and a folder for documents.
pub struct Quarry {
    top: tempfile::TempDir,
}

/// What a run left.
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Run {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}\n{}", self.out, self.err))
    }

    /// Fails the test with all that was said, unless the code is this.
    #[track_caller]
    pub fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "out: {}\nerr: {}", self.out, self.err);
        self
    }
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Quarry {
    pub fn new() -> Self {
        Self { top: tempfile::tempdir().unwrap() }
    }

    pub fn data(&self) -> PathBuf {
        self.top.path().join("data")
    }

    /// The folder of documents.
    pub fn docs(&self) -> PathBuf {
        self.top.path().join("docs")
    }

    /// Writes a document and says where it is.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.docs().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub fn command(&self) -> Command {
        command(&self.data())
    }

    pub fn run(&self, args: &[&str]) -> Run {
        self.command().args(args).output().unwrap().into()
    }

    /// `ingest DOCS --json`: file name → status.
    pub fn ingest(&self) -> BTreeMap<String, String> {
        statuses(&self.run(&["ingest", self.docs().to_str().unwrap(), "--json"]).json())
    }

    pub async fn head(&self) -> NamespaceHead {
        head(&self.data()).await
    }
}

/// The program on a data folder, deaf to the environment's settings.
pub fn command(data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_quarry"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("QUARRY_")) {
        command.env_remove(name);
    }
    command.env("QUARRY_DATA", data);
    command
}

pub fn statuses(report: &Value) -> BTreeMap<String, String> {
    let documents = report["documents"].as_array().unwrap();
    let name = |document: &Value| document["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    documents.iter().map(|document| (name(document), document["status"].as_str().unwrap().to_owned())).collect()
}

pub fn scope() -> Scope {
    Scope::new(Owner::local(), Namespace::default())
}

/// The head of the default namespace.
pub async fn head(data: &Path) -> NamespaceHead {
    let store = LocalStore::open(data, PublicBase::default()).unwrap();
    store.records().get(&RecordKey::head(&scope())).await.unwrap().expect("a head").read().unwrap()
}

/// The hashes of the live splits.
pub fn splits(head: &NamespaceHead) -> Vec<String> {
    let ManifestPlace::Inline(manifest) = &head.manifest else { panic!("a small head") };
    manifest.splits.iter().map(|split| split.hash.clone()).collect()
}

/// Three small documents in three formats.
pub fn three(quarry: &Quarry) {
    quarry.write("pump.md", "# Pump manual\n\n## Wiring\n\nTighten the terminal screws to 4 Nm before switching on.\n\n## Warranty\n\nTwo years on all parts.\n");
    quarry.write("notes.txt", "Meeting notes\n\nThe heron survey starts in April at the northern lake.\n");
    quarry.write(
        "sub/prices.html",
        "<html><body><h1>Prices</h1><p>All prices without tax.</p><table><tr><th>Part</th><th>Price</th></tr><tr><td>Gasket</td><td>12.50</td></tr></table></body></html>",
    );
}
