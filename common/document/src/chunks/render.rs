//! A group of units as the content of one chunk.

use super::unit::{Joint, Part, Unit};

/// A mark in a content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    /// `[images/image-5.jpg]`.
    pub text: String,
    /// First code point.
    pub start: u32,
    /// One past the last.
    pub end: u32,
}

/// The content of a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rendered {
    /// Text with marks, each on a line of its own.
    pub content: String,
    /// Text without marks; `None` when there are none.
    pub plain: Option<String>,
    /// In order.
    pub marks: Vec<Mark>,
}

/// Writes the content; `reference` gives the mark for an asset's row, and is asked once for each, in order.
pub(super) fn render(units: &[Unit<'_>], mut reference: impl FnMut(usize) -> String) -> Rendered {
    let mut out = Output::default();
    for unit in units {
        let separator = match unit.joint {
            Joint::Paragraph => "\n\n",
            Joint::Line => "\n",
            Joint::Continue => "",
        };
        out.separate(separator);
        for part in &unit.parts {
            match part {
                Part::Text(text) => out.text(text),
                Part::Mark(row) => out.mark(reference(*row)),
            }
        }
    }
    out.finish()
}

#[derive(Default)]
struct Output {
    content: String,
    plain: String,
    /// Code points of `content`.
    length: usize,
    marks: Vec<Mark>,
    separator: &'static str,
    after_mark: bool,
}

impl Output {
    fn separate(&mut self, separator: &'static str) {
        // A unit of marks only still ends a paragraph for the text after it.
        if separator.len() > self.separator.len() {
            self.separator = separator;
        }
    }

    fn text(&mut self, text: &str) {
        let fresh = self.content.is_empty() || !self.separator.is_empty() || self.after_mark;
        let text = if fresh { text.trim_start_matches(['\n', '\r']) } else { text };
        let text = if self.after_mark && self.separator.is_empty() { text.trim_start() } else { text };
        if text.is_empty() {
            return;
        }
        if self.content.is_empty() {
            self.separator = "";
        }
        let separator = std::mem::take(&mut self.separator);
        if fresh && !self.content.is_empty() {
            self.trim_end();
            self.push(if separator.is_empty() { "\n" } else { separator });
        }
        if !self.plain.is_empty() {
            let between = if self.after_mark && separator.is_empty() { " " } else { separator };
            self.plain.push_str(between);
        }
        self.push(text);
        self.plain.push_str(text);
        self.after_mark = false;
    }

    fn mark(&mut self, text: String) {
        self.trim_end();
        if !self.content.is_empty() {
            self.push("\n");
        }
        let start = self.length;
        self.push(&text);
        let point = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.marks.push(Mark { start: point(start), end: point(self.length), text });
        self.after_mark = true;
        if self.separator == "\n" {
            self.separator = "";
        }
    }

    fn push(&mut self, text: &str) {
        self.content.push_str(text);
        self.length = self.length.saturating_add(text.chars().count());
    }

    fn trim_end(&mut self) {
        let kept = self.content.trim_end().len();
        let cut = self.content.get(kept..).map_or(0, |tail| tail.chars().count());
        self.content.truncate(kept);
        self.length = self.length.saturating_sub(cut);
    }

    fn finish(mut self) -> Rendered {
        self.trim_end();
        let plain = (!self.marks.is_empty()).then_some(self.plain);
        Rendered { content: self.content, plain, marks: self.marks }
    }
}
