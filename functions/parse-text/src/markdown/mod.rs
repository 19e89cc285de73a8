//! Markdown: `CommonMark` with the extensions people use, read event by event.

mod block;
mod front_matter;
mod notes;
mod reader;
mod tags;

use pulldown_cmark::{Options, Parser};
use quarry_document::encoding::Decoded;
use quarry_document::prose::Collector;
use quarry_model::{Limits, Parsed, Row};

use reader::Reader;

/// Reads a Markdown document.
pub fn read(decoded: &Decoded<'_>, limits: &Limits) -> Parsed {
    let mut out = Collector::new(limits);
    let (front, body) = front_matter::split(&decoded.text);
    let mut title = None;
    if let Some(front) = front {
        title = front_matter::title(front.text);
        let content = front.text.trim().to_owned();
        out.push(Row { source_span: decoded.source_span(front.range), ..Row::text(None, content) });
    }
    let start = decoded.text.len().saturating_sub(body.len());
    let mut reader = Reader::new(decoded, start, out);
    let mut events = Parser::new_ext(body, options()).into_offset_iter().peekable();
    while let Some((event, range)) = events.next() {
        reader.event(event, range);
        while events.peek().is_some_and(|(_, range)| reader.has_read(range)) {
            events.next();
        }
    }
    let mut parsed = reader.finish();
    parsed.title = title;
    parsed
}

fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_MATH
        | Options::ENABLE_GFM
        | Options::ENABLE_DEFINITION_LIST
}

#[cfg(test)]
mod tests;
