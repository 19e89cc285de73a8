//! Waiting between tries: full jitter, so that those who collided do not collide again
//! (M. Brooker, "Exponential Backoff and Jitter": sleep a random time below min(cap, base · 2ⁿ)).

use std::time::Duration;

use crate::AwsError;

const BASE: u64 = 25;
const CAP: u64 = 2_000;

/// The tries of one call.
pub(crate) struct Backoff {
    operation: &'static str,
    tries: u32,
    most: u32,
}

impl Backoff {
    /// At most `most` tries in all.
    pub(crate) fn new(operation: &'static str, most: u32) -> Self {
        Self { operation, tries: 1, most }
    }

    /// Waits for the next try; gives up, saying what the last one ended with, when there is none.
    pub(crate) async fn wait(&mut self, last: impl ToString) -> Result<(), AwsError> {
        if self.tries >= self.most {
            return Err(AwsError::GaveUp { operation: self.operation, tries: self.tries, last: last.to_string() });
        }
        let below = CAP.min(BASE << self.tries.min(10));
        self.tries += 1;
        tokio::time::sleep(Duration::from_millis(random() % below)).await;
        Ok(())
    }
}

/// A random number; without one the wait is the longest possible, which is safe.
pub(crate) fn random() -> u64 {
    getrandom::u64().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn gives_up_after_the_last_try_with_its_reason() {
        let mut backoff = Backoff::new("Call", 3);
        backoff.wait("one").await.unwrap();
        backoff.wait("two").await.unwrap();
        let given_up = backoff.wait("three").await.unwrap_err();
        assert_eq!(given_up.to_string(), "Call: gave up after 3 tries: three");
        assert!(given_up.is_transient());
    }
}
