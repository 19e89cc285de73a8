//! The few shapes a numbering takes, and how a line is matched against one.

use super::number::{self, Number, NumberKind};
use super::table::Pattern;
use super::{NumberKind as Kind, Numbering};

/// A way of numbering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `1.2 Title`, `1.2.3. Title`.
    Dotted,
    /// `A.1 Title`.
    LetterDotted,
    /// A number of one kind between an optional opening mark and one of several closing marks: `1.`, `(a)`, `一、`.
    Marked {
        /// How the number is written.
        kind: Kind,
        /// What must stand before it; empty for nothing.
        open: &'static [char],
        /// One of these stands after it.
        close: &'static [char],
    },
    /// `1 Title`.
    Bare,
    /// A word before its number: `Chapter 4`, `Anhang B`, `Глава первая`.
    Word {
        /// The words, in lower case.
        words: &'static [&'static str],
        /// The language's words for 1, 2, 3 …, forms separated by `/`.
        numerals: &'static [&'static str],
    },
    /// A number before its word: `Erstes Kapitel`, `2. Teil`, `Première partie`.
    OrdinalWord {
        /// The words, in lower case.
        words: &'static [&'static str],
        /// The language's words for first, second, third …, forms separated by `/`.
        numerals: &'static [&'static str],
    },
    /// A number between a prefix and a unit: `第三章`, `제2장`.
    Around {
        /// What stands before the number.
        prefix: &'static str,
        /// What may stand after it.
        units: &'static [&'static str],
    },
    /// A word that heads a section without any number: `Appendix`, `附录`.
    Alone {
        /// The words, in lower case; the line holds nothing else.
        words: &'static [&'static str],
    },
}

/// Matches one row of the table against a trimmed line.
pub(super) fn matches<'a>(pattern: &'static Pattern, line: &'a str) -> Option<Numbering<'a>> {
    match pattern.shape {
        Shape::Dotted => spaced(pattern, line, number::dotted(line)?, true),
        Shape::LetterDotted => spaced(pattern, line, number::letter_dotted(line)?, true),
        Shape::Bare => spaced(pattern, line, number::digits(line)?, true).filter(|n| !n.rest.is_empty()),
        Shape::Marked { kind, open, close } => {
            let inner = if open.is_empty() { line } else { line.strip_prefix(open)? };
            let mut found = of_kind(inner, kind)?;
            let closing = found.rest.trim_start_matches([' ', '\u{3000}']);
            found.rest = closing.strip_prefix(close)?;
            // After `、` or a full-width mark no space is written; `1.5` and `1.Title` are no numbering.
            let space = closing.starts_with(|c: char| c.is_ascii());
            let found = spaced(pattern, line, found, space)?;
            (!found.rest.is_empty())
                .then_some(Numbering { depth: found.depth.filter(|_| open.is_empty() && kind == NumberKind::Digits), ..found })
        }
        Shape::Word { words, numerals } => {
            let after = words.iter().find_map(|word| strip_word(line, word))?;
            let after = after.trim_start();
            let found = number::dotted(after)
                .or_else(|| number::digits(after))
                .or_else(|| number::roman(after))
                .or_else(|| number::word(after, numerals))
                .or_else(|| number::chinese(after))
                .or_else(|| number::letter(after).filter(|n| !is_small_word(after, n)))?;
            titled(pattern, line, found)
        }
        Shape::OrdinalWord { words, numerals } => {
            let found = number::word(line, numerals).or_else(|| {
                let number = number::digits(line).or_else(|| number::roman(line))?;
                let rest = number.rest.trim_start_matches(|c: char| c.is_alphabetic() || matches!(c, '.' | 'º' | 'ª' | '°' | '-'));
                Some(Number { rest, ..number })
            })?;
            let rest = words.iter().find_map(|word| strip_word(found.rest.trim_start(), word))?;
            titled(pattern, line, Number { rest, ..found })
        }
        Shape::Around { prefix, units } => {
            let after = line.strip_prefix(prefix)?.trim_start();
            let found = number::digits(after).or_else(|| number::chinese(after))?;
            let rest = units.iter().find_map(|unit| found.rest.trim_start().strip_prefix(unit))?;
            let found = spaced(pattern, line, Number { rest, ..found }, false)?;
            Some(Numbering { depth: None, ..found })
        }
        Shape::Alone { words } => {
            let lower = line.trim_end_matches([':', '：']).to_lowercase();
            words.contains(&lower.as_str()).then_some(Numbering {
                pattern,
                depth: None,
                value: None,
                kind: NumberKind::Absent,
                number_text: line,
                rest: "",
            })
        }
    }
}

fn of_kind(text: &str, kind: Kind) -> Option<Number<'_>> {
    match kind {
        Kind::Digits => number::digits(text),
        Kind::Dotted => number::dotted(text),
        Kind::Roman => number::roman(text),
        Kind::Letter => number::letter(text),
        Kind::Chinese => number::chinese(text),
        Kind::Word | Kind::Absent => None,
    }
}

/// A numbering whose title follows after white space, or at once when the script has no spaces.
fn spaced<'a>(pattern: &'static Pattern, line: &'a str, found: Number<'a>, space: bool) -> Option<Numbering<'a>> {
    let separate = found.rest.is_empty() || found.rest.starts_with(char::is_whitespace) || found.rest.starts_with(is_cjk);
    if space && !separate {
        return None;
    }
    let number_text = before(line, found.rest).trim_end();
    let rest = found.rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '：' | '、' | '–' | '—' | '-'));
    Some(Numbering { pattern, depth: Some(found.components), value: found.value, kind: found.kind, number_text, rest })
}

/// A chapter word with its number: what follows is nothing, or stands after a separator, or begins like a title.
fn titled<'a>(pattern: &'static Pattern, line: &'a str, found: Number<'a>) -> Option<Numbering<'a>> {
    let number_text = before(line, found.rest).trim_end();
    let rest = found.rest.trim_start();
    let separated = rest.strip_prefix(['.', ':', '：', ')', '–', '—', '-', '―', '．']);
    let title = separated.unwrap_or(rest).trim_start();
    let apart = rest.len() < found.rest.len() || separated.is_some() || rest.is_empty() || rest.starts_with(is_cjk);
    if !apart || (separated.is_none() && title.starts_with(|c: char| c.is_lowercase() || matches!(c, ',' | ';' | '(' | '/'))) {
        return None;
    }
    let depth = (found.kind == NumberKind::Dotted).then_some(found.components);
    Some(Numbering { pattern, depth, value: found.value, kind: found.kind, number_text, rest: title })
}

/// `a` and `i` after a word are words themselves (`Part a …`); a letter that numbers is a capital or stands alone.
fn is_small_word(text: &str, found: &Number<'_>) -> bool {
    text.starts_with(char::is_lowercase) && !found.rest.is_empty()
}

/// `word` at the beginning of `text`, whatever its case, as a whole word.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let mut rest = text.chars();
    for expected in word.chars() {
        let c = rest.next()?;
        if c != expected && !c.to_lowercase().eq(expected.to_lowercase()) {
            return None;
        }
    }
    let rest = rest.as_str();
    let whole = word.ends_with(['.', '§']) || word.ends_with(is_cjk) || !rest.starts_with(|c: char| c.is_alphanumeric() && !is_cjk(c));
    whole.then_some(rest)
}

fn before<'a>(line: &'a str, rest: &str) -> &'a str {
    line.get(..line.len().saturating_sub(rest.len())).unwrap_or(line)
}

/// Han, kana or Hangul: scripts whose titles follow a number without a space.
pub(super) fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}
