//! What surrounds a stage: configuration, logs, the job ledger, delivery of messages and the HTTP shell.
//!
//! What this room is for: everything between the outside (a queue's batch, an HTTP call, the environment) and a typed
//! stage, so that the same stage runs on Lambda and in one process on a laptop. What enters: received messages, requests,
//! environment variables. What leaves: dispositions, job states, responses, log lines. What it must never do: know what a
//! document says, know a vendor's SDK, or log content, file names or secrets. It is the only room that sees `lambda_*`,
//! and only behind the feature `lambda`.

pub mod config;
pub mod delivery;
pub mod error;
pub mod events;
pub mod http;
pub mod jobs;
#[cfg(feature = "lambda")]
pub mod lambda;
pub mod logs;
pub mod random;
#[cfg(test)]
mod test_support;

pub use config::Config;
pub use delivery::{Delivery, Disposition, deliver, pump};
pub use error::Error;
pub use jobs::Jobs;
