//! Each parser and the publisher from its own fixtures.

use quarry_model::message::{ParseMessage, PublishAction, PublishMessage, QueueName};
use quarry_model::{DocumentCode, Family, Format, JobState};
use quarry_ports::{Received, Stage};
use quarry_runtime::{Disposition, deliver};
use std::fs;
use std::time::Duration;

use crate::bench::{Bench, fixture};

const MARKDOWN: &str = "# Pump\n\nThe bearing runs hot.\n\n| Part | Limit |\n|---|---|\n| Bearing | 95 °C |\n";
const HTML: &str = "<!DOCTYPE html><html><body><h1>Pump</h1><p>The bearing runs hot.</p></body></html>";

/// A fixture's parse message, made to point at these bytes and at a job of its own.
async fn parse_fixture(bench: &Bench, function: &str, case: &str, content: &[u8]) -> (Received, ParseMessage) {
    let mut received = fixture(function, case).remove(0);
    let mut message: ParseMessage = serde_json::from_str(&received.body).expect("a parse message");
    let (size, etag) = bench.put("uploads/local/job_0a1b2c3d4e5f", content.to_vec()).await;
    (message.size, message.etag) = (size, etag);
    received.body = serde_json::to_string(&message).expect("JSON");
    (received, message)
}

async fn publications(bench: &Bench) -> Vec<PublishMessage> {
    let received = bench.store.queues().receive(QueueName::Publish, 10, Duration::from_mins(1), Duration::ZERO).await.expect("receive");
    received.iter().map(|message| serde_json::from_str(&message.body).expect("a publish message")).collect()
}

async fn a_parser_publishes<S: Stage>(bench: &Bench, stage: &S, function: &str, case: &str, content: &[u8]) {
    let (received, message) = parse_fixture(bench, function, case, content).await;
    let outcomes = stage.run(vec![serde_json::from_str(&received.body).expect("input")]).await;
    assert_eq!(outcomes.iter().map(quarry_model::Outcome::word).collect::<Vec<_>>(), ["done"], "{outcomes:?}");
    let sent = publications(bench).await;
    let [publication] = sent.as_slice() else { panic!("one publication, not {}", sent.len()) };
    assert_eq!(publication.document_id, message.document_id);
    assert!(matches!(&publication.action, PublishAction::Publish { job_id, .. } if *job_id == message.job_id));
}

/// The first golden document of a format.
fn golden(format: Format) -> Vec<u8> {
    let folder = quarry_tests::repository().join("tests/golden").join(format.name());
    let mut cases: Vec<_> = fs::read_dir(&folder).expect("a golden folder").flatten().map(|entry| entry.path()).collect();
    cases.sort();
    let files = fs::read_dir(&cases[0]).expect("a case").flatten().map(|entry| entry.path());
    let input = files.into_iter().find(|path| path.file_stem().is_some_and(|stem| stem == "input")).expect("an input");
    fs::read(input).expect("bytes")
}

#[tokio::test]
async fn every_parser_publishes_from_its_event() {
    for family in Family::ALL {
        let bench = Bench::new();
        let (_, message) = parse_fixture(&bench, family.function(), "put.json", b"-").await;
        assert_eq!(message.profile.format.row().family, Some(family), "events/{}", family.function());
        a_parser_publishes(&bench, bench.parser(family), family.function(), "put.json", &golden(message.profile.format)).await;
    }
}

/// Two messages, one for each page: the first leaves its part, the second puts both together.
#[tokio::test]
async fn parse_pdf_in_parts_from_its_events() {
    let page = |text: &str| quarry_pdf::testing::Leaf::a4().text(72.0, 100.0, 10.0, text);
    let content = quarry_pdf::testing::Builder::new().page(page("The pump hums.")).page(page("The valve is shut.")).save();
    let bench = Bench::new();
    let (size, etag) = bench.put("uploads/local/job_0a1b2c3d4e5f", content).await;
    let mut published = Vec::new();
    for received in fixture("parse-pdf", "parts.json") {
        let message: ParseMessage = serde_json::from_str(&received.body).expect("a parse message");
        let outcomes = bench.parser(Family::Pdf).run(vec![ParseMessage { size, etag: etag.clone(), ..message }]).await;
        assert_eq!(outcomes.iter().map(quarry_model::Outcome::word).collect::<Vec<_>>(), ["done"], "{outcomes:?}");
        published.push(publications(&bench).await.len());
    }
    assert_eq!(published, [0, 1]);
}

#[tokio::test]
async fn parse_html_from_a_lying_extension() {
    let bench = Bench::new();
    a_parser_publishes(&bench, bench.parser(Family::Html), "parse-html", "lying-extension.json", HTML.as_bytes()).await;
}

#[tokio::test]
async fn a_damaged_file_is_rejected_with_its_code() {
    let bench = Bench::new();
    let (received, _) = parse_fixture(&bench, "parse-docx", "damaged.json", b"PK\x03\x04 and then nothing").await;
    let outcomes = bench.parser(Family::Docx).run(vec![serde_json::from_str(&received.body).expect("input")]).await;
    assert!(
        matches!(outcomes.as_slice(), [quarry_model::Outcome::Rejected(failure)] if failure.code == DocumentCode::Corrupt),
        "{outcomes:?}"
    );
    assert!(publications(&bench).await.is_empty());
}

#[tokio::test]
async fn a_source_that_is_gone_publishes_nothing() {
    let bench = Bench::new();
    let messages = fixture("parse-text", "gone.json");
    let verdicts = deliver(bench.parser(Family::Text), &bench.delivery, &messages).await;
    assert_eq!(verdicts, [Disposition::Acknowledge]);
    assert!(publications(&bench).await.is_empty());
}

#[tokio::test]
async fn the_publisher_from_its_events() {
    let bench = Bench::new();
    let (size, etag) = bench.put("inbox/default/pump.md", MARKDOWN).await;
    bench.notify("inbox/default/pump.md", size, &etag, "01").await;
    bench.drain().await;
    let state = bench.state().await;
    assert_eq!(state["counts"], format!("1 documents, {} chunks", 2));
    // Its own fixtures name another document and a revision that was never written: nothing changes.
    for case in ["publish.json", "archive.json", "delete.json", "poison.json"] {
        let _ = deliver(&bench.publisher, &bench.delivery, &fixture("publisher", case)).await;
        let after = bench.state().await;
        assert_eq!(state["counts"], after["counts"], "{case}");
        assert_eq!(state["splits"], after["splits"], "{case}");
    }
}

#[tokio::test]
async fn poison_harms_no_neighbour() {
    let bench = Bench::new();
    let (size, etag) = bench.put("inbox/default/pump.md", MARKDOWN).await;
    let poison = quarry_ports::Outgoing { body: "{ not json".into(), ..quarry_ports::Outgoing::default() };
    bench.store.queues().send(QueueName::Profile, vec![poison]).await.expect("send");
    bench.notify("inbox/default/pump.md", size, &etag, "01").await;
    bench.drain().await;
    let jobs = bench.jobs.list(&quarry_model::Owner::local(), &quarry_runtime::jobs::JobFilter::default(), 1, 10).await.expect("jobs").jobs;
    assert_eq!(jobs.iter().map(|job| job.state).collect::<Vec<_>>(), [JobState::Done]);
    let dead = bench.store.queues().dead_letters(QueueName::Profile, 10).await.expect("dead letters");
    assert_eq!(dead.len(), 1, "the poison is kept for whoever looks");
}
