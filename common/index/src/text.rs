//! The texts a chunk is found by.

use quarry_model::{ChunkType, path};

use crate::document::IndexedChunk;

/// Divides stretches that are not neighbours: nothing is found across it. A control character, so no text holds it
/// as part of a word.
pub(crate) const BREAK: char = '\u{3}';

/// What the content channel sees: the content (cells of a table without their tags, text without the marks of its
/// assets), and the section's summary unless the content itself says it.
pub(crate) fn content_text(indexed: &IndexedChunk) -> String {
    let chunk = &indexed.chunk;
    let mut text = match chunk.kind {
        ChunkType::Table => without_tags(&chunk.content),
        ChunkType::Text | ChunkType::Image => without_marks(&chunk.content),
    };
    let summary = indexed.section.summary.trim();
    if !summary.is_empty() && !text.contains(summary) {
        text.push(BREAK);
        text.push_str(summary);
    }
    text
}

/// What the path channel sees: every segment of the chunk's path on its own, file name first, the section's title, and
/// those of empty sections beside it.
pub(crate) fn path_text(indexed: &IndexedChunk) -> String {
    let mut segments = path::split(&indexed.chunk.path);
    let title = indexed.section.title.trim();
    if !title.is_empty() && !segments.iter().any(|segment| segment == title) {
        segments.push(title.to_owned());
    }
    segments.extend(indexed.section.beside.iter().cloned());
    segments.join(&String::from(BREAK))
}

/// Text without `[images/…]` and `[tables/…]`.
fn without_marks(content: &str) -> String {
    let mut out = String::with_capacity(content.len());
    let mut rest = content;
    while let Some(at) = rest.find('[') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let is_mark = from.starts_with("[images/") || from.starts_with("[tables/");
        let end = from.find(']').filter(|&end| is_mark && !from[..end].contains('\n'));
        rest = if let Some(end) = end {
            out.push(BREAK);
            &from[end + 1..]
        } else {
            out.push('[');
            &from[1..]
        };
    }
    out.push_str(rest);
    out
}

/// Canonical table HTML as the text of its cells.
fn without_tags(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find(['<', '&']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (replacement, length) = if rest.starts_with('<') {
            rest.find('>').map_or((String::from('<'), 1), |end| (String::from(BREAK), end + 1))
        } else {
            entity(rest).unwrap_or((String::from('&'), 1))
        };
        out.push_str(&replacement);
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

/// The character an entity at the beginning of `text` stands for, and its length.
fn entity(text: &str) -> Option<(String, usize)> {
    let end = text.bytes().take(12).position(|byte| byte == b';')?;
    let name = &text[1..end];
    let c = match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = number.strip_prefix(['x', 'X']).map_or_else(|| number.parse().ok(), |hex| u32::from_str_radix(hex, 16).ok())?;
            char::from_u32(code)?
        }
    };
    Some((c.to_string(), end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_tags_are_not_text() {
        assert_eq!(without_marks("a [images/image-1.png] b [1] c [tables/x"), "a \u{3} b [1] c [tables/x");
        let cells = without_tags("<table><tr><td colspan=\"2\">R&amp;D</td><td>5 &#x3C; 6 & 7</td></tr></table>");
        assert_eq!(cells.split('\u{3}').filter(|cell| !cell.is_empty()).collect::<Vec<_>>(), ["R&D", "5 < 6 & 7"]);
    }
}
