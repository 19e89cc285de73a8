//! Jobs: made, fed, read, called off.

use std::time::Duration;

use http::{Method, StatusCode};
use quarry_model::job::Progress;
use quarry_model::{DocumentCode, DocumentFailure, JobId, JobState, Limits, RecordKey, Revision};
use quarry_ports::Condition;
use quarry_runtime::http::Access;
use serde_json::{Value, json};

use crate::bench::{BASE, Bench, file_job, has_fields};

#[tokio::test]
async fn a_job_is_created_fed_and_read() {
    let bench = Bench::new();
    let created = bench
        .post(
            "/v1/jobs",
            &json!({ "source_type": "file", "file_name": "dir/pump.md", "namespace": " manuals ", "data_id": "d",
        "document_metadata": { "created_by_client": "python-sdk" }, "unknown_field": 1, "webhook": null, "llm_config": null }),
        )
        .await
        .ok();
    has_fields(&created, &["job_id", "document_id", "expires_in", "created_at"]);
    assert_eq!(
        (&created["status"], &created["namespace"], &created["source_type"]),
        (&json!("waiting-file"), &json!("manuals"), &json!("file"))
    );
    assert!(created["upload_headers"].as_object().unwrap().values().all(Value::is_string));
    let id = created["job_id"].as_str().unwrap();
    bench.put(&created, "# Pump\n").await;
    let confirmed = bench.post(&format!("/v1/jobs/{id}/confirm-upload"), &json!({})).await.ok();
    assert_eq!(confirmed["status"], "pending");
    let arrived = bench.arrivals().await;
    assert_eq!((arrived.len(), arrived[0].size), (1, 7));
    let read = bench.get(&format!("/v2/jobs/{id}?wait=0")).await.ok();
    assert_eq!((&read["status"], &read["file_name"], &read["file_extension"]), (&json!("pending"), &json!("pump.md"), &json!("MD")));
    // What the official client reads, with its types.
    assert!(read["progress"].is_null() && read["error"].is_null() && read["result_url"].is_null());
    assert!(
        read["duration_seconds"].is_f64() && read["credits_spent"].is_number() && read["model"] == "base" && read["ocr_enabled"] == false
    );
}

#[tokio::test]
async fn a_finished_job_names_its_result_and_a_failed_one_its_reason() {
    let bench = Bench::new();
    let created = bench.post("/v1/jobs", &file_job("a.md")).await.ok();
    let id: JobId = created["job_id"].as_str().unwrap().parse().unwrap();
    let job = bench.jobs.advance(&id, JobState::Running, "parse-text").await.unwrap();
    let running = bench.get(&format!("/v1/jobs/{id}?wait=0")).await.ok();
    assert_eq!((&running["status"], &running["stage"]), (&json!("running"), &json!("parse-text")));
    let writes =
        bench.jobs.done_writes(&job, &Revision::of("a", "b", "c"), Some("ab12"), Progress { total_pages: 2, processed_pages: 2 }).unwrap();
    bench.store.records().transact(writes).await.unwrap();
    let done = bench.get(&format!("/v1/jobs/{id}")).await.ok();
    assert_eq!(
        (&done["status"], &done["result"]["checksum"], &done["progress"]["total_pages"]),
        (&json!("done"), &json!("ab12"), &json!(2))
    );
    assert!(done["result_url"].as_str().unwrap().starts_with(BASE) && done["result_url_expires_at"].is_string());

    let created = bench.post("/v1/jobs", &file_job("b.md")).await.ok();
    let id: JobId = created["job_id"].as_str().unwrap().parse().unwrap();
    bench.jobs.fail(&id, "profiler", &DocumentFailure::new(DocumentCode::Encrypted, "")).await.unwrap();
    let failed = bench.get(&format!("/v1/jobs/{id}")).await.ok();
    assert_eq!(
        (&failed["status"], &failed["error"]["code"], &failed["error"]["request_id"]),
        (&json!("failed"), &json!("ENCRYPTED"), &json!(id))
    );
    assert_eq!(failed["error"]["details"], json!({ "retryable": false, "stage": "profiler" }));
}

/// The official client asks once after its upload and then sleeps ten seconds.
#[tokio::test]
async fn the_first_read_after_an_upload_waits_for_the_end() {
    let bench = Bench::new();
    let created = bench.post("/v1/jobs", &file_job("a.md")).await.ok();
    let id: JobId = created["job_id"].as_str().unwrap().parse().unwrap();
    bench.put(&created, "# A\n").await;
    let jobs = bench.jobs.clone();
    let worker = tokio::spawn({
        let id = id.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(200)).await;
            jobs.fail(&id, "parse-text", &DocumentFailure::new(DocumentCode::Corrupt, "")).await.unwrap();
        }
    });
    assert_eq!(bench.get(&format!("/v1/jobs/{id}")).await.ok()["status"], "failed");
    worker.await.unwrap();
    // Before the bytes are there nothing is waited for.
    let created = bench.post("/v1/jobs", &file_job("b.md")).await.ok();
    let began = std::time::Instant::now();
    bench.get(&format!("/v1/jobs/{}", created["job_id"].as_str().unwrap())).await.ok();
    assert!(began.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_named() {
    let bench = Bench::new();
    let post = async |body: Value| bench.post("/v1/jobs", &body).await;
    post(json!({})).await.violation("body.source_type");
    post(json!({ "source_type": "file", "file_name": null })).await.violation("body.file_name");
    post(json!({ "source_type": "file", "file_name": "a.md", "source_url": "https://x.example/a.md" })).await.violation("body.source_url");
    post(json!({ "source_type": "ftp", "file_name": "a.md" })).await.violation("body.source_type");
    post(json!({ "source_type": "file", "file_name": "a.md", "namespace": "x".repeat(256) })).await.violation("body.namespace");
    post(json!({ "source_type": "file", "file_name": "a.md", "data_id": "x".repeat(129) })).await.violation("body.data_id");
    post(json!({ "source_type": "file", "file_name": "a.md", "parsing_params": [] })).await.violation("body.parsing_params");
    post(json!({ "source_type": "file", "file_name": "a.md", "document_metadata": { "a": "x".repeat(20_000) } }))
        .await
        .violation("body.document_metadata");
    let secret = post(json!({ "source_type": "file", "file_name": "a.md", "llm_config": { "api_key": "sk-secret" } })).await;
    secret.violation("body.llm_config");
    assert!(!secret.body.to_string().contains("sk-secret"));
    bench.get("/v1/jobs?page_size=101").await.violation("query.page_size");
    bench.get("/v1/jobs?recent_days=2").await.violation("query.recent_days");
    bench.get("/v1/jobs?colour=red").await.refused(400, "INVALID_ARGUMENT");
    bench.get("/v1/documents?page=0").await.violation("query.page");
    bench.get("/v1/documents?page_size=201").await.violation("query.page_size");
}

#[tokio::test]
async fn requests_that_come_twice_make_one_job() {
    let bench = Bench::new();
    let keyed = [("content-type", "application/json"), ("idempotency-key", "k-1")];
    let one = bench.send(Method::POST, "/v1/jobs", &keyed, file_job("a.md").to_string()).await.ok();
    let two = bench.send(Method::POST, "/v1/jobs", &keyed, file_job("a.md").to_string()).await.ok();
    assert_eq!(one["job_id"], two["job_id"]);
    assert!(two["upload_url"].is_string());
    bench.send(Method::POST, "/v1/jobs", &keyed, file_job("b.md").to_string()).await.refused(409, "ALREADY_EXISTS");
    let busy = bench.post("/v1/jobs", &json!({ "source_type": "file", "file_name": "a.md", "document_id": one["document_id"] })).await;
    busy.refused(409, "ABORTED");
    assert_eq!(busy.body["error"]["details"]["id"], one["document_id"]);
}

#[tokio::test]
async fn a_job_is_called_off_and_started_over() {
    let bench = Bench::new();
    let created = bench.post("/v1/jobs", &file_job("a.md")).await.ok();
    let path = format!("/v1/jobs/{}", created["job_id"].as_str().unwrap());
    bench.post(&format!("{path}/retry"), &json!({})).await.refused(409, "ABORTED");
    bench.post(&format!("{path}/confirm-upload"), &json!({})).await.violation("path.job_id");
    let cancelled = bench.send(Method::DELETE, &path, &[], "").await.ok();
    assert_eq!((&cancelled["status"], &cancelled["error"]["code"]), (&json!("failed"), &json!("CANCELLED")));
    assert_eq!(bench.send(Method::DELETE, &path, &[], "").await.ok()["status"], "failed");
    bench.post(&format!("{path}/confirm-upload"), &json!({})).await.refused(409, "ABORTED");
    bench.post(&format!("{path}/retry"), &json!({})).await.violation("path.job_id");
    bench.put(&created, "# A\n").await;
    assert_eq!(bench.post(&format!("{path}/retry"), &json!({})).await.ok()["status"], "pending");
    assert_eq!(bench.arrivals().await.len(), 1);
}

#[tokio::test]
async fn a_small_file_comes_in_the_request_raw_or_as_a_form() {
    let bench = Bench::new();
    let raw = [("content-type", "text/markdown"), ("x-file-name", "M%C3%BCller%20%2B%20S%C3%B6hne.md")];
    let job = bench.send(Method::POST, "/v1/documents?namespace=legal", &raw, "# A\n").await;
    assert_eq!(job.status, StatusCode::ACCEPTED);
    let job = job.ok();
    assert_eq!((&job["file_name"], &job["namespace"], &job["status"]), (&json!("Müller + Söhne.md"), &json!("legal"), &json!("pending")));
    let form = "--b\r\nContent-Disposition: form-data; name=\"data_id\"\r\n\r\nd-1\r\n--b\r\nContent-Disposition: form-data; name=\"document_metadata\"\r\n\r\n{\"a\": 1}\r\n\
        --b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"b.txt\"\r\nContent-Type: text/plain\r\n\r\nwords\r\n--b--\r\n";
    let as_form = [("content-type", "multipart/form-data; boundary=b")];
    let job = bench.send(Method::POST, "/v2/documents", &as_form, form).await.ok();
    assert_eq!((&job["file_name"], &job["data_id"]), (&json!("b.txt"), &json!("d-1")));
    let stored = bench.jobs.load(&job["job_id"].as_str().unwrap().parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(stored.document_metadata["a"], 1);
    assert_eq!(bench.store.objects().get(&stored.source).await.unwrap().0, "words");
    assert_eq!(bench.arrivals().await.len(), 2);

    let fragment = [("content-type", "application/vnd.quarry.fragment+json")];
    let job = bench.send(Method::POST, "/v1/documents", &fragment, r#"{"text":"The gate opens."}"#).await.ok();
    assert_eq!(job["file_name"], "note.fragment", "a fragment is told by its media type");
    let named = [fragment[0], ("x-file-name", "Gate.json")];
    let job = bench.send(Method::POST, "/v1/documents", &named, "[]").await.ok();
    assert_eq!(job["file_name"], "Gate.json.fragment");
    assert_eq!(bench.arrivals().await.len(), 2);

    bench.send(Method::POST, "/v1/documents", &[], "x").await.violation("header.X-File-Name");
    let unknown = form.replace("data_id", "colour");
    bench.send(Method::POST, "/v1/documents", &as_form, unknown).await.violation("body.colour");
    bench.send(Method::POST, "/v1/documents", &as_form, "--b--\r\n").await.violation("body.file");
    for (headers, body) in
        [(&raw[..], "x".repeat(1001)), (&raw[..], "x".repeat(100_000)), (&as_form[..], form.replace("words", &"x".repeat(100_000)))]
    {
        bench.send(Method::POST, "/v1/documents", headers, body).await.refused(413, "PAYLOAD_TOO_LARGE");
    }
    assert!(bench.arrivals().await.is_empty());
}

#[tokio::test]
async fn an_upload_that_never_came_expires() {
    let bench = Bench::open(Access::LoopbackUnlessKeys, Limits { upload_url_seconds: 1, ..Limits::default() });
    let created = bench.post("/v1/jobs", &file_job("a.md")).await.ok();
    let id: JobId = created["job_id"].as_str().unwrap().parse().unwrap();
    // The ledger's own clock decides; here its record is made old instead.
    let key = RecordKey::job(&id);
    let mut item = bench.store.records().get(&key).await.unwrap().unwrap();
    item.body.insert("updated_at".into(), json!("2026-01-01T00:00:00.000Z"));
    bench.store.records().put(item, Condition::None).await.unwrap();
    let read = bench.get(&format!("/v1/jobs/{id}")).await.ok();
    assert_eq!(read["error"]["code"], "UPLOAD_EXPIRED");
}

/// An event that was lost: the bytes are there, so the job is not expired but brought forward.
#[tokio::test]
async fn an_upload_whose_event_was_lost_is_found() {
    let bench = Bench::open(Access::LoopbackUnlessKeys, Limits { upload_url_seconds: 1, ..Limits::default() });
    let created = bench.post("/v1/jobs", &file_job("a.md")).await.ok();
    bench.put(&created, "# A\n").await;
    let id: JobId = created["job_id"].as_str().unwrap().parse().unwrap();
    let mut item = bench.store.records().get(&RecordKey::job(&id)).await.unwrap().unwrap();
    item.body.insert("updated_at".into(), json!("2026-01-01T00:00:00.000Z"));
    bench.store.records().put(item, Condition::None).await.unwrap();
    assert_eq!(bench.get(&format!("/v1/jobs/{id}?wait=0")).await.ok()["status"], "pending");
    assert_eq!(bench.arrivals().await.len(), 1);
}
