//! The layers every request passes.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{DefaultBodyLimit, Extension, MatchedPath, Request};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{Router, body};
use http::{HeaderName, HeaderValue, Method, header};
use quarry_model::{ApiError, Trace};
use quarry_ports::{Clock as _, SystemClock, trace};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{Any as AnyOrigin, CorsLayer};

use super::auth::Authenticator;
use super::failure::{Enveloped, Failure, envelope, of_status};
use crate::logs::OutcomeLine;
use crate::random;

/// Where every version of the API is mounted; all are the same.
pub const PREFIXES: [&str; 4] = ["/v1", "/v2", "/api/v1", "/api/v2"];

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Where a caller, or the gateway in front of us, says which trace a request belongs to; the first that is there counts.
const TRACE_HEADERS: [&str; 2] = ["traceparent", "x-amzn-trace-id"];

/// Most bytes of a foreign error's text that are looked at.
const ERROR_TEXT_BYTES: usize = 4 * 1024;

/// How the shell is set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// The function's name in logs: `upload`, `search`, `serve`.
    pub name: &'static str,
    /// Largest body of a route that sets no limit of its own, in bytes.
    pub body_bytes: usize,
    /// Whether to write metrics lines.
    pub metrics: bool,
}

impl Options {
    /// Bodies up to 1 MiB, no metrics.
    pub fn named(name: &'static str) -> Self {
        Self { name, body_bytes: 1 << 20, metrics: false }
    }
}

/// The id of the request being answered: the caller's `X-Request-ID`, or a fresh one. Among a handler's arguments as
/// `Extension<RequestId>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(pub String);

/// Puts routers into the shell: `routes` under each of [`PREFIXES`], `root` at the top.
pub fn app(routes: Router, root: Router, authenticator: Arc<Authenticator>, options: Options) -> Router {
    let mut all = root;
    for prefix in PREFIXES {
        all = all.nest(prefix, routes.clone());
    }
    let cors = CorsLayer::new()
        .allow_origin(AnyOrigin)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::HEAD, Method::OPTIONS])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            header::ACCEPT,
            REQUEST_ID,
            HeaderName::from_static("idempotency-key"),
            HeaderName::from_static("x-file-name"),
            HeaderName::from_static(TRACE_HEADERS[0]),
        ])
        .expose_headers([REQUEST_ID, header::RETRY_AFTER, header::CONTENT_DISPOSITION]);
    all.layer(DefaultBodyLimit::max(options.body_bytes))
        .layer(Extension(authenticator))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn(move |request, next| answer(request, next, options.clone())))
        .layer(cors)
}

/// Gives the request its id and the answer its envelope.
async fn answer(mut request: Request, next: Next, options: Options) -> Response {
    let began = Instant::now();
    let id = request_id(&request);
    let path = request.uri().path().to_owned();
    let route = route(&request);
    request.extensions_mut().insert(RequestId(id.clone()));
    let trace = trace_of(&request);
    let mut response = trace::within(trace, async { enveloped(next.run(request).await, &id, &path).await }).await;
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let code = response.extensions().get::<Enveloped>().map(|known| known.0.code);
    let status = response.status();
    let line = OutcomeLine {
        stage: options.name,
        request_id: &id,
        trace: Some(trace),
        duration: began.elapsed(),
        outcome: status.as_str(),
        code: code.map_or("", quarry_model::ApiCode::name),
        route: &route,
        ..OutcomeLine::default()
    };
    line.log();
    if options.metrics {
        line.metrics(SystemClock.now().millis());
    }
    response
}

/// The method and the pattern of the address, never the address itself; empty for what leads nowhere.
fn route(request: &Request) -> String {
    request.extensions().get::<MatchedPath>().map_or_else(String::new, |path| format!("{} {}", request.method(), path.as_str()))
}

/// A caller's id when it is short and printable, else a fresh one.
fn request_id(request: &Request) -> String {
    let given = request.headers().get(&REQUEST_ID).and_then(|value| value.to_str().ok());
    match given.filter(|id| !id.is_empty() && id.len() <= 128 && id.bytes().all(|b| b.is_ascii_graphic())) {
        Some(id) => id.to_owned(),
        None => random::token().unwrap_or_else(|_| "unknown".to_owned()),
    }
}

/// The trace a request says it belongs to, or a new one.
fn trace_of(request: &Request) -> Trace {
    let said = |name| request.headers().get(name)?.to_str().ok()?.parse().ok();
    TRACE_HEADERS.into_iter().find_map(said).unwrap_or_else(|| match random::bytes() {
        Ok(random) => Trace::begun(SystemClock.now().millis(), random),
        Err(_) => Trace::named("no random numbers"),
    })
}

/// Every error leaves as the envelope, with the request's id; the status and the `Allow` header stay.
async fn enveloped(response: Response, id: &str, path: &str) -> Response {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return response;
    }
    let allow = response.headers().get(header::ALLOW).cloned();
    let error = if let Some(known) = response.extensions().get::<Enveloped>() {
        known.0.clone()
    } else {
        let text = body::to_bytes(response.into_body(), ERROR_TEXT_BYTES).await.unwrap_or_default();
        of_status(status, path, &String::from_utf8_lossy(&text))
    };
    let mut response = envelope(&error, id);
    if let Some(allow) = allow {
        response.headers_mut().insert(header::ALLOW, allow);
    }
    response.extensions_mut().insert(Enveloped(error));
    response
}

fn panicked(panic: Box<dyn Any + Send>) -> Response {
    // The text of a panic may quote data; where it happened is in the panic hook's own line.
    drop(panic);
    Failure(ApiError::internal()).into_response()
}
