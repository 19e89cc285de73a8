//! `quarry redrive`: dead letters of the data folder's queues.

mod support;

use std::time::Duration;

use quarry_model::Family;
use quarry_model::message::QueueName;
use quarry_ports::Outgoing;
use quarry_store_local::{LocalStore, PublicBase};
use serde_json::{Value, json};
use support::Quarry;

const TEXT: QueueName = QueueName::Parse(Family::Text);

/// Messages that were received as often as they may be.
async fn bury(quarry: &Quarry, queue: QueueName, bodies: &[String]) {
    let queues = LocalStore::open(&quarry.data(), PublicBase::default()).unwrap().queues();
    let group = queue.is_fifo().then(|| "group".to_owned());
    let messages = bodies.iter().map(|body| Outgoing { body: body.clone(), group: group.clone(), ..Outgoing::default() });
    queues.send(queue, messages.collect()).await.unwrap();
    loop {
        let received = queues.receive(queue, 10, Duration::from_mins(1), Duration::ZERO).await.unwrap();
        if received.is_empty() {
            break;
        }
        for message in received {
            queues.change_visibility(queue, &message.receipt, Duration::ZERO).await.unwrap();
        }
    }
    assert_eq!(dead(quarry, queue).await, bodies.len());
}

async fn dead(quarry: &Quarry, queue: QueueName) -> usize {
    let queues = LocalStore::open(&quarry.data(), PublicBase::default()).unwrap().queues();
    queues.dead_letters(queue, 1000).await.unwrap().len()
}

fn parse(job: &str) -> String {
    json!({ "job_id": job, "scope": { "owner": "local", "namespace": "default" }, "document_id": "doc_0123456789ab",
        "source": "inbox/a.md", "etag": "x", "size": 1, "file_name": "a.md", "parsing_params": {},
        "profile": { "format": "markdown", "category": "note", "routing_category": "generic" },
        "order": { "created_millis": 1, "sequencer": null } })
    .to_string()
}

fn moved(report: &Value) -> (u64, u64) {
    (report["found"].as_u64().unwrap(), report["moved"].as_u64().unwrap())
}

#[tokio::test]
async fn dead_letters_go_back_by_queue_by_job_and_bounded() {
    let quarry = Quarry::new();
    quarry.write("a.md", "# A\n\nText.\n");
    quarry.ingest();
    let job = quarry.run(&["jobs", "--json"]).json()["jobs"][0]["job_id"].as_str().unwrap().to_owned();
    bury(&quarry, TEXT, &[parse("job_0123456789ab"), parse(&job), parse("job_0123456789ac"), "{\"half\": ".to_owned()]).await;
    bury(&quarry, QueueName::Publish, &["nonsense".to_owned()]).await;

    let dry = quarry.run(&["redrive", "--dry-run", "--json"]).ends(0).json();
    assert_eq!(moved(&dry), (5, 0), "{dry}");
    let says = quarry.run(&["redrive", "--dry-run", "parse-text"]).ends(0).out;
    assert!(says.contains(&job) && says.contains("unreadable") && says.contains("4 dead letters would be moved"), "{says}");
    assert_eq!((dead(&quarry, TEXT).await, dead(&quarry, QueueName::Publish).await), (4, 1), "a dry run moves nothing");

    let one = quarry.run(&["redrive", "--job", &job, "--json"]).ends(0).json();
    assert_eq!(moved(&one), (1, 1), "{one}");
    assert_eq!(
        one["queues"],
        json!([{ "queue": "parse-text", "letters": [{ "id": one["queues"][0]["letters"][0]["id"], "about": { "job": job } }] }])
    );
    assert_eq!((dead(&quarry, TEXT).await, dead(&quarry, QueueName::Publish).await), (3, 1));

    let bounded = quarry.run(&["redrive", "--limit", "2", "--json"]).ends(0).json();
    assert_eq!((moved(&bounded), &bounded["limit_reached"]), ((2, 2), &json!(true)));
    let rest = quarry.run(&["redrive"]).ends(0);
    assert!(rest.out.ends_with("2 dead letters moved\n"), "{}", rest.out);
    assert!(quarry.run(&["redrive"]).ends(0).out.starts_with("0 dead letters moved"));
}

#[test]
fn what_is_not_there_is_said() {
    let quarry = Quarry::new();
    assert!(quarry.run(&["redrive", "parse-everything"]).ends(2).err.contains("parse-docx"));
    quarry.run(&["redrive", "--job", "job_0123456789ab"]).ends(4);
    quarry.run(&["redrive", "--job", "nonsense"]).ends(2);
    assert!(quarry.run(&["redrive", "--stage", "prod"]).ends(2).err.contains("--features aws"));
}
