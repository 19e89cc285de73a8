//! XHTML as HTML: what the two syntaxes read differently is rewritten, so that one tree builder serves both.
//!
//! In HTML `<script/>`, `<title/>` and `<a id="x"/>` stay open and swallow what follows, a CDATA section is a comment,
//! and a document type with entity declarations ends at its first `>`.

/// Elements without content, which HTML ends by itself.
const VOID: [&str; 16] =
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr", "frame", "basefont"];

/// Rewrites; linear in the text.
pub(super) fn as_html(xhtml: &str) -> String {
    let mut out = String::with_capacity(xhtml.len().saturating_add(1_024));
    let mut rest = xhtml;
    while let Some(at) = memchr::memchr(b'<', rest.as_bytes()) {
        let (before, tag) = rest.split_at(at);
        out.push_str(before);
        rest = if let Some(body) = tag.strip_prefix("<![CDATA[") {
            let (text, after) = body.split_once("]]>").unwrap_or((body, ""));
            push_escaped(text, &mut out);
            after
        } else if tag.starts_with("<!--") {
            copy_to(tag, "-->", &mut out)
        } else if tag.starts_with("<?") {
            tag.split_once("?>").map_or("", |(_, after)| after)
        } else if tag.get(..9).is_some_and(|start| start.eq_ignore_ascii_case("<!DOCTYPE")) {
            out.push_str("<!DOCTYPE html>");
            after_doctype(tag)
        } else {
            element(tag, &mut out)
        };
    }
    out.push_str(rest);
    out
}

fn copy_to<'a>(text: &'a str, end: &str, out: &mut String) -> &'a str {
    let length = text.find(end).map_or(text.len(), |at| at.saturating_add(end.len()));
    let (copied, after) = text.split_at(length);
    out.push_str(copied);
    after
}

/// What follows a document type and the declarations in it.
fn after_doctype(text: &str) -> &str {
    let (mut quote, mut inside) = (None, false);
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), byte) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'[') => inside = true,
            (None, b']') => inside = false,
            (None, b'>') if !inside => return text.get(at.saturating_add(1)..).unwrap_or_default(),
            _ => {}
        }
    }
    ""
}

/// Copies one tag; one that closes itself is closed by a tag of its own, unless HTML closes it too.
fn element<'a>(text: &'a str, out: &mut String) -> &'a str {
    let mut quote = None;
    let end = text.bytes().enumerate().skip(1).find_map(|(at, byte)| match (quote, byte) {
        (Some(open), byte) => {
            if open == byte {
                quote = None;
            }
            None
        }
        (None, b'"' | b'\'') => {
            quote = Some(byte);
            None
        }
        (None, b'>') => Some(at),
        _ => None,
    });
    let Some(end) = end else {
        out.push_str(text);
        return "";
    };
    let (tag, after) = text.split_at(end.saturating_add(1));
    let name = tag.get(1..).unwrap_or_default();
    let name = name.split(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>')).next().unwrap_or_default();
    let closes_itself = tag.strip_suffix("/>").filter(|_| name.starts_with(|c: char| c.is_ascii_alphabetic()));
    match closes_itself {
        Some(open) if !VOID.iter().any(|void| void.eq_ignore_ascii_case(name)) => {
            out.push_str(open);
            out.push_str("></");
            out.push_str(name);
            out.push('>');
        }
        _ => out.push_str(tag),
    }
    after
}

fn push_escaped(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::as_html;

    #[test]
    fn what_xml_closes_is_closed() {
        for (xhtml, html) in [
            ("<a id=\"x\"/>text<br/>", "<a id=\"x\"></a>text<br/>"),
            ("<title/><p title='a > b' />x", "<title></title><p title='a > b' ></p>x"),
            ("<p><![CDATA[a < b & c]]></p>", "<p>a &lt; b &amp; c</p>"),
            ("<?xml version=\"1.0\"?><!DOCTYPE html [<!ENTITY a \"]>\">]><html>", "<!DOCTYPE html><html>"),
            ("<!-- <a/> --><b/>", "<!-- <a/> --><b></b>"),
            ("a < b <c", "a < b <c"),
            ("<![CDATA[open", "open"),
        ] {
            assert_eq!(as_html(xhtml), html);
        }
    }
}
