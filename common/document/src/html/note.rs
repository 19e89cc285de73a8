//! Notes: their marks in the text, and where the notes themselves stand.

use ego_tree::NodeRef;
use scraper::Node;
use scraper::node::Element;

use super::content;

/// Whether a link is the mark of a note: by EPUB's word for it, ARIA's, or GitHub's.
pub(super) fn is_mark(element: &Element) -> bool {
    says(element, "epub:type", "noteref") || says(element, "role", "doc-noteref") || element.attr("data-footnote-ref").is_some()
}

/// The id of the note that a mark leads to, and the mark as shown, without brackets around it.
pub(super) fn reference(node: NodeRef<'_, Node>, element: &Element) -> Option<(String, String)> {
    let (_, id) = element.attr("href")?.split_once('#')?;
    let words = content::words(node);
    let mark = words.trim_matches(|c: char| matches!(c, '[' | ']' | '(' | ')') || c.is_whitespace());
    (!id.is_empty() && !mark.is_empty()).then(|| (id.to_owned(), mark.to_owned()))
}

/// Whether a link only leads back from a note to its mark.
pub(super) fn is_way_back(node: NodeRef<'_, Node>, element: &Element) -> bool {
    let back =
        says(element, "role", "doc-backlink") || says(element, "epub:type", "backlink") || element.attr("data-footnote-backref").is_some();
    element.name() == "a" && back && !content::has_words(node)
}

/// A note's text without the mark that it begins with itself.
pub(super) fn without_mark<'t>(text: &'t str, mark: &str) -> &'t str {
    let begun = text.trim_start_matches(['[', '(', ' ']);
    match begun.strip_prefix(mark) {
        Some(rest) if !rest.starts_with(char::is_alphanumeric) => rest.trim_start_matches([']', ')', '.', ':', '\n', ' ', '\u{a0}']),
        _ => text,
    }
}

fn says(element: &Element, attribute: &str, word: &str) -> bool {
    element.attr(attribute).is_some_and(|value| value.split_ascii_whitespace().any(|w| w == word))
}

#[cfg(test)]
mod tests {
    use super::without_mark;

    #[test]
    fn a_note_does_not_say_its_mark_twice() {
        for text in ["1 Said.", "[1] Said.", "(1) Said.", "1. Said.", "1: Said.", "Said."] {
            assert_eq!(without_mark(text, "1"), "Said.", "{text}");
        }
        assert_eq!(without_mark("10 of them", "1"), "10 of them");
        assert_eq!(without_mark("[1]", "1"), "");
    }
}
