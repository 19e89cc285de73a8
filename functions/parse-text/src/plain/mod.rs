//! Plain text: paragraphs as they are written, and the headings that can be told from text alone.

mod caps;
mod headings;
mod levels;
mod paragraphs;
mod underline;

use quarry_document::encoding::Decoded;
use quarry_model::{Evidence, Heading, Parsed, Row};

use headings::Found;
use levels::Levels;
use paragraphs::Paragraphs;

/// Reads a plain text.
pub fn read(decoded: &Decoded<'_>) -> Parsed {
    let text = decoded.text.as_ref();
    let paragraphs = Paragraphs::of(text);
    let headings = headings::find(&paragraphs);
    let mut levels = Levels::default();
    let mut parsed = Parsed { page_count: paragraphs.pages, ..Parsed::default() };
    let mut found = headings.into_iter().peekable();
    for (index, paragraph) in paragraphs.all.iter().enumerate() {
        let mut body = paragraph.range.clone();
        let page = paragraphs.pages.map(|_| paragraph.page);
        if let Some(Found { key, title, rest, .. }) = found.next_if(|found| found.paragraph == index) {
            parsed.headings.push(Heading { title, number: None, level: levels.level(key), page, evidence: Evidence::Numbering });
            body.start = rest;
        }
        let content = paragraphs.content(body.clone());
        if content.is_empty() {
            continue;
        }
        let section = parsed.headings.len().checked_sub(1);
        parsed.rows.push(Row { pages: page.into_iter().collect(), source_span: decoded.source_span(body), ..Row::text(section, content) });
    }
    parsed
}

#[cfg(test)]
mod tests;
