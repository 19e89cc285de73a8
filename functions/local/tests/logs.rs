//! What is logged says what was done and never what with: everything a caller can bring in carries a marker, every stage
//! and every kind of failure is passed, and none of it may stand in a line, at the finest level.

mod support;

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use quarry_model::message::QueueName;
use quarry_ports::Outgoing;
use quarry_ports::testing::models::{ModelServer, Reply, Script};
use quarry_store_local::{LocalStore, PublicBase};
use serde_json::{Value, json};
use support::Quarry;

/// Stands in every content, name, query, header and key; case and form are looked for loosely.
const MARKER: &str = "zyxmarkerzyx";

fn name(extension: &str) -> String {
    format!("{MARKER}-report.{extension}")
}

/// The first golden input of every format, so that every parser is passed; and each of them cut off and garbled, so that
/// every parser's failures are.
fn goldens(quarry: &Quarry) -> usize {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let mut count = 0;
    for format in std::fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
        let mut cases: Vec<_> =
            std::fs::read_dir(format.path()).unwrap().flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
        cases.sort();
        let files = std::fs::read_dir(&cases[0]).unwrap().flatten().map(|entry| entry.path());
        let Some(input) = files.into_iter().find(|path| path.file_stem().is_some_and(|stem| stem == "input")) else { continue };
        let bytes = std::fs::read(&input).unwrap();
        let extension = input.extension().unwrap().to_str().unwrap();
        std::fs::create_dir_all(quarry.docs()).unwrap();
        let mut garbled = bytes.clone();
        for at in (0..garbled.len()).step_by(97) {
            garbled[at] = garbled[at].wrapping_add(1);
        }
        for (kind, bytes) in [("whole", &bytes[..]), ("cut", &bytes[..bytes.len() / 2]), ("garbled", &garbled)] {
            std::fs::write(quarry.docs().join(format!("{MARKER}-{kind}-{}.{extension}", format.file_name().display())), bytes).unwrap();
            count += 1;
        }
    }
    count
}

#[tokio::test(flavor = "multi_thread")]
async fn no_line_of_the_log_holds_content_names_queries_or_keys() {
    let quarry = Quarry::new();
    // What models say, and what servers say of themselves, is content as well.
    let script = Arc::new(Script::default());
    script.in_turn([
        Reply::Says(MARKER.into()),
        Reply::Says(json!({ "summaries": { "s0": MARKER }, "steps": [{ "id": MARKER, "sub_query": MARKER }] }).to_string()),
        Reply::Noise,
        Reply::Fails(500),
        Reply::CutOff(MARKER.into()),
        Reply::Says(json!({ "category": MARKER, "summary": MARKER }).to_string()),
    ]);
    let models = ModelServer::start(script.clone()).await;
    let log = quarry.docs().with_file_name("log");
    let mut command = quarry.command();
    command.args(["serve", "--port", "0", "--json"]).stdout(Stdio::piped()).stderr(std::fs::File::create(&log).unwrap());
    command.env("QUARRY_LOG", "warn,quarry=trace,quarry_document=trace").env("QUARRY_WEBHOOK_SECRET", MARKER);
    command.env("QUARRY_LIMIT_PARSE_SECONDS", "20").env("QUARRY_ALLOWED_ADDRESSES", "127.0.0.1");
    for task in ["SUMMARY", "CLASSIFY", "HIERARCHY", "IMAGE", "PLANNER", "NAVIGATOR"] {
        command.env(format!("QUARRY_{task}_BASE_URL"), &models.base_url).env(format!("QUARRY_{task}_MODEL"), "m");
        command.env(format!("QUARRY_{task}_KEYS"), format!("sk-{MARKER}"));
    }
    let mut server = Served::start(command);

    // Every parser, well and badly; read by the server.
    let files = goldens(&quarry);
    quarry.run(&["ingest", quarry.docs().to_str().unwrap()]).ends(0);
    // Every way in, and what is wrong with each.
    let text = format!("# {MARKER}\n\nThe {MARKER} runs hot. Its owner is {MARKER}.\n");
    let metadata = json!({ "note": MARKER });
    let closed = format!("http://127.0.0.1:9/{MARKER}");
    let job = json!({ "source_type": "file", "file_name": name("md"), "data_id": MARKER, "document_metadata": metadata, "webhook": { "url": closed } });
    let created = server.post("/jobs", &job).await;
    let job_id = created["job_id"].as_str().unwrap_or_else(|| panic!("{created}")).to_owned();
    let put = server.client.put(created["upload_url"].as_str().unwrap()).header("content-type", "text/markdown").body(text.clone());
    put.send().await.unwrap();
    server.post("/jobs", &json!({ "source_type": "url", "source_url": closed })).await;
    server.post("/jobs", &json!({ "source_type": "url", "source_url": format!("http://{MARKER}.invalid/{MARKER}") })).await;
    server.post("/jobs", &json!({ "source_type": MARKER, MARKER: MARKER })).await;
    let raw = server.client.post(server.at("/documents")).header("x-file-name", name("docx")).header("idempotency-key", MARKER);
    raw.header("x-request-id", "r1").body(format!("PK\u{3}\u{4}{MARKER}")).send().await.unwrap();
    let form = format!("--{MARKER}\r\nContent-Disposition: form-data; name=\"{MARKER}\"\r\n\r\n{MARKER}\r\n--{MARKER}--\r\n");
    let form =
        server.client.post(server.at("/documents")).header("content-type", format!("multipart/form-data; boundary={MARKER}")).body(form);
    form.send().await.unwrap();
    for path in ["/retrieval/query", "/jobs", "/auth/revoke", "/tools/search", "/mcp"] {
        let broken = server.client.post(server.at(path)).header("content-type", "application/json").body(format!("{{\"{MARKER}"));
        broken.send().await.unwrap();
    }
    let root = server.url.clone();
    for body in [json!({ "jsonrpc": "2.0", "id": MARKER, "method": MARKER }), json!({ "jsonrpc": MARKER }), json!([MARKER])] {
        let call = server.client.post(format!("{root}/mcp")).header("accept", "application/json, text/event-stream").json(&body);
        call.send().await.unwrap();
    }
    for path in [
        format!("/jobs/{MARKER}"),
        format!("/documents/{MARKER}/pages/{MARKER}.png"),
        format!("/retrieval/runs/{MARKER}"),
        format!("/{MARKER}?{MARKER}={MARKER}"),
    ] {
        let asked = server.client.get(server.at(&path)).header("authorization", format!("Bearer {MARKER}")).header("traceparent", MARKER);
        asked.send().await.unwrap();
    }
    // A message that nobody can read, and one that points at nothing.
    let store = LocalStore::open(&quarry.data(), PublicBase::default()).unwrap();
    for (queue, body) in [
        (QueueName::Profile, format!("{{\"{MARKER}\": ")),
        (
            QueueName::Profile,
            json!({ "key": format!("inbox/default/{MARKER}.md"), "size": 1, "etag": MARKER, "order": { "created_millis": 1 } }).to_string(),
        ),
        (QueueName::Publish, json!({ "scope": MARKER, "action": { "kind": MARKER } }).to_string()),
    ] {
        let group = queue.is_fifo().then(|| "g".to_owned());
        store.queues().send(queue, vec![Outgoing { body, group, ..Outgoing::default() }]).await.unwrap();
    }
    // Questions, plain and agentic, and tools.
    server.ended(&job_id).await;
    for agentic in [false, true] {
        server.post("/retrieval/query", &json!({ "query": format!("who owns the {MARKER}?"), "use_agentic": agentic })).await;
    }
    for (tool, arguments) in [
        ("search", json!({ "query": MARKER })),
        ("grep", json!({ "pattern": format!("({MARKER}") })),
        (MARKER, json!({})),
        ("query_table", json!({ "ref": MARKER, "sql": MARKER })),
    ] {
        server.post(&format!("/tools/{tool}"), &arguments).await;
    }
    server.all_ended(files).await;
    // The webhook of the first job is tried within seconds of its end.
    let began = Instant::now();
    while !std::fs::read_to_string(&log).unwrap().contains("delivered=") && began.elapsed() < Duration::from_secs(30) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    server.stop();

    let lines = std::fs::read_to_string(&log).unwrap();
    for stage in [
        "profiler",
        "publisher",
        "serve",
        "parse-text",
        "parse-docx",
        "parse-pdf",
        "parse-xlsx",
        "parse-pptx",
        "parse-html",
        "parse-eml",
        "parse-json",
        "parse-image",
        "parse-legacy",
    ] {
        assert!(lines.contains(&format!("stage=\"{stage}\"")), "{stage} is not in the log\n{lines}");
    }
    for outcome in ["outcome=\"done\"", "outcome=\"rejected\"", "outcome=\"poison\"", "no answer", "delivered=false"] {
        assert!(lines.contains(outcome), "{outcome} is not in the log");
    }
    assert!(!script.asked().is_empty(), "no model was asked");
    let found: Vec<&str> = lines.lines().filter(|line| line.to_lowercase().contains(MARKER)).collect();
    assert!(found.is_empty(), "{} lines\n{}", found.len(), found.join("\n"));
    // Words that only the golden documents hold.
    let goldens: Vec<&str> = lines
        .lines()
        .filter(|line| ["bearing", "impeller", "gasket", "invoice"].iter().any(|word| line.to_lowercase().contains(word)))
        .collect();
    assert!(goldens.is_empty(), "{}", goldens.join("\n"));
}

/// A server whose log goes to a file.
struct Served {
    child: std::process::Child,
    url: String,
    client: reqwest::Client,
}

impl Served {
    fn start(mut command: Command) -> Self {
        use std::io::BufRead as _;
        let mut child = command.spawn().unwrap();
        let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
        let mut text = String::new();
        let url = loop {
            text.push_str(&lines.next().expect("the server says where it is").unwrap());
            if let Ok(said) = serde_json::from_str::<Value>(&text) {
                break said["url"].as_str().unwrap().to_owned();
            }
        };
        Self { child, url, client: reqwest::Client::new() }
    }

    fn at(&self, path: &str) -> String {
        format!("{}/v1{path}", self.url)
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        self.client.post(self.at(path)).json(body).send().await.unwrap().json().await.unwrap_or_default()
    }

    async fn ended(&self, job: &str) {
        let began = Instant::now();
        while began.elapsed() < Duration::from_mins(2) {
            let body: Value = self.client.get(self.at(&format!("/jobs/{job}?wait=5"))).send().await.unwrap().json().await.unwrap();
            if matches!(body["status"].as_str(), Some("done" | "failed")) {
                return;
            }
        }
        panic!("job {job} does not end");
    }

    /// Until every one of at least so many jobs has ended.
    async fn all_ended(&self, least: usize) {
        let began = Instant::now();
        while began.elapsed() < Duration::from_mins(5) {
            let count = async |state: &str| {
                let body: Value =
                    self.client.get(self.at(&format!("/jobs?job_status={state}"))).send().await.unwrap().json().await.unwrap();
                usize::try_from(body["total"].as_u64().unwrap()).unwrap()
            };
            if count("pending").await + count("running").await == 0 && count("done").await + count("failed").await >= least {
                return;
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        panic!("the jobs do not end");
    }

    fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop();
    }
}
