//! Log lines: one for each outcome, never with content, file names or secrets; and metrics in CloudWatch's embedded
//! metric format, one JSON line on standard output.

use std::io::{IsTerminal as _, Write as _};
use std::sync::OnceLock;
use std::time::Duration;

use quarry_model::{DocumentId, JobId, Revision, Trace};
use serde_json::json;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::{LogConfig, LogFormat};

/// The installation, as metrics name it.
static ENVIRONMENT: OnceLock<String> = OnceLock::new();

/// Sets the process's logging up. The first call wins; later ones change nothing.
///
/// JSON goes to standard output (where Lambda collects it), text to standard error (so that results can be piped).
pub fn init(config: &LogConfig) {
    let filter = filter(&config.filter);
    let builder = tracing_subscriber::fmt().with_env_filter(filter);
    let result = match config.format {
        LogFormat::Json => builder
            .json()
            .flatten_event(true)
            .with_current_span(false)
            .with_span_list(false)
            .with_writer(std::io::stdout)
            .finish()
            .try_init(),
        LogFormat::Text => {
            // Colours are for terminals: a file or another program gets the words alone.
            let colours = std::io::stderr().is_terminal();
            builder.with_ansi(colours).with_target(false).with_writer(std::io::stderr).finish().try_init()
        }
    };
    ENVIRONMENT.get_or_init(|| config.environment.clone());
    if result.is_err() {
        tracing::debug!("logging was set up before");
    }
}

/// Libraries whose lines repeat what callers have sent: `rmcp` writes calls and answers out.
const TALKATIVE: [&str; 1] = ["rmcp"];

/// What is logged: as configured, without the libraries that would write content, unless they are named.
fn filter(configured: &str) -> EnvFilter {
    let mut filter = EnvFilter::try_new(configured).unwrap_or_else(|_| EnvFilter::new("warn,quarry=info"));
    for library in TALKATIVE.into_iter().filter(|library| !configured.contains(library)) {
        if let Ok(off) = format!("{library}=off").parse() {
            filter = filter.add_directive(off);
        }
    }
    filter
}

/// How one piece of work ended, as it is logged.
#[derive(Debug, Clone, Default)]
pub struct OutcomeLine<'a> {
    /// `parse-docx`, `publisher`, `upload`.
    pub stage: &'a str,
    /// The message's id, or the request's.
    pub request_id: &'a str,
    /// The trace of what began the work.
    pub trace: Option<Trace>,
    /// The job.
    pub job: Option<&'a JobId>,
    /// The document.
    pub document: Option<&'a DocumentId>,
    /// The revision.
    pub revision: Option<&'a Revision>,
    /// Method and pattern of the address, of a request.
    pub route: &'a str,
    /// Bytes of the source, or of the request.
    pub bytes: Option<u64>,
    /// How long it took.
    pub duration: Duration,
    /// `done`, `skipped`, `rejected`, `retry`, or an HTTP status.
    pub outcome: &'a str,
    /// The public code, or the reason.
    pub code: &'a str,
    /// For operators: what failed where, never content.
    pub detail: &'a str,
}

impl OutcomeLine<'_> {
    /// Writes the line.
    pub fn log(&self) {
        let id = |value: Option<String>| value.unwrap_or_default();
        tracing::info!(
            target: "quarry::outcome",
            stage = self.stage,
            request_id = self.request_id,
            trace_id = id(self.trace.map(|trace| trace.id())),
            job_id = id(self.job.map(ToString::to_string)),
            document_id = id(self.document.map(ToString::to_string)),
            revision = id(self.revision.map(ToString::to_string)),
            route = self.route,
            bytes = self.bytes,
            duration_ms = u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
            outcome = self.outcome,
            code = self.code,
            detail = self.detail,
        );
    }

    /// Writes the metrics line: counts and durations by stage, by outcome and by code.
    pub fn metrics(&self, now_millis: i64) {
        let line = self.metrics_line(now_millis, ENVIRONMENT.get().map_or("local", String::as_str));
        // A lost metric must not fail the work it measures.
        let _ = writeln!(std::io::stdout().lock(), "{line}");
    }

    fn metrics_line(&self, now_millis: i64, environment: &str) -> String {
        let mut dimensions = vec![json!(["environment", "stage"]), json!(["environment", "stage", "outcome"])];
        if !self.code.is_empty() {
            dimensions.push(json!(["environment", "outcome", "code"]));
        }
        json!({
            "_aws": {
                "Timestamp": now_millis,
                "CloudWatchMetrics": [{
                    "Namespace": "Quarry",
                    "Dimensions": dimensions,
                    "Metrics": [{ "Name": "count", "Unit": "Count" }, { "Name": "duration", "Unit": "Milliseconds" }],
                }],
            },
            "environment": environment,
            "stage": self.stage,
            "outcome": self.outcome,
            "code": self.code,
            "count": 1,
            "duration": u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
        })
        .to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_follow_the_embedded_format() {
        for code in ["", "CORRUPT"] {
            let line =
                OutcomeLine { stage: "profiler", outcome: "rejected", code, duration: Duration::from_millis(12), ..Default::default() };
            let value: serde_json::Value = serde_json::from_str(&line.metrics_line(1_796_032_800_005, "prod")).unwrap();
            let metrics = &value["_aws"]["CloudWatchMetrics"][0];
            let sets = metrics["Dimensions"].as_array().unwrap();
            assert_eq!(sets.len(), if code.is_empty() { 2 } else { 3 }, "an empty dimension would be refused");
            for dimension in sets.iter().flat_map(|set| set.as_array().unwrap()) {
                assert!(value[dimension.as_str().unwrap()].as_str().is_some_and(|value| !value.is_empty()));
            }
            for metric in metrics["Metrics"].as_array().unwrap() {
                assert!(value[metric["Name"].as_str().unwrap()].is_number());
            }
        }
    }
}
