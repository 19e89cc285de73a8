//! The HTTP shell around every router: prefixes, request ids, who calls, the error envelope, limits.
//!
//! Handlers return [`Failure`]s or plain statuses; the shell turns whatever leaves with an error status into the one
//! envelope of the contract, with the request's id, and keeps the true status.

mod auth;
mod body;
mod claims;
mod failure;
mod keys;
mod rate;
mod shell;
pub mod stream;
#[cfg(test)]
mod tests;

pub use auth::{Access, Authenticator, Caller};
pub use body::{Body, Params};
pub use claims::{Claims, TokenRules};
pub use failure::Failure;
pub use keys::{KeyListing, NewKey};
pub use shell::{Options, PREFIXES, RequestId, app};

/// A route, as the `OpenAPI` description and the router's own test name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    /// `GET`, `POST`, …
    pub method: &'static str,
    /// Without a version prefix: `/jobs/{job_id}`.
    pub path: &'static str,
}

/// Shorthand for route tables.
pub const fn route(method: &'static str, path: &'static str) -> Route {
    Route { method, path }
}
