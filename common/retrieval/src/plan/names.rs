//! Names in a text: what is quoted, and what is written with capitals.

use std::ops::Range;

use quarry_language::{fold, stop};

/// Pairs of quotation marks.
const QUOTES: &[(char, char)] =
    &[('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('‹', '›'), ('《', '》'), ('〈', '〉'), ('「', '」'), ('『', '』')];
/// Signs that no name goes across.
const BREAKS: [char; 10] = [',', ';', ':', '?', '!', '(', ')', '"', '“', '”'];
/// Small words that can stand inside a name.
const INSIDE: &[&str] = &[
    "of", "the", "de", "del", "la", "las", "los", "el", "da", "do", "dos", "di", "du", "des", "van", "von", "der", "den", "for", "in", "on",
];

/// The names in `text` as byte ranges, in order, never overlapping. `lang` tells stop words: a question word with a
/// capital is no name.
pub(crate) fn names(text: &str, lang: &str) -> Vec<Range<usize>> {
    let mut names = quoted(text);
    let mut open: Option<Range<usize>> = None;
    let mut reach = 0;
    for (at, word) in words(text) {
        let range = at..at + word.len();
        if names.iter().any(|name| name.start <= range.start && range.end <= name.end) {
            close(&mut open, &mut names);
            continue;
        }
        let broken = open.is_some() && text.get(reach..at).is_some_and(|gap| gap.contains(BREAKS));
        if broken {
            close(&mut open, &mut names);
        }
        let capital = word.chars().next().is_some_and(char::is_uppercase);
        let digits = word.chars().all(char::is_numeric) && open.is_some();
        let stops = stop::is_stop(&fold(word), lang);
        if (capital && !(stops && open.is_none())) || digits {
            open = Some(open.map_or(range.clone(), |name| name.start..range.end));
        } else if !(open.is_some() && INSIDE.contains(&word)) {
            close(&mut open, &mut names);
        }
        reach = range.end;
    }
    close(&mut open, &mut names);
    names.sort_by_key(|name| name.start);
    names
}

fn close(open: &mut Option<Range<usize>>, names: &mut Vec<Range<usize>>) {
    if let Some(name) = open.take() {
        names.push(name);
    }
}

fn quoted(text: &str) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut open: Option<(usize, char)> = None;
    for (at, c) in text.char_indices() {
        match open {
            Some((start, end)) if c == end => {
                if at > start {
                    out.push(start..at);
                }
                open = None;
            }
            Some(_) => {}
            None => open = QUOTES.iter().find(|(begin, _)| *begin == c).map(|(_, end)| (at + c.len_utf8(), *end)),
        }
    }
    out
}

/// Words of letters, digits, marks and joining signs, with their places.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let inner = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’' | '-' | '–' | '.' | '&');
    let mut at = 0;
    text.split(move |c: char| !inner(c))
        .map(move |word| {
            let start = at;
            // The sign that ended the word.
            at += word.len() + text[start + word.len()..].chars().next().map_or(0, char::len_utf8);
            (start, word.trim_end_matches(['.', '-', '\'', '’']))
        })
        .filter(|(_, word)| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, lang: &str) -> Vec<String> {
        names(text, lang).into_iter().map(|range| text[range].to_owned()).collect()
    }

    #[test]
    fn names_are_found_by_capitals_and_quotes() {
        assert_eq!(found("Are both Coldplay and Pierre Bouvier from the same country?", "en"), ["Coldplay", "Pierre Bouvier"]);
        assert_eq!(found("Who wrote \"the old man\" in New York?", "en"), ["the old man", "New York"]);
        assert_eq!(found("¿Qué río pasa por la Ciudad de México, Lima o Bogotá?", "es"), ["Ciudad de México", "Lima", "Bogotá"]);
        assert_eq!(found("《红楼梦》和《西游记》的作者是谁？", "zh"), ["红楼梦", "西游记"]);
        assert!(found("what is the torque of the pump", "en").is_empty());
        assert!(found("What Is It?", "en").len() <= 1);
    }
}
