//! One document through all stages under one trace: whatever line a stage writes about it can be found by the id of the
//! request, or of the object event, that began it.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Arc, Mutex};

use quarry_model::{Job, Trace};
use quarry_ports::trace;
use quarry_runtime::jobs::NewJob;
use serde_json::{Map, Value};
use tracing_subscriber::fmt::MakeWriter;

use crate::bench::Bench;

const MARKDOWN: &str = "# Pump\n\nThe bearing runs hot.\n";

/// Lines of the log, as they are collected in the cloud.
#[derive(Clone, Default)]
pub(crate) struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("lines").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Lines {
    /// Collects what this thread logs until the guard is dropped.
    pub(crate) fn collect(filter: tracing_subscriber::filter::LevelFilter) -> (Self, tracing::subscriber::DefaultGuard) {
        let lines = Self::default();
        let subscriber = tracing_subscriber::fmt().json().flatten_event(true).with_max_level(filter).with_writer(lines.clone()).finish();
        let guard = tracing::subscriber::set_default(subscriber);
        (lines, guard)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("lines").clone()).expect("UTF-8")
    }

    /// Stages and trace ids of the outcomes.
    fn outcomes(&self) -> Vec<(String, String)> {
        let lines: Vec<Value> = self.text().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let field = |line: &Value, name: &str| line[name].as_str().unwrap_or_default().to_owned();
        let outcomes = lines.iter().filter(|line| line["target"] == "quarry::outcome");
        outcomes.map(|line| (field(line, "stage"), field(line, "trace_id"))).collect()
    }

    /// Every stage of the road has written, and all in this trace.
    fn follow(&self, trace: &str) {
        let outcomes = self.outcomes();
        let stages: BTreeSet<&str> = outcomes.iter().map(|(stage, _)| stage.as_str()).collect();
        assert_eq!(stages, BTreeSet::from(["profiler", "parse-text", "publisher"]));
        assert!(outcomes.iter().all(|(_, id)| id == trace), "{trace}: {outcomes:?}");
    }
}

fn lines() -> (Lines, tracing::subscriber::DefaultGuard) {
    Lines::collect(tracing_subscriber::filter::LevelFilter::INFO)
}

async fn a_job(bench: &Bench, began: Trace) -> Job {
    let new = NewJob {
        scope: Bench::scope(),
        document_id: None,
        source_type: quarry_model::job::SourceType::File,
        source_url: None,
        file_name: "pump.md".into(),
        data_id: None,
        document_metadata: Map::new(),
        parsing_params: Map::new(),
        webhook: None,
        idempotency_key: None,
    };
    trace::within(began, bench.jobs.create(new)).await.expect("a job").job()
}

/// The bucket's event of a presigned upload names no trace: the job knows the request that made it.
#[tokio::test]
async fn an_upload_is_followed_from_the_request_that_made_its_job() {
    let (bench, (lines, _guard)) = (Bench::new(), lines());
    let began: Trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".parse().expect("a trace");
    let job = a_job(&bench, began).await;
    let (size, etag) = bench.put(job.source.as_str(), MARKDOWN).await;
    for _ in 0..2 {
        bench.notify(job.source.as_str(), size, &etag, "01").await;
    }
    bench.drain().await;
    bench.state().await;
    lines.follow(&began.id());
}

/// Nobody asked for a dropped file: its event begins the trace, and the event's doubles belong to it.
#[tokio::test]
async fn a_dropped_file_is_followed_from_its_event() {
    let (bench, (lines, _guard)) = (Bench::new(), lines());
    let (size, etag) = bench.put("inbox/default/pump.md", MARKDOWN).await;
    for _ in 0..3 {
        bench.notify("inbox/default/pump.md", size, &etag, "01").await;
    }
    bench.drain().await;
    let jobs = bench.jobs.list(&quarry_model::Owner::local(), &quarry_runtime::jobs::JobFilter::default(), 1, 10).await.expect("jobs").jobs;
    let trace = jobs[0].trace.expect("a trace");
    lines.follow(&trace.id());
}

/// An event whose sender has a trace (S3 passes X-Ray's on) goes on with it.
#[tokio::test]
async fn a_dropped_file_goes_on_with_the_trace_of_its_event() {
    let (bench, (lines, _guard)) = (Bench::new(), lines());
    let sent: Trace = "Root=1-67891233-abcdef012345678912345678;Parent=463ac35c9f6413ad;Sampled=1".parse().expect("a trace");
    let (size, etag) = bench.put("inbox/default/pump.md", MARKDOWN).await;
    bench.notify_in(Some(sent), "inbox/default/pump.md", size, &etag, "01").await;
    bench.notify("inbox/default/pump.md", size, &etag, "01").await;
    bench.drain().await;
    lines.follow(&sent.id());
}
