//! From text to positioned tokens: what the index stores.
//!
//! Text is divided at white space into *runs* (see [`mod@crate::surface`]). Every run keeps its whole form, so `C++`, `5%`,
//! `R&D`, `A-12/b`, `v1.2.3`, `.NET` and e-mail addresses survive; a run that is more than one plain word also yields
//! its parts. Runs of scripts that do not set words apart (Han, Kana, Thai, Lao, Khmer, Burmese), and runs too long to
//! be a word, are stored as overlapping pairs of characters, and the words a dictionary finds in them are added.
//!
//! Positions carry the structure: a run takes one slot, a run of pairs one slot per character; what stands in slot `s`
//! as a whole has position `2s`, what is only part of it `2s + 1`. A phrase over even positions is therefore exactly
//! a piece of the surface text, and no text has to be read to verify it.

use std::sync::LazyLock;

use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};
use jieba_rs::Jieba;

use crate::script::{Script, is_ideographic, is_unspaced, is_word_char};
use crate::surface::{normalize, runs};

/// The longest run, in characters, that is one token; longer ones are stored as pairs.
pub const RUN_MAX_CHARS: usize = 64;

/// Opens the tokens of pairs that are no word (letters of a long run, punctuation beside a Han character).
/// Never part of a surface, because control characters count as white space.
pub const PAIR_MARK: char = '\u{1}';

/// One token of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// As compared: surface form.
    pub text: &'a str,
    /// Even: a whole run (or a pair) in slot `position / 2`; odd: a part of what stands there.
    pub position: u32,
}

/// Calls `emit` for every token of `text`, in reading order (positions never fall back by more than one run).
/// Every letter or digit of the text is part of some token. Returns the number of slots used.
pub fn analyze(text: &str, mut emit: impl FnMut(Token<'_>)) -> u32 {
    let normalized = normalize(text);
    let mut slot = 0_u32;
    for run in runs(&normalized) {
        slot = if is_paired(run) { pairs(run, slot, &mut emit) } else { whole(run, slot, &mut emit) };
    }
    slot
}

/// Whether a run is stored as pairs of characters.
pub fn is_paired(run: &str) -> bool {
    if run.is_ascii() {
        return run.len() > RUN_MAX_CHARS;
    }
    run.chars().any(is_unspaced) || run.chars().nth(RUN_MAX_CHARS).is_some()
}

/// The token of a pair; `None` for the second is the end of the run.
pub fn pair(first: char, second: Option<char>) -> String {
    let mut out = String::with_capacity(9);
    let plain = second.is_some_and(|second| is_ideographic(first) && is_ideographic(second));
    if !plain {
        out.push(PAIR_MARK);
    }
    out.push(first);
    out.push(second.unwrap_or(' '));
    out
}

/// The words inside a run: stretches of letters, digits and marks; for a plain word the run itself.
pub fn parts(run: &str) -> impl Iterator<Item = &str> {
    run.split(|c| !is_word_char(c)).filter(|part| !part.is_empty())
}

fn whole(run: &str, slot: u32, emit: &mut impl FnMut(Token<'_>)) -> u32 {
    emit(Token { text: run, position: slot * 2 });
    for part in parts(run).filter(|part| part.len() < run.len()) {
        emit(Token { text: part, position: slot * 2 + 1 });
    }
    slot + 1
}

fn pairs(run: &str, slot: u32, emit: &mut impl FnMut(Token<'_>)) -> u32 {
    let mut slots = slot;
    let mut chars = run.chars().peekable();
    while let Some(first) = chars.next() {
        emit(Token { text: &pair(first, chars.peek().copied()), position: slots * 2 });
        slots += 1;
    }
    for word in inner_words(run) {
        // Two ideographs are already there as a pair.
        let is_pair = word.chars().count() == 2 && word.chars().all(is_ideographic);
        if !is_pair && word.chars().nth(RUN_MAX_CHARS).is_none() {
            let before = run[..offset_in(run, word)].chars().count();
            emit(Token { text: word, position: (slot + before as u32) * 2 + 1 });
        }
    }
    slots
}

/// The words inside a run of any script; dictionaries where the script needs one.
pub fn inner_words(run: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for part in parts(run) {
        for (unspaced, stretch) in stretches(part) {
            if unspaced {
                dictionary_words(stretch, &mut words);
            } else {
                words.push(stretch);
            }
        }
    }
    words
}

/// Divides a part where unspaced scripts begin and end.
fn stretches(part: &str) -> Vec<(bool, &str)> {
    let mut out = Vec::new();
    let (mut start, mut kind) = (0, None);
    for (at, c) in part.char_indices() {
        // Marks belong to what they follow.
        let this = if Script::of(c).is_none() && !c.is_numeric() { kind.unwrap_or_else(|| is_unspaced(c)) } else { is_unspaced(c) };
        if kind.is_some_and(|kind| kind != this) {
            out.push((!this, &part[start..at]));
            start = at;
        }
        kind = Some(this);
    }
    if let Some(kind) = kind {
        out.push((kind, &part[start..]));
    }
    out
}

/// The dictionary words of a stretch: Han by the Chinese dictionary, everything else by the Unicode segmenter's.
fn dictionary_words<'a>(stretch: &'a str, words: &mut Vec<&'a str>) {
    static CHINESE: LazyLock<Jieba> = LazyLock::new(Jieba::new);
    static OTHERS: LazyLock<WordSegmenterBorrowed<'static>> =
        LazyLock::new(|| WordSegmenter::new_auto(WordBreakInvariantOptions::default()));

    if stretch.chars().all(|c| Script::of(c) == Some(Script::Han)) {
        words.extend(CHINESE.cut(stretch, true).into_iter().map(|token| token.word));
        return;
    }
    let mut start = 0;
    for end in OTHERS.segment_str(stretch) {
        if end > start {
            words.push(&stretch[start..end]);
        }
        start = end;
    }
}

/// Where `part`, a slice of `whole`, begins in it.
fn offset_in(whole: &str, part: &str) -> usize {
    part.as_ptr() as usize - whole.as_ptr() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tokens(text: &str) -> Vec<(String, u32)> {
        let mut out = Vec::new();
        analyze(text, |token| out.push((token.text.to_owned(), token.position)));
        out
    }

    fn has(text: &str, word: &str) -> bool {
        tokens(text).iter().any(|(token, _)| token == word)
    }

    #[test]
    fn technical_tokens_survive_with_their_parts() {
        let text = "Use C++, C# or .NET; R&D costs 5% of A-12/b (v1.2.3). Mail ann.lee@example.org, part 4711-0815.";
        for word in [
            "c++",
            "c#",
            ".net",
            "r&d",
            "5%",
            "a-12/b",
            "v1.2.3",
            "ann.lee@example.org",
            "4711-0815",
            "4711",
            "0815",
            "lee",
            "b",
            "example",
        ] {
            assert!(has(text, word), "{word}");
        }
    }

    #[test]
    fn positions_tell_wholes_from_parts() {
        assert_eq!(tokens("Wi-Fi on"), [("wi-fi", 0), ("wi", 1), ("fi", 1), ("on", 2)].map(|(t, p)| (t.to_owned(), p)).to_vec());
        assert_eq!(tokens("水泵").iter().map(|t| t.1).collect::<Vec<_>>(), [0, 2]);
    }

    #[test]
    fn unspaced_scripts_give_words() {
        assert!(has("在其他阿拉伯国家的支持下", "阿拉伯"));
        assert!(has("在其他阿拉伯国家的支持下", "支持"));
        assert!(has("ทุกสองสัปดาห์", "สัปดาห์"));
        assert!(has("コンピューターを使う", "コンピューター"));
        assert!(has("价格是300元", "300"));
    }

    #[test]
    fn a_very_long_run_is_bounded() {
        let text = "x".repeat(100_000);
        assert_eq!(tokens(&text).len(), 100_000);
        assert!(tokens(&text).iter().all(|(token, _)| token.len() <= 4));
    }

    proptest! {
        #[test]
        fn no_letter_or_digit_is_lost(text in "[a-zA-Z0-9äßñ中文字กขค +./-]{0,60}") {
            let all: String = tokens(&text).into_iter().map(|(token, _)| token).collect();
            for c in text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase) {
                prop_assert!(all.contains(c), "{c} of {text:?}");
            }
        }
    }
}
