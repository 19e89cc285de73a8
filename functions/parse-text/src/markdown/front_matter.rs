//! Metadata at the head of a document: YAML between `---`, TOML between `+++`.

use std::ops::Range;

/// The block, without its fences.
pub(super) struct FrontMatter<'a> {
    pub(super) text: &'a str,
    /// Bytes of the document, fences included.
    pub(super) range: Range<usize>,
}

/// Splits front matter off. A document that begins with a rule has none: its first line must be `key: value` or
/// `key = value`, and the block must be closed.
pub(super) fn split(text: &str) -> (Option<FrontMatter<'_>>, &str) {
    find(text).map_or((None, text), |front| {
        let body = text.get(front.range.end..).unwrap_or_default();
        (Some(front), body)
    })
}

fn find(text: &str) -> Option<FrontMatter<'_>> {
    let mut at = 0_usize;
    let mut lines = text.split_inclusive('\n').map(|line| {
        let start = at;
        at = at.saturating_add(line.len());
        (start..at, line.trim_end())
    });
    let (opening, fence) = lines.next()?;
    let separator = match fence {
        "---" => ':',
        "+++" => '=',
        _ => return None,
    };
    let mut keyed = None;
    for (range, line) in lines {
        if line == fence || (separator == ':' && line == "...") {
            return Some(FrontMatter { text: text.get(opening.end..range.start)?, range: 0..range.end }).filter(|_| keyed == Some(true));
        }
        if keyed.is_none() && !line.is_empty() && !line.starts_with('#') {
            keyed = Some(line.split_once(separator).is_some_and(|(key, _)| is_key(key)));
        }
        if keyed == Some(false) {
            return None;
        }
    }
    None
}

fn is_key(key: &str) -> bool {
    let key = key.trim();
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '"' | ' '))
}

/// The value of the key `title`.
pub(super) fn title(text: &str) -> Option<String> {
    let value = text.lines().find_map(|line| {
        let (key, value) = line.split_once([':', '='])?;
        (key == "title" || key == "title ").then_some(value)
    })?;
    let value = value.trim();
    let bare =
        [('"', '"'), ('\'', '\'')].into_iter().find_map(|(open, close)| value.strip_prefix(open)?.strip_suffix(close)).unwrap_or(value);
    (!bare.is_empty() && !matches!(bare, "|" | ">" | "|-" | ">-")).then(|| bare.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_and_toml() {
        let (front, body) = split("---\ntitle: \"A: b\"\ntags: [x]\n---\n# Head\n");
        let front = front.unwrap();
        assert_eq!((front.text, front.range.clone(), body), ("title: \"A: b\"\ntags: [x]\n", 0..32, "# Head\n"));
        assert_eq!(title(front.text).as_deref(), Some("A: b"));
        let (front, body) = split("+++\r\ntitle = 'T'\r\n+++\r\nx");
        assert_eq!((title(front.unwrap().text).as_deref(), body), (Some("T"), "x"));
    }

    #[test]
    fn a_rule_is_no_front_matter() {
        for text in ["---\n\nText\n---\n", "---\nText and more\n---\n", "---\ntitle: x\n", "", "---", "--- \nx: y\n--- x\n"] {
            assert!(split(text).0.is_none(), "{text:?}");
        }
    }
}
