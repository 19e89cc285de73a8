//! Text within a block: white space folded as browsers fold it.

/// Text of one block as it grows.
#[derive(Debug, Clone, Default)]
pub struct Inline {
    text: String,
    space: bool,
}

impl Inline {
    /// Adds text; runs of white space become one space, none at the beginning of a line.
    pub fn push(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                ' ' | '\t' | '\n' | '\r' | '\u{c}' => self.space = true,
                '\0' => {}
                c => {
                    if self.space && !self.text.is_empty() && !self.text.ends_with('\n') {
                        self.text.push(' ');
                    }
                    self.space = false;
                    self.text.push(c);
                }
            }
        }
    }

    /// Adds text as it stands.
    pub fn push_verbatim(&mut self, text: &str) {
        self.settle();
        self.text.extend(text.chars().filter(|c| !matches!(c, '\0' | '\r')));
    }

    /// A space, unless one stands there already.
    pub fn space(&mut self) {
        self.space = true;
    }

    /// Ends the line.
    pub fn line_break(&mut self) {
        let kept = self.text.trim_end_matches(' ').len();
        self.text.truncate(kept);
        self.space = false;
        self.text.push('\n');
    }

    /// Ends the line unless nothing stands in it.
    pub fn new_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.line_break();
        }
    }

    /// Whether nothing was added but white space.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Whether what was added last ended a line.
    pub fn ends_line(&self) -> bool {
        self.text.ends_with('\n')
    }

    /// The text of a block that may be code: code keeps its indentation, see [`Inline::take_verbatim`].
    pub fn take_block(&mut self) -> String {
        if self.text.starts_with("```") { self.take_verbatim() } else { self.take() }
    }

    /// Bytes added so far.
    pub fn length(&self) -> usize {
        self.text.len()
    }

    /// The text, without white space around it; leaves nothing behind.
    pub fn take(&mut self) -> String {
        self.space = false;
        let text = std::mem::take(&mut self.text);
        let trimmed = text.trim();
        if trimmed.len() == text.len() { text } else { trimmed.to_owned() }
    }

    /// The text with its indentation: only empty lines around it are cut.
    pub fn take_verbatim(&mut self) -> String {
        self.space = false;
        let text = std::mem::take(&mut self.text);
        let text = text.trim_end();
        let blank = text.len().saturating_sub(text.trim_start().len());
        let first_line = text.get(..blank).and_then(|head| head.rfind('\n')).map_or(0, |at| at.saturating_add(1));
        text.get(first_line..).unwrap_or_default().to_owned()
    }

    fn settle(&mut self) {
        if self.space && !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push(' ');
        }
        self.space = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_folded_and_breaks_are_kept() {
        let mut inline = Inline::default();
        inline.push("  a \n b");
        inline.push(" ");
        inline.line_break();
        inline.push("  c\u{a0}d ");
        inline.new_line();
        assert!(!inline.is_blank());
        assert_eq!(inline.take(), "a b\nc\u{a0}d");
        assert_eq!(inline.take(), "");
        inline.push_verbatim("\n\n  if x:\r\n    y\n");
        assert_eq!(inline.take_verbatim(), "  if x:\n    y");
    }
}
