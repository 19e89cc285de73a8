//! Every route of the description, asked as nobody should: the answer is always the one envelope with its true status, and
//! never a fault of ours.

mod support;

use reqwest::{Method, Response, StatusCode};
use serde_json::Value;
use support::Quarry;
use support::server::Server;

const METHODS: [&str; 5] = ["get", "post", "put", "delete", "patch"];

/// Ids that are none.
fn odd_ids() -> Vec<String> {
    let long = "d".repeat(4_000);
    ["x", "%00", "%FF%FE", "..%2F..%2Fetc%2Fpasswd", "doc_ZZZZZZZZZZZZ", "%F0%9F%9A%80", "job_000000000000%0D%0AX-Evil:1", &long]
        .map(str::to_owned)
        .into()
}

async fn envelope(response: Response, what: &str) -> (StatusCode, Value) {
    let (status, id) = (response.status(), response.headers()["x-request-id"].to_str().unwrap().to_owned());
    assert_eq!(response.headers()["x-content-type-options"], "nosniff", "{what}");
    assert!(response.headers().get("x-evil").is_none(), "{what}");
    let body: Value = response.json().await.unwrap_or_else(|error| panic!("{what}: {status} {error}"));
    assert_eq!((&body["success"], body["error"]["request_id"].as_str()), (&Value::Bool(false), Some(id.as_str())), "{what}: {body}");
    assert!(status.is_client_error(), "{what}: {status} {body}");
    (status, body)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_answers_odd_requests_with_the_envelope() {
    let quarry = Quarry::new();
    let server = Server::start(&quarry, &[]);
    let (_, description) = server.get("/openapi.json").await;
    let mut asked = 0;
    for (path, item) in description["paths"].as_object().unwrap() {
        let known: Vec<&str> = METHODS.into_iter().filter(|method| item.get(*method).is_some()).collect();
        let ids = if path.contains('{') { odd_ids() } else { vec![String::new()] };
        for id in &ids {
            let mut real = String::new();
            for part in path.split_inclusive('/') {
                let (name, slash) = part.strip_suffix('/').map_or((part, ""), |name| (name, "/"));
                real.push_str(if name.starts_with('{') { id } else { name });
                real.push_str(slash);
            }
            let url = server.at(&real);
            for method in METHODS {
                let what = format!("{method} {real:.120}");
                let send = |body: &'static str, kind: &'static str| {
                    let request = server.client.request(Method::from_bytes(method.to_uppercase().as_bytes()).unwrap(), &url);
                    request.header("content-type", kind).header("idempotency-key", "k").body(body).send()
                };
                asked += 1;
                if !known.contains(&method) {
                    let response = send("", "application/json").await.unwrap();
                    let allow = response.headers().get("allow").map(|allow| allow.to_str().unwrap().to_lowercase()).unwrap_or_default();
                    let (status, body) = envelope(response, &what).await;
                    assert_eq!(
                        (status, body["error"]["code"].as_str()),
                        (StatusCode::METHOD_NOT_ALLOWED, Some("METHOD_NOT_ALLOWED")),
                        "{what}"
                    );
                    assert!(known.iter().all(|method| allow.contains(method)), "{what}: {allow}");
                    continue;
                }
                if !id.is_empty() {
                    envelope(send("{}", "application/json").await.unwrap(), &what).await;
                }
                // A body where one is read, of a kind, a form and a size that it is not.
                if method == "post" && item["post"].get("requestBody").is_some() {
                    for (body, kind) in [
                        ("", "application/json"),
                        ("[]", "application/json"),
                        ("{\"a\": ", "application/json"),
                        ("\u{0}", "image/png"),
                        ("x", "multipart/form-data"),
                    ] {
                        envelope(send(body, kind).await.unwrap(), &format!("{what} {kind} {body:?}")).await;
                    }
                }
            }
        }
        // A page of another host may ask whether it may; what it gets is decided by its key.
        let preflight = server.client.request(Method::OPTIONS, server.at(path)).header("origin", "https://page.example");
        let preflight = preflight.header("access-control-request-method", "POST").send().await.unwrap();
        assert!(preflight.status().is_success() && preflight.headers()["access-control-allow-origin"] == "*", "{path}");
        if known.contains(&"get") && !path.contains('{') {
            let (get, head) =
                (server.client.get(server.at(path)).send().await.unwrap(), server.client.head(server.at(path)).send().await.unwrap());
            assert_eq!((get.status(), get.headers().get("content-type")), (head.status(), head.headers().get("content-type")), "{path}");
            assert!(head.bytes().await.unwrap().is_empty(), "{path}");
        }
    }
    assert!(asked > 300, "{asked}");
    for nowhere in ["/", "/v1", "/v3/jobs", "/v1//jobs", "/v1/jobs/job_000000000000/nothing", "/objects/..%2Fstore.sqlite"] {
        envelope(server.client.get(format!("{}{nowhere}", server.url)).send().await.unwrap(), nowhere).await;
    }
    for (query, field) in [
        ("/jobs?page=0", "query.page"),
        ("/jobs?page=x", "query.page"),
        ("/jobs?page=99999999999999999999", "query.page"),
        ("/jobs?page=1&page=2", "query.page"),
        ("/jobs?page_size=101", "query.page_size"),
        ("/jobs?bogus=1", "query.bogus"),
        ("/jobs?job_status=x", "query.job_status"),
        ("/documents?page_size=0", "query.page_size"),
        ("/documents?namespace=%00", "query.namespace"),
        ("/documents?status=deleted", "query.status"),
    ] {
        let (status, body) = envelope(server.client.get(server.at(query)).send().await.unwrap(), query).await;
        assert_eq!((status, body["error"]["details"]["violations"][0]["field"].as_str()), (StatusCode::BAD_REQUEST, Some(field)), "{body}");
    }
}
