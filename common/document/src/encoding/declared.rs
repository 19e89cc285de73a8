//! What markup says of its own encoding, read the way browsers read it: a scan of the first bytes, no parser.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, X_USER_DEFINED};

/// Browsers look at 1,024 bytes; generators put long comments first, so we look a little further.
const PRESCAN_BYTES: usize = 4 << 10;

/// The encoding in the XML declaration or the first `<meta>` that names one.
pub(super) fn declared_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..PRESCAN_BYTES).unwrap_or(bytes).to_ascii_lowercase();
    let head = without_comments(&String::from_utf8_lossy(&head));
    let label = xml_declaration(&head).or_else(|| meta(&head))?;
    match Encoding::for_label(label.as_bytes())? {
        // What could be read as ASCII is not UTF-16 (WHATWG, "prescan a byte stream").
        encoding if encoding == UTF_16LE || encoding == UTF_16BE => Some(UTF_8),
        encoding if encoding == X_USER_DEFINED => None,
        encoding => Some(encoding),
    }
}

fn without_comments(head: &str) -> String {
    let mut out = String::with_capacity(head.len());
    let mut rest = head;
    while let Some((before, after)) = rest.split_once("<!--") {
        out.push_str(before);
        rest = after.split_once("-->").map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out
}

fn xml_declaration(head: &str) -> Option<&str> {
    let declaration = head.trim_start().strip_prefix("<?xml")?.split("?>").next()?;
    let (_, value) = declaration.split_once("encoding")?;
    attribute_value(value.trim_start().strip_prefix('=')?)
}

fn meta(head: &str) -> Option<&str> {
    head.split("<meta").skip(1).find_map(|tag| {
        let tag = tag.split('>').next()?;
        // Both `charset="…"` and `content="text/html; charset=…"`.
        let (_, value) = tag.split_once("charset")?;
        attribute_value(value.trim_start().strip_prefix('=')?)
    })
}

fn attribute_value(value: &str) -> Option<&str> {
    let value = value.trim_start().trim_start_matches(['"', '\'']);
    let end = value.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '/')).unwrap_or(value.len());
    value.get(..end).filter(|label| !label.is_empty())
}
