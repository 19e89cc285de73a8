//! Keywords: the words that set a chunk apart within its own document.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use quarry_language::content_tokens;

/// Most keywords of a chunk.
const MOST: usize = 10;
/// Longest keyword, in characters; longer runs are codes, not words.
const LONGEST: usize = 40;

/// In how many sections each word stands.
#[derive(Debug, Default)]
pub(crate) struct Sections {
    of_word: HashMap<String, u32>,
    seen: HashSet<String>,
    section: Option<usize>,
    count: u32,
}

impl Sections {
    /// Counts the words of a chunk; chunks of one section follow each other.
    pub(crate) fn count(&mut self, section: usize, words: &[String]) {
        if self.section != Some(section) {
            self.section = Some(section);
            self.seen.clear();
            self.count = self.count.saturating_add(1);
        }
        for word in words {
            if self.seen.insert(word.clone()) {
                let entry = self.of_word.entry(word.clone()).or_default();
                *entry = entry.saturating_add(1);
            }
        }
    }

    /// At most ten keywords of a chunk, strongest first: tf · ln((N + 1) / (df + 0.5)), with tf damped to 1 + ln tf; equal
    /// weights in order of appearance.
    pub(crate) fn keywords(&self, text: &str, lang: &str) -> Vec<String> {
        let mut words: HashMap<String, (u32, usize)> = HashMap::new();
        for (place, word) in content_tokens(&without_addresses(text), lang).into_iter().enumerate() {
            if is_keyword(&word) {
                let entry = words.entry(word).or_insert((0, place));
                entry.0 = entry.0.saturating_add(1);
            }
        }
        let mut ranked: Vec<(f64, usize, String)> = words
            .into_iter()
            .map(|(word, (times, place))| {
                let sections = self.of_word.get(&word).copied().unwrap_or(1);
                (weight(times, sections, self.count), place, word)
            })
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        ranked.into_iter().take(MOST).map(|(_, _, word)| word).collect()
    }
}

#[allow(clippy::arithmetic_side_effects, reason = "floating point cannot overflow into a panic")]
fn weight(times: u32, sections: u32, all: u32) -> f64 {
    let damped = 1.0 + f64::from(times.max(1)).ln();
    let rare = ((f64::from(all) + 1.0) / (f64::from(sections) + 0.5)).ln();
    damped * rare.max(0.05)
}

/// Words for people: letters among them, no longer than words are, none of the signs that make code, paths and marks.
fn is_keyword(word: &str) -> bool {
    let length = word.chars().take(LONGEST.saturating_add(1)).count();
    let plain = |c: char| c.is_alphanumeric() || "-'’.+#&_".contains(c) || is_mark(c);
    (2..=LONGEST).contains(&length)
        && word.starts_with(char::is_alphanumeric)
        && word.chars().any(char::is_alphabetic)
        && word.chars().all(plain)
}

/// Combining marks of the scripts that write vowels with them.
fn is_mark(c: char) -> bool {
    !c.is_ascii() && !c.is_whitespace() && !c.is_control() && unicode_normalization::char::is_combining_mark(c)
}

/// A text without web addresses, whose parts are words of nobody.
fn without_addresses(text: &str) -> Cow<'_, str> {
    if !text.contains("://") {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split(char::is_whitespace).filter(|run| !run.contains("://")).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_section_says_is_no_keyword() {
        let texts = ["The report covers pumps. Pumps need power.", "The report covers valves.", "The report covers filters and filters."];
        let mut sections = Sections::default();
        for (index, text) in texts.iter().enumerate() {
            sections.count(index, &quarry_language::content_words(text, "en"));
        }
        let keywords = sections.keywords(texts[0], "en");
        assert_eq!(keywords[0], "pumps", "{keywords:?}");
        assert_eq!(keywords.last().map(String::as_str), Some("covers"), "{keywords:?}");
        assert!(!keywords.iter().any(|word| word == "the"));
        assert_eq!(sections.keywords(texts[2], "en")[0], "filters");
    }

    #[test]
    fn keywords_are_words() {
        let text = "The lower speed[^1] of C++ programs --fast (https://example.org/plan.png) via e-mail, 12 bar and `a=b`.";
        assert_eq!(Sections::default().keywords(text, "en"), ["lower", "speed", "c++", "programs", "fast", "via", "e-mail", "mail", "bar"]);
    }
}
