//! The router, the table of routes and the description say the same.

use http::Method;

use quarry_model::Limits;
use quarry_runtime::http::{Access, PREFIXES, Route};
use quarry_upload::{ROUTES, openapi_json};
use serde_json::{Value, json};

use crate::bench::{Bench, file_job};

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
const ELSEWHERE: [(&str, &str); 5] = [
    ("POST", "/retrieval/query"),
    ("POST", "/retrieval/query/stream"),
    ("GET", "/retrieval/runs/{run_id}"),
    ("GET", "/tools"),
    ("POST", "/tools/{name}"),
];

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
