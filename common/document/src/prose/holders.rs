//! Markers of lists, quotations and definitions, as the prefixes of the lines they hold.

use crate::numbering::numerals;

/// Holders beyond the innermost of these are no longer shown.
const SHOWN_DEPTH: usize = 32;

/// How the items of a list are told apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    next: Option<i64>,
    step: i64,
    style: char,
}

impl List {
    /// A list without numbers.
    pub fn plain() -> Self {
        Self { next: None, step: 0, style: '1' }
    }

    /// A numbered list from `start` on, upwards or downwards, in the manner of HTML's `type`: `1`, `a`, `A`, `i`, `I`.
    pub fn numbered(start: i64, reversed: bool, style: char) -> Self {
        Self { next: Some(start), step: if reversed { -1 } else { 1 }, style }
    }

    /// The marker of the next item, which may say its own number.
    fn marker(&mut self, value: Option<i64>) -> String {
        let Some(next) = self.next else { return "- ".to_owned() };
        let number = value.unwrap_or(next);
        self.next = Some(number.saturating_add(self.step));
        format!("{}. ", numeral(number, self.style))
    }
}

/// A number as `type` asks for it; what it cannot write is written in digits.
fn numeral(number: i64, style: char) -> String {
    let value = usize::try_from(number).unwrap_or_default();
    let word = match style {
        'a' | 'A' => numerals::positional_letters(value),
        // Browsers write Roman numerals as far as they are defined.
        'i' | 'I' => numerals::roman(value).filter(|_| value < 4_000),
        _ => None,
    };
    match word {
        Some(word) if style.is_ascii_uppercase() => word.to_ascii_uppercase(),
        Some(word) => word,
        None => number.to_string(),
    }
}

/// Something that gives the lines in it a prefix.
#[derive(Debug, Clone)]
enum Holder {
    Quote,
    List(List),
    /// The marker stands before the first line only; the others are indented by its width.
    Item {
        marker: String,
        fresh: bool,
    },
}

/// The quotations, lists and items that are open.
#[derive(Debug, Clone, Default)]
pub struct Holders {
    open: Vec<Holder>,
    lists: usize,
}

impl Holders {
    /// Opens a quotation.
    pub fn quote(&mut self) {
        self.open.push(Holder::Quote);
    }

    /// Opens a list.
    pub fn list(&mut self, list: List) {
        self.lists = self.lists.saturating_add(1);
        self.open.push(Holder::List(list));
    }

    /// Opens an item of the innermost list, which may say its own number; an item without a list has a plain marker.
    pub fn item(&mut self, value: Option<i64>) {
        let marker = match self.open.last_mut() {
            Some(Holder::List(list)) => list.marker(value),
            _ => "- ".to_owned(),
        };
        self.marked(marker);
    }

    /// Opens something with a marker of its own.
    pub fn marked(&mut self, marker: String) {
        self.lists = self.lists.saturating_add(1);
        self.open.push(Holder::Item { marker, fresh: true });
    }

    /// Closes what was opened last.
    pub fn close(&mut self) {
        if !matches!(self.open.pop(), Some(Holder::Quote) | None) {
            self.lists = self.lists.saturating_sub(1);
        }
    }

    /// Whether rows follow each other closely here.
    pub fn is_tight(&self) -> bool {
        self.lists > 0
    }

    /// Whether a quotation is open.
    pub fn in_quote(&self) -> bool {
        self.open.iter().any(|holder| matches!(holder, Holder::Quote))
    }

    /// Whether nothing is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Uses up the markers of open items, as a first line of theirs does.
    pub fn use_markers(&mut self) {
        for holder in &mut self.open {
            if let Holder::Item { fresh, .. } = holder {
                *fresh = false;
            }
        }
    }

    /// Text with its prefixes; markers are used up by it.
    pub fn prefixed(&mut self, text: &str) -> String {
        let (mut first, mut rest) = (String::new(), String::new());
        let hidden = self.open.len().saturating_sub(SHOWN_DEPTH);
        for holder in self.open.iter_mut().skip(hidden) {
            match holder {
                Holder::Item { marker, fresh } => {
                    let indentation = " ".repeat(marker.chars().count());
                    first.push_str(if *fresh { marker } else { &indentation });
                    rest.push_str(&indentation);
                    *fresh = false;
                }
                Holder::Quote => {
                    first.push_str("> ");
                    rest.push_str("> ");
                }
                Holder::List(_) => {}
            }
        }
        if first.is_empty() && rest.is_empty() {
            return text.to_owned();
        }
        let mut out = String::with_capacity(text.len().saturating_add(first.len()));
        for (index, line) in text.split('\n').enumerate() {
            out.push_str(if index == 0 { "" } else { "\n" });
            out.push_str(if index == 0 { &first } else { &rest });
            out.push_str(line);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numerals() {
        assert_eq!([1, 26, 27, 703].map(|n| numeral(n, 'a')), ["a", "z", "aa", "aaa"]);
        assert_eq!([1, 4, 1994].map(|n| numeral(n, 'I')), ["I", "IV", "MCMXCIV"]);
        assert_eq!([0, -3].map(|n| numeral(n, 'A')), ["0", "-3"]);
        assert_eq!(numeral(7, '1'), "7");
    }

    #[test]
    fn prefixes_nest() {
        let mut holders = Holders::default();
        holders.quote();
        holders.marked("10. ".into());
        assert_eq!(holders.prefixed("a\nb"), "> 10. a\n>     b");
        holders.marked("- ".into());
        assert_eq!(holders.prefixed("c"), ">     - c");
        assert!(holders.is_tight() && holders.in_quote());
        holders.close();
        holders.close();
        holders.close();
        holders.close();
        assert_eq!(holders.prefixed("d"), "d");
    }
}
