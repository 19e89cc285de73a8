//! Text → paragraphs: runs of lines without an empty line between them. Form feeds end pages.

use std::ops::Range;

/// More paragraphs than this are no longer looked at one by one: they are kept in pieces of [`PIECE_BYTES`] and more.
const SEPARATE_PARAGRAPHS: usize = 500_000;
const PIECE_BYTES: usize = 16 << 10;

/// One paragraph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Paragraph {
    /// Bytes of the text, from its first line's beginning to its last line's end.
    pub(super) range: Range<usize>,
    /// From 1.
    pub(super) page: u32,
}

/// The paragraphs of a text.
#[derive(Debug)]
pub(super) struct Paragraphs<'t> {
    text: &'t str,
    pub(super) all: Vec<Paragraph>,
    /// Pages, when form feeds tell them.
    pub(super) pages: Option<u32>,
    /// Whether there were so many that they were put together.
    pub(super) coarse: bool,
}

impl<'t> Paragraphs<'t> {
    /// Finds them.
    pub(super) fn of(text: &'t str) -> Self {
        let mut all: Vec<Paragraph> = Vec::new();
        let (mut page, mut open, mut coarse) = (1_u32, false, false);
        for line in Lines::of(text) {
            if line.after_form_feed {
                page = page.saturating_add(1);
                open = false;
            }
            let blank = text.get(line.range.clone()).is_none_or(|line| line.trim().is_empty());
            if blank {
                open = false;
                continue;
            }
            coarse |= all.len() >= SEPARATE_PARAGRAPHS;
            match all.last_mut() {
                Some(last) if open || (coarse && last.page == page && last.range.len() < PIECE_BYTES) => last.range.end = line.range.end,
                _ => all.push(Paragraph { range: line.range, page }),
            }
            open = true;
        }
        Self { text, all, pages: (page > 1).then_some(page), coarse }
    }

    /// The lines of a paragraph, without their ends.
    pub(super) fn lines(&self, index: usize) -> impl Iterator<Item = Range<usize>> + '_ {
        let range = self.all.get(index).map_or(0..0, |paragraph| paragraph.range.clone());
        let start = range.start;
        Lines::of(self.text.get(range).unwrap_or_default())
            .map(move |line| line.range.start.saturating_add(start)..line.range.end.saturating_add(start))
    }

    /// Text of a line.
    pub(super) fn text(&self, range: Range<usize>) -> &'t str {
        self.text.get(range).unwrap_or_default()
    }

    /// Text as a row holds it: indentation and spaces kept, line ends written as `\n`.
    pub(super) fn content(&self, range: Range<usize>) -> String {
        let text = self.text(range).trim_end();
        let text = text.trim_start_matches(['\n', '\r', '\u{c}']);
        if !text.contains(['\r', '\0', '\u{c}']) {
            return text.to_owned();
        }
        let text = text.replace("\r\n", "\n");
        text.chars()
            .map(|c| {
                if matches!(c, '\r' | '\u{c}') {
                    '\n'
                } else if c == '\0' {
                    '\u{fffd}'
                } else {
                    c
                }
            })
            .collect()
    }
}

struct Line {
    range: Range<usize>,
    after_form_feed: bool,
}

/// Lines that end in `\n`, `\r\n`, `\r` or a form feed.
struct Lines<'t> {
    text: &'t str,
    at: usize,
    after_form_feed: bool,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        Self { text, at: 0, after_form_feed: false }
    }
}

impl Iterator for Lines<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let length = rest.find(['\n', '\r', '\u{c}']).unwrap_or(rest.len());
        let end = self.at.saturating_add(length);
        let ending = rest.get(length..).unwrap_or_default();
        let line = Line { range: self.at..end, after_form_feed: self.after_form_feed };
        self.after_form_feed = ending.starts_with('\u{c}');
        self.at = end.saturating_add(if ending.starts_with("\r\n") { 2 } else { 1 });
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_end_and_form_feeds() {
        let text = "a\r\n  b\r\r\nc\x0cd\n\n\x0c\x0ce";
        let paragraphs = Paragraphs::of(text);
        let told: Vec<(String, u32)> = paragraphs.all.iter().map(|p| (paragraphs.content(p.range.clone()), p.page)).collect();
        let expected = [("a\n  b", 1), ("c", 1), ("d", 2), ("e", 4)].map(|(text, page)| (text.to_owned(), page));
        assert_eq!(told, expected);
        assert_eq!(paragraphs.pages, Some(4));
        assert_eq!(Paragraphs::of("a\nb").pages, None);
    }

    #[test]
    fn too_many_paragraphs_are_put_together() {
        let text = "a\n\n".repeat(SEPARATE_PARAGRAPHS + 20_000);
        let paragraphs = Paragraphs::of(&text);
        assert!(paragraphs.coarse && paragraphs.all.len() < SEPARATE_PARAGRAPHS + 10);
        let kept: usize = paragraphs.all.iter().map(|p| paragraphs.content(p.range.clone()).matches('a').count()).sum();
        assert_eq!(kept, SEPARATE_PARAGRAPHS + 20_000);
    }
}
