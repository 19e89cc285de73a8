//! Sources at an address, and webhooks: what is fetched, named, refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::Method;
use quarry_model::{JobState, RecordPrefix};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::bench::Bench;

/// A server on this machine, which the bench's rules allow, that answers everything alike; and how often it was asked.
async fn server(answer: String) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            let mut request = [0_u8; 4096];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (format!("http://{address}"), asked)
}

fn found(headers: &str, body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n{body}", body.len())
}

async fn from(bench: &Bench, url: &str) -> Value {
    bench.post("/v1/jobs", &json!({ "source_type": "url", "source_url": url })).await.ok()
}

#[tokio::test]
async fn a_file_at_an_address_is_fetched_named_and_announced() {
    let bench = Bench::new();
    let (host, _) = server(found("Content-Type: text/markdown\r\n", "# Pump")).await;
    let created = from(&bench, &format!("{host}/docs/pump%20manual.md?token=secret")).await;
    assert_eq!((&created["status"], &created["source_type"], &created["upload_url"]), (&json!("pending"), &json!("url"), &Value::Null));
    let arrivals = bench.arrivals().await;
    let (bytes, _) = bench.store.objects().get(&arrivals[0].key).await.unwrap();
    assert_eq!(&bytes[..], b"# Pump");
    let read = bench.get(&format!("/v1/jobs/{}", created["job_id"].as_str().unwrap())).await.ok();
    assert_eq!(read["file_name"], "pump manual.md");
    assert!(!read.to_string().contains("secret"), "addresses can hold secrets");
}

#[tokio::test]
async fn a_file_without_a_name_gets_one_from_the_answer() {
    let bench = Bench::new();
    for (headers, path, name) in [
        ("Content-Type: text/html; charset=utf-8\r\n", "/", "document.html"),
        ("Content-Type: application/pdf\r\n", "/download", "download.pdf"),
        ("Content-Disposition: attachment; filename=\"../../plan.docx\"\r\n", "/x", "plan.docx"),
    ] {
        let (host, _) = server(found(headers, "x")).await;
        let created = from(&bench, &format!("{host}{path}")).await;
        let read = bench.get(&format!("/v1/jobs/{}", created["job_id"].as_str().unwrap())).await.ok();
        assert_eq!(read["file_name"], name);
    }
    let (host, _) = server(found("", "x")).await;
    let named = json!({ "source_type": "url", "source_url": host, "file_name": "own.txt" });
    let created = bench.post("/v1/jobs", &named).await.ok();
    let read = bench.get(&format!("/v1/jobs/{}", created["job_id"].as_str().unwrap())).await.ok();
    assert_eq!(read["file_name"], "own.txt", "what the caller says goes first");
}

#[tokio::test]
async fn an_address_that_gives_nothing_leaves_no_job() {
    let bench = Bench::new();
    let (gone, _) = server("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned()).await;
    for url in
        ["", "ftp://a.example/x", "http://10.0.0.8/x", "http://169.254.169.254/latest/meta-data/", "http://[::ffff:10.0.0.8]/", &gone]
    {
        let answer = bench.post("/v1/jobs", &json!({ "source_type": "url", "source_url": url })).await;
        answer.violation("body.source_url");
    }
    assert_eq!(bench.get("/v1/jobs").await.ok()["jobs"], json!([]));
}

#[tokio::test]
async fn an_equal_request_fetches_nothing_new() {
    let bench = Bench::new();
    let (host, asked) = server(found("", "# Pump")).await;
    let request = json!({ "source_type": "url", "source_url": format!("{host}/a.md") }).to_string();
    let headers = [("content-type", "application/json"), ("idempotency-key", "once")];
    let one = bench.send(Method::POST, "/v1/jobs", &headers, request.clone()).await.ok();
    let two = bench.send(Method::POST, "/v1/jobs", &headers, request).await.ok();
    assert_eq!((&one["job_id"], asked.load(Ordering::SeqCst)), (&two["job_id"], 1));
    let other = json!({ "source_type": "url", "source_url": format!("{host}/b.md") }).to_string();
    bench.send(Method::POST, "/v1/jobs", &headers, other).await.refused(409, "ALREADY_EXISTS");
}

#[tokio::test]
async fn a_job_that_ends_leaves_its_webhook_in_the_outbox() {
    let bench = Bench::new();
    let request = json!({ "source_type": "file", "file_name": "a.md", "webhook": { "url": "https://hooks.example/x?key=1" } });
    let created = bench.post("/v1/jobs", &request).await.ok();
    let waiting = async || bench.store.records().query_all(&RecordPrefix::outbox()).await.unwrap();
    assert!(waiting().await.is_empty(), "nothing has ended");
    let id = created["job_id"].as_str().unwrap();
    let cancelled = bench.send(Method::DELETE, &format!("/v1/jobs/{id}"), &[], "").await.ok();
    assert_eq!(cancelled["status"], JobState::Failed.name());
    let entries = waiting().await;
    assert_eq!((entries.len(), &entries[0].body["url"]), (1, &json!("https://hooks.example/x?key=1")));
    // Called off again: it has ended already.
    bench.send(Method::DELETE, &format!("/v1/jobs/{id}"), &[], "").await.ok();
    assert_eq!(waiting().await.len(), 1);
}

#[tokio::test]
async fn a_webhook_that_cannot_be_called_is_refused() {
    let bench = Bench::new();
    for url in ["", "hooks.example", "ftp://hooks.example/", "http://10.1.2.3/", "http://user:pass@hooks.example/"] {
        let request = json!({ "source_type": "file", "file_name": "a.md", "webhook": { "url": url } });
        bench.post("/v1/jobs", &request).await.violation("body.webhook.url");
    }
}
