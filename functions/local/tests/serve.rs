//! The server: upload by signed address, search, watched folders, refusals.

mod support;

use std::time::{Duration, Instant};

use reqwest::StatusCode;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use support::Quarry;
use support::server::Server;

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_becomes_searchable_and_its_result_can_be_fetched() {
    let quarry = Quarry::new();
    let server = Server::start(&quarry, &[]);
    assert_eq!(server.client.get(format!("{}/health", server.url)).send().await.unwrap().status(), StatusCode::OK);

    let request = json!({ "source_type": "file", "file_name": "heron.md", "document_metadata": { "by": "test" } });
    let (status, job) = server.post("/jobs", request).await;
    assert!(status.is_success(), "{job}");
    let text = "# Herons\n\nThe grey heron nests in April.\n";
    assert!(server.put(&job, text).await.status().is_success());
    assert!(server.put(&job, text).await.status().is_success(), "the same bytes again are accepted");
    assert_eq!(server.put(&job, "other").await.status(), StatusCode::CONFLICT);

    let done = server.ended(job["job_id"].as_str().unwrap()).await;
    assert_eq!(done["status"], "done", "{done}");
    let zip = server.client.get(done["result_url"].as_str().unwrap()).send().await.unwrap();
    assert_eq!(zip.headers()["content-type"], "application/zip");
    let zip = zip.bytes().await.unwrap();
    assert_eq!(done["result"]["checksum"], hex::encode(Sha256::digest(&zip)));

    let answer = server.found("when do herons nest").await;
    assert!(answer["evidence_text"].as_str().unwrap().contains("April"), "{answer}");
    let (_, list) = server.get("/documents").await;
    assert_eq!(list["documents"][0]["source_file_name"], "heron.md");
    let document = job["document_id"].as_str().unwrap();
    let archived = server.client.post(server.at(&format!("/documents/{document}/archive"))).send().await.unwrap();
    assert!(archived.status().is_success());
    let began = Instant::now();
    while !server.found("when do herons nest").await["results"].as_array().unwrap().is_empty() {
        assert!(began.elapsed() < Duration::from_secs(20), "still found");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn signed_addresses_open_nothing_else() {
    let quarry = Quarry::new();
    let server = Server::start(&quarry, &[]);
    let (_, job) = server.post("/jobs", json!({ "source_type": "file", "file_name": "a.md" })).await;
    let url = job["upload_url"].as_str().unwrap();
    let wrong_type = server.client.put(url).header("content-type", "image/x-other").body("x").send().await.unwrap();
    assert_eq!(wrong_type.status(), StatusCode::FORBIDDEN);
    assert_eq!(server.client.get(url).send().await.unwrap().status(), StatusCode::FORBIDDEN, "not for reading");
    let other = url.replace(job["job_id"].as_str().unwrap(), "job_000000000000");
    let moved = server.put(&json!({ "upload_url": other, "upload_headers": job["upload_headers"] }), "x").await;
    assert_eq!(moved.status(), StatusCode::FORBIDDEN);
    let unsigned = server.client.get(format!("{}/objects/store.sqlite", server.url)).send().await.unwrap();
    assert_eq!(unsigned.status(), StatusCode::FORBIDDEN);
    let body: Value = unsigned.json().await.unwrap();
    assert_eq!(body["error"]["code"], "PERMISSION_DENIED");
    assert_eq!(server.get("/nothing").await.0, StatusCode::NOT_FOUND);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watched_folder_is_read_as_it_changes_and_ingest_uses_the_running_server() {
    let quarry = Quarry::new();
    let path = quarry.write("note.md", "# Note\n\nThe first word is walnut.\n");
    let server = Server::start(&quarry, &["--watch", quarry.docs().to_str().unwrap()]);
    let until = async |query: &str, part: &str| {
        let began = Instant::now();
        loop {
            let answer = server.found(query).await;
            if answer["evidence_text"].as_str().unwrap().contains(part) {
                return;
            }
            assert!(began.elapsed() < Duration::from_secs(30), "{part} is not found: {answer}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    until("walnut", "walnut").await;
    std::fs::write(&path, "# Note\n\nThe second word is chestnut.\n").unwrap();
    until("chestnut", "chestnut").await;

    let other = Quarry::new();
    let apart = other.write("apart.md", "# Apart\n\nOutside stands a hazel.\n");
    let handed = quarry.run(&["ingest", apart.to_str().unwrap(), "--json"]).ends(0).json();
    assert_eq!(handed["documents"][0]["status"], "pending", "a running server does the work");
    until("hazel", "hazel").await;
    let more = other.write("more.md", "# More\n\nAn elm as well.\n");
    let waited = quarry.run(&["ingest", more.to_str().unwrap(), "--wait", "--json"]).ends(0).json();
    assert_eq!(waited["documents"][0]["status"], "done");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn it_stops_in_good_order_when_asked() {
    let quarry = Quarry::new();
    let mut server = Server::start(&quarry, &[]);
    let pid = server.child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let began = Instant::now();
    let status = loop {
        if let Some(status) = server.child.try_wait().unwrap() {
            break status;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "it does not stop");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert!(status.success(), "{status}");
}

#[tokio::test]
async fn pages_are_served_as_images() {
    let quarry = Quarry::new();
    let pdf = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
        3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj\n\
        4 0 obj<</Length 66>>stream\n0 0 20 20 re f BT /F 10 Tf 20 60 Td (The valve opens at six.) Tj ET\nendstream endobj\n\
        5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n";
    quarry.write("valve.pdf", pdf);
    quarry.ingest();
    let server = Server::start(&quarry, &[]);
    let (_, list) = server.get("/documents").await;
    let id = list["documents"][0]["document_id"].as_str().unwrap().to_owned();
    let image = async |path: &str| {
        let response = server.client.get(server.at(&format!("/documents/{id}/pages/{path}"))).send().await.unwrap();
        (response.status(), response.headers().get("content-type").cloned(), response.bytes().await.unwrap())
    };
    let (status, kind, plain) = image("1.png").await;
    assert_eq!((status, kind.unwrap().to_str().unwrap()), (StatusCode::OK, "image/png"));
    assert_eq!(image("1.png").await.2, plain, "kept and the same");
    let (status, _, marked) = image("1.png?highlight=10,10,60,40").await;
    assert!(status == StatusCode::OK && marked.starts_with(b"\x89PNG") && marked != plain);
    let (status, _, chunk) = image("1.png?chunk=0").await;
    assert!(status == StatusCode::OK && chunk != plain && chunk != marked);
    for (path, expected, code) in [
        ("2.png", 404, "NOT_FOUND"),
        ("0.png", 400, "INVALID_ARGUMENT"),
        ("one.png", 400, "INVALID_ARGUMENT"),
        ("1.png?highlight=1,2", 400, "INVALID_ARGUMENT"),
        ("1.png?chunk=99", 404, "NOT_FOUND"),
    ] {
        let (status, body) = server.get(&format!("/documents/{id}/pages/{path}")).await;
        assert_eq!((status.as_u16(), body["error"]["code"].as_str()), (expected, Some(code)), "{path}");
    }
}
