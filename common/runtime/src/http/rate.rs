//! How often a caller may ask: so many requests a minute for each key, over all processes that serve it.
//!
//! The count of a minute is one record. A process takes shares of it ahead, one at first and more the more it has used of
//! the minute, so that a busy key costs a few writes a minute rather than one a request, and many idle processes do not
//! use the minute up. What a process has taken and not used is lost: a key gets at least half of its limit, never more.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use quarry_model::{ApiCode, ApiError, RecordKey, Timestamp};
use quarry_ports::Records;
use serde_json::{Map, Value};

use super::failure::Failure;

/// Length of the window.
const WINDOW_MILLIS: i64 = 60_000;
/// How long a window's record is kept: until no clock can still be in it.
const KEPT_MILLIS: i64 = 10 * WINDOW_MILLIS;
/// The largest share taken ahead, as a part of the limit.
const LARGEST_SHARE: u32 = 20;
/// Most callers counted at a time.
const CALLERS: usize = 10_000;

/// Counts requests.
pub(super) struct Rates {
    records: Arc<dyn Records>,
    here: Mutex<HashMap<String, Count>>,
}

/// What this process has of a window.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    window: i64,
    used: u32,
    taken: u32,
    /// Nothing is left to be taken.
    over: bool,
}

/// What is to be done about a request.
enum Next {
    Admit,
    Refuse,
    /// A share of this size is to be taken.
    Take(u32),
}

impl Rates {
    pub(super) fn new(records: Arc<dyn Records>) -> Self {
        Self { records, here: Mutex::default() }
    }

    /// Counts a request of `who` (a hash), who may make `limit` a minute. `RESOURCE_EXHAUSTED` with `retry_after` when
    /// that is used up. A count that cannot be kept refuses nobody.
    pub(super) async fn admit(&self, who: &str, limit: u32, now: Timestamp) -> Result<(), Failure> {
        let window = now.millis().div_euclid(WINDOW_MILLIS);
        match self.next(who, limit, window) {
            Next::Admit => Ok(()),
            Next::Refuse => Err(refusal(limit, now)),
            Next::Take(share) => {
                let expires = Some(now.plus_millis(KEPT_MILLIS));
                let counted = self.records.add(&RecordKey::rate(who, window), &[("count", i64::from(share))], Map::new(), expires).await;
                let count = match counted {
                    Ok(item) => item.body.get("count").and_then(Value::as_i64).unwrap_or(i64::MAX),
                    Err(error) => {
                        tracing::warn!(target: "quarry::http", %error, "requests could not be counted");
                        return Ok(());
                    }
                };
                let before = u32::try_from(count.saturating_sub(i64::from(share))).unwrap_or(u32::MAX);
                let granted = limit.saturating_sub(before).min(share);
                if self.took(who, window, share, granted) { Ok(()) } else { Err(refusal(limit, now)) }
            }
        }
    }

    fn next(&self, who: &str, limit: u32, window: i64) -> Next {
        let mut here = self.here.lock().unwrap_or_else(PoisonError::into_inner);
        if here.len() >= CALLERS && !here.contains_key(who) {
            here.retain(|_, count| count.window == window);
            if here.len() >= CALLERS {
                here.clear();
            }
        }
        let count = here.entry(who.to_owned()).or_default();
        if count.window != window {
            *count = Count { window, ..Count::default() };
        }
        if count.used < count.taken {
            count.used += 1;
            return Next::Admit;
        }
        if count.over {
            return Next::Refuse;
        }
        Next::Take(count.used.clamp(1, (limit / LARGEST_SHARE).max(1)))
    }

    /// Notes what a share has brought, and uses one of it.
    fn took(&self, who: &str, window: i64, share: u32, granted: u32) -> bool {
        let mut here = self.here.lock().unwrap_or_else(PoisonError::into_inner);
        let count = here.entry(who.to_owned()).or_default();
        if count.window != window {
            // The minute has turned meanwhile, or the count was forgotten: only this request is settled.
            return granted > 0;
        }
        count.taken = count.taken.saturating_add(granted);
        count.over |= granted < share;
        if granted > 0 {
            count.used += 1;
        }
        granted > 0
    }
}

fn refusal(limit: u32, now: Timestamp) -> Failure {
    let left = WINDOW_MILLIS - now.millis().rem_euclid(WINDOW_MILLIS);
    let seconds = u64::try_from(left).unwrap_or(0).div_ceil(1000).max(1);
    let message = format!("Too many requests: {limit} a minute are allowed here. Try again in {seconds} seconds.");
    ApiError::new(ApiCode::ResourceExhausted, message).with("retry_after", seconds).with("limit", limit).into()
}
