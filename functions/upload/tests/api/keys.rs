//! Who may do what, and what another owner sees.

use http::Method;

use quarry_model::Limits;
use quarry_model::record::KeyScope;
use quarry_runtime::http::Access;
use quarry_upload::ROUTES;
use serde_json::json;

use crate::bench::{Bench, TOKEN_OF};

#[tokio::test]
async fn absent_malformed_and_foreign_ids_are_one_answer() {
    let bench = Bench::open(Access::Keys, Limits::default());
    let ann = format!("Bearer {}", bench.key("ann", &[KeyScope::Admin]).await);
    let bob = format!("Bearer {}", bench.key("bob", &[KeyScope::Admin]).await);
    a_stranger_sees_nothing(&bench, ("authorization", &ann), ("authorization", &bob)).await;
}

/// The same, where callers come with tokens that the gateway has checked, and where one has a key and the other a token.
#[tokio::test]
async fn absent_malformed_and_foreign_ids_are_one_answer_for_tokens() {
    let bench = Bench::open(Access::Keys, Limits::default());
    a_stranger_sees_nothing(&bench, (TOKEN_OF, "ann"), (TOKEN_OF, "bob")).await;
    let eve = format!("Bearer {}", bench.key("eve", &[KeyScope::Admin]).await);
    a_stranger_sees_nothing(&bench, (TOKEN_OF, "ann"), ("authorization", &eve)).await;
}

async fn a_stranger_sees_nothing(bench: &Bench, ann: (&str, &str), bob: (&str, &str)) {
    let document = bench.document("ann", "a.md").await;
    let send = async |method: Method, path: &str, caller: (&str, &str)| {
        let headers = [caller, ("content-type", "application/json")];
        bench.send(method, path, &headers, r#"{"source_type": "file", "file_name": "a.md"}"#).await
    };
    let job = send(Method::POST, "/v1/jobs", ann).await.ok();
    let (job, waiting) = (job["job_id"].as_str().unwrap().to_owned(), job["document_id"].as_str().unwrap().to_owned());
    let own = send(Method::GET, &format!("/v1/documents/{document}/chunks"), ann).await.ok();
    let row = own["chunks"][0]["id"].as_str().unwrap();
    let ways = [
        (Method::GET, "/jobs/{job}"),
        (Method::DELETE, "/jobs/{job}"),
        (Method::GET, "/jobs/{job}/events"),
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
    // Every route that names something is here, those of tomorrow as well.
    for route in ROUTES.iter().filter(|route| route.path.contains('{')) {
        let way = route.path.replace("{job_id}", "{job}").replace("{document_id}", "{doc}").replace("{chunk_row_id}", "{row}");
        let way = way.replace("{page}", "1.png");
        assert!(ways.iter().any(|(method, known)| method.as_str() == route.method && *known == way), "{} {}", route.method, route.path);
    }
    let fill = |way: &str, job: &str, doc: &str| format!("/v1{}", way.replace("{job}", job).replace("{doc}", doc).replace("{row}", row));
    for (method, way) in ways {
        let mut shapes = Vec::new();
        for (job, doc) in [
            (job.as_str(), document.as_str()),
            ("job_000000000000", "doc_000000000000"),
            ("job_x", "..%2Fx"),
            (job.as_str(), waiting.as_str()),
        ] {
            let answer = send(method.clone(), &fill(way, job, doc), bob).await;
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
    assert_eq!(send(Method::GET, &format!("/v1/jobs/{job}?wait=0"), ann).await.ok()["status"], "waiting-file");
    assert_eq!(send(Method::GET, "/v1/jobs", bob).await.ok()["total"], 0);
    assert_eq!(send(Method::GET, "/v1/documents", bob).await.ok()["documents"], json!([]));
    let renew = json!({ "source_type": "file", "file_name": "a.md", "document_id": document }).to_string();
    let stolen = bench.send(Method::POST, "/v1/jobs", &[bob, ("content-type", "application/json")], renew).await;
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
    for (field, value) in [("scope", json!(["query"])), ("expires", json!("2030-01-01T00:00:00Z")), ("rate", json!(5))] {
        let misspelt = bench.send(Method::POST, "/v1/auth/create", &head, json!({ "name": "k", field: value }).to_string()).await;
        misspelt.violation(&format!("body.{field}"));
    }
    bench
        .send(Method::POST, "/v1/auth/create", &head, json!({ "name": "k", "requests_per_minute": 0 }).to_string())
        .await
        .violation("body.requests_per_minute");
    bench.send(Method::POST, "/v1/auth/revoke", &head, json!({ "api_key_id": "key_x" }).to_string()).await.refused(404, "NOT_FOUND");
    let id = listed["api_keys"][0]["id"].clone();
    bench.send(Method::POST, "/v1/auth/revoke", &head, json!({ "api_key_id": id }).to_string()).await.ok();
    bench.get("/v1/auth/list").await.ok();
}
