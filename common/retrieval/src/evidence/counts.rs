//! Token counts of lines, remembered: the same lines are shown again and again, and counting is the slowest step.

use std::hash::{BuildHasher as _, RandomState};
use std::num::NonZeroUsize;
use std::sync::{LazyLock, Mutex, PoisonError};

use lru::LruCache;
use quarry_language::tokens;

/// Lines remembered: about 6 MB.
const LINES: usize = 100_000;

/// Tokens of a line and its line break.
pub(super) fn line(text: &str) -> u32 {
    static HASHERS: LazyLock<[RandomState; 2]> = LazyLock::new(|| [RandomState::new(), RandomState::new()]);
    static KNOWN: LazyLock<Mutex<LruCache<(u64, u64), u32>>> =
        LazyLock::new(|| Mutex::new(LruCache::new(NonZeroUsize::new(LINES).unwrap_or(NonZeroUsize::MIN))));

    // 128 bits with secret keys: two lines with one key do not happen, by chance or on purpose.
    let key = (HASHERS[0].hash_one(text), HASHERS[1].hash_one(text));
    if let Some(&tokens) = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return tokens;
    }
    let tokens = tokens::count(&format!("{text}\n"));
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).put(key, tokens);
    tokens
}
