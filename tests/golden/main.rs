//! Golden documents: what each format's parser makes of documents written for this repository, byte for byte.
//!
//! `tests/golden/<format>/<case>/` holds one `input.<ext>` and `expected/`, the text files of its revision folder.
//! A case is added by writing its input and running
//!
//! ```text
//! QUARRY_GOLDEN=write cargo test -p quarry-tests --test golden
//! ```
//!
//! which writes `expected/` anew for every case; the difference is then read like any other change.

#[path = "../coverage/mod.rs"]
mod coverage;
mod sweep;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use quarry::parsers::parser;
use quarry_document::{RevisionFolder, RevisionRequest, parse_to_folder};
use quarry_model::message::Profile;
use quarry_model::{DocumentId, Format, Limits, Timestamp};
use quarry_ports::Clock;
use serde_json::Map;

/// Every run happens at the same moment, so manifests can be compared whole.
struct OneMoment;

impl Clock for OneMoment {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000)
    }
}

fn parse(input: &Path) -> Result<RevisionFolder> {
    let file_name = input.file_name().and_then(|name| name.to_str()).context("a file name")?.to_owned();
    let format = Format::of_file_name(&file_name).context("a known extension")?;
    let family = format.row().family.context("a format that is read")?;
    let request = RevisionRequest {
        job_id: None,
        data_id: None,
        document_id: DocumentId::from_random([0; 6]),
        file_name,
        profile: Profile {
            format,
            claimed_format: None,
            encoding: None,
            category: "golden document".into(),
            routing_category: "generic".into(),
            pdf: None,
        },
        parsing_params: Map::new(),
    };
    let bytes = Bytes::from(fs::read(input)?);
    Ok(parse_to_folder(&parser(family), &bytes, &request, &Limits::default(), &OneMoment)?)
}

/// The text files of a folder. Pictures and the zip are covered by the sizes and names in the manifest.
fn texts(folder: &RevisionFolder) -> BTreeMap<String, Vec<u8>> {
    let is_text = |name: &str| !name.starts_with("images/") && name != "result.zip" && name != "diagnostics/profile.json";
    folder.files.iter().filter(|file| is_text(&file.name)).map(|file| (file.name.clone(), file.bytes.to_vec())).collect()
}

fn expected(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(place) = open.pop() {
        for entry in fs::read_dir(&place).with_context(|| place.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else {
                files.insert(path.strip_prefix(folder)?.to_string_lossy().replace('\\', "/"), fs::read(&path)?);
            }
        }
    }
    Ok(files)
}

fn write(folder: &Path, files: &BTreeMap<String, Vec<u8>>) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().context("a parent")?)?;
        fs::write(path, bytes)?;
    }
    Ok(())
}

/// The first line that differs, for a person.
fn difference(name: &str, expected: &[u8], found: &[u8]) -> String {
    let (expected, found) = (String::from_utf8_lossy(expected), String::from_utf8_lossy(found));
    let mut lines = expected.lines().zip(found.lines()).enumerate();
    match lines.find(|(_, (a, b))| a != b) {
        Some((line, (a, b))) => format!("{name}:{}\n  expected {a}\n  found    {b}", line + 1),
        None => format!("{name}: expected {} lines, found {}", expected.lines().count(), found.lines().count()),
    }
}

fn check(case: &Path, input: &Path) -> Result<()> {
    let found = texts(&parse(input)?);
    ensure!(found == texts(&parse(input)?), "two runs differ");
    let folder = case.join("expected");
    if std::env::var("QUARRY_GOLDEN").is_ok_and(|value| value == "write") {
        return write(&folder, &found);
    }
    let expected = expected(&folder).context("no expected files; QUARRY_GOLDEN=write makes them")?;
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    ensure!(names(&expected) == names(&found), "expected files {:?}, found {:?}", names(&expected), names(&found));
    for (name, bytes) in &expected {
        if &found[name] != bytes {
            bail!("{}", difference(name, bytes, &found[name]));
        }
    }
    Ok(())
}

/// Every case: its folder and its input.
fn cases() -> Result<Vec<(PathBuf, PathBuf)>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let mut cases = Vec::new();
    for format in fs::read_dir(&root)? {
        let format = format?.path();
        if !format.is_dir() {
            continue;
        }
        for case in fs::read_dir(&format)? {
            let case = case?.path();
            let mut inputs = fs::read_dir(&case)?.filter_map(Result::ok).map(|entry| entry.path());
            let input = inputs.find(|path| path.file_stem().is_some_and(|stem| stem == "input"));
            cases.push((case.clone(), input.with_context(|| format!("{} has no input", case.display()))?));
        }
    }
    cases.sort();
    Ok(cases)
}

#[test]
fn golden_documents() -> Result<()> {
    let cases = cases()?;
    ensure!(!cases.is_empty(), "there are golden documents");
    let failures: Vec<String> =
        cases.iter().filter_map(|(case, input)| check(case, input).err().map(|error| format!("{}: {error:#}", case.display()))).collect();
    ensure!(failures.is_empty(), "{} of {} cases differ\n{}", failures.len(), cases.len(), failures.join("\n"));
    Ok(())
}
