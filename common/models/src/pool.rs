//! Whose turn it is: keys in rotation, each with a window of calls per minute and a rest after it was told to wait.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::secret::Secret;

/// What calls are counted over.
const WINDOW: Duration = Duration::from_mins(1);
/// Rest of a key that was not told how long.
pub(crate) const REST: Duration = Duration::from_mins(1);
/// A server's word on how long to rest is taken between these.
const RESTS: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(2));

/// A key, and how it was used. Shared by all tasks that use the same key at the same address.
#[derive(Debug)]
pub(crate) struct Token {
    pub(crate) key: Secret,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// When it was used within the last minute.
    calls: VecDeque<Instant>,
    /// It rests until then.
    rests_until: Option<Instant>,
}

impl Token {
    pub(crate) fn new(key: Secret) -> Self {
        Self { key, state: Mutex::default() }
    }

    /// Takes one call, or tells how long until one is free.
    fn take(&self, rpm: NonZeroU32, now: Instant) -> Result<(), Duration> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(wait) = state.rests_until.map(|until| until.saturating_duration_since(now)).filter(|wait| !wait.is_zero()) {
            return Err(wait);
        }
        while state.calls.front().is_some_and(|call| now.saturating_duration_since(*call) >= WINDOW) {
            state.calls.pop_front();
        }
        match state.calls.front() {
            Some(oldest) if state.calls.len() >= rpm.get() as usize => {
                Err(WINDOW.saturating_sub(now.saturating_duration_since(*oldest)).max(Duration::from_millis(1)))
            }
            _ => {
                state.calls.push_back(now);
                Ok(())
            }
        }
    }

    /// Lets the key rest, for as long as the server said, or a minute.
    pub(crate) fn rest(&self, said: Option<Duration>, now: Instant) {
        let rest = said.map_or(REST, |said| said.clamp(RESTS.0, RESTS.1));
        let until = now.checked_add(rest);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.rests_until = state.rests_until.max(until);
    }
}

/// The keys of one task.
#[derive(Debug)]
pub(crate) struct Pool {
    tokens: Vec<Arc<Token>>,
    rpm: NonZeroU32,
    next: Mutex<usize>,
}

impl Pool {
    pub(crate) fn new(tokens: Vec<Arc<Token>>, rpm: NonZeroU32) -> Self {
        Self { tokens, rpm, next: Mutex::new(0) }
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &Secret> {
        self.tokens.iter().map(|token| &token.key)
    }

    /// The next key in turn that may be used now and is none of `not`; else how long until one may, `None` when there
    /// is no other.
    pub(crate) fn take(&self, not: &[&Secret], now: Instant) -> Result<&Token, Option<Duration>> {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let mut shortest: Option<Duration> = None;
        let turn = self.tokens.iter().enumerate().cycle().skip(*next).take(self.tokens.len());
        for (at, token) in turn.filter(|(_, token)| !not.contains(&&token.key)) {
            match token.take(self.rpm, now) {
                Ok(()) => {
                    *next = at.saturating_add(1).checked_rem(self.tokens.len()).unwrap_or(0);
                    return Ok(token);
                }
                Err(wait) => shortest = Some(shortest.map_or(wait, |known| known.min(wait))),
            }
        }
        Err(shortest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(keys: &[&str], rpm: u32) -> Pool {
        let tokens = keys.iter().map(|key| Arc::new(Token::new(Secret::new(*key)))).collect();
        Pool::new(tokens, NonZeroU32::new(rpm).unwrap())
    }

    fn taken(pool: &Pool, now: Instant) -> Result<&str, Option<Duration>> {
        pool.take(&[], now).map(|token| token.key.expose())
    }

    #[test]
    fn keys_take_turns_within_their_windows() {
        let (pool, start) = (pool(&["a", "b"], 2), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        let turns: Vec<_> = (0..4).map(|second| taken(&pool, at(second)).unwrap()).collect();
        assert_eq!(turns, ["a", "b", "a", "b"]);
        assert_eq!(taken(&pool, at(10)), Err(Some(Duration::from_secs(50))), "the first call leaves its window at 60");
        assert_eq!(taken(&pool, at(60)), Ok("a"));
        assert_eq!(taken(&pool, at(60)), Err(Some(Duration::from_secs(1))));
        assert_eq!(taken(&pool, at(61)), Ok("b"));
    }

    #[test]
    fn a_key_told_to_wait_rests_and_the_others_go_on() {
        let (pool, now) = (pool(&["a", "b"], 9), Instant::now());
        pool.take(&[], now).unwrap().rest(Some(Duration::from_secs(30)), now);
        assert_eq!([taken(&pool, now), taken(&pool, now)], [Ok("b"), Ok("b")]);
        pool.tokens[1].rest(None, now);
        assert_eq!(taken(&pool, now), Err(Some(Duration::from_secs(30))));
        pool.tokens[0].rest(Some(Duration::from_hours(9)), now);
        assert_eq!(taken(&pool, now), Err(Some(REST)), "nobody rests for hours");
        assert_eq!(taken(&pool, now + REST), Ok("b"));
    }

    #[test]
    fn a_key_can_be_passed_over() {
        let (pool, now) = (pool(&["a", "b"], 9), Instant::now());
        let [a, b] = ["a", "b"].map(Secret::new);
        assert_eq!(pool.take(&[&a], now).unwrap().key, b);
        assert!(matches!(pool.take(&[&a, &b], now), Err(None)));
    }
}
