//! Jobs of a server, over its API.

use std::time::Duration;

use anyhow::Context;
use quarry_model::{JobId, JobState};
use reqwest::{Client, Response, StatusCode, Url, header};
use serde_json::{Value, json};

use super::Seen;
use crate::exit::{Exit, Failure};
use crate::output;

/// How long one answer is waited for: longer than a gateway waits.
const PATIENCE: Duration = Duration::from_secs(40);
/// Tries of a request that a server has put off, or that did not get through.
const TRIES: u32 = 5;
/// Longest pause that a server may ask for.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// Most jobs on one page of the API.
const PAGE: usize = 100;

pub(super) struct Server {
    client: Client,
    base: String,
    key: Option<String>,
}

impl Server {
    /// A server at its address, with or without the version.
    pub(super) fn new(url: &str, key: Option<&str>) -> Result<Self, Failure> {
        let parsed = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let Some(parsed) = parsed else {
            return Err(Failure::usage(format!("--url {} is no http or https address", output::line(url, 80))));
        };
        let base = parsed.as_str().trim_end_matches('/');
        let versioned = ["/v1", "/v2"].iter().any(|version| base.ends_with(version));
        let base = if versioned { base.to_owned() } else { format!("{base}/v1") };
        let client = Client::builder().timeout(PATIENCE).build().context("no HTTP client")?;
        Ok(Self { client, base, key: key.map(str::to_owned) })
    }

    pub(super) async fn job(&self, id: &JobId) -> Result<Seen, Failure> {
        let whole = self.get(&format!("/jobs/{id}/events")).await?;
        let seen: Seen = serde_json::from_value(whole.clone()).context("the server answers with something else than a job")?;
        Ok(Seen { whole, ..seen })
    }

    pub(super) async fn list(&self, limit: usize) -> Result<(Vec<Seen>, usize, Value), Failure> {
        let mut jobs: Vec<Value> = Vec::new();
        let mut total = 0;
        for page in 1.. {
            let answer = self.get(&format!("/jobs?page={page}&page_size={}", limit.min(PAGE))).await?;
            let some = answer["jobs"].as_array().cloned().unwrap_or_default();
            total = answer["total"].as_u64().and_then(|total| usize::try_from(total).ok()).unwrap_or(0);
            let last = some.is_empty();
            jobs.extend(some);
            if last || jobs.len() >= limit.min(total) {
                break;
            }
        }
        jobs.truncate(limit);
        let whole = json!({ "jobs": jobs, "total": total });
        Ok((read(jobs)?, total, whole))
    }

    pub(super) async fn in_state(&self, state: JobState) -> Result<Vec<Seen>, Failure> {
        let answer = self.get(&format!("/jobs?job_status={}&page_size={PAGE}", state.name())).await?;
        read(answer["jobs"].as_array().cloned().unwrap_or_default())
    }

    /// One answer; a server that is busy, or that goes away for a moment, is asked again.
    async fn get(&self, path: &str) -> Result<Value, Failure> {
        let mut pause = Duration::from_millis(500);
        for attempt in 1.. {
            let mut request = self.client.get(format!("{}{path}", self.base)).header(header::ACCEPT, "application/json");
            if let Some(key) = &self.key {
                request = request.bearer_auth(key);
            }
            match request.send().await {
                Ok(response) if response.status().is_success() => return Ok(response.json().await.context("no JSON in the answer")?),
                Ok(response) if attempt < TRIES && put_off(response.status()) => {
                    pause = asked_for(&response).unwrap_or(pause);
                }
                Ok(response) => return Err(refusal(&self.base, response).await),
                // A server that was never there is not waited for; one that was may be starting anew.
                Err(error) if attempt == TRIES || error.is_connect() && attempt == 1 => return Err(unreached(&self.base, &error)),
                Err(_) => {}
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        Err(Failure::usage("unreachable"))
    }
}

fn read(jobs: Vec<Value>) -> Result<Vec<Seen>, Failure> {
    Ok(serde_json::from_value(Value::Array(jobs)).context("the server answers with something else than jobs")?)
}

fn put_off(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE | StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT
    )
}

fn asked_for(response: &Response) -> Option<Duration> {
    let seconds: u64 = response.headers().get(header::RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_PAUSE))
}

async fn refusal(base: &str, response: Response) -> Failure {
    let status = response.status();
    let body: Value = response.json().await.unwrap_or_default();
    let message = body["error"]["message"].as_str().map_or_else(|| status.to_string(), |message| output::line(message, 400));
    match status {
        StatusCode::NOT_FOUND => Failure::not_found(message),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Failure::usage(format!("{message} (--key or QUARRY_API_KEY)")),
        _ => Failure { exit: Exit::Failure, error: anyhow::anyhow!("{base} answers {status}: {message}") },
    }
}

fn unreached(base: &str, error: &reqwest::Error) -> Failure {
    let why = if error.is_timeout() { "it does not answer" } else { "nothing listens there, or it cannot be reached" };
    Failure { exit: Exit::Failure, error: anyhow::anyhow!("no answer from {base}: {why}") }
}
