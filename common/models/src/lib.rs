//! Language models behind OpenAI-compatible servers.
//!
//! What this room is for: one client for every server that speaks `/chat/completions`, one configuration per task, a
//! pool of keys that are rotated and rested. What enters: variables `QUARRY_<TASK>_…` and a [`quarry_ports::Prompt`].
//! What leaves: a [`quarry_ports::Completion`] or a failure by meaning. What it must never do: let a key into a log, an
//! error or an answer; take half an answer for a whole one; wait past a time limit; follow a redirect; read more of an
//! answer than was asked for.
//!
//! In data order: [`config`] → `request` (the body) → `pool` (whose turn) → `client` (the call, tried again in place) →
//! `answer` (pieces of a stream, or one object, to text).
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

mod answer;
mod client;
pub mod config;
mod events;
mod pool;
mod request;
mod secret;

pub use client::HttpModel;
pub use config::{ConfigError, ModelsConfig, TaskConfig};
pub use secret::Secret;

use std::sync::Arc;

use quarry_ports::{Model, NoModel};

/// The models that the environment names; [`NoModel`] when it names none.
pub fn from_env() -> Result<Arc<dyn Model>, ConfigError> {
    let config = ModelsConfig::from_env()?;
    if config.tasks.is_empty() { Ok(Arc::new(NoModel)) } else { Ok(Arc::new(HttpModel::new(config)?)) }
}
