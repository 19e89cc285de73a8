//! Rows about what surrounds a document: models that misbehave, values that other programs would run, clocks, and a
//! machine without a network.

use std::sync::Arc;
use std::time::Duration;

use quarry_ports::testing::models::{ModelServer, Reply, Script};

use crate::build::{self, document};
use crate::road::Road;

const FACTS: &str =
    "# Wells\n\nThe reserve well delivers fourteen cubic metres an hour.\n\n# Pumps\n\nThe main pump is kept dry in winter.\n";
const QUESTION: &str = "How much does the reserve well deliver an hour?";

/// The plan is made without the model, the trace says so, and nothing is spent above the budget.
#[tokio::test(flavor = "multi_thread")]
async fn row_53_a_planner_of_nonsense_of_loops_and_of_silence() {
    let round = r#"{"reason": "round", "steps": [{"id": "a", "sub_query": "x", "depends_on": ["b"]}, {"id": "b", "sub_query": "y", "depends_on": ["a"]}]}"#;
    for reply in [
        Reply::Says("I am a teapot, and so are you.".into()),
        Reply::Says(round.into()),
        Reply::Says(r#"{"steps": [{"id": "a", "sub_query": "delete everything", "step_kind": "shell"}]}"#.into()),
        Reply::Slow(Duration::from_mins(2), round.into()),
        Reply::Endless,
    ] {
        let script = Arc::new(Script::default());
        script.always(reply.clone());
        let server = ModelServer::start(script.clone()).await;
        let url = server.base_url.clone();
        let answer = tokio::task::spawn_blocking(move || {
            let road = Road::new().file("facts.md", FACTS.as_bytes()).run();
            let mut road = road;
            for task in ["PLANNER", "NAVIGATOR"] {
                road = road.variable(&format!("QUARRY_{task}_BASE_URL"), &url).variable(&format!("QUARRY_{task}_MODEL"), "m");
                road = road.variable(&format!("QUARRY_{task}_KEYS"), "sk-x");
            }
            road.ask(QUESTION, &["--agentic", "--budget", "1500"])
        })
        .await
        .expect("an answer");
        assert!(!script.asked().is_empty(), "{reply:?}");
        assert!(answer["evidence_text"].as_str().is_some_and(|text| text.contains("fourteen cubic metres")), "{reply:?}: {answer}");
        let plan = answer["decision_trace"].as_array().into_iter().flatten().find(|step| step["action"] == "plan");
        assert!(plan.is_some_and(|step| step["output"]["made_by"] == "fallback"), "{reply:?}: {plan:?}");
        let (used, limit) = (answer["budget"]["used"].as_u64(), answer["budget"]["limit"].as_u64());
        assert!(limit == Some(1500) && used <= limit, "{reply:?}: {}", answer["budget"]);
    }
}

/// A value that a spreadsheet would run is text in the chunk, in the table's HTML and in an answer: never a link, never
/// markup. Nothing is written as CSV.
#[test]
fn row_58_values_that_a_spreadsheet_would_run() {
    let values =
        ["=HYPERLINK(\"http://evil.example\";\"well\")", "+1+cmd|' /C calc'!A0", "@SUM(A1)", "-2+3", "=1+1<script>alert(1)</script>"];
    let rows: String = values.iter().map(|value| format!("well,\"{}\"\n", value.replace('"', "\"\""))).collect();
    let road = Road::with("wells.csv", format!("name,value\n{rows}").as_bytes()).and_is_read();
    let tables = road.tables().concat();
    for bad in ["<script", "<a ", "href"] {
        assert!(!tables.contains(bad), "{bad} in {tables}");
    }
    for value in &values {
        assert!(
            tables.contains(&value.replace('<', "&lt;").replace('>', "&gt;")) || tables.contains(&escaped(value)),
            "{value} in {tables}"
        );
    }
    // The caller's own bytes stay as they came; nothing else is written in a form that a spreadsheet opens unasked.
    let keys = road.keys();
    let sheets: Vec<&String> = keys.iter().filter(|key| key.ends_with(".csv") || key.ends_with(".tsv")).collect();
    assert_eq!(sheets.len(), 2, "{sheets:?}");
}

fn escaped(value: &str) -> String {
    value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

/// What a file claims of its own times changes nothing: neither whether it is read nor the ids of what is in it.
#[test]
fn row_59_times_that_are_none() {
    let mut seen = Vec::new();
    for time in ["2026-11-30T10:00:00Z", "1601-01-01T00:00:00Z", "9999-12-31T23:59:60Z", "2023-02-29T25:61:61Z", "yesterday", ""] {
        let core = format!(
            "<cp:coreProperties xmlns:cp=\"http://schemas.openxmlformats.org/package/2006/metadata/core-properties\" \
             xmlns:dcterms=\"http://purl.org/dc/terms/\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\
             <dcterms:created xsi:type=\"dcterms:W3CDTF\">{time}</dcterms:created><dcterms:modified xsi:type=\"dcterms:W3CDTF\">{time}</dcterms:modified>\
             </cp:coreProperties>"
        );
        let body = document("<w:p><w:r><w:t>The gate opens at six.</w:t></w:r></w:p>");
        let file = build::package(&[("word/document.xml", body.as_bytes()), ("docProps/core.xml", core.as_bytes())]);
        let chunks = Road::with("gate.docx", &file).and_is_read().json("chunks.json");
        seen.push(chunks["chunks"].to_string());
    }
    seen.dedup();
    assert_eq!(seen.len(), 1, "{seen:#?}");
}

/// Everything but models works where nothing is reachable, and a model that is configured and unreachable is said to be.
#[test]
fn row_60_no_network_and_no_credentials() {
    let road = Road::new().file("facts.md", FACTS.as_bytes()).offline().run();
    let answer = road.ask(QUESTION, &["--agentic"]);
    assert!(answer["evidence_text"].as_str().is_some_and(|text| text.contains("fourteen cubic metres")), "{answer}");
    assert_eq!(answer["failure_reason"], serde_json::Value::Null, "{answer}");
    let mut road = road;
    for (name, value) in [("BASE_URL", "http://models.invalid/v1"), ("MODEL", "m"), ("KEYS", "sk-x")] {
        road = road.variable(&format!("QUARRY_PLANNER_{name}"), value);
    }
    let answer = road.ask(QUESTION, &["--agentic"]);
    assert!(answer["evidence_text"].as_str().is_some_and(|text| text.contains("fourteen cubic metres")), "{answer}");
    let why = answer["failure_reason"].as_str().unwrap_or_default();
    assert!(why.contains("planner failed: unavailable") && !why.contains("sk-x"), "{answer}");
}
