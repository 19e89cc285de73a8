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
    /// As shown.
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
    let body = match label.text.as_str() {
        // A box says whether its item is done.
        mark @ ("☐" | "☑" | "☒") if label.bullet => format!("- {mark} {text}"),
        _ if label.bullet => format!("- {text}"),
        _ => label.before(text),
    };
    let shift = indent.chars().count().saturating_add(body.chars().count()).saturating_sub(text.chars().count());
    (format!("{indent}{body}"), shift)
}

/// A heading's title, and the number its document counts for it (`1.2`, `(a)`, `第三章`, `SECTION 1`). Where there is no title,
/// the number is it.
pub(super) fn title(label: Option<&Label>, text: &str) -> (String, Option<String>) {
    let number = label.filter(|label| !label.bullet).map(|label| label.text.trim()).filter(|number| !number.is_empty());
    match number {
        Some(number) if text.is_empty() => (number.to_owned(), None),
        number => (text.to_owned(), number.map(str::to_owned)),
    }
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
        assert_eq!(item(Some(&Label { bullet: true, ..label("☒", 0) }), "x"), ("- ☒ x".to_owned(), 4));
        assert_eq!(item(Some(&label("2.", 1)), ""), (String::new(), 0));
    }

    #[test]
    fn numbers_stand_beside_titles() {
        for number in ["1.2", "IV.", "(a)", "第三章", "SECTION 1"] {
            assert_eq!(title(Some(&label(number, 0)), "Title"), ("Title".to_owned(), Some(number.to_owned())));
        }
        assert_eq!(title(Some(&label("Article 5", 0)), ""), ("Article 5".to_owned(), None));
        assert_eq!(title(None, "Title"), ("Title".to_owned(), None));
    }
}
