//! Stop words: words that say how a sentence is built, not what it is about. One file per language in `data/stop`,
//! white space between words.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

macro_rules! lists {
    ($($lang:literal),* $(,)?) => {
        &[$(($lang, include_str!(concat!("../data/stop/", $lang, ".txt")))),*]
    };
}

const LISTS: &[(&str, &str)] = lists!(
    "ar", "da", "de", "el", "en", "es", "fi", "fr", "he", "hi", "it", "ja", "ko", "nl", "no", "pl", "pt", "ru", "sv", "th", "tr", "uk",
    "zh"
);

static STOP: LazyLock<HashMap<&str, HashSet<String>>> =
    LazyLock::new(|| LISTS.iter().map(|(lang, words)| (*lang, words.split_whitespace().map(crate::fold).collect())).collect());

/// Whether the folded word is a stop word of this language (ISO 639-1). Unknown languages have none.
pub fn is_stop(folded: &str, lang: &str) -> bool {
    STOP.get(lang).is_some_and(|words| words.contains(folded))
}

/// Languages that have a list, in alphabetical order.
pub fn languages() -> impl Iterator<Item = &'static str> {
    LISTS.iter().map(|(lang, _)| *lang)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_folded_and_sorted_by_language() {
        assert!(languages().is_sorted());
        for (lang, words) in LISTS {
            assert!(words.split_whitespace().count() >= 25, "{lang}");
            for word in words.split_whitespace() {
                assert!(is_stop(&crate::fold(word), lang), "{lang}: {word}");
            }
        }
    }

    #[test]
    fn words_belong_to_their_language() {
        assert!(is_stop("the", "en") && !is_stop("the", "de") && !is_stop("the", "und"));
        assert!(is_stop("que", "es") && is_stop("的", "zh"));
    }
}
