//! Requests to addresses that callers name: sources to fetch and webhooks to call.
//!
//! What this room is for: reaching what is public, and nothing else, whatever the address says (SSRF). What enters: an
//! address out of a request. What leaves: bytes within a size and a time, or an [`OutboundError`] that names the cause
//! without telling what answered inside. What it must never do: connect to an address that has not been checked, follow a
//! redirect unchecked, send credentials, unpack a compressed answer.
//!
//! The check is on numbers, not on names: a name is resolved once, every address it gives must be public, and the
//! connection goes to exactly these addresses, so that a second answer of the name server cannot change the target
//! (DNS rebinding). Redirects are followed here, each checked like the first address.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

mod address;
mod client;
mod error;
mod name;
mod resolver;

pub use address::is_public;
pub use client::{Answer, Outbound, Rules};
pub use error::OutboundError;
pub use resolver::{Resolver, SystemResolver};
