//! The commands, each on documents made here.

mod support;

use std::fs;

use serde_json::Value;
use support::{Quarry, splits, three};

#[test]
fn ask_reads_a_folder_and_answers_with_cited_evidence() {
    let quarry = Quarry::new();
    three(&quarry);
    let docs = quarry.docs();
    let answer = quarry.run(&["ask", docs.to_str().unwrap(), "How tight must the terminal screws be?"]).ends(0);
    assert!(answer.out.contains("4 Nm"), "{}", answer.out);
    assert!(answer.out.contains("[E1]") && answer.out.contains("Sources") && answer.out.contains("pump.md"), "{}", answer.out);

    let again = quarry.run(&["ask", docs.to_str().unwrap(), "What does a gasket cost?", "--json"]).ends(0).json();
    assert!(again["evidence_text"].as_str().unwrap().contains("12.50"), "{again}");
    assert_eq!(
        again["index_version"],
        quarry.run(&["ask", "heron survey", "--json"]).ends(0).json()["index_version"],
        "nothing was read again"
    );
}

#[test]
fn ask_answers_from_what_was_named_only() {
    let quarry = Quarry::new();
    three(&quarry);
    quarry.run(&["ingest", quarry.docs().to_str().unwrap()]).ends(0);
    let notes = quarry.docs().join("notes.txt");
    let answer = quarry.run(&["ask", notes.to_str().unwrap(), "terminal screws heron", "--json"]).ends(0).json();
    let names: Vec<&str> =
        answer["results"].as_array().unwrap().iter().map(|r| r["source"]["source_file_name"].as_str().unwrap()).collect();
    assert!(!names.is_empty() && names.iter().all(|name| *name == "notes.txt"), "{names:?}");
}

#[test]
fn unchanged_files_are_left_and_changed_ones_are_read() {
    let quarry = Quarry::new();
    three(&quarry);
    let first = quarry.ingest();
    assert_eq!(first.values().map(String::as_str).collect::<Vec<_>>(), ["done"; 3], "{first:?}");
    let second = quarry.ingest();
    assert_eq!(second.values().map(String::as_str).collect::<Vec<_>>(), ["unchanged"; 3], "{second:?}");

    let search = |query: &str| quarry.run(&["search", query, "--json"]).json()["results"][0]["content"].to_string();
    quarry.write("notes.txt", "The osprey survey starts in June.\n");
    assert_eq!(quarry.ingest()["notes.txt"], "done");
    assert!(search("osprey").contains("June"));
    assert!(!search("heron").contains("heron"), "no stale chunk");
    // And back to what it was.
    quarry.write("notes.txt", "Meeting notes\n\nThe heron survey starts in April at the northern lake.\n");
    assert_eq!(quarry.ingest()["notes.txt"], "done");
    assert!(search("heron").contains("April"));
}

/// Everything was read while the clock ran a year ahead; then it was put right. What changes now is newer all the same.
#[tokio::test]
async fn a_clock_that_was_put_back_makes_no_source_older() {
    let quarry = Quarry::new();
    three(&quarry);
    quarry.ingest();
    let store = quarry_store_local::LocalStore::open(&quarry.data(), quarry_store_local::PublicBase::default()).unwrap();
    for item in store.records().query_all(&quarry_model::RecordPrefix::documents(&support::scope())).await.unwrap() {
        let mut record: quarry_model::record::DocumentRecord = item.read().unwrap();
        record.order.created_millis += 365 * 24 * 3600 * 1000;
        let item = quarry_ports::Item::of(item.key, &record).unwrap();
        store.records().put(item, quarry_ports::Condition::None).await.unwrap();
    }
    drop(store);
    quarry.write("notes.txt", "The osprey survey starts in June.\n");
    assert_eq!(quarry.ingest()["notes.txt"], "done");
    quarry.run(&["search", "osprey"]).ends(0);
    quarry.run(&["archive", "pump.md"]).ends(0);
    quarry.run(&["delete", "prices.html"]).ends(0);
    let list = quarry.run(&["list", "--json"]).ends(0).json();
    assert_eq!(list["documents"].as_array().unwrap().len(), 1, "{list}");
}

#[test]
fn documents_can_be_listed_walked_and_shown() {
    let quarry = Quarry::new();
    three(&quarry);
    quarry.ingest();
    let list = quarry.run(&["list", "--json"]).ends(0).json();
    assert_eq!(list["documents"].as_array().unwrap().len(), 3);
    assert!(quarry.run(&["list"]).ends(0).out.contains("pump.md"));

    let outline = quarry.run(&["outline", "pump.md"]).ends(0).out;
    assert!(outline.contains("Wiring") && outline.contains("Warranty"), "{outline}");
    let full = quarry.run(&["show", "pump.md"]).ends(0).out;
    assert!(full.contains("Tighten the terminal screws"), "{full}");

    let hit = quarry.run(&["search", "terminal screws", "--json"]).ends(0).json()["results"][0].clone();
    let place = format!("{}:{}", hit["source"]["document_id"].as_str().unwrap(), hit["metadata"]["ordinal"]);
    assert!(quarry.run(&["show", &place]).ends(0).out.contains("4 Nm"));
    let by_content = quarry.run(&["show", hit["chunk_id"].as_str().unwrap(), "--json"]).ends(0).json();
    assert_eq!(by_content["chunk"]["chunk_id"], hit["chunk_id"]);
    let path = quarry.docs().join("pump.md");
    assert!(quarry.run(&["outline", path.to_str().unwrap()]).ends(0).out.contains("Wiring"));

    let jobs = quarry.run(&["jobs", "--json"]).ends(0).json();
    assert_eq!(jobs["total"], 3);
    let id = jobs["jobs"][0]["job_id"].as_str().unwrap().to_owned();
    let one = quarry.run(&["jobs", &id, "--json"]).ends(0).json();
    let states: Vec<&str> = one["events"].as_array().unwrap().iter().map(|event| event["state"].as_str().unwrap()).collect();
    assert_eq!((states.first(), states.last()), (Some(&"pending"), Some(&"done")), "{states:?}");
}

#[test]
fn archived_and_deleted_documents_are_not_found() {
    let quarry = Quarry::new();
    three(&quarry);
    quarry.ingest();
    quarry.run(&["archive", "notes.txt"]).ends(0);
    quarry.run(&["delete", "pump.md"]).ends(0);
    let found = quarry.run(&["search", "heron terminal screws gasket", "--json"]).ends(0).json();
    let names: Vec<&Value> = found["results"].as_array().unwrap().iter().map(|r| &r["source"]["source_file_name"]).collect();
    assert!(names.iter().all(|name| *name == "prices.html"), "{names:?}");
    quarry.run(&["outline", "notes.txt"]).ends(0);
    quarry.run(&["outline", "pump.md"]).ends(4);
    assert_eq!(quarry.run(&["list", "--all", "--json"]).json()["documents"].as_array().unwrap().len(), 2);
    let again = quarry.ingest();
    assert_eq!((again["notes.txt"].as_str(), again["pump.md"].as_str()), ("unchanged", "done"), "{again:?}");
    quarry.run(&["doctor"]).ends(0);
}

#[test]
fn exit_codes_say_how_it_went() {
    let quarry = Quarry::new();
    quarry.run(&["--help"]).ends(0);
    quarry.run(&["nonsense"]).ends(2);
    quarry.run(&["ingest"]).ends(2);
    quarry.run(&["ingest", "/no/such/file.md"]).ends(4);
    quarry.run(&["search", "anything"]).ends(4);
    quarry.run(&["outline", "nothing.md"]).ends(4);
    quarry.run(&["jobs", "job_0123456789ab"]).ends(4);
    quarry.run(&["jobs", "nonsense"]).ends(2);
    quarry.write("empty.md", "");
    quarry.write("good.md", "# Good\n\nText.\n");
    quarry.write("picture.xyz", "?");
    let run = quarry.run(&["ingest", quarry.docs().to_str().unwrap()]).ends(3);
    assert!(run.err.contains("EMPTY") && run.err.contains("unsupported: ") && run.out.contains("1 read"), "{}{}", run.out, run.err);
    quarry.run(&["ask", quarry.docs().to_str().unwrap(), "--json", ""]).ends(2);
    quarry.run(&["search", "--top-k", "0", "x"]).ends(2);
    let folder = quarry.docs().join("none");
    fs::create_dir(&folder).unwrap();
    quarry.run(&["ask", folder.to_str().unwrap(), "anything?"]).ends(4);
    let json = quarry.run(&["show", "nothing.md", "--json"]).ends(4);
    assert_eq!(serde_json::from_str::<Value>(&json.err).unwrap()["error"]["exit_code"], 4);
}

#[test]
fn a_file_that_claims_to_be_something_else_is_read_as_what_it_is() {
    let quarry = Quarry::new();
    let path = quarry.write("page.txt", "<!DOCTYPE html><html><body><h1>Title</h1><p>Body text.</p></body></html>");
    let profile = quarry.run(&["debug", "profile", path.to_str().unwrap(), "--json"]).ends(0).json();
    assert!(profile["parser"].is_string(), "{profile}");
    quarry.run(&["ingest", path.to_str().unwrap()]).ends(0);
}

#[test]
fn debug_commands_show_what_a_stage_sees_and_leave_no_data_folder() {
    let quarry = Quarry::new();
    three(&quarry);
    let (pump, out) = (quarry.docs().join("pump.md"), quarry.docs().join("out"));
    let (pump, dir) = (pump.to_str().unwrap(), out.to_str().unwrap());
    assert!(quarry.run(&["debug", "profile", pump]).ends(0).out.contains("parse-text"));
    assert!(quarry.run(&["debug", "hierarchy", pump]).ends(0).out.contains("markup"));
    quarry.run(&["debug", "parse", pump, "--out", dir]).ends(0);
    for name in ["chunks.json", "doc_nav.json", "manifest.json", "hierarchy.json", "full.md", "result.zip", "source/original.md"] {
        assert!(out.join(name).is_file(), "{name}");
    }
    assert!(!quarry.data().exists(), "a revision folder and nothing else");
    let road = quarry.run(&["debug", "road", pump, "--query", "screws"]).ends(0).json();
    assert_eq!(road["job"]["state"], "done");
    assert_eq!(road["publication"]["head"]["documents"], 1);
    assert!(!road["search"]["results"].as_array().unwrap().is_empty());
    assert!(!quarry.data().exists(), "the road has a folder of its own");
    quarry.ingest();
    let search = quarry.run(&["debug", "search", "terminal screws"]).ends(0).json();
    assert!(!search["channels"]["content"].as_array().unwrap().is_empty(), "{search}");
    let empty = quarry.write("empty.md", "");
    quarry.run(&["debug", "parse", empty.to_str().unwrap(), "--out", dir]).ends(3);
}

#[test]
fn completions_name_the_commands() {
    let quarry = Quarry::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = quarry.run(&["completions", shell]).ends(0).out;
        assert!(script.contains("ingest") && !script.is_empty());
    }
    assert!(!quarry.data().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn two_data_folders_hold_the_same_bytes() {
    let one = Quarry::new();
    three(&one);
    for n in 0..40 {
        one.write(&format!("more/{n:02}.md"), &format!("# Number {n}\n\nText of document {n} about rivers and bridges.\n"));
    }
    let docs = one.docs();
    let other = Quarry::new();
    for quarry in [&one, &other] {
        quarry.run(&["ingest", docs.to_str().unwrap()]).ends(0);
    }
    let (mut a, mut b) = (artifacts(&one), artifacts(&other));
    assert_eq!(a.len(), 43 * 4);
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    for (name, bytes) in &mut a {
        assert!(*bytes == b.remove(name).unwrap(), "{name} differs");
    }
    assert_eq!(splits(&one.head().await), splits(&other.head().await));
}

/// Every artifact that has to be the same, by its path; the manifests without their times.
fn artifacts(quarry: &Quarry) -> std::collections::BTreeMap<String, Vec<u8>> {
    let mut found = std::collections::BTreeMap::new();
    let mut open = vec![quarry.data().join("objects")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let name = path.file_name().unwrap().to_str().unwrap();
            let known =
                ["chunks.json", "doc_nav.json", "hierarchy.json", "manifest.json"].into_iter().find(|known| name.starts_with(known));
            let Some(known) = known else { continue };
            let mut bytes = fs::read(&path).unwrap();
            if known == "manifest.json" {
                let mut manifest: Value = serde_json::from_slice(&bytes).unwrap();
                manifest["processing_date"] = Value::Null;
                manifest["processing"]["timing"] = Value::Null;
                manifest["processing"]["stages"]["timing_ms"] = Value::Null;
                bytes = serde_json::to_vec(&manifest).unwrap();
            }
            let place = path.strip_prefix(quarry.data()).unwrap().display().to_string();
            found.insert(place, bytes);
        }
    }
    found
}

/// A page of 200 by 100 points with one line of text and a black square. Readers find the objects without a table.
const PDF: &str = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
    3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj\n\
    4 0 obj<</Length 66>>stream\n0 0 20 20 re f BT /F 10 Tf 20 60 Td (The valve opens at six.) Tj ET\nendstream endobj\n\
    5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n";

#[test]
fn a_page_is_written_as_an_image_with_a_chunk_marked() {
    let quarry = Quarry::new();
    quarry.write("valve.pdf", PDF);
    quarry.write("note.md", "# Note\n\nNo pages.\n");
    assert!(quarry.ingest().values().all(|status| status == "done"));
    let folder = tempfile::tempdir().unwrap();
    let page =
        |args: &[&str]| -> support::Run { quarry.command().current_dir(folder.path()).arg("show").args(args).output().unwrap().into() };
    assert_eq!(page(&["valve.pdf", "--page", "1"]).ends(0).out.trim(), "valve-page-1.png");
    let plain = std::fs::read(folder.path().join("valve-page-1.png")).unwrap();
    assert!(plain.starts_with(b"\x89PNG"));
    let said = page(&["valve.pdf:0", "--page", "--out", "marked.png", "--json"]).ends(0).json();
    assert_eq!((said["page"].as_u64(), said["marked"].as_u64()), (Some(1), Some(1)));
    assert_ne!(std::fs::read(folder.path().join("marked.png")).unwrap(), plain);
    assert!(page(&["valve.pdf", "--page", "2"]).ends(4).err.contains("the document has 1"));
    assert!(page(&["note.md", "--page", "1"]).ends(2).err.contains("PDF"));
    page(&["valve.pdf", "--page"]).ends(2);
    page(&["none.pdf", "--page", "1"]).ends(4);
}

/// What goes wrong before anything is done is said in one line that says what to do.
#[test]
fn wrong_calls_are_answered_in_one_line() {
    let quarry = support::Quarry::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let file = quarry.write("file", "no folder");
    let file = file.to_str().unwrap();
    for (args, code, words) in [
        (&["search", "x"][..], 4, "there was no data folder at"),
        (&["serve", "--port", &port], 1, "--port chooses another"),
        (&["list", "--data", file], 2, "is a file; --data names a folder"),
        (&["list", "--data", "/dev/null/x"], 1, "cannot open the data folder"),
        (&["ingest", "/nowhere/at/all"], 4, "/nowhere/at/all"),
        (&["outline", "nothing"], 4, "`quarry list` shows what there is"),
        (&["show", "nothing:7"], 4, "`quarry list` shows what there is"),
        (&["debug", "profile", "/nowhere/at/all"], 4, "/nowhere/at/all"),
    ] {
        let run = quarry.run(args).ends(code);
        let line = run.err.lines().next().unwrap_or_default();
        assert!(line.contains(words), "{args:?}: {}", run.err);
        for part in line.split(": ").filter(|part| part.len() > 12) {
            assert_eq!(line.matches(part).count(), 1, "said twice: {line}");
        }
    }
    assert!(quarry.run(&["serve", "--host", "example.com"]).ends(2).err.contains("or localhost"));
}
