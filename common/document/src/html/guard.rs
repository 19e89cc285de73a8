//! A linear scan over tags, before any tree is built.

use memchr::memmem;

/// A tag in the source.
pub(super) struct TagAt<'a> {
    /// In lower case.
    pub(super) name: String,
    pub(super) closing: bool,
    /// Attributes, near enough for a limit.
    pub(super) attributes: usize,
    /// What follows it.
    pub(super) rest: &'a str,
}

/// The next tag of `text`; comments are passed over, and so is what stands in elements that hold no markup.
pub(super) fn next_tag(text: &str) -> Option<TagAt<'_>> {
    let mut rest = text;
    loop {
        rest = rest.get(memchr::memchr(b'<', rest.as_bytes())?.saturating_add(1)..)?;
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = memmem::find(comment.as_bytes(), b"-->").and_then(|at| comment.get(at..))?;
            continue;
        }
        let (closing, name_onwards) = rest.strip_prefix('/').map_or((false, rest), |after| (true, after));
        if !name_onwards.starts_with(|c: char| c.is_ascii_alphabetic()) {
            continue;
        }
        let end = name_onwards.find(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>')).unwrap_or(name_onwards.len());
        let (name, inner) = name_onwards.split_at(end);
        // Element names are short; what is longer is no element we look for.
        let name = name.get(..name.len().min(32)).unwrap_or_default().to_ascii_lowercase();
        let (attributes, after) = attributes(inner);
        let after = if closing { after } else { after_raw_text(&name, after) };
        return Some(TagAt { name, closing, attributes, rest: after });
    }
}

/// Counts the attributes up to the `>` of a tag, and answers what follows it.
fn attributes(inner: &str) -> (usize, &str) {
    let (mut count, mut quote, mut between, mut after_equals) = (0_usize, None, true, false);
    for (at, byte) in inner.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), byte) => {
                if open == byte {
                    quote = None;
                    between = true;
                }
            }
            (None, b'>') => return (count, inner.get(at.saturating_add(1)..).unwrap_or_default()),
            (None, b'"' | b'\'') if after_equals => {
                quote = Some(byte);
                after_equals = false;
            }
            (None, b'=') => after_equals = true,
            (None, byte) if byte.is_ascii_whitespace() || byte == b'/' => between = true,
            (None, _) => {
                count = count.saturating_add(usize::from(between && !after_equals));
                between = false;
                after_equals = false;
            }
        }
    }
    (count, "")
}

/// Scripts, styles and the like hold no tags; what follows such an element begins at its end tag.
fn after_raw_text<'a>(name: &str, text: &'a str) -> &'a str {
    if !matches!(name, "script" | "style" | "textarea" | "title" | "xmp" | "noembed" | "noframes") {
        return text;
    }
    let bytes = text.as_bytes();
    memmem::find_iter(bytes, b"</")
        .find(|at| {
            let name_at = at.saturating_add(2);
            bytes.get(name_at..name_at.saturating_add(name.len())).is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
        })
        .and_then(|at| text.get(at..))
        .unwrap_or_default()
}

/// The most attributes on one tag, looking no further than the first with more than `enough`.
pub(super) fn most_attributes(html: &str, enough: usize) -> usize {
    let (mut most, mut rest) = (0, html);
    while let Some(tag) = next_tag(rest) {
        most = most.max(tag.attributes);
        if most > enough {
            break;
        }
        rest = tag.rest;
    }
    most
}

/// Where the element `name` that `text` begins with ends, its end tag included.
pub(super) fn balanced_end(text: &str, name: &str) -> Option<usize> {
    let (mut open, mut rest) = (0_usize, text);
    while let Some(tag) = next_tag(rest) {
        rest = tag.rest;
        if tag.name != name {
            continue;
        }
        open = if tag.closing { open.saturating_sub(1) } else { open.saturating_add(1) };
        if open == 0 {
            return Some(text.len().saturating_sub(rest.len()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_counted() {
        for (html, most) in [
            ("<a href=\"x y z\" title='a > b' hidden>", 3),
            ("<br/><img src=a alt = b />", 2),
            ("<script>if (a<b c d e f g h) {}</script><p a>", 1),
            ("<!-- <p a b c d e> --><p a b>", 2),
            ("a < b c d e f", 0),
            ("<p", 0),
            ("<p a", 1),
            ("<p a='", 1),
        ] {
            assert_eq!(most_attributes(html, 100), most, "{html}");
        }
    }

    #[test]
    fn a_table_ends_where_it_is_closed() {
        let html = "<table a>\n\n<tr><td><TABLE></TABLE></td></tr></table> after";
        assert_eq!(balanced_end(html, "table").and_then(|end| html.get(end..)), Some(" after"));
        assert_eq!(balanced_end("<table><tr>", "table"), None);
    }
}
