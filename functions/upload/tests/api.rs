//! The API on the local store, asked as clients ask. What other functions do is done here by hand: records of a finished
//! document, a publisher that only moves a status.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use quarry_model::job::Progress;
use quarry_model::message::{ObjectArrived, PublishAction, PublishMessage, QueueName};
use quarry_model::record::{ChunkRecord, DocumentPlace, DocumentRecord, DocumentStatus, GraphEdge, KeyScope, Order};
use quarry_model::{
    ChunkId, ChunkMetadata, ChunkType, DocumentCode, DocumentFailure, DocumentId, JobId, JobState, Limits, Namespace, ObjectKey, Owner,
    RecordKey, Revision, Scope, SectionId,
};
use quarry_ports::{Clock, Condition, Item, PutOptions, SystemClock};
use quarry_runtime::http::{Access, Authenticator, NewKey, Options, PREFIXES, Route, app};
use quarry_runtime::{Config, Jobs};
use quarry_store_local::{LocalStore, PublicBase};
use quarry_upload::{InProcess, Pages, ROUTES, Upload, openapi_json, root, routes};
use serde_json::{Value, json};
use tower::ServiceExt as _;

const BASE: &str = "http://127.0.0.1:8080";

struct Bench {
    store: LocalStore,
    jobs: Jobs,
    authenticator: Arc<Authenticator>,
    app: Router,
    _folder: tempfile::TempDir,
}

struct Answer {
    status: StatusCode,
    headers: http::HeaderMap,
    body: Value,
}

impl Answer {
    #[track_caller]
    fn ok(self) -> Value {
        assert!(self.status.is_success(), "{} {}", self.status, self.body);
        self.body
    }

    #[track_caller]
    fn refused(&self, status: u16, code: &str) {
        assert_eq!((self.status.as_u16(), self.body["error"]["code"].as_str()), (status, Some(code)), "{}", self.body);
        assert_eq!(self.body["success"], false);
    }

    #[track_caller]
    fn violation(&self, field: &str) {
        self.refused(400, "INVALID_ARGUMENT");
        let violations = self.body["error"]["details"]["violations"].as_array().unwrap();
        assert!(violations.iter().any(|violation| violation["field"] == field), "{field} not in {violations:?}");
    }
}

impl Bench {
    fn new() -> Self {
        Self::open(Access::LoopbackUnlessKeys, Limits::default())
    }

    fn open(access: Access, limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = LocalStore::open(folder.path(), PublicBase::new(BASE)).unwrap();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let config = Config::read(|_| None).unwrap();
        let jobs = Jobs::new(store.records(), Arc::clone(&clock));
        let authenticator = Arc::new(Authenticator::new(store.records(), clock, access, &config));
        let limits = Arc::new(limits);
        let upload = Arc::new(Upload {
            pages: Pages { objects: store.objects(), drawer: Arc::new(InProcess::new(Arc::clone(&limits))) },
            objects: store.objects(),
            queue: store.queues(),
            jobs: jobs.clone(),
            authenticator: Arc::clone(&authenticator),
            limits,
            direct_upload_bytes: 1000,
            environment: "test".into(),
        });
        let app = app(routes(upload), root(), Arc::clone(&authenticator), Options::named("test"));
        Self { store, jobs, authenticator, app, _folder: folder }
    }

    async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: impl Into<Body>) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self.app.clone().oneshot(request.body(body.into()).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Answer { status: parts.status, headers: parts.headers, body: serde_json::from_slice(&bytes).unwrap_or(Value::Null) }
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], "").await
    }

    async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::POST, path, &[("content-type", "application/json")], body.to_string()).await
    }

    /// What the client does with `upload_url`.
    async fn put(&self, created: &Value, content: &str) {
        let url = created["upload_url"].as_str().unwrap();
        let path = url.strip_prefix(BASE).unwrap();
        let kind = created["upload_headers"]["Content-Type"].as_str().unwrap();
        let key = self.store.verify_signed("PUT", path, Some(kind), SystemClock.now()).unwrap();
        self.store.accept_signed_put(&key, Bytes::copy_from_slice(content.as_bytes()), kind).await.unwrap();
    }

    async fn arrivals(&self) -> Vec<ObjectArrived> {
        let queue = self.store.queues();
        let received = queue.receive(QueueName::Profile, 10, Duration::from_mins(1), Duration::ZERO).await.unwrap();
        received.iter().map(|message| serde_json::from_str(&message.body).unwrap()).collect()
    }

    /// A published document with a text, a table and a long text that is only in `chunks.json`.
    async fn document(&self, owner: &str, name: &str) -> DocumentId {
        let scope = Scope::new(Owner::new(owner).unwrap(), Namespace::default());
        let document = DocumentId::for_drop_in(&scope, name);
        let revision = Revision::of(name, "test", "{}");
        let now = SystemClock.now();
        let record = DocumentRecord {
            schema_version: 1,
            document_id: document.clone(),
            scope: scope.clone(),
            status: DocumentStatus::Active,
            active_revision: Some(revision.clone()),
            active_job: Some(JobId::for_drop_in(&scope, name, "e")),
            source_file_name: name.into(),
            source_sha256: None,
            metadata: serde_json::Map::new(),
            order: Order { created_millis: 1, sequencer: None },
            chunk_count: 3,
            summary: "About pumps.".into(),
            created_at: now,
            updated_at: now,
            archived_at: None,
        };
        let mut items = vec![
            Item::of(RecordKey::document(&scope, &document), &record).unwrap(),
            Item::of(RecordKey::document_place(&document), &DocumentPlace { scope: scope.clone() }).unwrap(),
        ];
        let rows = [
            chunk(0, ChunkType::Text, &format!("{name}/Setup/Wiring"), Some("Tighten to 4 Nm."), None),
            chunk(1, ChunkType::Table, &format!("{name}/Setup/table-1.html"), Some("<table></table>"), Some("tables/table-1.html")),
            chunk(2, ChunkType::Text, name, None, None),
        ];
        for row in &rows {
            items.push(Item::of(RecordKey::chunk(&document, &revision, row.ordinal), row).unwrap());
        }
        self.store.records().write_many(items, Vec::new()).await.unwrap();
        let mut chunks: Vec<Value> = rows.iter().map(|row| json!(row)).collect();
        chunks[2]["content"] = "a very long text".into();
        let file = json!({ "schema_version": 1, "chunks": chunks });
        for (artifact, content) in [("chunks.json", file.to_string()), ("tables/table-1.html", "<table></table>".to_owned())] {
            let key = ObjectKey::artifact(&scope, &document, &revision, artifact);
            self.store.objects().put(&key, Bytes::from(content), PutOptions::default()).await.unwrap();
        }
        document
    }

    /// A publisher that does what archives and deletes say to the record, and nothing else.
    fn publisher(&self) -> tokio::task::JoinHandle<()> {
        let (queue, records) = (self.store.queues(), self.store.records());
        tokio::spawn(async move {
            loop {
                let received = queue.receive(QueueName::Publish, 1, Duration::from_mins(1), Duration::from_secs(1)).await.unwrap();
                for message in received {
                    let publish: PublishMessage = serde_json::from_str(&message.body).unwrap();
                    let key = RecordKey::document(&publish.scope, &publish.document_id);
                    if let Some(item) = records.get(&key).await.unwrap() {
                        let mut record: DocumentRecord = item.read().unwrap();
                        record.status = match publish.action {
                            PublishAction::Archive => DocumentStatus::Archived,
                            _ => DocumentStatus::Deleted,
                        };
                        records.put(Item::of(key, &record).unwrap(), Condition::None).await.unwrap();
                    }
                    queue.acknowledge(QueueName::Publish, &message.receipt).await.unwrap();
                }
            }
        })
    }

    async fn key(&self, owner: &str, scopes: &[KeyScope]) -> String {
        let new = NewKey { owner: Owner::new(owner).unwrap(), name: "k".into(), scopes: scopes.to_vec(), expires_at: None };
        self.authenticator.create_key(new).await.unwrap().0
    }
}

fn chunk(ordinal: u32, kind: ChunkType, path: &str, content: Option<&str>, file: Option<&str>) -> ChunkRecord {
    ChunkRecord {
        chunk_id: ChunkId::text(path),
        kind,
        ordinal,
        content: content.map(str::to_owned),
        path: path.into(),
        metadata: ChunkMetadata {
            length: 1,
            token_count: 1,
            summary: String::new(),
            page_nums: vec![],
            tokens: vec!["a".into()],
            keywords: vec![],
            lang: "en".into(),
            file_path: file.map(str::to_owned),
            section_id: SectionId::for_path(&["a"], 0),
            boxes: vec![],
            connect_to: vec![],
            rows: None,
            hidden: false,
            document_top_summary: String::new(),
        },
        duplicate_of: None,
    }
}

fn file_job(name: &str) -> Value {
    json!({ "source_type": "file", "file_name": name })
}

fn has_fields(body: &Value, fields: &[&str]) {
    for field in fields {
        assert!(body.get(field).is_some(), "{field} is missing in {body}");
    }
}

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
    post(json!({ "source_type": "ftp", "file_name": "a.md" })).await.violation("body.source_type");
    post(json!({ "source_type": "url", "source_url": "http://169.254.169.254/" })).await.violation("body.source_type");
    post(json!({ "source_type": "file", "file_name": "a.md", "namespace": "x".repeat(256) })).await.violation("body.namespace");
    post(json!({ "source_type": "file", "file_name": "a.md", "data_id": "x".repeat(129) })).await.violation("body.data_id");
    post(json!({ "source_type": "file", "file_name": "a.md", "parsing_params": [] })).await.violation("body.parsing_params");
    post(json!({ "source_type": "file", "file_name": "a.md", "document_metadata": { "a": "x".repeat(20_000) } }))
        .await
        .violation("body.document_metadata");
    post(json!({ "source_type": "file", "file_name": "a.md", "webhook": { "url": "https://x" } })).await.violation("body.webhook");
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
async fn absent_malformed_and_foreign_ids_are_one_answer() {
    let bench = Bench::open(Access::Keys, Limits::default());
    let ann = format!("Bearer {}", bench.key("ann", &[KeyScope::Admin]).await);
    let bob = format!("Bearer {}", bench.key("bob", &[KeyScope::Admin]).await);
    let document = bench.document("ann", "a.md").await;
    let send = async |method: Method, path: &str, key: &str| {
        bench
            .send(
                method,
                path,
                &[("authorization", key), ("content-type", "application/json")],
                r#"{"source_type": "file", "file_name": "a.md"}"#,
            )
            .await
    };
    let job = send(Method::POST, "/v1/jobs", &ann).await.ok();
    let (job, waiting) = (job["job_id"].as_str().unwrap().to_owned(), job["document_id"].as_str().unwrap().to_owned());
    let own = send(Method::GET, &format!("/v1/documents/{document}/chunks"), &ann).await.ok();
    let row = own["chunks"][0]["id"].as_str().unwrap();
    let ways = [
        (Method::GET, "/jobs/{job}"),
        (Method::DELETE, "/jobs/{job}"),
        (Method::POST, "/jobs/{job}/confirm-upload"),
        (Method::POST, "/jobs/{job}/retry"),
        (Method::GET, "/documents/{doc}"),
        (Method::DELETE, "/documents/{doc}"),
        (Method::GET, "/documents/{doc}/outline"),
        (Method::GET, "/documents/{doc}/chunks"),
        (Method::GET, "/documents/{doc}/chunks/{row}"),
        (Method::GET, "/documents/{doc}/pages/1.png"),
        (Method::GET, "/documents/{doc}/source"),
        (Method::GET, "/documents/{doc}/files/page-citation-source"),
        (Method::POST, "/documents/{doc}/archive"),
        (Method::GET, "/graph/{doc}/neighbors"),
    ];
    let fill = |way: &str, job: &str, doc: &str| format!("/v1{}", way.replace("{job}", job).replace("{doc}", doc).replace("{row}", row));
    for (method, way) in ways {
        let mut shapes = Vec::new();
        for (job, doc) in [
            (job.as_str(), document.as_str()),
            ("job_000000000000", "doc_000000000000"),
            ("job_x", "..%2Fx"),
            (job.as_str(), waiting.as_str()),
        ] {
            let answer = send(method.clone(), &fill(way, job, doc), &bob).await;
            answer.refused(404, "NOT_FOUND");
            shapes.push((
                answer.body["error"]["message"].clone(),
                answer.body["error"]["details"]["resource"].clone(),
                answer.headers.len(),
            ));
        }
        shapes.dedup();
        assert_eq!(shapes.len(), 1, "{way}: {shapes:?}");
    }
    // Nothing of it happened.
    assert_eq!(send(Method::GET, &format!("/v1/jobs/{job}?wait=0"), &ann).await.ok()["status"], "waiting-file");
    assert_eq!(send(Method::GET, "/v1/jobs", &bob).await.ok()["total"], 0);
    assert_eq!(send(Method::GET, "/v1/documents", &bob).await.ok()["documents"], json!([]));
    let renew = json!({ "source_type": "file", "file_name": "a.md", "document_id": document }).to_string();
    let stolen = bench.send(Method::POST, "/v1/jobs", &[("authorization", &bob), ("content-type", "application/json")], renew).await;
    stolen.refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn keys_work_within_their_scopes() {
    let bench = Bench::open(Access::Keys, Limits::default());
    let reader = format!("Bearer {}", bench.key("ann", &[KeyScope::Query]).await);
    let writer = format!("Bearer {}", bench.key("ann", &[KeyScope::Ingest]).await);
    let send = async |method: Method, path: &str, key: &str| {
        bench
            .send(
                method,
                path,
                &[("authorization", key), ("content-type", "application/json")],
                r#"{"source_type": "file", "file_name": "a.md", "name": "k"}"#,
            )
            .await
    };
    send(Method::POST, "/v1/jobs", &reader).await.refused(403, "PERMISSION_DENIED");
    let job = send(Method::POST, "/v1/jobs", &writer).await.ok();
    send(Method::GET, "/v1/documents", &writer).await.refused(403, "PERMISSION_DENIED");
    for key in [&reader, &writer] {
        send(Method::GET, &format!("/v1/jobs/{}?wait=0", job["job_id"].as_str().unwrap()), key).await.ok();
        send(Method::POST, "/v1/auth/create", key).await.refused(403, "PERMISSION_DENIED");
        send(Method::GET, "/v1/auth/list", key).await.refused(403, "PERMISSION_DENIED");
    }
    send(Method::GET, "/v1/documents", "Bearer sk_wrong").await.refused(401, "UNAUTHENTICATED");
    bench.get("/v1/documents").await.refused(401, "UNAUTHENTICATED");
}

#[tokio::test]
async fn keys_are_made_listed_and_revoked() {
    let bench = Bench::new();
    let made = bench.post("/v1/auth/create", &json!({ "name": "ops", "scopes": ["admin"] })).await.ok();
    let secret = made["api_key"].as_str().unwrap();
    let head = [("authorization", format!("Bearer {secret}")), ("content-type", "application/json".into())];
    let head: Vec<(&str, &str)> = head.iter().map(|(name, value)| (*name, value.as_str())).collect();
    bench.get("/v1/auth/list").await.refused(401, "UNAUTHENTICATED");
    let listed = bench.send(Method::GET, "/v1/auth/list", &head, "").await.ok();
    assert_eq!((&listed["total"], &listed["api_keys"][0]["is_active"]), (&json!(1), &json!(true)));
    assert!(!listed.to_string().contains(secret));
    let body = json!({ "name": " ", "scopes": [] }).to_string();
    let bad = bench.send(Method::POST, "/v1/auth/create", &head, body).await;
    bad.violation("body.name");
    bad.violation("body.scopes");
    bench.send(Method::POST, "/v1/auth/revoke", &head, json!({ "api_key_id": "key_x" }).to_string()).await.refused(404, "NOT_FOUND");
    let id = listed["api_keys"][0]["id"].clone();
    bench.send(Method::POST, "/v1/auth/revoke", &head, json!({ "api_key_id": id }).to_string()).await.ok();
    bench.get("/v1/auth/list").await.ok();
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
async fn documents_are_listed_read_and_paged() {
    let bench = Bench::new();
    for name in ["a.md", "b.md", "c.md"] {
        bench.document("local", name).await;
    }
    let listed = bench.get("/v2/documents?page_size=2").await.ok();
    assert_eq!(listed["pagination"], json!({ "page": 1, "page_size": 2, "total": 3, "total_pages": 2 }));
    assert_eq!((&listed["documents"][0]["source_file_name"], &listed["namespace"]), (&json!("c.md"), &json!("default")));
    has_fields(
        &listed["documents"][0],
        &["document_id", "namespace", "status", "current_job_result_id", "document_metadata", "created_at", "updated_at", "archived_at"],
    );
    assert_eq!(bench.get("/v2/documents?namespace=other").await.ok()["documents"], json!([]));
    let id = listed["documents"][0]["document_id"].as_str().unwrap();
    assert_eq!(bench.get(&format!("/v1/documents/{id}")).await.ok(), listed["documents"][0]);
}

#[tokio::test]
async fn chunks_are_paged_filtered_and_read_by_row() {
    let bench = Bench::new();
    let id = bench.document("local", "a.md").await;
    let path = format!("/v1/documents/{id}/chunks");
    let all = bench.get(&path).await.ok();
    assert_eq!(all["pagination"]["total"], 3);
    let contents: Vec<&str> = all["chunks"].as_array().unwrap().iter().map(|chunk| chunk["content"].as_str().unwrap()).collect();
    assert_eq!(contents, ["Tighten to 4 Nm.", "<table></table>", "a very long text"], "a large content comes from the file");
    let paths: Vec<&str> = all["chunks"].as_array().unwrap().iter().map(|chunk| chunk["section_path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["Setup / Wiring", "Setup", "a.md"]);
    assert!(all["chunks"].as_array().unwrap().iter().all(|chunk| chunk["asset_url"].is_null() && chunk["metadata"].is_object()));
    let second = bench.get(&format!("{path}?page=2&page_size=2")).await.ok();
    assert_eq!((second["chunks"].as_array().unwrap().len(), &second["chunks"][0]["sort_order"]), (1, &json!(2)));
    let tables = bench.get(&format!("{path}?chunk_type=table&include_asset_urls=true")).await.ok();
    assert_eq!((tables["chunks"].as_array().unwrap().len(), &tables["pagination"]["total"]), (1, &json!(1)));
    let address = tables["chunks"][0]["asset_url"].as_str().unwrap().strip_prefix(BASE).unwrap();
    let key = bench.store.verify_signed("GET", address, None, SystemClock.now()).unwrap();
    assert_eq!(bench.store.objects().get(&key).await.unwrap().0, "<table></table>");
    bench.get(&format!("{path}?chunk_type=page")).await.violation("query.chunk_type");
    bench.get(&format!("{path}?page_size=201")).await.violation("query.page_size");

    let row = all["chunks"][2]["id"].as_str().unwrap();
    let one = bench.get(&format!("{path}/{row}")).await.ok();
    assert_eq!((&one["chunk"], &one["document_id"]), (&all["chunks"][2], &json!(id)));
    let other = bench.document("local", "b.md").await;
    bench.get(&format!("/v1/documents/{other}/chunks/{row}")).await.refused(404, "NOT_FOUND");
    bench.get(&format!("{path}/dchk_nonsense")).await.refused(404, "NOT_FOUND");
    let beyond = row[..row.len() - 1].to_owned() + "9";
    bench.get(&format!("{path}/{beyond}")).await.refused(404, "NOT_FOUND");
}

#[tokio::test]
async fn archives_and_deletes_answer_after_the_commit() {
    let bench = Bench::new();
    let (a, b) = (bench.document("local", "a.md").await, bench.document("local", "b.md").await);
    let publisher = bench.publisher();
    let archived = bench.post(&format!("/v1/documents/{a}/archive"), &json!({})).await.ok();
    assert_eq!((&archived["document_id"], &archived["status"]), (&json!(a), &json!("archived")));
    publisher.abort();
    let again = bench.post(&format!("/v1/documents/{a}/archive"), &json!({})).await.ok();
    assert_eq!(again["status"], "archived", "again is no error, and asks nobody");
    let renew = json!({ "source_type": "file", "file_name": "a.md", "document_id": a });
    bench.post("/v1/jobs", &renew).await.refused(404, "NOT_FOUND");
    let listed = bench.get("/v1/documents").await.ok();
    assert_eq!((listed["documents"].as_array().unwrap().len(), &listed["documents"][0]["document_id"]), (1, &json!(b)));
    assert_eq!(bench.get("/v1/documents?status=archived").await.ok()["documents"][0]["document_id"], json!(a));

    let publisher = bench.publisher();
    let deleted = bench.send(Method::DELETE, &format!("/v1/documents/{b}"), &[], "").await.ok();
    assert_eq!(deleted["status"], "deleted");
    bench.get(&format!("/v1/documents/{b}")).await.refused(404, "NOT_FOUND");
    bench.send(Method::DELETE, &format!("/v1/documents/{b}"), &[], "").await.refused(404, "NOT_FOUND");
    publisher.abort();
}

/// Row 43, this side of it: work in flight on a deleted document is called off.
#[tokio::test]
async fn deleting_a_document_ends_the_job_at_work_on_it() {
    let bench = Bench::new();
    let id = bench.document("local", "a.md").await;
    let created = bench.post("/v1/jobs", &json!({ "source_type": "file", "file_name": "a.md", "document_id": id })).await.ok();
    let publisher = bench.publisher();
    bench.send(Method::DELETE, &format!("/v1/documents/{id}"), &[], "").await.ok();
    publisher.abort();
    let job = bench.get(&format!("/v1/jobs/{}", created["job_id"].as_str().unwrap())).await.ok();
    assert_eq!(job["error"]["code"], "CANCELLED");
}

#[tokio::test]
async fn neighbours_are_the_active_ones_strongest_first() {
    let bench = Bench::new();
    let scope = Scope::new(Owner::local(), Namespace::default());
    let ids = [bench.document("local", "a.md").await, bench.document("local", "b.md").await, bench.document("local", "c.md").await];
    for (other, score) in [(&ids[1], 0.8), (&ids[2], 0.95)] {
        let (a, b) = if ids[0] <= *other { (&ids[0], other) } else { (other, &ids[0]) };
        let edge = GraphEdge { a: a.clone(), b: b.clone(), shared: vec!["pump".into()], score };
        bench.store.records().put(Item::of(RecordKey::graph_edge(&scope, a, b), &edge).unwrap(), Condition::None).await.unwrap();
    }
    let answer = bench.get(&format!("/v1/graph/{}/neighbors", ids[0])).await.ok();
    let names: Vec<&str> = answer["neighbors"].as_array().unwrap().iter().map(|n| n["source_file_name"].as_str().unwrap()).collect();
    assert_eq!(names, ["c.md", "b.md"]);
    assert_eq!(answer["neighbors"][0]["shared_keywords"], json!(["pump"]));
    let other = bench.get(&format!("/v1/graph/{}/neighbors", ids[1])).await.ok();
    assert_eq!(other["neighbors"].as_array().unwrap().len(), 1);
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

#[tokio::test]
async fn service_routes_need_no_key() {
    let bench = Bench::open(Access::Keys, Limits::default());
    for prefix in PREFIXES.into_iter().chain([""]) {
        assert_eq!(bench.get(&format!("{prefix}/health")).await.ok()["status"], "healthy");
        assert_eq!(bench.get(&format!("{prefix}/openapi.json")).await.ok()["openapi"], "3.1.0");
    }
    assert_eq!(bench.get("/v1/version").await.ok()["environment"], "test");
}

/// Routes of the search function, which has its own table and test.
const ELSEWHERE: [(&str, &str); 2] = [("POST", "/retrieval/query"), ("GET", "/retrieval/runs/{run_id}")];

#[tokio::test]
async fn router_table_and_description_name_the_same_routes() {
    let bench = Bench::new();
    for Route { method, path } in ROUTES {
        let real = path
            .replace("{job_id}", "job_000000000000")
            .replace("{document_id}", "doc_000000000000")
            .replace("{chunk_row_id}", "x")
            .replace("{page}", "1.png");
        let others = bench.send(Method::TRACE, &format!("/v1{real}"), &[], "").await;
        others.refused(405, "METHOD_NOT_ALLOWED");
        let mut allowed: Vec<&str> = others.headers["allow"].to_str().unwrap().split(',').map(str::trim).filter(|m| *m != "HEAD").collect();
        let mut listed: Vec<&str> = ROUTES.iter().filter(|route| route.path == *path).map(|route| route.method).collect();
        allowed.sort_unstable();
        listed.sort_unstable();
        assert_eq!(allowed, listed, "{method} {path}");
    }
    let description: Value = serde_json::from_str(openapi_json().unwrap()).unwrap();
    let mut described = Vec::new();
    for (path, item) in description["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys().filter(|key| ["get", "post", "put", "delete"].contains(&key.as_str())) {
            described.push((method.to_uppercase(), path.clone()));
        }
    }
    let mut known: Vec<(String, String)> =
        ROUTES.iter().map(|r| (r.method.into(), r.path.into())).chain(ELSEWHERE.map(|(m, p)| (m.into(), p.into()))).collect();
    described.sort();
    known.sort();
    assert_eq!(described, known);
}

#[test]
fn every_reference_in_the_description_leads_somewhere() {
    let description: Value = serde_json::from_str(openapi_json().unwrap()).unwrap();
    let mut open = vec![&description];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(fields) => {
                if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
                    assert!(description.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
                }
                open.extend(fields.values());
            }
            Value::Array(values) => open.extend(values),
            _ => {}
        }
    }
}

/// The answers have every field that the description requires, of the described types.
#[tokio::test]
async fn answers_have_the_described_form() {
    let bench = Bench::new();
    let description: Value = serde_json::from_str(openapi_json().unwrap()).unwrap();
    let id = bench.document("local", "a.md").await;
    let created = bench.post("/v1/jobs", &file_job("a.md")).await.ok();
    let job = bench.get(&format!("/v1/jobs/{}?wait=0", created["job_id"].as_str().unwrap())).await.ok();
    let failed = bench.send(Method::DELETE, &format!("/v1/jobs/{}", created["job_id"].as_str().unwrap()), &[], "").await.ok();
    let made = bench.post("/v1/auth/create", &json!({ "name": "k", "scopes": ["admin"] })).await.ok();
    let key = format!("Bearer {}", made["api_key"].as_str().unwrap());
    let get = async |path: String| bench.send(Method::GET, &path, &[("authorization", &key)], "").await;
    let chunks = get(format!("/v1/documents/{id}/chunks")).await.ok();
    let row = chunks["chunks"][0]["id"].as_str().unwrap().to_owned();
    let answers = [
        ("JobCreated", created),
        ("Job", job),
        ("Job", failed),
        ("JobList", get("/v1/jobs".into()).await.ok()),
        ("DocumentList", get("/v1/documents".into()).await.ok()),
        ("Document", get(format!("/v1/documents/{id}")).await.ok()),
        ("ChunkOne", get(format!("/v1/documents/{id}/chunks/{row}")).await.ok()),
        ("ChunkList", chunks),
        ("NeighborList", get(format!("/v1/graph/{id}/neighbors")).await.ok()),
        ("KeyCreated", made),
        ("KeyList", get("/v1/auth/list".into()).await.ok()),
        ("Failure", get("/v1/jobs/job_000000000000".into()).await.body),
    ];
    for (name, answer) in answers {
        conforms(&description, &description["components"]["schemas"][name], &answer, name);
    }
}

/// The part of JSON Schema that the description uses.
fn conforms(description: &Value, schema: &Value, value: &Value, place: &str) {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return conforms(description, description.pointer(reference.trim_start_matches('#')).unwrap(), value, place);
    }
    if let Some(constant) = schema.get("const") {
        assert_eq!(value, constant, "{place}");
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(many) => many.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let is = |kind: &str| match kind {
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        _ => value.is_null(),
    };
    assert!(types.is_empty() || types.iter().any(|kind| is(kind)), "{place}: {value} is not {types:?}");
    if let Some(allowed) = schema["enum"].as_array().filter(|_| !value.is_null()) {
        assert!(allowed.contains(value), "{place}: {value} is none of {allowed:?}");
    }
    if let Some(fields) = value.as_object() {
        for required in schema["required"].as_array().into_iter().flatten() {
            assert!(fields.contains_key(required.as_str().unwrap()), "{place}: {required} is missing");
        }
        let known = schema["properties"].as_object();
        for (name, field) in fields {
            match known.and_then(|known| known.get(name)) {
                Some(schema) => conforms(description, schema, field, &format!("{place}.{name}")),
                // An object described by its fields has no others.
                None => assert!(known.is_none() || name == "additional", "{place}.{name} is not described"),
            }
        }
    }
    for item in value.as_array().into_iter().flatten() {
        conforms(description, &schema["items"], item, &format!("{place}[]"));
    }
}
