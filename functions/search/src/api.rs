//! The rest of the API, for the tools that hand on to it: over HTTP where it is another function's, in process where it
//! is not.

use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use http::{Request, header};
use http_body_util::{BodyExt as _, Limited};
use quarry_model::ApiError;
use quarry_ports::trace;
use quarry_retrieval::tools::{Api, ApiAnswer, ApiCall};
use tower::ServiceExt as _;

/// Largest answer.
const ANSWER_BYTES: usize = 1 << 20;
/// Longest wait: a job's status may itself wait 20 s, and a gateway gives up at 29 s.
const PATIENCE: Duration = Duration::from_secs(25);
/// Seconds a caller waits before trying again.
const RETRY_SECONDS: u64 = 2;
/// Which of the equal versions is called.
const VERSION: &str = "/v2";

/// Calls the API at its own address, with the caller's key.
#[derive(Debug)]
pub struct OverHttp {
    client: reqwest::Client,
    base: String,
}

impl OverHttp {
    /// An API at `base`, which ends in no slash.
    pub fn new(base: String) -> Result<Self, reqwest::Error> {
        let client = reqwest::Client::builder().timeout(PATIENCE).redirect(reqwest::redirect::Policy::none()).build()?;
        Ok(Self { client, base })
    }
}

#[async_trait]
impl Api for OverHttp {
    async fn send(&self, call: ApiCall) -> Result<ApiAnswer, ApiError> {
        let url = format!("{}{VERSION}{}", self.base, call.path);
        let mut request = if call.method == "POST" { self.client.post(url) } else { self.client.get(url) };
        for (name, value) in call.headers {
            request = request.header(name, value);
        }
        // One trace through both functions.
        if let Some(trace) = trace::current() {
            request = request.header("traceparent", trace.to_string());
        }
        let response = request.body(call.body).send().await.map_err(|error| unavailable(&error))?;
        let status = response.status().as_u16();
        let bytes = response.bytes().await.map_err(|error| unavailable(&error))?;
        Ok(ApiAnswer { status, body: serde_json::from_slice(&bytes).unwrap_or_default() })
    }
}

/// Calls routers of this process: the same handlers, without a socket.
#[derive(Debug, Clone)]
pub struct InProcess(pub Router);

#[async_trait]
impl Api for InProcess {
    async fn send(&self, call: ApiCall) -> Result<ApiAnswer, ApiError> {
        let mut request = Request::builder().method(call.method).uri(format!("{VERSION}{}", call.path)).header(header::HOST, "localhost");
        for (name, value) in call.headers {
            request = request.header(name, value);
        }
        if let Some(trace) = trace::current() {
            request = request.header("traceparent", trace.to_string());
        }
        let request = request.body(Body::from(call.body)).map_err(|error| unavailable(&error))?;
        let answering = self.0.clone().oneshot(request);
        let response = tokio::time::timeout(PATIENCE, answering).await.map_err(|error| unavailable(&error))?;
        let response = response.unwrap_or_else(|never| match never {});
        let status = response.status().as_u16();
        let bytes = Limited::new(response.into_body(), ANSWER_BYTES).collect().await.map_err(|error| unavailable(&error))?.to_bytes();
        Ok(ApiAnswer { status, body: serde_json::from_slice(&bytes).unwrap_or_default() })
    }
}

fn unavailable(error: &dyn std::fmt::Display) -> ApiError {
    tracing::warn!(target: "quarry::search", %error, "the API did not answer a tool");
    ApiError::unavailable(RETRY_SECONDS)
}
