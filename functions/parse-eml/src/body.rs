//! Plain text of messages.

use mail_parser::{MessagePart, MimeHeaders};
use quarry_document::prose::Collector;
use quarry_model::Row;

/// Adds a plain text part: paragraphs as they stand, lines of flowed text joined (RFC 3676).
pub(crate) fn plain(text: &str, part: &MessagePart<'_>, out: &mut Collector<'_>) {
    let parameter = |name| part.content_type().and_then(|kind| kind.attribute(name)).unwrap_or_default();
    let flowed = parameter("format").eq_ignore_ascii_case("flowed");
    let text = if flowed { unfold(text, parameter("delsp").eq_ignore_ascii_case("yes")) } else { text.to_owned() };
    paragraphs(&text, out);
}

/// Adds text, a row for each paragraph.
pub(crate) fn paragraphs(text: &str, out: &mut Collector<'_>) {
    let section = out.section();
    let mut paragraph = String::new();
    let flush = |paragraph: &mut String, out: &mut Collector<'_>| {
        let text = std::mem::take(paragraph);
        if !text.trim().is_empty() {
            out.push(Row::text(section, text.trim_end()));
        }
    };
    let text = text.replace("\r\n", "\n");
    for line in text.split(['\n', '\r', '\u{c}']) {
        // A line of nothing but quotation marks parts paragraphs of what is quoted.
        if line.trim_matches(|c: char| c.is_whitespace() || c == '>').is_empty() {
            flush(&mut paragraph, out);
            continue;
        }
        if !paragraph.is_empty() {
            paragraph.push('\n');
        }
        paragraph.extend(line.trim_end().chars().filter(|c| !c.is_control() || *c == '\t'));
    }
    flush(&mut paragraph, out);
}

/// Joins lines that end in a space with the next of the same depth of quotation.
fn unfold(text: &str, delete_space: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut open: Option<usize> = None;
    for line in text.lines() {
        let depth = line.bytes().take_while(|byte| *byte == b'>').count();
        let body = line.get(depth..).unwrap_or_default();
        let body = body.strip_prefix(' ').unwrap_or(body);
        // The separator of signatures looks flowed and is not.
        let flows = body.ends_with(' ') && body != "-- ";
        if open != Some(depth) {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&">".repeat(depth.min(64)));
            if depth > 0 {
                out.push(' ');
            }
        }
        out.push_str(if flows && delete_space { body.strip_suffix(' ').unwrap_or(body) } else { body });
        open = flows.then_some(depth);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::unfold;

    #[test]
    fn flowed_lines_are_joined() {
        assert_eq!(
            unfold("a long \r\nline\r\nnext\r\n> quoted \r\n> words\r\n-- \r\nname", false),
            "a long line\nnext\n> quoted words\n-- \nname"
        );
        assert_eq!(unfold("日本 \r\n語", true), "日本語");
    }
}
