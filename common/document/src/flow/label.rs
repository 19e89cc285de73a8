//! How numbers and bullets are written in front of text.

/// What stands between a number and its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Suffix {
    /// A tab or a space.
    #[default]
    Space,
    /// Nothing.
    Nothing,
}

/// The number or bullet in front of a paragraph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// As shown; empty for a bullet.
    pub text: String,
    /// What follows it.
    pub suffix: Suffix,
    /// Whether it is a bullet.
    pub bullet: bool,
    /// Depth in its list, from 0.
    pub level: usize,
}

impl Label {
    /// The label in front of a text.
    pub fn before(&self, text: &str) -> String {
        match (self.suffix, text.is_empty()) {
            (_, true) => self.text.trim().to_owned(),
            (Suffix::Nothing, _) => format!("{}{text}", self.text),
            (Suffix::Space, _) => format!("{} {text}", self.text.trim_end()),
        }
    }
}

/// An item of a list: indented by its depth, with its number or a dash; and how many code points that puts in front.
pub(super) fn item(label: Option<&Label>, text: &str) -> (String, usize) {
    let Some(label) = label.filter(|_| !text.is_empty()) else { return (text.to_owned(), 0) };
    let indent = "  ".repeat(label.level);
    let body = if label.bullet { format!("- {text}") } else { label.before(text) };
    let shift = indent.chars().count().saturating_add(body.chars().count()).saturating_sub(text.chars().count());
    (format!("{indent}{body}"), shift)
}

/// A heading's title, and the line its label makes when it does not belong into the title.
///
/// A number (`1.2`, `IV.`, `(a)`, `第三章`) is part of the title. A label with words of its own ("SECTION 1", set above
/// or beside the title) is not: titles stay as their author wrote them, and the label is the section's first line.
/// Where there is no other title, the label is it.
pub(super) fn title(label: Option<&Label>, text: &str) -> (String, Option<String>) {
    let Some(label) = label.filter(|label| !label.bullet) else { return (text.to_owned(), None) };
    if text.is_empty() || is_number(&label.text) {
        return (label.before(text).trim().to_owned(), None);
    }
    (text.to_owned(), Some(label.text.trim().to_owned()))
}

/// Whether a label is a number in some script and no word.
fn is_number(label: &str) -> bool {
    label.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).all(|word| {
        let mut chars = word.chars();
        let first = chars.next();
        let repeated = chars.clone().all(|c| Some(c) == first);
        let roman = word.chars().all(|c| matches!(c.to_ascii_lowercase(), 'i' | 'v' | 'x' | 'l' | 'c' | 'd' | 'm'));
        let ideographs = word.chars().all(|c| c as u32 >= 0x2e80);
        let ordinal = matches!(word, "st" | "nd" | "rd" | "th");
        repeated || roman || ideographs || ordinal
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(text: &str, level: usize) -> Label {
        Label { text: text.to_owned(), suffix: Suffix::Space, bullet: false, level }
    }

    #[test]
    fn items_are_indented() {
        assert_eq!(item(Some(&label("2.", 1)), "two"), ("  2. two".to_owned(), 5));
        let bullet = Label { bullet: true, ..label("•", 0) };
        assert_eq!(item(Some(&bullet), "x"), ("- x".to_owned(), 2));
        assert_eq!(item(Some(&label("2.", 1)), ""), (String::new(), 0));
    }

    #[test]
    fn numbers_stand_in_titles_words_above_them() {
        for number in ["1.2", "IV.", "(a)", "AA.", "第三章", "제1장", "1st"] {
            assert_eq!(title(Some(&label(number, 0)), "Title"), (format!("{number} Title"), None));
        }
        assert_eq!(title(Some(&label("SECTION 1", 0)), "Title"), ("Title".to_owned(), Some("SECTION 1".to_owned())));
        assert_eq!(title(Some(&label("Article 5", 0)), ""), ("Article 5".to_owned(), None));
    }
}
