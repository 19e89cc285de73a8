//! `quarry jobs`: listed, shown and followed, here and on a server.

mod support;

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use support::server::Server;
use support::{Quarry, Run};

fn lines(run: &Run) -> Vec<Value> {
    run.out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

fn steps(lines: &[Value], job: &str) -> Vec<String> {
    let of_job = lines.iter().filter(|line| line["job_id"] == job && line["at"].is_string());
    of_job.map(|line| line["status"].as_str().unwrap().to_owned()).collect()
}

/// Nobody works on the folder: who follows a job does its work.
#[test]
fn a_job_of_the_data_folder_is_followed_to_its_end() {
    let quarry = Quarry::new();
    support::three(&quarry);
    quarry.write("broken.docx", "PK\u{3}\u{4} and then nothing");
    quarry.run(&["ingest", quarry.docs().to_str().unwrap()]).ends(3);
    let jobs = quarry.run(&["jobs", "--json"]).ends(0).json();
    let id = |state: &str| jobs["jobs"].as_array().unwrap().iter().find(|job| job["state"] == state).unwrap()["job_id"].as_str().unwrap();
    let done = quarry.run(&["jobs", id("done"), "--follow"]).ends(0);
    assert!(done.out.lines().last().unwrap().contains("done"), "{}", done.out);
    let failed = quarry.run(&["jobs", id("failed"), "--follow"]).ends(3);
    let last = failed.out.lines().last().unwrap();
    assert!(last.contains("failed") && last.contains("broken.docx  CORRUPT: "), "{last}");
    let told = lines(&quarry.run(&["jobs", id("failed"), "--follow", "--json"]).ends(3));
    let last = told.last().unwrap();
    assert_eq!((&last["status"], &last["error"]["code"]), (&json!("failed"), &json!("CORRUPT")));
    let none = quarry.run(&["jobs", "--follow"]).ends(0);
    assert_eq!((none.out.as_str(), none.err.as_str()), ("", "no job is at work\n"));
}

#[test]
fn what_was_left_undone_is_done_by_whoever_follows_it() {
    let quarry = Quarry::new();
    for n in 0..40 {
        quarry.write(&format!("{n}.md"), &format!("# Document {n}\n\nIts word is zebra{n}.\n"));
    }
    let mut child =
        quarry.command().args(["ingest", quarry.docs().to_str().unwrap()]).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    // Killed as soon as there is something to follow.
    let began = std::time::Instant::now();
    while quarry.run(&["jobs", "--json"]).json()["total"] == 0 {
        assert!(began.elapsed() < Duration::from_mins(1));
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    quarry.run(&["jobs", "--follow", "--json"]).ends(0);
    let jobs = quarry.run(&["jobs", "--json", "--limit", "100"]).ends(0).json();
    let open: Vec<&Value> = jobs["jobs"].as_array().unwrap().iter().filter(|job| job["state"] != "done").collect();
    assert!(open.is_empty(), "{open:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_servers_jobs_are_followed_over_its_api() {
    let (quarry, elsewhere) = (Quarry::new(), Quarry::new());
    let server = Server::start(&quarry, &[]);
    let (_, job) = server.post("/jobs", json!({ "source_type": "file", "file_name": "pump.md" })).await;
    let id = job["job_id"].as_str().unwrap().to_owned();
    let command = |args: &[&str]| {
        let mut command = elsewhere.command();
        command.arg("jobs").args(args).args(["--url", &server.url]).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    // It waits for the file as well.
    let following = command(&[&id, "--follow", "--json"]).spawn().unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(server.put(&job, "# Pump\n\nThe bearing runs hot.\n").await.status().is_success());
    let run = |child: std::process::Child| Run::from(child.wait_with_output().unwrap());
    let told = lines(&run(following).ends(0));
    let steps = steps(&told, &id);
    assert_eq!((steps.first().map(String::as_str), steps.last().map(String::as_str)), (Some("waiting-file"), Some("done")), "{told:?}");
    let shown = run(command(&[&id]).spawn().unwrap()).ends(0);
    assert!(shown.out.starts_with(&id) && shown.out.contains("publisher"), "{}", shown.out);
    let listed = run(command(&["--json"]).spawn().unwrap()).ends(0).json();
    assert_eq!((&listed["total"], &listed["jobs"][0]["job_id"]), (&json!(1), &json!(id)));
    run(command(&["job_000000000000", "--follow"]).spawn().unwrap()).ends(4);
    run(command(&["--follow"]).spawn().unwrap()).ends(0);
    // With a key on the server a wrong one is said to be wrong, and the data folder of the caller stays unmade.
    let (_, made) = server.post("/auth/create", json!({ "name": "k", "scopes": ["query"] })).await;
    let refused = run(command(&[&id, "--key", "sk_wrong"]).spawn().unwrap()).ends(2);
    assert!(refused.err.contains("--key"), "{}", refused.err);
    let mut keyed = command(&[&id]);
    run(keyed.env("QUARRY_API_KEY", made["api_key"].as_str().unwrap()).spawn().unwrap()).ends(0);
    assert!(!elsewhere.data().exists());
}

#[test]
fn what_cannot_be_followed_is_said_in_one_sentence() {
    let quarry = Quarry::new();
    for (args, code, words) in [
        (&["jobs", "nonsense"][..], 2, "no job's id"),
        (&["jobs", "job_000000000000", "--follow"], 4, "no job job_000000000000"),
        (&["jobs", "--url", "localhost:8080"], 2, "no http or https address"),
        (&["jobs", "--url", "http://127.0.0.1:9"], 1, "nothing listens there"),
        (&["jobs", "--follow", "--url", "http://127.0.0.1:9/v2/"], 1, "no answer from http://127.0.0.1:9/v2"),
    ] {
        let run = quarry.run(args).ends(code);
        assert!(run.err.contains(words) && run.err.lines().count() == 1, "{args:?}: {}", run.err);
    }
    // A key in the environment is no call to a server.
    let run = quarry.command().arg("jobs").env("QUARRY_API_KEY", "sk_x").output().map(Run::from).unwrap();
    run.ends(0);
}
