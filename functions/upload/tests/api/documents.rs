//! Documents: listed, read, withdrawn; their graph.

use http::Method;

use quarry_model::record::GraphEdge;
use quarry_model::{Namespace, Owner, RecordKey, Scope};
use quarry_ports::{Clock, Condition, Item, SystemClock};
use serde_json::json;

use crate::bench::{BASE, Bench, has_fields};

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
