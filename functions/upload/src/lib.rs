//! The front door: jobs, documents, graph and keys over HTTP.
//!
//! What this room is for: creating jobs and handing out addresses for their bytes, taking small bodies itself, fetching
//! sources from public addresses, telling how
//! jobs stand, reading documents, and asking the publisher to archive or delete. What enters: requests of an
//! authenticated [`Caller`](quarry_runtime::http::Caller). What leaves: the bodies of `quarry_model::api`, objects under
//! `uploads/`, messages to the profiler and the publisher, images of pages beside the revision they show. What it must
//! never do: look inside a file other than to draw a page of it, write anything else of a document or of the index, or let
//! a caller see that another owner's thing exists.

mod documents;
mod graph;
mod input;
mod jobs;
mod keys;
mod meta;
mod pages;
mod row_id;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use quarry_model::Limits;
use quarry_outbound::Outbound;
use quarry_ports::{ObjectStore, Queue};
use quarry_runtime::Jobs;
use quarry_runtime::http::{Authenticator, Route, route};

pub use meta::openapi_json;
pub use pages::{DrawError, DrawPages, InProcess, PATIENCE, Pages, Place};
pub use row_id::RowId;

/// What the handlers work with.
pub struct Upload {
    /// Uploads and artifacts.
    pub objects: Arc<dyn ObjectStore>,
    /// Images of pages.
    pub pages: Pages,
    /// To the profiler and the publisher.
    pub queue: Arc<dyn Queue>,
    /// The ledger; its records store holds documents as well.
    pub jobs: Jobs,
    /// Makes, lists and revokes keys.
    pub authenticator: Arc<Authenticator>,
    /// Fetches sources from addresses, and judges the addresses of webhooks.
    pub outbound: Outbound,
    /// Whether webhooks are sent by this installation.
    pub webhooks: bool,
    /// Limits.
    pub limits: Arc<Limits>,
    /// Largest body of `POST /documents`, in bytes.
    pub direct_upload_bytes: u64,
    /// Shown by `/version`.
    pub environment: String,
}

impl std::fmt::Debug for Upload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upload").field("environment", &self.environment).finish_non_exhaustive()
    }
}

/// Every route of [`routes`]; `infra/openapi.yaml` describes the same, and a test compares the three.
pub const ROUTES: &[Route] = &[
    route("POST", "/jobs"),
    route("GET", "/jobs"),
    route("GET", "/jobs/{job_id}"),
    route("DELETE", "/jobs/{job_id}"),
    route("GET", "/jobs/{job_id}/events"),
    route("POST", "/jobs/{job_id}/confirm-upload"),
    route("POST", "/jobs/{job_id}/retry"),
    route("GET", "/documents"),
    route("POST", "/documents"),
    route("GET", "/documents/{document_id}"),
    route("DELETE", "/documents/{document_id}"),
    route("GET", "/documents/{document_id}/outline"),
    route("GET", "/documents/{document_id}/chunks"),
    route("GET", "/documents/{document_id}/chunks/{chunk_row_id}"),
    route("GET", "/documents/{document_id}/pages/{page}"),
    route("GET", "/documents/{document_id}/source"),
    route("GET", "/documents/{document_id}/files/page-citation-source"),
    route("POST", "/documents/{document_id}/archive"),
    route("GET", "/graph/{document_id}/neighbors"),
    route("POST", "/auth/create"),
    route("GET", "/auth/list"),
    route("POST", "/auth/revoke"),
    route("GET", "/version"),
    route("GET", "/health"),
    route("GET", "/openapi.json"),
];

/// The routes, to be mounted by [`quarry_runtime::http::app`].
pub fn routes(upload: Arc<Upload>) -> Router {
    let direct = usize::try_from(upload.direct_upload_bytes).unwrap_or(usize::MAX);
    // A multipart body carries its fields and boundaries beside the file.
    let direct = DefaultBodyLimit::max(direct.saturating_add(64 << 10));
    Router::new()
        .route("/jobs", post(jobs::create).get(jobs::list))
        .route("/jobs/", post(jobs::create).get(jobs::list))
        .route("/jobs/{job_id}", get(jobs::read).delete(jobs::cancel))
        .route("/jobs/{job_id}/events", get(jobs::events))
        .route("/jobs/{job_id}/confirm-upload", post(jobs::confirm_upload))
        .route("/jobs/{job_id}/retry", post(jobs::retry))
        .route("/documents", get(documents::list).merge(post(jobs::direct).layer(direct)))
        .route("/documents/{document_id}", get(documents::read).delete(documents::delete))
        .route("/documents/{document_id}/outline", get(documents::outline))
        .route("/documents/{document_id}/chunks", get(documents::chunks))
        .route("/documents/{document_id}/chunks/{chunk_row_id}", get(documents::chunk))
        .route("/documents/{document_id}/pages/{page}", get(pages::page))
        .route("/documents/{document_id}/source", get(documents::source))
        .route("/documents/{document_id}/files/page-citation-source", get(documents::source))
        .route("/documents/{document_id}/archive", post(documents::archive))
        .route("/graph/{document_id}/neighbors", get(graph::neighbors))
        .route("/auth/create", post(keys::create))
        .route("/auth/list", get(keys::list))
        .route("/auth/revoke", post(keys::revoke))
        .route("/version", get(meta::version))
        .merge(root())
        .with_state(upload)
}

/// Draws a page (from 1) here and now, for processes that were started to do nothing else.
pub fn draw_page(source: &[u8], page: u32, limits: &Limits) -> Result<bytes::Bytes, DrawError> {
    pages::draw(source, page, limits)
}

/// What is also served at the top, without a version prefix and without a key: `/health` and `/openapi.json`.
pub fn root<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new().route("/health", get(meta::health)).route("/openapi.json", get(meta::openapi))
}
