//! Server-sent events of a running server: queries and jobs.

mod support;

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use support::server::Server;
use support::{Quarry, three};

const QUERY: &str = "terminal screws";

/// Name and data of every event.
async fn events(response: Response) -> Vec<(String, Value)> {
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()[CONTENT_TYPE], "text/event-stream");
    assert_eq!(response.headers()["cache-control"], "no-cache");
    let text = tokio::time::timeout(Duration::from_mins(1), response.text()).await.expect("the stream ends").unwrap();
    let frame = |frame: &str| {
        let line =
            |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("no {name}in {frame}")).to_owned();
        (line("event: "), serde_json::from_str::<Value>(&line("data: ")).unwrap())
    };
    let events: Vec<(String, Value)> = text.split_terminator("\n\n").map(frame).collect();
    assert_eq!(events.iter().filter(|(name, _)| name == "terminal").count(), 1, "{events:?}");
    assert_eq!(events.last().unwrap().0, "terminal");
    assert!(events.iter().enumerate().all(|(at, (_, data))| data["sequence"] == at as u64 + 1), "{events:?}");
    events
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_is_told_as_it_is_answered() {
    let quarry = Quarry::new();
    three(&quarry);
    quarry.ingest();
    let server = Server::start(&quarry, &[]);
    for agentic in [false, true] {
        let body = json!({ "query": QUERY, "use_agentic": agentic });
        let events = events(server.client.post(server.at("/retrieval/query/stream")).json(&body).send().await.unwrap()).await;
        assert_eq!(events[0].1["phase"], "started");
        assert!(events.iter().any(|(name, data)| name == "progress" && data["phase"] == "searching"), "{events:?}");
        let (told, terminal) = (serde_json::to_string(&events[..events.len() - 1]).unwrap(), &events.last().unwrap().1);
        assert!(!told.contains("screws"), "progress holds no text: {told}");
        assert_eq!(terminal["status"], "completed");
        if !agentic {
            let plain = server.found(QUERY).await;
            assert_eq!(terminal["response"]["evidence_text"], plain["evidence_text"]);
        }
        assert!(terminal["response"]["evidence_text"].as_str().unwrap().contains("4 Nm"), "{terminal}");
    }
    let body = json!({ "query": "zzzz qqqq" });
    let none = self::events(server.client.post(server.at("/retrieval/query/stream")).json(&body).send().await.unwrap()).await;
    assert!(["no_results", "completed"].contains(&none.last().unwrap().1["status"].as_str().unwrap()), "{none:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_json_always_works_and_wrong_requests_fail_plainly() {
    let quarry = Quarry::new();
    three(&quarry);
    quarry.ingest();
    let server = Server::start(&quarry, &[]);
    let post = |body: Value| server.client.post(server.at("/retrieval/query/stream")).json(&body);
    let plain: Value = post(json!({ "query": QUERY })).header(ACCEPT, "application/json").send().await.unwrap().json().await.unwrap();
    assert!(plain["evidence_text"].as_str().unwrap().contains("4 Nm"), "{plain}");
    let refused = post(json!({ "query": QUERY, "top_k": 0 })).send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    let refused: Value = refused.json().await.unwrap();
    assert_eq!((&refused["success"], &refused["error"]["code"]), (&json!(false), &json!("INVALID_ARGUMENT")));
    let (status, absent) = server.get("/jobs/job_000000000000/events").await;
    assert_eq!((status, &absent["error"]["code"]), (StatusCode::NOT_FOUND, &json!("NOT_FOUND")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_followed_to_its_end() {
    let quarry = Quarry::new();
    let server = Server::start(&quarry, &[]);
    for (text, status) in [("# Pump\n\nTighten to 4 Nm.\n", "done"), (" \n", "failed")] {
        let (_, job) = server.post("/jobs", json!({ "source_type": "file", "file_name": "pump.md" })).await;
        let id = job["job_id"].as_str().unwrap();
        let following = server.client.get(server.at(&format!("/jobs/{id}/events"))).send().await.unwrap();
        assert!(server.put(&job, text).await.status().is_success());
        let events = events(following).await;
        let states: Vec<&str> =
            events.iter().filter(|(name, _)| name == "progress").filter_map(|(_, data)| data["status"].as_str()).collect();
        assert_eq!(states.first(), Some(&"waiting-file"), "{events:?}");
        // Of a file without words the profiler already says so.
        assert_eq!(states.contains(&"running"), status == "done", "{states:?}");
        let terminal = &events.last().unwrap().1;
        assert_eq!((&terminal["status"], &terminal["job"]["job_id"]), (&json!(status), &json!(id)), "{terminal}");
        assert_eq!(terminal["job"]["error"].is_object(), status == "failed");
        // Afterwards the whole history comes at once, as events or plainly.
        let again = self::events(server.client.get(server.at(&format!("/jobs/{id}/events"))).send().await.unwrap()).await;
        assert_eq!(again.last().unwrap().1["status"], status);
        let plain = server.client.get(server.at(&format!("/jobs/{id}/events"))).header(ACCEPT, "application/json");
        let plain: Value = plain.send().await.unwrap().json().await.unwrap();
        assert_eq!(plain["status"], status);
        assert_eq!(plain["events"].as_array().unwrap().len(), states.len(), "{plain}");
    }
}
