//! The API on a local store, and what a test asks it.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use quarry_model::message::{ObjectArrived, PublishAction, PublishMessage, QueueName};
use quarry_model::record::{ChunkRecord, DocumentPlace, DocumentRecord, DocumentStatus, KeyScope, Order};
use quarry_model::{
    ChunkId, ChunkMetadata, ChunkType, DocumentId, JobId, Limits, Namespace, ObjectKey, Owner, RecordKey, Revision, Scope, SectionId,
};
use quarry_outbound::{Outbound, Rules, SystemResolver};
use quarry_ports::{Clock, Condition, Item, PutOptions, SystemClock};
use quarry_runtime::http::{Access, Authenticator, Claims, NewKey, Options, app};
use quarry_runtime::{Config, Jobs};
use quarry_store_local::{LocalStore, PublicBase};
use quarry_upload::{InProcess, Pages, Upload, root, routes};
use serde_json::{Value, json};
use tower::ServiceExt as _;

pub(crate) const BASE: &str = "http://127.0.0.1:8080";

/// Stands for a token of this subject, with the scope `admin`, that the gateway has checked.
pub(crate) const TOKEN_OF: &str = "x-test-token-of";

pub(crate) struct Bench {
    pub(crate) store: LocalStore,
    pub(crate) jobs: Jobs,
    pub(crate) authenticator: Arc<Authenticator>,
    pub(crate) app: Router,
    documents: std::sync::atomic::AtomicI64,
    _folder: tempfile::TempDir,
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: Value,
}

impl Answer {
    #[track_caller]
    pub(crate) fn ok(self) -> Value {
        assert!(self.status.is_success(), "{} {}", self.status, self.body);
        self.body
    }

    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) {
        assert_eq!((self.status.as_u16(), self.body["error"]["code"].as_str()), (status, Some(code)), "{}", self.body);
        assert_eq!(self.body["success"], false);
    }

    #[track_caller]
    pub(crate) fn violation(&self, field: &str) {
        self.refused(400, "INVALID_ARGUMENT");
        let violations = self.body["error"]["details"]["violations"].as_array().unwrap();
        assert!(violations.iter().any(|violation| violation["field"] == field), "{field} not in {violations:?}");
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::open(Access::LoopbackUnlessKeys, Limits::default())
    }

    pub(crate) fn open(access: Access, limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = LocalStore::open(folder.path(), PublicBase::new(BASE)).unwrap();
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let config = Config::read(|name| (name == "QUARRY_JWT_OWNER_CLAIM").then(|| "sub".to_owned())).unwrap();
        let jobs = Jobs::new(store.records(), Arc::clone(&clock));
        let authenticator = Arc::new(Authenticator::new(store.records(), clock, access, &config));
        let limits = Arc::new(limits);
        let upload = Arc::new(Upload {
            pages: Pages { objects: store.objects(), drawer: Arc::new(InProcess::new(Arc::clone(&limits))) },
            outbound: Outbound::new(Arc::new(SystemResolver), Rules { also: vec![IpAddr::V4(Ipv4Addr::LOCALHOST)] }).unwrap(),
            webhooks: true,
            objects: store.objects(),
            queue: store.queues(),
            jobs: jobs.clone(),
            authenticator: Arc::clone(&authenticator),
            limits,
            direct_upload_bytes: 1000,
            environment: "test".into(),
        });
        let app = app(routes(upload), root(), Arc::clone(&authenticator), Options::named("test"));
        Self { store, jobs, authenticator, app, documents: 0.into(), _folder: folder }
    }

    pub(crate) async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: impl Into<Body>) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = match *name {
                TOKEN_OF => request.extension(Claims(
                    [("sub".to_owned(), (*value).to_owned()), ("scope".to_owned(), "openid quarry/admin".to_owned())].into(),
                )),
                name => request.header(name, *value),
            };
        }
        let response = self.app.clone().oneshot(request.body(body.into()).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Answer { status: parts.status, headers: parts.headers, body: serde_json::from_slice(&bytes).unwrap_or(Value::Null) }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], "").await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::POST, path, &[("content-type", "application/json")], body.to_string()).await
    }

    /// What the client does with `upload_url`.
    pub(crate) async fn put(&self, created: &Value, content: &str) {
        let url = created["upload_url"].as_str().unwrap();
        let path = url.strip_prefix(BASE).unwrap();
        let kind = created["upload_headers"]["Content-Type"].as_str().unwrap();
        let key = self.store.verify_signed("PUT", path, Some(kind), SystemClock.now()).unwrap();
        self.store.accept_signed_put(&key, Bytes::copy_from_slice(content.as_bytes()), kind).await.unwrap();
    }

    pub(crate) async fn arrivals(&self) -> Vec<ObjectArrived> {
        let queue = self.store.queues();
        let received = queue.receive(QueueName::Profile, 10, Duration::from_mins(1), Duration::ZERO).await.unwrap();
        received.iter().map(|message| serde_json::from_str(&message.body).unwrap()).collect()
    }

    /// A published document with a text, a table and a long text that is only in `chunks.json`.
    pub(crate) async fn document(&self, owner: &str, name: &str) -> DocumentId {
        let scope = Scope::new(Owner::new(owner).unwrap(), Namespace::default());
        let document = DocumentId::for_drop_in(&scope, name);
        let revision = Revision::of(name, "test", "{}");
        // Each a millisecond after the one before, however fast they come.
        let now = SystemClock.now().plus_millis(self.documents.fetch_add(1, std::sync::atomic::Ordering::SeqCst));
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
    pub(crate) fn publisher(&self) -> tokio::task::JoinHandle<()> {
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

    pub(crate) async fn key(&self, owner: &str, scopes: &[KeyScope]) -> String {
        let new = NewKey {
            owner: Owner::new(owner).unwrap(),
            name: "k".into(),
            scopes: scopes.to_vec(),
            expires_at: None,
            requests_per_minute: None,
        };
        self.authenticator.create_key(new).await.unwrap().0
    }
}

pub(crate) fn chunk(ordinal: u32, kind: ChunkType, path: &str, content: Option<&str>, file: Option<&str>) -> ChunkRecord {
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

pub(crate) fn file_job(name: &str) -> Value {
    json!({ "source_type": "file", "file_name": name })
}

pub(crate) fn has_fields(body: &Value, fields: &[&str]) {
    for field in fields {
        assert!(body.get(field).is_some(), "{field} is missing in {body}");
    }
}
