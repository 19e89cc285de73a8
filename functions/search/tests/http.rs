//! The function's routes through the whole HTTP shell, on a store of its own.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use quarry_index::{IndexedChunk, IndexedDocument, SectionText, SplitCache, build_split};
use quarry_model::record::{IndexManifest, KeyScope, ManifestPlace, NamespaceHead};
use quarry_model::{
    Chunk, ChunkId, ChunkMetadata, ChunkType, Limits, Namespace, Owner, RecordKey, Revision, SCHEMA_VERSION, Scope, SectionId,
};
use quarry_ports::{Clock as _, Condition, Item, PutOptions, SystemClock};
use quarry_retrieval::tools::Tools;
use quarry_retrieval::{Options, Retriever};
use quarry_runtime::Config;
use quarry_runtime::http::{Access, Authenticator, NewKey, app};
use quarry_search::{ROUTES, Search, mcp, routes};
use quarry_store_local::{LocalStore, PublicBase};
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt as _;

struct World {
    _folder: TempDir,
    app: Router,
    authenticator: Arc<Authenticator>,
}

fn text(ordinal: u32, title: &str, content: &str) -> IndexedChunk {
    let path = format!("pump.md/{title}");
    let metadata = ChunkMetadata {
        length: content.chars().count() as u32,
        token_count: 10,
        summary: String::new(),
        page_nums: vec![ordinal + 1],
        tokens: vec![],
        keywords: vec![],
        lang: "en".into(),
        file_path: None,
        section_id: SectionId::for_path(&[title], 0),
        boxes: vec![],
        connect_to: vec![],
        rows: None,
        hidden: false,
        document_top_summary: String::new(),
    };
    let chunk =
        Chunk { chunk_id: ChunkId::text(content), kind: ChunkType::Text, ordinal, content: content.into(), path: path.clone(), metadata };
    IndexedChunk { chunk, section: SectionText { path, title: title.into(), summary: String::new(), ..SectionText::default() } }
}

async fn world() -> World {
    let folder = TempDir::new().unwrap();
    let store = LocalStore::open(folder.path(), PublicBase::default()).unwrap();
    let scope = Scope::new(Owner::local(), Namespace::new("manuals").unwrap());
    let document = IndexedDocument {
        document_id: "doc_0a1b2c3d4e5f".parse().unwrap(),
        revision: Revision::of("pump", "test", "{}"),
        file_name: "pump.md".into(),
        chunks: vec![text(0, "Torque", "Tighten the flange bolts to 4 Nm."), text(1, "Warranty", "Two years on parts.")],
    };
    let split = build_split(&scope, vec![document]).unwrap();
    store.objects().put(&split.entry.key, split.bytes, PutOptions::default()).await.unwrap();
    let manifest = IndexManifest { schema_version: SCHEMA_VERSION, splits: vec![split.entry], retired: vec![] };
    let head = NamespaceHead {
        schema_version: SCHEMA_VERSION,
        version: 1,
        manifest: ManifestPlace::Inline(manifest),
        documents: 1,
        chunks: 2,
        updated_at: SystemClock.now(),
    };
    store.records().put(Item::of(RecordKey::head(&scope), &head).unwrap(), Condition::None).await.unwrap();
    let clock = Arc::new(SystemClock);
    let options = Options { journal_in_background: false, ..Options::default() };
    let retriever = Retriever::new(store.objects(), store.records(), clock.clone(), Arc::new(SplitCache::new(1 << 26, None)), options);
    let (retriever, limits) = (Arc::new(retriever), Arc::new(Limits::default()));
    let tools = Arc::new(Tools::new(retriever.clone(), store.records(), store.objects(), limits.clone(), None));
    let search = Search { retriever, tools: tools.clone(), limits };
    let config = Config::read(|name| (name == "QUARRY_JWT_OWNER_CLAIM").then(|| "sub".to_owned())).unwrap();
    let authenticator = Arc::new(Authenticator::new(store.records(), clock, Access::LoopbackUnlessKeys, &config));
    let app = app(routes(Arc::new(search)), mcp::routes(tools), authenticator.clone(), quarry_runtime::http::Options::named("search"));
    World { _folder: folder, app, authenticator }
}

async fn send(app: &Router, method: &str, path: &str, body: Option<String>) -> (StatusCode, Value) {
    let request = Request::builder().method(method).uri(path).header("host", "127.0.0.1:8080").header("content-type", "application/json");
    let request = request.body(body.map_or_else(Body::empty, Body::from)).unwrap();
    let response = app.clone().oneshot(request).await.unwrap();
    let status = response.status();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap())
}

async fn ask(app: &Router, body: Value) -> (StatusCode, Value) {
    send(app, "POST", "/v2/retrieval/query", Some(body.to_string())).await
}

/// The requests of `events/search/`.
async fn replay(app: &Router, name: &str) -> (StatusCode, Value) {
    let path = format!("{}/../../events/search/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let event: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let method = event["requestContext"]["http"]["method"].as_str().unwrap();
    send(app, method, event["rawPath"].as_str().unwrap(), event["body"].as_str().map(str::to_owned)).await
}

#[tokio::test]
async fn the_events_are_answered() {
    let world = world().await;
    let (status, answer) = replay(&world.app, "query").await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert!(answer["evidence_text"].as_str().unwrap().contains("4 Nm"));
    assert_eq!(answer["results"][0]["citation"]["page_nums"], json!([1]));
    assert!(
        answer["results"].as_array().unwrap().iter().all(|r| r["score"].is_number() && r["content"].is_string() && r["source"].is_object())
    );
    assert_eq!(answer["evidence"][0]["type"], "text");
    assert_eq!(answer["answer_text"], "");
    let (status, answer) = replay(&world.app, "query-filtered").await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let (status, answer) = replay(&world.app, "query-agentic").await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert!(answer["router_used"].as_str().unwrap().starts_with("workflow_"));
    assert!(!answer["decision_trace"].as_array().unwrap().is_empty());
    let (status, failure) = replay(&world.app, "bad-request").await;
    assert_eq!((status, &failure["error"]["code"]), (StatusCode::BAD_REQUEST, &json!("INVALID_ARGUMENT")));
    assert_eq!(failure["error"]["details"]["violations"].as_array().unwrap().len(), 2);
    let (status, failure) = replay(&world.app, "run").await;
    assert_eq!((status, &failure["error"]["code"]), (StatusCode::NOT_FOUND, &json!("NOT_FOUND")));
}

#[tokio::test]
async fn a_run_can_be_read_afterwards() {
    let world = world().await;
    let (_, answer) = ask(&world.app, json!({ "query": "flange bolts", "namespace": "manuals" })).await;
    let (status, run) = send(&world.app, "GET", &format!("/v1/retrieval/runs/{}", answer["run_id"].as_str().unwrap()), None).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(run["decision_trace"], answer["decision_trace"]);
    assert!(run.get("query").is_none() && run["query_hash"].is_string());
}

#[tokio::test]
async fn hostile_requests_are_refused_or_answered_in_bounded_time() {
    let world = world().await;
    let (status, failure) = ask(&world.app, json!({ "query": "a".repeat(1 << 20), "namespace": "manuals" })).await;
    assert_eq!((status, &failure["error"]["details"]["violations"][0]["field"]), (StatusCode::BAD_REQUEST, &json!("body.query")));
    let (status, _) = ask(&world.app, json!({ "query": vec!["term"; 10_000].join(" ") })).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    for (field, value) in [("top_k", json!(1_000_000_000)), ("top_k", json!(0)), ("unknown", json!(1)), ("threshold", json!("high"))] {
        let mut body = json!({ "query": "pump" });
        body[field] = value;
        let (status, failure) = ask(&world.app, body).await;
        assert_eq!((status, &failure["error"]["code"]), (StatusCode::BAD_REQUEST, &json!("INVALID_ARGUMENT")), "{field}");
    }
    let (status, failure) = send(&world.app, "POST", "/v1/retrieval/query", Some("{\"query\": ".to_owned())).await;
    assert_eq!((status, &failure["success"]), (StatusCode::BAD_REQUEST, &json!(false)));
    let (status, _) = send(&world.app, "GET", "/v1/retrieval/query", None).await;
    assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
    let (status, answer) = ask(&world.app, json!({ "query": "the of and", "namespace": "manuals" })).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
}

#[tokio::test]
async fn every_route_exists_under_every_prefix() {
    let world = world().await;
    for prefix in quarry_runtime::http::PREFIXES {
        for route in ROUTES {
            let path = format!("{prefix}{}", route.path.replace("{run_id}", "none").replace("{name}", "list_documents"));
            let (status, body) = send(&world.app, route.method, &path, Some("{}".to_owned())).await;
            assert_ne!(status, StatusCode::METHOD_NOT_ALLOWED, "{path}");
            assert_ne!(body["error"]["details"]["resource"], "Route", "{path}");
        }
    }
}

/// The tools that need nothing but this function's own rights.
const OWN: [&str; 8] = ["search", "list_documents", "outline", "read", "grep", "assets", "neighbors", "query_table"];

#[tokio::test]
async fn the_tools_answer_plain_http() {
    let world = world().await;
    let (status, listed) = send(&world.app, "GET", "/v1/tools", None).await;
    let names: Vec<&str> = listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!((status, names.as_slice()), (StatusCode::OK, OWN.as_slice()));
    let call =
        async |name: &str, arguments: Value| send(&world.app, "POST", &format!("/v1/tools/{name}"), Some(arguments.to_string())).await;
    let (status, found) = call("grep", json!({ "pattern": "4 nm", "namespace": "manuals", "token_budget": 300 })).await;
    assert_eq!((status, &found["refs"]), (StatusCode::OK, &json!(["doc_0a1b2c3d4e5f#0"])), "{found}");
    assert!(found["text"].as_str().unwrap().starts_with("1 matches in 1 chunks") && found["tokens"].as_u64().unwrap() <= 300);
    for (name, arguments, code) in [
        ("grep", json!({ "pattern": "x", "surprise": 1 }), "INVALID_ARGUMENT"),
        ("grep", json!({ "pattern": "a*", "regex": true }), "INVALID_ARGUMENT"),
        ("search", json!({ "query": "x", "token_budget": 1 }), "INVALID_ARGUMENT"),
        ("search", json!([]), "INVALID_ARGUMENT"),
        ("read", json!({ "refs": ["doc_ffffffffffff"], "namespace": "manuals" }), "NOT_FOUND"),
        ("submit", json!({ "file_name": "a.md" }), "NOT_FOUND"),
        ("nothing", json!({}), "NOT_FOUND"),
    ] {
        let (_, refused) = call(name, arguments.clone()).await;
        assert_eq!(refused["error"]["code"], code, "{name} {arguments}: {refused}");
    }
}

/// One JSON-RPC message over HTTP.
async fn rpc(app: &Router, revision: Option<&str>, message: Value) -> (StatusCode, Value) {
    let method = message["method"].as_str().unwrap().to_owned();
    let mut request =
        Request::builder().method("POST").uri("/mcp").header("host", "127.0.0.1:8080").header("content-type", "application/json");
    request = request.header("accept", "application/json, text/event-stream").header("x-quarry-namespace", "manuals");
    if let Some(revision) = revision {
        request = request.header("mcp-protocol-version", revision).header("mcp-method", &method);
        if let Some(name) = message["params"]["name"].as_str() {
            request = request.header("mcp-name", name);
        }
    }
    let response = app.clone().oneshot(request.body(Body::from(message.to_string())).unwrap()).await.unwrap();
    let status = response.status();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&bytes))))
}

#[tokio::test]
async fn mcp_is_spoken_with_and_without_a_handshake() {
    let world = world().await;
    let client = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
    let (status, hello) = rpc(&world.app, None, json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client })).await;
    assert_eq!((status, &hello["result"]["protocolVersion"]), (StatusCode::OK, &json!("2025-11-25")), "{hello}");
    assert!(hello["result"]["capabilities"]["tools"].is_object() && hello["result"]["instructions"].is_string());
    for revision in ["2025-11-25", "2026-07-28"] {
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": revision, "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" } });
        // No session was kept of the handshake, and none is needed.
        let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": { "_meta": meta } });
        let (status, listed) = rpc(&world.app, Some(revision), list).await;
        assert_eq!(status, StatusCode::OK, "{listed}");
        let names: Vec<&str> = listed["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, OWN, "{revision}");
        let call = |arguments: Value| json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": "search", "arguments": arguments, "_meta": meta } });
        let (_, found) = rpc(&world.app, Some(revision), call(json!({ "query": "flange bolts" }))).await;
        let text = found["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{found}"));
        assert!(text.contains("4 Nm") && text.contains("[E1] doc_0a1b2c3d4e5f#0") && found["result"]["isError"] == false, "{text}");
        let (_, refused) = rpc(&world.app, Some(revision), call(json!({ "query": " " }))).await;
        assert_eq!(refused["result"]["isError"], true, "{refused}");
        assert!(refused["result"]["content"][0]["text"].as_str().unwrap().starts_with("INVALID_ARGUMENT: "), "{refused}");
    }
}

/// What another owner's document, namespace or run gives is exactly what an absent one gives, on every route.
#[tokio::test]
async fn what_is_another_owners_is_absent() {
    let world = world().await;
    let mut keys = Vec::new();
    for owner in [Owner::local(), Owner::new("bob").unwrap()] {
        let new = NewKey { owner, name: "k".into(), scopes: vec![KeyScope::Admin], expires_at: None, requests_per_minute: None };
        keys.push(world.authenticator.create_key(new).await.unwrap().0);
    }
    let ask = async |key: &str, method: &str, path: &str, body: &Value| {
        let request =
            Request::builder().method(method).uri(path).header("host", "127.0.0.1:8080").header("content-type", "application/json");
        let request = request.header("x-request-id", "same").header("accept", "application/json");
        let request = match key.strip_prefix("token of ") {
            Some(owner) => {
                let claims = [("sub".to_owned(), owner.to_owned()), ("scope".to_owned(), "quarry/admin".to_owned())];
                request.extension(quarry_runtime::http::Claims(claims.into()))
            }
            None => request.header("authorization", format!("Bearer {key}")),
        };
        let response = world.app.clone().oneshot(request.body(Body::from(body.to_string())).unwrap()).await.unwrap();
        let (status, headers) = (response.status(), response.headers().len());
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        (status, headers, serde_json::from_slice::<Value>(&bytes).unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into_owned().into()))
    };
    let own = json!({ "query": "flange bolts", "namespace": "manuals" });
    let (_, _, answer) = ask(&keys[0], "POST", "/v1/retrieval/query", &own).await;
    assert_eq!(answer["results"][0]["source"]["document_id"], "doc_0a1b2c3d4e5f", "{answer}");
    let run =
        answer["decision_trace"].as_array().into_iter().flatten().find_map(|step| step["run_id"].as_str()).or(answer["run_id"].as_str());
    let run = run.unwrap_or("00000000000000000000000000000001").to_owned();

    const DOCUMENT: [&str; 2] = ["doc_0a1b2c3d4e5f", "doc_000000000000"];
    let query = |document: &str| json!({ "query": "flange bolts", "namespace": "manuals", "include_document_ids": [document] });
    let mut pairs: Vec<(&str, [(String, Value); 2])> = vec![
        ("GET", [run.as_str(), "ffffffffffffffffffffffffffffffff"].map(|run| (format!("/v1/retrieval/runs/{run}"), json!({})))),
        ("POST", DOCUMENT.map(|document| ("/v1/retrieval/query".to_owned(), query(document)))),
        ("POST", DOCUMENT.map(|document| ("/v1/retrieval/query/stream".to_owned(), query(document)))),
        (
            "POST",
            ["manuals", "no-such"]
                .map(|namespace| ("/v1/retrieval/query".to_owned(), json!({ "query": "flange bolts", "namespace": namespace }))),
        ),
    ];
    for (tool, field) in
        [("outline", "document_id"), ("assets", "document_id"), ("neighbors", "document_id"), ("query_table", "ref"), ("read", "refs")]
    {
        pairs.push((
            "POST",
            DOCUMENT.map(|document| {
                let value = if field == "refs" { json!([document]) } else { json!(document) };
                (format!("/v1/tools/{tool}"), json!({ field: value, "namespace": "manuals", "sql": "select 1" }))
            }),
        ));
    }
    for (tool, words) in [("search", json!({ "query": "flange" })), ("grep", json!({ "pattern": "flange" })), ("list_documents", json!({}))]
    {
        pairs.push((
            "POST",
            ["manuals", "no-such"].map(|namespace| {
                let mut arguments = words.clone();
                arguments["namespace"] = namespace.into();
                (format!("/v1/tools/{tool}"), arguments)
            }),
        ));
    }
    // With a key, and with a token that the gateway has checked.
    let strangers = [keys[1].as_str(), "token of bob"];
    for (stranger, (method, [(path, body), (absent_path, absent_body)])) in
        strangers.iter().flat_map(|s| pairs.iter().map(move |p| (*s, p)))
    {
        let mut foreign = ask(stranger, method, path, body).await;
        let mut absent = ask(stranger, method, absent_path, absent_body).await;
        for answer in [&mut foreign.2, &mut absent.2] {
            let mut text = answer.to_string();
            for name in [DOCUMENT[0], DOCUMENT[1], "manuals", "no-such", run.as_str(), "ffffffffffffffffffffffffffffffff"] {
                text = text.replace(name, "NAME");
            }
            assert!(!text.contains("Tighten"), "{method} {path}: {text}");
            *answer = serde_json::from_str(&text).unwrap();
            // Each run has its own name and time, and names of other lengths are other tokens.
            for field in ["run_id", "decision_trace", "latency_ms", "tokens"] {
                if answer.get(field).is_some() {
                    answer[field] = Value::Null;
                }
            }
        }
        assert_eq!(foreign, absent, "{method} {path} {body}");
    }
}
