//! Stems: what the forms of one word share, by language.

use rust_stemmers::{Algorithm, Stemmer};

use crate::fold::fold_surface;

fn algorithm(lang: &str) -> Option<Algorithm> {
    Some(match lang {
        "ar" => Algorithm::Arabic,
        "da" => Algorithm::Danish,
        "de" => Algorithm::German,
        "el" => Algorithm::Greek,
        "en" => Algorithm::English,
        "es" => Algorithm::Spanish,
        "fi" => Algorithm::Finnish,
        "fr" => Algorithm::French,
        "hu" => Algorithm::Hungarian,
        "it" => Algorithm::Italian,
        "nl" => Algorithm::Dutch,
        "no" | "nb" | "nn" => Algorithm::Norwegian,
        "pt" => Algorithm::Portuguese,
        "ro" => Algorithm::Romanian,
        "ru" => Algorithm::Russian,
        "sv" => Algorithm::Swedish,
        "ta" => Algorithm::Tamil,
        "tr" => Algorithm::Turkish,
        _ => return None,
    })
}

/// Whether words of this language (ISO 639-1) have stems.
pub fn has_stems(lang: &str) -> bool {
    lang == "ko" || algorithm(lang).is_some()
}

/// The folded stem of a word in surface form; `None` when the language has no stemmer or the word is no plain word
/// (digits never have a stem). The stem is a further way to find a word, never a replacement for it.
pub fn stem(word: &str, lang: &str) -> Option<String> {
    if !word.chars().all(|c| c.is_alphabetic() || unicode_normalization::char::is_combining_mark(c)) {
        return None;
    }
    if lang == "ko" {
        return Some(without_particle(word).to_owned());
    }
    let stemmed = Stemmer::create(algorithm(lang)?).stem(word).into_owned();
    Some(if stemmed.is_ascii() { stemmed } else { fold_surface(&stemmed) })
}

/// Particles that follow a Korean noun, longest first.
const PARTICLES: &[&str] = &[
    "으로부터",
    "에서부터",
    "에게서는",
    "이라고는",
    "에서는",
    "에게서",
    "으로는",
    "으로도",
    "까지는",
    "까지도",
    "부터는",
    "이라고",
    "이라는",
    "처럼은",
    "보다는",
    "에게는",
    "에서도",
    "으로서",
    "으로써",
    "이라도",
    "에서의",
    "으로의",
    "에서",
    "에게",
    "으로",
    "까지",
    "부터",
    "처럼",
    "보다",
    "마다",
    "조차",
    "밖에",
    "이나",
    "이라",
    "라고",
    "라는",
    "하고",
    "한테",
    "께서",
    "에는",
    "에도",
    "와는",
    "과는",
    "로는",
    "로서",
    "로써",
    "의",
    "을",
    "를",
    "이",
    "가",
    "은",
    "는",
    "에",
    "로",
    "와",
    "과",
    "도",
    "만",
    "나",
    "야",
];

/// A Korean word without the particle it ends in; at least one syllable stays (two before a one-syllable particle).
fn without_particle(word: &str) -> &str {
    for particle in PARTICLES {
        if let Some(rest) = word.strip_suffix(particle) {
            let needed = if particle.chars().nth(1).is_some() { 1 } else { 2 };
            if rest.chars().count() >= needed {
                return rest;
            }
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_share_a_stem() {
        for (lang, a, b) in [
            ("en", "running", "runs"),
            ("es", "naciones", "nación"),
            ("de", "häuser", "häusern"),
            ("fr", "chevaux", "cheval"),
            ("it", "libri", "libro"),
            ("pt", "meninas", "menina"),
            ("ru", "книги", "книгами"),
            ("nl", "boeken", "boek"),
            ("ko", "학교에서", "학교는"),
        ] {
            assert_eq!(stem(a, lang), stem(b, lang), "{lang} {a} {b}");
        }
    }

    #[test]
    fn numbers_and_unknown_languages_have_none() {
        assert_eq!(stem("4711", "en"), None);
        assert_eq!(stem("שלום", "he"), None);
        assert!(has_stems("sv") && !has_stems("und"));
    }
}
