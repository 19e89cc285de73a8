//! Keys: they go into one header and nowhere else.

use std::fmt;

/// What stands where a key stood.
const STRUCK: &str = "[key]";
/// Shorter keys are placeholders of local servers (`none`, `ollama`): striking such words would garble messages.
const SHORTEST: usize = 8;
/// Longest piece of a server's message that is kept, in characters.
const MESSAGE: usize = 200;

/// A key. It shows itself to nobody.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Secret(String);

impl Secret {
    /// A key.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// For the header.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(STRUCK)
    }
}

/// What a server said, on one line, short, and without any of the keys: servers do repeat them, whole or by their ends.
pub(crate) fn redacted<'k>(message: &str, keys: impl Iterator<Item = &'k Secret>) -> String {
    let mut out: String = message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    for key in keys.filter(|key| key.0.len() >= SHORTEST) {
        out = out.replace(&key.0, STRUCK);
    }
    // `sk-…abcd`, as vendors shorten keys that are not ours to know.
    let words = out.split(' ').map(|word| if looks_like_key(word) { STRUCK } else { word });
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(MESSAGE).collect()
}

fn looks_like_key(word: &str) -> bool {
    let word = word.trim_matches(|c: char| c.is_ascii_punctuation() && c != '*');
    ["sk-", "sk_", "Bearer"].iter().any(|start| word.starts_with(start)) || word.contains("****")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_struck_whole_and_shortened() {
        let key = Secret::new("abcdef0123456789");
        assert_eq!(format!("{key:?} {:?}", Some(&key)), "[key] Some([key])");
        let said = "Incorrect key: abcdef0123456789, or sk-proj-12ab; \"gsk****9f\"\nsee\tdocs";
        assert_eq!(redacted(said, std::iter::once(&key)), "Incorrect key: [key], or [key] [key] see docs");
        let short = Secret::new("none");
        assert_eq!(redacted("none of it", std::iter::once(&short)), "none of it");
        assert_eq!(redacted(&"x".repeat(900), std::iter::empty()).len(), MESSAGE);
    }
}
