//! The program under faults: killed while it works, parsers that crash and hang, Ctrl-C.

mod support;

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use support::{Quarry, statuses};

fn many(quarry: &Quarry, count: usize) {
    for n in 0..count {
        quarry.write(&format!("{n:03}.md"), &format!("# Document {n}\n\nThe unique word is zebra{n}. It stands among others.\n"));
    }
}

fn spawn(quarry: &Quarry) -> Child {
    let docs = quarry.docs();
    quarry.command().args(["ingest", docs.to_str().unwrap(), "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until something is published, so that the work is in the middle.
async fn until_published(quarry: &Quarry) {
    let began = Instant::now();
    while began.elapsed() < Duration::from_mins(1) {
        let store = quarry_store_local::LocalStore::open(&quarry.data(), quarry_store_local::PublicBase::default()).unwrap();
        let head = store.records().get(&quarry_model::RecordKey::head(&support::scope())).await.unwrap();
        if head.is_some() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("nothing is published");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_in_the_middle_and_called_again_it_completes_and_does_nothing_twice() {
    const COUNT: usize = 150;
    let quarry = Quarry::new();
    many(&quarry, COUNT);
    let mut killed = 0;
    for _ in 0..2 {
        let mut child = spawn(&quarry);
        until_published(&quarry).await;
        tokio::time::sleep(Duration::from_millis(150)).await;
        killed += usize::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(killed > 0, "too fast to be killed: raise COUNT");

    let report = quarry.run(&["ingest", quarry.docs().to_str().unwrap(), "--json"]).ends(0).json();
    let statuses = statuses(&report);
    assert_eq!(statuses.len(), COUNT);
    assert!(statuses.values().all(|status| status == "done" || status == "unchanged"), "{statuses:?}");
    assert_eq!(quarry.head().await.documents, COUNT as u64);
    let jobs = quarry.run(&["jobs", "--limit", "1000", "--json"]).ends(0).json();
    assert_eq!(jobs["total"], COUNT, "one job for each file");
    assert!(jobs["jobs"].as_array().unwrap().iter().all(|job| job["state"] == "done"));
    let found = quarry.run(&["search", "zebra77", "--json"]).ends(0).json();
    assert_eq!(found["results"][0]["source"]["source_file_name"], "077.md");
    quarry.run(&["doctor"]).ends(0);
}

#[test]
fn a_parser_that_crashes_or_hangs_fails_its_own_document_only() {
    let quarry = Quarry::new();
    many(&quarry, 6);
    quarry.write("abort.md", "# Abort\n\nThis one kills its parser.\n");
    quarry.write("loop.md", "# Loop\n\nThis one never ends.\n");
    let docs = quarry.docs();
    let run = quarry
        .command()
        .args(["ingest", docs.to_str().unwrap(), "--json"])
        .env("QUARRY_TEST_FAULTS", "1")
        .env("QUARRY_LIMIT_PARSE_SECONDS", "2")
        .output()
        .map(support::Run::from)
        .unwrap()
        .ends(3);
    let report = run.json();
    let code = |name: &str| {
        let documents = report["documents"].as_array().unwrap();
        let document = documents.iter().find(|document| document["path"].as_str().unwrap().ends_with(name)).unwrap();
        (document["status"].as_str().unwrap().to_owned(), document["error"]["code"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(code("/abort.md"), ("failed".to_owned(), "CRASHED".to_owned()));
    assert_eq!(code("/loop.md"), ("failed".to_owned(), "TIMED_OUT".to_owned()));
    for n in 0..6 {
        assert_eq!(code(&format!("/{n:03}.md")).0, "done");
    }
    // Without the fault both are read.
    let again = quarry.ingest();
    assert_eq!((again["abort.md"].as_str(), again["loop.md"].as_str()), ("done", "done"), "{again:?}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn ctrl_c_stops_and_the_next_call_goes_on() {
    let quarry = Quarry::new();
    many(&quarry, 150);
    let child = spawn(&quarry);
    until_published(&quarry).await;
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let run: support::Run = child.wait_with_output().unwrap().into();
    assert!(run.code == 130 || run.code == 0, "{}: {}", run.code, run.err);
    quarry.run(&["ingest", quarry.docs().to_str().unwrap()]).ends(0);
    assert_eq!(quarry.head().await.documents, 150);
}
