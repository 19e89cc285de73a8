//! Headings with a line drawn under them, or over and under.

use std::ops::Range;

use super::levels::Key;

/// A longer line is prose.
const TITLE_CHARS: usize = 160;

/// A heading at the beginning of a paragraph.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Underlined {
    pub(super) key: Key,
    /// Bytes of the title.
    pub(super) title: Range<usize>,
    /// Where the paragraph goes on.
    pub(super) rest: usize,
}

/// Looks at the first lines of a paragraph, each with its bytes and text.
pub(super) fn find(lines: &[(Range<usize>, &str)]) -> Option<Underlined> {
    let end = lines.last()?.0.end;
    let underlined = |title: &(Range<usize>, &str), line: &str, over: bool, next: Option<&(Range<usize>, &str)>| {
        let drawn = drawn_with(line)?;
        let fits = fits(title.1, line.trim(), drawn);
        let rest = next.map_or(end, |(range, _)| range.start);
        (fits && is_title(title.1)).then(|| Underlined { key: Key::Underline(drawn, over), title: title.0.clone(), rest })
    };
    match lines {
        [over, title, under, rest @ ..] if drawn_with(over.1).is_some() && drawn_with(over.1) == drawn_with(under.1) => {
            underlined(title, under.1, true, rest.first())
        }
        [title, under, rest @ ..] => underlined(title, under.1, false, rest.first()),
        _ => None,
    }
}

/// The one character a line is drawn with, three times or more.
fn drawn_with(line: &str) -> Option<char> {
    let line = line.trim();
    let first = line.chars().next().filter(|c| matches!(c, '=' | '-' | '~' | '*' | '^' | '"' | '#' | '+' | '_' | '─' | '═' | '━' | '—'))?;
    (line.chars().all(|c| c == first) && line.chars().nth(2).is_some()).then_some(first)
}

/// Whether the line is about as long as the title. A line of `=` is drawn for headings only, at any length; others also
/// separate parts of a text, and then run on.
fn fits(title: &str, line: &str, drawn: char) -> bool {
    let (title, line) = (width(title.trim()), line.chars().count());
    let long_enough = line.saturating_mul(5) >= title.saturating_mul(3);
    long_enough && (matches!(drawn, '=' | '═') || line <= title.saturating_add(title / 2).max(title.saturating_add(8)))
}

/// Columns a text takes: Chinese, Japanese and Korean characters take two.
fn width(text: &str) -> usize {
    text.chars().map(|c| if ('\u{1100}'..='\u{115f}').contains(&c) || ('\u{2e80}'..='\u{ffdc}').contains(&c) { 2_usize } else { 1 }).sum()
}

fn is_title(title: &str) -> bool {
    title.contains(char::is_alphanumeric) && title.chars().nth(TITLE_CHARS).is_none() && !title.contains('|')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn title(text: &str) -> Option<(String, char, bool, String)> {
        let mut at = 0;
        let lines: Vec<(Range<usize>, &str)> = text
            .split('\n')
            .map(|line| {
                let range = at..at + line.len();
                at = range.end + 1;
                (range, line)
            })
            .collect();
        let found = find(&lines)?;
        let Key::Underline(drawn, over) = found.key else { panic!() };
        Some((text[found.title].to_owned(), drawn, over, text[found.rest..].to_owned()))
    }

    #[test]
    fn lines_under_and_over() {
        let told = |t: &str, c, over, rest: &str| Some((t.to_owned(), c, over, rest.to_owned()));
        assert_eq!(title("Results\n======="), told("Results", '=', false, ""));
        assert_eq!(title("Results\n-----\nWe found"), told("Results", '-', false, "We found"));
        assert_eq!(title("=========\n Results\n========="), told(" Results", '=', true, ""));
        assert_eq!(title("研究结果\n========"), told("研究结果", '=', false, ""));
        assert_eq!(title("A\n===================="), told("A", '=', false, ""));
    }

    #[test]
    fn separators_are_no_headings() {
        for text in [
            "Best wishes\n----------------------------------------",
            "Name | Age\n----------",
            "Some text\n--",
            "Some very long line of text that goes on\n---",
            "-----\n-----",
            "a\nb\n===",
            "Name   Age\n----   ---",
            "***",
        ] {
            assert_eq!(title(text), None, "{text}");
        }
    }
}
