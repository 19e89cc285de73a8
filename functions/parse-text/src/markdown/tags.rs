//! Raw HTML tags inside a paragraph.

/// What a tag within running text means for it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Tag {
    /// The line ends.
    Break,
    /// A picture.
    Picture,
    /// What follows is no text, up to the end tag of this name.
    Unreadable(&'static str),
    /// The end of such.
    Readable(&'static str),
    /// A block begins or ends.
    Block,
    /// Nothing: the text in it goes on.
    Nothing,
}

/// Reads one tag, comment or declaration.
pub(super) fn tag(html: &str) -> Tag {
    let inner = html.trim_start_matches('<');
    let (closing, inner) = inner.strip_prefix('/').map_or((false, inner), |inner| (true, inner));
    let end = inner.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(inner.len());
    let name = inner.get(..end).unwrap_or_default().to_ascii_lowercase();
    match name.as_str() {
        "br" => Tag::Break,
        "img" if !closing => Tag::Picture,
        "script" | "style" | "noscript" | "template" | "svg" | "iframe" => {
            let name = ["script", "style", "noscript", "template", "svg", "iframe"].into_iter().find(|n| *n == name).unwrap_or_default();
            if closing { Tag::Readable(name) } else { Tag::Unreadable(name) }
        }
        "p" | "div" | "li" | "ul" | "ol" | "tr" | "td" | "th" | "table" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "hr" | "details"
        | "summary" | "center" | "blockquote" | "pre" | "dt" | "dd" | "dl" | "section" | "figure" | "figcaption" => Tag::Block,
        _ => Tag::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_told_apart() {
        for (html, meaning) in [
            ("<br/>", Tag::Break),
            ("</BR>", Tag::Break),
            ("<img src=x>", Tag::Picture),
            ("<script>", Tag::Unreadable("script")),
            ("</Script >", Tag::Readable("script")),
            ("</td>", Tag::Block),
            ("<sup>", Tag::Nothing),
            ("<!-- br -->", Tag::Nothing),
            ("<", Tag::Nothing),
        ] {
            assert_eq!(tag(html), meaning, "{html}");
        }
    }
}
