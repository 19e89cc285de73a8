//! The shell around a small router.

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use quarry_model::record::KeyScope;
use quarry_model::{ApiError, Owner};
use serde::Deserialize;
use serde_json::Value;
use tower::ServiceExt as _;

use super::*;
use crate::Config;
use crate::test_support::{Bench, owner};

#[derive(Deserialize)]
struct Asked {
    #[serde(rename = "query")]
    _query: String,
    #[serde(default, rename = "top_k")]
    _top_k: Option<u32>,
}

#[derive(Deserialize)]
struct Paged {
    #[serde(rename = "page")]
    _page: Option<u32>,
}

fn routes() -> Router {
    Router::new()
        .route("/mine", get(|caller: Caller| async move { caller.owner.to_string() }))
        .route("/ask", post(|caller: Caller, Body(_): Body<Asked>| async move { caller.require(KeyScope::Ingest).map(|()| "ok") }))
        .route("/list", get(|Params(_): Params<Paged>| async { "ok" }))
        .route("/busy", get(|| async { Err::<(), Failure>(ApiError::unavailable(7).into()) }))
        .route("/trace", get(|| async { quarry_ports::trace::current_id() }))
        .route("/panic", get(|| async { panic!("secret") as () }))
}

struct Shell {
    bench: Bench,
    authenticator: Arc<Authenticator>,
    app: Router,
}

fn shell(access: Access) -> Shell {
    shell_with(access, &Config::read(|_| None).unwrap())
}

fn shell_with(access: Access, config: &Config) -> Shell {
    let bench = Bench::new();
    let authenticator = Arc::new(Authenticator::new(bench.store.records(), bench.clock.clone(), access, config));
    let options = Options { body_bytes: 256, ..Options::named("test") };
    let app = app(routes(), Router::new(), Arc::clone(&authenticator), options);
    Shell { bench, authenticator, app }
}

struct Answer {
    status: StatusCode,
    headers: http::HeaderMap,
    text: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {}", self.text))
    }

    fn code(&self) -> String {
        let body = self.json();
        assert_eq!(body["success"], false);
        assert_eq!(body["error"]["request_id"], self.headers["x-request-id"].to_str().unwrap());
        body["error"]["code"].as_str().unwrap().to_owned()
    }

    fn violation(&self) -> (String, String) {
        assert_eq!((self.status, self.code().as_str()), (StatusCode::BAD_REQUEST, "INVALID_ARGUMENT"));
        let violation = &self.json()["error"]["details"]["violations"][0];
        (violation["field"].as_str().unwrap().to_owned(), violation["description"].as_str().unwrap().to_owned())
    }
}

impl Shell {
    async fn send(&self, method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self.app.clone().oneshot(request.body(axum::body::Body::from(body.to_owned())).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Answer { status: parts.status, headers: parts.headers, text: String::from_utf8(bytes.to_vec()).unwrap() }
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], "").await
    }

    async fn ask(&self, body: &str) -> Answer {
        self.send(Method::POST, "/v1/ask", &[("content-type", "application/json")], body).await
    }

    async fn key(&self, of: &str, scopes: &[KeyScope]) -> (String, String) {
        let new = NewKey { owner: owner(of), name: "k".into(), scopes: scopes.to_vec(), expires_at: None, requests_per_minute: None };
        let (secret, listing) = self.authenticator.create_key(new).await.unwrap();
        (secret, listing.id)
    }

    async fn with_key(&self, path: &str, secret: &str) -> Answer {
        self.send(Method::GET, path, &[("authorization", &format!("Bearer {secret}"))], "").await
    }
}

#[tokio::test]
async fn every_prefix_serves_the_same_routes() {
    let shell = shell(Access::LoopbackUnlessKeys);
    for prefix in PREFIXES {
        let answer = shell.get(&format!("{prefix}/mine")).await;
        assert_eq!((answer.status, answer.text.as_str()), (StatusCode::OK, "local"), "{prefix}");
    }
}

#[tokio::test]
async fn errors_keep_their_status_and_have_one_form() {
    let shell = shell(Access::LoopbackUnlessKeys);
    let missing = shell.get("/v1/nowhere").await;
    assert_eq!((missing.status, missing.code().as_str()), (StatusCode::NOT_FOUND, "NOT_FOUND"));
    let method = shell.send(Method::DELETE, "/v1/mine", &[], "").await;
    assert_eq!((method.status, method.code().as_str()), (StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED"));
    assert!(method.headers["allow"].to_str().unwrap().contains("GET"));
    let kind = shell.send(Method::POST, "/v1/ask", &[("content-type", "text/plain")], "{}").await;
    assert_eq!((kind.status, kind.code().as_str()), (StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE"));
    let large = shell.ask(&format!(r#"{{"query": "{}"}}"#, "x".repeat(300))).await;
    assert_eq!((large.status, large.code().as_str()), (StatusCode::PAYLOAD_TOO_LARGE, "PAYLOAD_TOO_LARGE"));
    let busy = shell.get("/v1/busy").await;
    assert_eq!((busy.status, busy.code().as_str()), (StatusCode::SERVICE_UNAVAILABLE, "UNAVAILABLE"));
    assert_eq!((busy.headers["retry-after"].to_str().unwrap(), &busy.json()["error"]["details"]["retry_after"]), ("7", &Value::from(7)));
    let panic = shell.get("/v1/panic").await;
    assert_eq!((panic.status, panic.code().as_str()), (StatusCode::INTERNAL_SERVER_ERROR, "INTERNAL_ERROR"));
    assert!(!panic.text.contains("secret"));
}

#[tokio::test]
async fn what_does_not_fit_is_named_field_by_field() {
    let shell = shell(Access::LoopbackUnlessKeys);
    assert_eq!(shell.ask("{").await.violation().0, "body");
    assert_eq!(shell.ask("{}").await.violation(), ("body.query".into(), "is required".into()));
    let (field, problem) = shell.ask(r#"{"query": "a", "top_k": "many"}"#).await.violation();
    assert_eq!(field, "body.top_k");
    assert!(!problem.contains("line"), "{problem}");
    assert_eq!(shell.ask(r#"{"query": "a"} x"#).await.violation().0, "body");
    for (page, problem) in [
        ("x", "must be a whole number"),
        ("1.5", "must be a whole number"),
        ("", "must be a whole number"),
        ("99999999999", "is out of range"),
    ] {
        assert_eq!(shell.get(&format!("/v1/list?page={page}")).await.violation(), ("query.page".into(), problem.into()));
    }
    assert_eq!(shell.get("/v1/list?page=1&page=2").await.violation().0, "query.page");
    assert_eq!(shell.ask("").await.violation(), ("body".into(), "is empty or ends too early; send a JSON object".into()));
    assert_eq!(shell.ask(r#"{"query": "a"}"#).await.text, "ok");
}

#[tokio::test]
async fn a_request_id_is_echoed_or_made() {
    let shell = shell(Access::LoopbackUnlessKeys);
    let echoed = shell.send(Method::GET, "/v1/mine", &[("x-request-id", "req-7")], "").await;
    assert_eq!(echoed.headers["x-request-id"], "req-7");
    let long = "x".repeat(200);
    for odd in [long.as_str(), "a b", ""] {
        let made = shell.send(Method::GET, "/v1/mine", &[("x-request-id", odd)], "").await;
        assert_eq!(made.headers["x-request-id"].len(), 32, "{odd}");
    }
}

/// W3C's header counts before the gateway's; what is no trace counts as none.
#[tokio::test]
async fn a_request_belongs_to_the_trace_it_names_or_to_a_new_one() {
    let shell = shell(Access::LoopbackUnlessKeys);
    let own = ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    let gateway = ("x-amzn-trace-id", "Root=1-67891233-abcdef012345678912345678");
    let trace = async |headers: &[(&str, &str)]| shell.send(Method::GET, "/v1/trace", headers, "").await.text;
    assert_eq!(trace(&[own, gateway]).await, "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(trace(&[("traceparent", "00-4bf9"), gateway]).await, "67891233abcdef012345678912345678");
    let (one, other) = (trace(&[]).await, trace(&[("traceparent", "x")]).await);
    assert!(one.len() == 32 && other.len() == 32 && one != other, "{one} {other}");
}

#[tokio::test]
async fn pages_of_other_hosts_may_read_with_a_key_and_not_without_one() {
    let shell = shell(Access::LoopbackUnlessKeys);
    let page = ("origin", "https://evil.example");
    let open = shell.send(Method::GET, "/v1/mine", &[page], "").await;
    assert_eq!((open.status, open.headers["access-control-allow-origin"].to_str().unwrap()), (StatusCode::UNAUTHORIZED, "*"));
    let rebound = shell.send(Method::GET, "/v1/mine", &[("host", "evil.example:8080")], "").await;
    assert_eq!(rebound.status, StatusCode::UNAUTHORIZED);
    for own in [("origin", "http://localhost:3000"), ("host", "127.0.0.1:8080"), ("host", "[::1]:8080"), ("authorization", "Bearer any")] {
        assert_eq!(shell.send(Method::GET, "/v1/mine", &[own], "").await.status, StatusCode::OK, "{own:?}");
    }
    let ask = [page, ("access-control-request-method", "POST"), ("access-control-request-headers", "authorization")];
    assert_eq!(shell.send(Method::OPTIONS, "/v1/ask", &ask, "").await.status, StatusCode::OK);
    let (secret, _) = shell.key("local", &[KeyScope::Query]).await;
    let keyed = shell.send(Method::GET, "/v1/mine", &[page, ("authorization", &format!("Bearer {secret}"))], "").await;
    assert_eq!(keyed.status, StatusCode::OK);
}

#[tokio::test]
async fn once_a_key_exists_every_call_needs_one() {
    let shell = shell(Access::LoopbackUnlessKeys);
    assert_eq!(shell.get("/v1/mine").await.status, StatusCode::OK);
    let (secret, id) = shell.key("local", &[KeyScope::Admin]).await;
    let refused = shell.get("/v1/mine").await;
    assert_eq!((refused.status, refused.code().as_str()), (StatusCode::UNAUTHORIZED, "UNAUTHENTICATED"));
    assert_eq!(refused.headers["www-authenticate"], "Bearer");
    assert_eq!(shell.with_key("/v1/mine", &secret).await.text, "local");
    assert_eq!(shell.with_key("/v1/mine", "sk_other").await.status, StatusCode::UNAUTHORIZED);
    shell.authenticator.revoke_key(&Owner::local(), &id).await.unwrap();
    assert_eq!(shell.get("/v1/mine").await.status, StatusCode::OK, "the last key is gone");
}

#[tokio::test]
async fn keys_open_their_owners_data_within_their_scopes_until_they_end() {
    let shell = shell(Access::Keys);
    let (ann, ann_id) = shell.key("ann", &[KeyScope::Query]).await;
    let (bob, _) = shell.key("bob", &[KeyScope::Admin]).await;
    assert!(ann.starts_with("sk_") && ann.len() == 3 + 43);
    assert_eq!(shell.with_key("/v1/mine", &ann).await.text, "ann");
    assert_eq!(shell.with_key("/v1/mine", &bob).await.text, "bob");
    let ask = async |secret: &str| {
        let headers = [("authorization", format!("bearer {secret}"))];
        shell.send(Method::POST, "/v1/ask", &[(headers[0].0, &headers[0].1)], r#"{"query": "a"}"#).await
    };
    let refused = ask(&ann).await;
    assert_eq!((refused.status, refused.code().as_str()), (StatusCode::FORBIDDEN, "PERMISSION_DENIED"));
    assert_eq!(ask(&bob).await.status, StatusCode::OK, "admin includes the others");
    assert!(shell.authenticator.revoke_key(&owner("bob"), &ann_id).await.is_err(), "another owner's key is absent");
    shell.authenticator.revoke_key(&owner("ann"), &ann_id).await.unwrap();
    assert_eq!(shell.with_key("/v1/mine", &ann).await.status, StatusCode::UNAUTHORIZED);
    let short = NewKey {
        owner: owner("ann"),
        name: "short".into(),
        scopes: vec![KeyScope::Query],
        expires_at: Some(shell.bench.jobs.now().plus_millis(1000)),
        requests_per_minute: None,
    };
    let (secret, _) = shell.authenticator.create_key(short).await.unwrap();
    assert_eq!(shell.with_key("/v1/mine", &secret).await.status, StatusCode::OK);
    shell.bench.clock.advance(1000);
    assert_eq!(shell.with_key("/v1/mine", &secret).await.status, StatusCode::UNAUTHORIZED, "its life is over, cached or not");
}

/// Row 56: elsewhere a revoked key works until the cache forgets it, and no longer.
#[tokio::test]
async fn a_key_revoked_elsewhere_is_refused_within_a_minute() {
    let shell = shell(Access::Keys);
    let (secret, id) = shell.key("ann", &[KeyScope::Query]).await;
    assert_eq!(shell.with_key("/v1/mine", &secret).await.status, StatusCode::OK);
    let config = Config::read(|_| None).unwrap();
    let elsewhere = Authenticator::new(shell.bench.store.records(), shell.bench.clock.clone(), Access::Keys, &config);
    elsewhere.revoke_key(&owner("ann"), &id).await.unwrap();
    assert_eq!(shell.with_key("/v1/mine", &secret).await.status, StatusCode::OK);
    shell.bench.clock.advance(60_001);
    assert_eq!(shell.with_key("/v1/mine", &secret).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn the_administrators_key_makes_the_first_keys() {
    let hash = hex::encode(<sha2::Sha256 as sha2::Digest>::digest("sk_first"));
    let config = Config::read(|name| (name == "QUARRY_ADMIN_KEY_SHA256").then(|| hash.clone())).unwrap();
    let shell = shell_with(Access::Keys, &config);
    assert_eq!(shell.with_key("/v1/mine", "sk_first").await.text, "local");
    assert_eq!(shell.with_key("/v1/mine", "sk_second").await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn stored_keys_hold_no_secret() {
    let shell = shell(Access::Keys);
    let (secret, _) = shell.key("ann", &[KeyScope::Query]).await;
    let listed = shell.authenticator.list_keys(&owner("ann")).await.unwrap();
    let text = serde_json::to_string(&listed[0].key).unwrap();
    assert!(!text.contains(&secret) && secret.starts_with(&listed[0].key.hint));
}

fn limited(limit: &'static str) -> Config {
    Config::read(|name| (name == "QUARRY_REQUESTS_PER_MINUTE").then(|| limit.to_owned())).unwrap()
}

#[tokio::test]
async fn a_key_makes_so_many_requests_a_minute_and_is_told_when_to_come_back() {
    let shell = shell_with(Access::Keys, &limited("50"));
    let (ann, _) = shell.key("ann", &[KeyScope::Query]).await;
    let (bob, _) = shell.key("bob", &[KeyScope::Query]).await;
    for n in 0..50 {
        assert_eq!(shell.with_key("/v1/mine", &ann).await.status, StatusCode::OK, "{n}");
    }
    let refused = shell.with_key("/v1/mine", &ann).await;
    assert_eq!((refused.status, refused.code().as_str()), (StatusCode::TOO_MANY_REQUESTS, "RESOURCE_EXHAUSTED"));
    let after: i64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert_eq!(refused.json()["error"]["details"]["retry_after"], after);
    assert!((1..=60).contains(&after), "{after}");
    assert_eq!(shell.with_key("/v1/mine", &bob).await.status, StatusCode::OK, "each key has a minute of its own");
    shell.bench.clock.advance(after * 1000);
    assert_eq!(shell.with_key("/v1/mine", &ann).await.status, StatusCode::OK);
}

/// Many processes serve one key; together they let through what one would, and write little about it.
#[tokio::test]
async fn a_limit_holds_over_all_processes() {
    let bench = Bench::new();
    let authenticators: Vec<_> =
        (0..4).map(|_| Arc::new(Authenticator::new(bench.store.records(), bench.clock.clone(), Access::Keys, &limited("400")))).collect();
    let new = NewKey { owner: owner("ann"), name: "k".into(), scopes: vec![KeyScope::Query], expires_at: None, requests_per_minute: None };
    let (secret, _) = authenticators[0].create_key(new).await.unwrap();
    let headers = http::HeaderMap::from_iter([(http::header::AUTHORIZATION, format!("Bearer {secret}").parse().unwrap())]);
    let mut admitted = 0;
    for n in 0..800_usize {
        admitted += usize::from(authenticators[n % 4].authenticate(&headers, &http::Extensions::new()).await.is_ok());
    }
    assert!((300..=400).contains(&admitted), "{admitted} of 400");
}

#[tokio::test]
async fn a_keys_own_limit_counts_before_the_installations() {
    for (config, own, most) in
        [(limited("2"), Some(5), 5), (limited("5"), Some(1), 1), (limited("0"), Some(3), 3), (limited("0"), None, 99)]
    {
        let shell = shell_with(Access::Keys, &config);
        let scopes = vec![KeyScope::Query];
        let new = NewKey { owner: owner("ann"), name: "k".into(), scopes, expires_at: None, requests_per_minute: own };
        let (secret, _) = shell.authenticator.create_key(new).await.unwrap();
        let mut answers = Vec::new();
        for _ in 0..10 {
            answers.push(shell.with_key("/v1/mine", &secret).await.status);
        }
        assert_eq!(answers.iter().filter(|status| status.is_success()).count(), most.min(10), "{own:?}");
    }
}

#[tokio::test]
async fn a_machine_without_keys_is_counted_as_well() {
    let shell = shell_with(Access::LoopbackUnlessKeys, &limited("1"));
    assert_eq!(shell.get("/v1/mine").await.status, StatusCode::OK);
    assert_eq!(shell.get("/v1/mine").await.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(shell.get("/v1/list").await.status, StatusCode::OK, "what needs no caller counts nobody");
}

fn tokens() -> Config {
    Config::read(|name| (name == "QUARRY_JWT_OWNER_CLAIM").then(|| "org".to_owned())).unwrap()
}

fn claims(pairs: &[(&str, &str)]) -> Claims {
    Claims(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}

impl Shell {
    async fn with_claims(&self, method: Method, path: &str, claims: Claims, headers: &[(&str, &str)]) -> Answer {
        let shell =
            Shell { bench: Bench::new(), authenticator: self.authenticator.clone(), app: self.app.clone().layer(axum::Extension(claims)) };
        shell.send(method, path, headers, r#"{"query": "a"}"#).await
    }
}

#[tokio::test]
async fn a_checked_token_opens_its_owners_data_within_its_scopes() {
    let shell = shell_with(Access::Keys, &tokens());
    let reader = claims(&[("sub", "u1"), ("org", "acme"), ("scope", "openid quarry/query")]);
    assert_eq!(shell.with_claims(Method::GET, "/v1/mine", reader.clone(), &[]).await.text, "acme");
    assert_eq!(shell.with_claims(Method::POST, "/v1/ask", reader.clone(), &[]).await.status, StatusCode::FORBIDDEN);
    let writer = claims(&[("org", "acme"), ("scope", "quarry/ingest")]);
    assert_eq!(shell.with_claims(Method::POST, "/v1/ask", writer, &[]).await.status, StatusCode::OK);
    let nobody = shell.with_claims(Method::GET, "/v1/mine", claims(&[("sub", "u1")]), &[]).await;
    assert_eq!((nobody.status, nobody.code().as_str()), (StatusCode::UNAUTHORIZED, "UNAUTHENTICATED"));
    // Beside claims a key is not looked at, and without claims nothing but a key helps.
    let (ann, _) = shell.key("ann", &[KeyScope::Admin]).await;
    let header = format!("Bearer {ann}");
    assert_eq!(shell.with_claims(Method::GET, "/v1/mine", reader, &[("authorization", &header)]).await.text, "acme");
    assert_eq!(shell.with_key("/v1/mine", &ann).await.text, "ann");
    assert_eq!(shell.get("/v1/mine").await.status, StatusCode::UNAUTHORIZED);
}

/// An installation that was not told to read tokens trusts none, whatever stands before it.
#[tokio::test]
async fn claims_count_only_where_tokens_are_read() {
    let shell = shell(Access::Keys);
    let admin = claims(&[("sub", "u1"), ("org", "acme"), ("scope", "quarry/admin")]);
    assert_eq!(shell.with_claims(Method::GET, "/v1/mine", admin, &[]).await.status, StatusCode::UNAUTHORIZED);
}
