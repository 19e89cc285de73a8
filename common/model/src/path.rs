//! Paths of sections: `file name/heading/heading`, with `/` inside a segment escaped so that splitting is exact.

/// What `/` inside a segment is written as (DIVISION SLASH); a real U+2215 is doubled.
pub const ESCAPED_SLASH: char = '\u{2215}';

/// Writes one segment: `/` becomes U+2215, U+2215 is doubled, control characters become spaces.
pub fn escape(segment: &str) -> String {
    let mut out = String::with_capacity(segment.len());
    for c in segment.chars() {
        match c {
            '/' => out.push(ESCAPED_SLASH),
            ESCAPED_SLASH => out.extend([ESCAPED_SLASH; 2]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Reads one segment back. Two U+2215 are read as one, so a doubled slash in the source (`//`) comes back as one
/// U+2215: splitting is always exact, titles are kept beside paths wherever their exact text matters.
pub fn unescape(segment: &str) -> String {
    let mut out = String::with_capacity(segment.len());
    let mut chars = segment.chars().peekable();
    while let Some(c) = chars.next() {
        if c != ESCAPED_SLASH {
            out.push(c);
        } else if chars.peek() == Some(&ESCAPED_SLASH) {
            chars.next();
            out.push(ESCAPED_SLASH);
        } else {
            out.push('/');
        }
    }
    out
}

/// Joins raw segments into a path.
pub fn join<'a>(segments: impl IntoIterator<Item = &'a str>) -> String {
    segments.into_iter().map(escape).collect::<Vec<_>>().join("/")
}

/// Splits a path into its raw segments.
pub fn split(path: &str) -> Vec<String> {
    path.split('/').map(unescape).collect()
}

/// A path as people and clients see it (`section_path`): the titles below the file name joined by ` / `, or the file
/// name itself when there are none. Segments stay escaped, so that ` / ` always separates.
pub fn shown(path: &str) -> String {
    let titles = path.split_once('/').map_or(path, |(_, titles)| titles);
    titles.replace('/', " / ")
}

/// Whether `path` is `ancestor` or lies below it, both in the form of [`join`].
pub fn is_within(path: &str, ancestor: &str) -> bool {
    path.strip_prefix(ancestor).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn slashes_survive() {
        assert_eq!(join(["a/b.md", "1/2 Half"]), "a\u{2215}b.md/1\u{2215}2 Half");
        assert_eq!(split(&join(["a/b.md", "x\u{2215}y"])), ["a/b.md", "x\u{2215}y"]);
    }

    #[test]
    fn shown_without_the_file_name_and_separated_exactly() {
        assert_eq!(shown(&join(["a.md", "1/2 Half", "Setup"])), "1\u{2215}2 Half / Setup");
        assert_eq!(shown("a.md"), "a.md");
        assert!(is_within("a.md/Setup/Wiring", "a.md/Setup") && is_within("a.md/Setup", "a.md/Setup"));
        assert!(!is_within("a.md/Setup two", "a.md/Setup"));
    }

    proptest! {
        #[test]
        fn splitting_undoes_joining(segments in prop::collection::vec("([^/\u{2215}\\p{Cc}]{1,3}/?){0,4}", 1..5)) {
            let path = join(segments.iter().map(String::as_str));
            prop_assert_eq!(split(&path), segments);
        }

        #[test]
        fn the_number_of_segments_never_changes(segments in prop::collection::vec(".{0,12}", 1..5)) {
            prop_assert_eq!(split(&join(segments.iter().map(String::as_str))).len(), segments.len());
        }
    }
}
