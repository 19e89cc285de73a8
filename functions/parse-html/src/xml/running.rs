//! Running text: an element's characters, and what its inline elements say besides them.

use quarry_document::xml::{Child, Element};

use super::shape::{facts, has_own_text};

/// Attributes that say something to a reader of running text.
const SAID: [&str; 5] = ["alt", "title", "label", "href", "url"];

/// A text as it grows.
#[derive(Debug, Default)]
pub(super) struct Running {
    text: String,
    /// Whether an attribute was told last: a word after it is another word, a full stop belongs to it.
    told: bool,
}

impl Running {
    /// What is inside an element, without its own attributes.
    pub(super) fn of(element: Element<'_>) -> String {
        let mut running = Self::default();
        running.inside(element);
        running.finish()
    }

    /// The text.
    pub(super) fn finish(self) -> String {
        self.text
    }

    /// Adds characters.
    pub(super) fn push(&mut self, piece: &str) {
        let told = std::mem::take(&mut self.told);
        if told && piece.starts_with(char::is_alphanumeric) {
            self.text.push(' ');
        }
        self.text.push_str(piece);
    }

    /// Adds an element in the text, its attributes after it: `there (x.html)`.
    pub(super) fn element(&mut self, element: Element<'_>) {
        self.inside(element);
        self.attributes(element);
    }

    /// Elements that stand in words keep them together, others part them.
    fn inside(&mut self, element: Element<'_>) {
        let mut open = vec![(element, element.children(), has_own_text(element))];
        while let Some((_, children, inline)) = open.last_mut() {
            let inline = *inline;
            match children.next() {
                Some(Child::Element(child)) => {
                    if !inline && !self.text.is_empty() {
                        self.push(" ");
                    }
                    open.push((child, child.children(), has_own_text(child)));
                }
                Some(Child::Text(piece)) => self.push(piece),
                None => {
                    let closed = open.pop().map(|(closed, ..)| closed).filter(|_| !open.is_empty());
                    if let Some(closed) = closed {
                        self.attributes(closed);
                    }
                }
            }
        }
    }

    fn attributes(&mut self, element: Element<'_>) {
        for (name, value) in facts(element).filter(|(name, _)| SAID.contains(name)) {
            self.text.push_str(&if name == "alt" { format!(" {value}") } else { format!(" ({value})") });
            self.told = true;
        }
    }
}
