//! Every function on one store, each through a recorder of its own, and a life of documents that uses all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request};
use bytes::Bytes;
use quarry::parsers::parser;
use quarry_compactor::Compactor;
use quarry_document::ParseStage;
use quarry_index::SplitCache;
use quarry_model::message::QueueName;
use quarry_model::{Family, Limits, ObjectKey, Owner, Timestamp};
use quarry_notifier::Notifier;
use quarry_outbound::{Outbound, Rules, SystemResolver};
use quarry_ports::{Clock, PutOptions, Stage};
use quarry_profiler::Profiler;
use quarry_publisher::Publisher;
use quarry_retrieval::tools::Tools;
use quarry_retrieval::{Options as RetrievalOptions, Retriever};
use quarry_runtime::config::SigningSecret;
use quarry_runtime::http::{Access, Authenticator, Options, app};
use quarry_runtime::{Config, Delivery, Disposition, Jobs, deliver};
use quarry_search::Search;
use quarry_store_local::{LocalStore, PublicBase};
use quarry_sweeper::Sweeper;
use quarry_upload::{InProcess, Pages, Upload};
use serde_json::{Value, json};

use crate::recorder::{Recorder, Use};

/// A clock that is moved by hand, from the real time on: addresses and keys are judged by it as well.
struct Moved(AtomicI64);

impl Clock for Moved {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}

pub(crate) struct World {
    store: LocalStore,
    clock: Arc<Moved>,
    recorders: BTreeMap<String, Recorder>,
    splits: Arc<SplitCache>,
    limits: Arc<Limits>,
    _folder: tempfile::TempDir,
}

impl World {
    pub(crate) fn new(functions: impl Iterator<Item = String>) -> Self {
        let folder = tempfile::tempdir().expect("folder");
        let store = LocalStore::open(folder.path(), PublicBase::new("http://127.0.0.1:1")).expect("store");
        let recorders = functions.map(|name| (name, Recorder::new(&store))).collect();
        let now = quarry_ports::SystemClock.now().millis();
        let splits = Arc::new(SplitCache::new(64 << 20, None));
        // So small a golden PDF is read in parts, as a long document is.
        let limits = Arc::new(Limits { pdf_shard_pages: 1, ..Limits::default() });
        Self { store, clock: Arc::new(Moved(AtomicI64::new(now))), recorders, splits, limits, _folder: folder }
    }

    pub(crate) fn used(&self) -> BTreeMap<String, BTreeSet<Use>> {
        self.recorders.iter().map(|(name, recorder)| (name.clone(), recorder.used())).collect()
    }

    fn recorder(&self, function: &str) -> &Recorder {
        self.recorders.get(function).unwrap_or_else(|| panic!("{function} is not in the template"))
    }

    fn jobs(&self, function: &str) -> Jobs {
        Jobs::new(self.recorder(function).records(), self.clock.clone())
    }

    fn authenticator(&self, function: &str) -> Arc<Authenticator> {
        let config = Config::read(|name| (name == "QUARRY_REQUESTS_PER_MINUTE").then(|| "6000".to_owned())).expect("configuration");
        Arc::new(Authenticator::new(self.recorder(function).records(), self.clock.clone(), Access::Keys, &config))
    }

    fn outbound() -> Outbound {
        Outbound::new(Arc::new(SystemResolver), Rules { also: vec![IpAddr::V4(Ipv4Addr::LOCALHOST)] }).expect("client")
    }

    fn upload(&self) -> Router {
        let recorder = self.recorder("upload");
        let authenticator = self.authenticator("upload");
        let upload = Arc::new(Upload {
            pages: Pages { objects: recorder.objects(), drawer: Arc::new(InProcess::new(Arc::clone(&self.limits))) },
            outbound: Self::outbound(),
            webhooks: true,
            objects: recorder.objects(),
            queue: recorder.queue(),
            jobs: self.jobs("upload"),
            authenticator: Arc::clone(&authenticator),
            limits: Arc::clone(&self.limits),
            direct_upload_bytes: 4_500_000,
            environment: "test".into(),
        });
        app(quarry_upload::routes(upload), quarry_upload::root(), authenticator, Options::named("upload"))
    }

    fn search(&self) -> Router {
        let recorder = self.recorder("search");
        let options = RetrievalOptions { journal_in_background: false, shared_cache: true, ..RetrievalOptions::default() };
        let retriever =
            Arc::new(Retriever::new(recorder.objects(), recorder.records(), self.clock.clone(), Arc::clone(&self.splits), options));
        let tools = Arc::new(Tools::new(retriever.clone(), recorder.records(), recorder.objects(), Arc::clone(&self.limits), None));
        let search = Arc::new(Search { retriever, tools: tools.clone(), limits: Arc::clone(&self.limits) });
        app(quarry_search::routes(search), quarry_search::mcp::routes(tools), self.authenticator("search"), Options::named("search"))
    }

    /// Runs the queues' functions until nothing moves.
    async fn drain(&self) {
        let objects = |name: &str| self.recorder(name).objects();
        let profiler = Profiler::new(
            objects("profiler"),
            self.recorder("profiler").queue(),
            self.jobs("profiler"),
            Arc::clone(&self.limits),
            Owner::local(),
        );
        let publisher = Publisher::new(
            objects("publisher"),
            self.recorder("publisher").records(),
            self.clock.clone(),
            Arc::new(SplitCache::new(1, None)),
        );
        loop {
            let mut moved = self.step("profiler", &profiler, QueueName::Profile, 1).await;
            for family in Family::ALL {
                let name = family.function();
                let limits = (*self.limits).clone();
                let stage = ParseStage::new(parser(family), objects(name), self.recorder(name).queue(), self.clock.clone(), limits);
                moved += self.step(name, &stage, QueueName::Parse(family), 1).await;
            }
            moved += self.step("publisher", &publisher, QueueName::Publish, 10).await;
            if moved == 0 {
                return;
            }
        }
    }

    /// What the event source does, and the function with it.
    async fn step<S: Stage>(&self, name: &str, stage: &S, queue: QueueName, batch: usize) -> usize {
        let source = self.recorder(name).queue();
        let delivery = Delivery::shared(self.jobs(name), Arc::clone(&self.limits), Duration::from_mins(1)).expect("delivery");
        let received = source.receive(queue, 10, Duration::from_mins(1), Duration::ZERO).await.expect("receive");
        for messages in received.chunks(batch) {
            for (message, verdict) in messages.iter().zip(deliver(stage, &delivery, messages).await) {
                match verdict {
                    Disposition::Acknowledge => source.acknowledge(queue, &message.receipt).await.expect("acknowledge"),
                    Disposition::Release(_) => source.change_visibility(queue, &message.receipt, Duration::ZERO).await.expect("release"),
                }
            }
        }
        received.len()
    }

    /// Puts an object as a stranger to the functions would, and says so.
    async fn drop_in(&self, key: &str, body: Vec<u8>) {
        let meta = self.store.objects().put(&ObjectKey::from_event(key), Bytes::from(body), PutOptions::default()).await.expect("put");
        let sequencer = format!("{:016X}", self.clock.0.fetch_add(1, Ordering::SeqCst));
        let event = json!({"Records": [{ "eventSource": "aws:s3", "eventName": "ObjectCreated:Put", "eventTime": "2026-11-30T10:00:00.000Z",
            "s3": {"bucket": {"name": "quarry"}, "object": {"key": key, "size": meta.size, "eTag": meta.etag, "sequencer": sequencer}} }]});
        let message = quarry_ports::Outgoing { body: event.to_string(), ..quarry_ports::Outgoing::default() };
        self.store.queues().send(QueueName::Profile, vec![message]).await.expect("send");
    }

    /// How often each permission was used, over all functions.
    pub(crate) fn counts(&self) -> BTreeMap<&'static str, u64> {
        let mut all = BTreeMap::new();
        for (permission, count) in self.recorders.values().flat_map(Recorder::counts) {
            *all.entry(permission).or_default() += count;
        }
        all
    }

    /// A key that may do everything, as it is sent.
    async fn key(&self) -> String {
        let scopes = vec![quarry_model::record::KeyScope::Admin];
        let new = quarry_runtime::http::NewKey {
            owner: Owner::local(),
            name: "first".into(),
            scopes,
            expires_at: None,
            requests_per_minute: None,
        };
        let made = self.authenticator("upload").create_key(new).await.expect("key");
        format!("Bearer {}", made.0)
    }

    /// Twenty documents of ten pages, dropped one after the other.
    pub(crate) async fn twenty_documents(&self) {
        for n in 0..20 {
            let mut text = format!("# Device {n}\n");
            for section in 0..20 {
                let sentence = format!("The device {n} has a part {section} that is looked after every nine weeks by its keeper. ");
                text.push_str(&format!("\n## Part {section}\n\n{}\n", sentence.repeat(12)));
            }
            self.drop_in(&format!("inbox/default/device-{n}.md"), text.into_bytes()).await;
            self.drain().await;
        }
    }

    /// Twenty different questions.
    pub(crate) async fn twenty_questions(&self) {
        let search = self.search();
        let key = self.key().await;
        for n in 0..20 {
            let body = json!({ "query": format!("who looks after part {n} of the device"), "top_k": 10 });
            let answer = call(&search, &key, Method::POST, "/v1/retrieval/query", &body).await;
            assert!(answer["results"].as_array().is_some_and(|results| !results.is_empty()), "{answer}");
        }
    }

    /// The whole life.
    pub(crate) async fn live(&self) {
        let (upload, search) = (self.upload(), self.search());
        let key = self.key().await;
        let call = async |app: &Router, method: Method, path: &str, body: Value| call(app, &key, method, path, &body).await;

        // A document of every family, and one that nobody can read.
        for (name, body) in goldens() {
            self.drop_in(&format!("inbox/default/{name}"), body).await;
        }
        self.drop_in("inbox/default/broken.docx", b"PK\x03\x04 and then nothing".to_vec()).await;
        self.drain().await;
        // A second revision of one, and a document that shares words with it.
        let gate = |n: u32| {
            format!("# Gate\n\nThe harbour gate {n} opens at five. The keeper of the harbour gate is called Ada Lovelace.\n").into_bytes()
        };
        for n in 1..4 {
            self.drop_in("inbox/default/gate.md", gate(n)).await;
            self.drop_in("inbox/default/other-gate.md", gate(n + 7)).await;
            self.drain().await;
        }

        // By the API: presigned, direct, with a webhook, called off, started over.
        let job = call(
            &upload,
            Method::POST,
            "/v1/jobs",
            json!({ "source_type": "file", "file_name": "a.md", "data_id": "d", "webhook": { "url": "http://127.0.0.1:9/hook" } }),
        )
        .await;
        let id = job["job_id"].as_str().expect("job").to_owned();
        let place = ObjectKey::upload(&Owner::local(), &id.parse().expect("id"));
        self.store.objects().put(&place, Bytes::from_static(b"# A\n\nA text about harbours.\n"), PutOptions::default()).await.expect("put");
        call(&upload, Method::POST, &format!("/v1/jobs/{id}/confirm-upload"), json!({})).await;
        self.drain().await;
        let renewed = call(
            &upload,
            Method::POST,
            "/v1/jobs",
            json!({ "source_type": "file", "file_name": "a.md", "document_id": job["document_id"] }),
        )
        .await;
        let cancelled = renewed["job_id"].as_str().expect("job").to_owned();
        call(&upload, Method::DELETE, &format!("/v1/jobs/{cancelled}"), Value::Null).await;
        let place = ObjectKey::upload(&Owner::local(), &cancelled.parse().expect("id"));
        self.store
            .objects()
            .put(&place, Bytes::from_static(b"# A\n\nAnother text about harbours.\n"), PutOptions::default())
            .await
            .expect("put");
        call(&upload, Method::POST, &format!("/v1/jobs/{cancelled}/retry"), json!({})).await;
        let direct =
            send(&upload, &key, Method::POST, "/v1/documents", "text/markdown", &[("x-file-name", "b.md")], "# B\n\nDirect.\n").await;
        assert!(direct["job_id"].is_string(), "{direct}");
        self.drain().await;
        for path in [format!("/v1/jobs/{id}?wait=0"), "/v1/jobs?job_status=done".into(), "/v1/jobs".into(), format!("/v1/jobs/{id}/events")]
        {
            call(&upload, Method::GET, &path, Value::Null).await;
        }

        // Documents are read in every way.
        let listed = call(&upload, Method::GET, "/v1/documents?page_size=100", Value::Null).await;
        let documents = listed["documents"].as_array().expect("documents").clone();
        assert!(documents.len() > 10, "{listed}");
        for document in &documents {
            let id = document["document_id"].as_str().expect("id");
            for part in ["", "/outline", "/chunks?include_asset_urls=true", "/source", "/files/page-citation-source", "/pages/1.png"] {
                call(&upload, Method::GET, &format!("/v1/documents/{id}{part}"), Value::Null).await;
            }
            call(&upload, Method::GET, &format!("/v1/graph/{id}/neighbors"), Value::Null).await;
            let chunks = call(&upload, Method::GET, &format!("/v1/documents/{id}/chunks"), Value::Null).await;
            if let Some(row) = chunks["chunks"][0]["id"].as_str() {
                call(&upload, Method::GET, &format!("/v1/documents/{id}/chunks/{row}"), Value::Null).await;
            }
        }

        // Questions, twice, so that the cache is read and hits are counted; and every tool.
        for body in [
            json!({ "query": "when does the harbour gate open", "top_k": 3 }),
            json!({ "query": "when does the harbour gate open", "top_k": 3 }),
            json!({ "query": "who is the keeper of the harbour gate", "use_agentic": true }),
        ] {
            let answer = call(&search, Method::POST, "/v1/retrieval/query", body).await;
            assert!(answer["results"].as_array().is_some_and(|results| !results.is_empty()), "{answer}");
            if let Some(run) = answer["decision_trace"][0]["run_id"].as_str().or(answer["run_id"].as_str()) {
                call(&search, Method::GET, &format!("/v1/retrieval/runs/{run}"), Value::Null).await;
            }
        }
        let first = documents[0]["document_id"].as_str().expect("id");
        for (tool, arguments) in [
            ("search", json!({ "query": "harbour" })),
            ("list_documents", json!({})),
            ("outline", json!({ "document_id": first })),
            ("read", json!({ "refs": [first] })),
            ("grep", json!({ "pattern": "harbour" })),
            ("assets", json!({ "document_id": first })),
            ("neighbors", json!({ "document_id": first })),
        ] {
            call(&search, Method::POST, &format!("/v1/tools/{tool}"), arguments).await;
        }

        // Out of search, and gone.
        let withdraw =
            |app: Router, method: Method, path: String, key: String| tokio::spawn(async move { call_owned(app, key, method, path).await });
        // By name: documents of one moment are listed in any order.
        let named = |name: &str| {
            let found = documents.iter().find(|document| document["source_file_name"] == name);
            found.and_then(|document| document["document_id"].as_str()).unwrap_or_else(|| panic!("{name} is not listed")).to_owned()
        };
        let path = |name: &str| format!("/v1/documents/{}", named(name));
        let tasks = [
            withdraw(upload.clone(), Method::POST, format!("{}/archive", path("other-gate.md")), key.clone()),
            withdraw(upload.clone(), Method::DELETE, path("gate.md"), key.clone()),
            withdraw(upload.clone(), Method::DELETE, path("a.md"), key.clone()),
        ];
        while !tasks.iter().all(tokio::task::JoinHandle::is_finished) {
            self.drain().await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        call(&upload, Method::GET, "/v1/auth/list", Value::Null).await;
        let extra = call(&upload, Method::POST, "/v1/auth/create", json!({ "name": "k", "scopes": ["query"] })).await;
        call(&upload, Method::POST, "/v1/auth/revoke", json!({ "api_key_id": extra["id"] })).await;

        // What runs by the clock: webhooks, jobs that nobody reads, compaction at once and a day later.
        let jobs = self.jobs("notifier");
        let objects = self.recorder("notifier").objects();
        let notifier = Notifier::new(jobs, objects, self.clock.clone(), Self::outbound(), SigningSecret::from("secret"));
        let waiting = call(
            &upload,
            Method::POST,
            "/v1/jobs",
            json!({ "source_type": "file", "file_name": "never.md", "webhook": { "url": "http://127.0.0.1:9/hook" } }),
        )
        .await;
        assert!(waiting["job_id"].is_string());
        for hours in [0, 1, 3, 5, 9, 20, 30, 30] {
            self.clock.0.fetch_add(hours * 3_600_000, Ordering::SeqCst);
            Sweeper::new(self.jobs("sweeper"), Arc::clone(&self.limits)).run().await.expect("sweep");
            for _ in 0..3 {
                notifier.run().await.expect("notify");
            }
            let recorder = self.recorder("compactor");
            let compactor = Compactor::new(recorder.objects(), recorder.records(), self.clock.clone(), Arc::clone(&self.splits));
            let done = compactor.run().await.expect("compact");
            assert_eq!(done.failed, 0);
        }
    }
}

async fn call_owned(app: Router, key: String, method: Method, path: String) -> Value {
    call(&app, &key, method, &path, &Value::Null).await
}

async fn call(app: &Router, key: &str, method: Method, path: &str, body: &Value) -> Value {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    send(app, key, method, path, "application/json", &[], &body).await
}

async fn send(app: &Router, key: &str, method: Method, path: &str, kind: &str, more: &[(&str, &str)], body: &str) -> Value {
    use tower::ServiceExt as _;
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("authorization", key)
        .header("content-type", kind)
        .header("accept", "application/json");
    for (name, value) in more {
        request = request.header(*name, *value);
    }
    let response = app.clone().oneshot(request.body(Body::from(body.to_owned())).expect("request")).await.expect("answer");
    let status = response.status();
    assert!(status.as_u16() < 500, "{path}: {status}");
    let bytes = to_bytes(response.into_body(), 64 << 20).await.expect("body");
    serde_json::from_slice(&bytes).unwrap_or(Value::Null)
}

/// One golden document of every format that is read.
fn goldens() -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let mut formats: Vec<PathBuf> = fs::read_dir(quarry_tests::repository().join("tests/golden"))
        .expect("golden")
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.is_dir())
        .collect();
    formats.sort();
    for format in formats {
        let mut cases: Vec<PathBuf> = fs::read_dir(&format).expect("cases").flatten().map(|entry| entry.path()).collect();
        cases.sort();
        let Some(case) = cases.first() else { continue };
        let input =
            fs::read_dir(case).expect("case").flatten().map(|e| e.path()).find(|p| p.file_stem().is_some_and(|stem| stem == "input"));
        if let Some(input) = input {
            let name = format!(
                "{}.{}",
                format.file_name().expect("name").to_string_lossy(),
                input.extension().unwrap_or_default().to_string_lossy()
            );
            all.push((name, fs::read(&input).expect("bytes")));
        }
    }
    all
}
