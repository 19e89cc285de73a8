//! Fragments → rows.
//!
//! What this room is for: text and ready-made chunks that a caller posts instead of a file. What enters: JSON of the media
//! type `application/vnd.quarry.fragment+json` (see [`request`]). What leaves: rows in the order given, under the
//! sections given, on the pages given, with what the caller says of them. What it must never do: drop a field in silence,
//! take an identity or a link from outside: those follow from the content, as for every other format.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

pub mod request;
mod sections;

use quarry_document::encoding::{self, Declaration};
use quarry_document::html::{self, Surroundings};
use quarry_document::prose::Collector;
use quarry_document::{Parser, Source};
use quarry_model::{DocumentCode, DocumentFailure, Limits, Parsed, Row};

use request::{Chunk, Fragment, Kind};
use sections::Sections;

/// The parser of fragments.
#[derive(Debug, Clone, Copy, Default)]
pub struct FragmentParser;

impl Parser for FragmentParser {
    fn name(&self) -> &'static str {
        "parse-fragment"
    }

    fn version(&self) -> &'static str {
        "1"
    }

    fn parse(&self, source: &Source<'_>, limits: &Limits) -> Result<Parsed, DocumentFailure> {
        let decoded = encoding::read(source.bytes, Declaration::Never)?;
        let fragment = Fragment::read(&decoded.text)?;
        let mut writer = Writer { out: Collector::new(limits), sections: Sections::default() };
        writer.paragraphs(&fragment.text);
        for chunk in &fragment.chunks {
            writer.chunk(chunk)?;
        }
        let mut parsed = writer.out.finish();
        if parsed.rows.iter().all(|row| row.content.trim().is_empty() && row.table.is_none()) {
            return Err(DocumentFailure::new(DocumentCode::Empty, "the fragment holds neither text nor chunks with content"));
        }
        // Pages are positions the caller knows; the format has none of its own.
        parsed.page_count = parsed.rows.iter().flat_map(|row| row.pages.iter().copied()).max();
        parsed.title = fragment.title;
        parsed.warnings.extend(decoded.warning());
        Ok(parsed)
    }
}

struct Writer<'l> {
    out: Collector<'l>,
    sections: Sections,
}

impl Writer<'_> {
    /// Text before all chunks: paragraphs as blank lines part them.
    fn paragraphs(&mut self, text: &str) {
        for paragraph in
            text.replace("\r\n", "\n").split("\n\n").map(|part| part.trim_matches('\n').trim_end()).filter(|part| !part.is_empty())
        {
            self.out.push(Row::text(None, paragraph));
        }
    }

    fn chunk(&mut self, chunk: &Chunk) -> Result<(), DocumentFailure> {
        let section = self.sections.open(&chunk.section, &mut self.out);
        let begin = self.out.next_row();
        match chunk.kind {
            Kind::Text => self.text(section, &chunk.content),
            Kind::Image => {
                self.out.push(Row { asset: None, ..Row::image(section, 0, chunk.content.trim()) });
            }
            Kind::Table if chunk.content.contains("<table") => {
                html::read_fragment(&chunk.content, &mut self.out, &Surroundings::default())?;
            }
            Kind::Table => self.text(section, &chunk.content),
        }
        let end = self.out.next_row();
        let said = chunk.said.iter().map(|(key, value)| format!("{key}: {value}")).collect::<Vec<_>>().join("\n");
        if !said.is_empty() {
            self.out.push(Row { tight: chunk.kind == Kind::Text && end > begin, ..Row::text(section, said) });
        }
        for row in self.out.rows_mut().iter_mut().skip(begin) {
            row.section = section;
            row.pages.clone_from(&chunk.pages);
            row.hidden = chunk.hidden;
        }
        Ok(())
    }

    fn text(&mut self, section: Option<usize>, content: &str) {
        let content = content.trim_matches('\n').trim_end();
        if !content.is_empty() {
            self.out.push(Row::text(section, content));
        }
    }
}

#[cfg(test)]
mod tests;
