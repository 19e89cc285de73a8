//! The units that evidence is made of: sentences, table rows, pictures; and what each is worth.

use quarry_language::tokens;
use quarry_model::ChunkType;

use super::leaf::Leaf;
use crate::passage::{Part, Passage, Words, visible_text};
use crate::ranking::Matcher;

/// Worth of any unit of a leaf, whatever it says.
const FLOOR: f32 = 0.02;
/// Worth of the sentence that opens a section: it says what the section is about.
const LEAD: f32 = 0.5;
/// What came along with a hit counts this much of its leaf's best.
const COMPANION: f32 = 0.3;

/// The smallest piece that is shown or left out whole.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    /// Index of the leaf.
    pub(super) leaf: usize,
    /// Index of the chunk in its leaf.
    pub(super) chunk: usize,
    /// Text to show.
    pub(super) text: Text,
    /// What it is worth; larger is better.
    pub(super) value: f32,
    /// Tokens it costs, about.
    pub(super) tokens: u32,
    /// The ordinal it belongs to: the chunk's own, or that of the asset embedded in it.
    pub(super) ordinal: u32,
}

/// What a unit shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Text {
    /// Bytes of the chunk's content, white space included.
    Sentence(std::ops::Range<usize>),
    /// A whole table as HTML.
    Table(String),
    /// A row of a table; the opening (with the header rows) and the closing frame its rows.
    Row { table: u32, row: String, open: String },
    /// A picture: its file and its words.
    Image { file: Option<String>, words: String },
}

/// All units of all leaves, in reading order.
pub(super) fn of(leaves: &[Leaf], matcher: &Matcher<'_>) -> Vec<Unit> {
    let mut units = Vec::new();
    for (leaf_index, leaf) in leaves.iter().enumerate() {
        for (chunk_index, chunk) in leaf.chunks.iter().enumerate() {
            let mut maker = Maker { units: &mut units, leaf, leaf_index, chunk_index, matcher };
            maker.chunk(chunk);
        }
    }
    units
}

struct Maker<'a, 'm> {
    units: &'a mut Vec<Unit>,
    leaf: &'a Leaf,
    leaf_index: usize,
    chunk_index: usize,
    matcher: &'a Matcher<'m>,
}

impl Maker<'_, '_> {
    fn chunk(&mut self, passage: &Passage) {
        if passage.stored.indexed.chunk.kind != ChunkType::Text {
            self.asset(passage);
            return;
        }
        let content = passage.stored.indexed.chunk.content.as_str();
        let ordinal = passage.stored.indexed.chunk.ordinal;
        let mut first = self.chunk_index == 0;
        for part in passage.parts() {
            match part {
                Part::Sentence(sentence) => {
                    let text = content.get(sentence.bytes.clone()).unwrap_or_default();
                    if text.trim().is_empty() {
                        continue;
                    }
                    let lead = if std::mem::take(&mut first) { LEAD } else { 0.0 };
                    let value = self.value(&sentence.words, passage.lang(), lead, ordinal);
                    self.push(Text::Sentence(sentence.bytes.clone()), value, sentence.tokens(content), ordinal);
                }
                Part::Asset(ordinal) => {
                    if let Some(asset) = self.leaf.assets.get(ordinal) {
                        self.asset(asset);
                    }
                }
            }
        }
    }

    fn asset(&mut self, passage: &Passage) {
        let chunk = &passage.stored.indexed.chunk;
        if chunk.kind == ChunkType::Image {
            let text = Text::Image { file: chunk.metadata.file_path.clone(), words: chunk.content.clone() };
            let value = self.value(&passage.words, passage.lang(), 0.0, chunk.ordinal);
            self.push(text, value, chunk.metadata.token_count + 12, chunk.ordinal);
            return;
        }
        // A short table is shown or left out as a whole.
        let rows = if chunk.metadata.token_count > ROWS_FROM { rows(&chunk.content) } else { None };
        let Some((open, rows)) = rows else {
            let value = self.value(&passage.words, passage.lang(), 0.0, chunk.ordinal);
            self.push(Text::Table(chunk.content.clone()), value, chunk.metadata.token_count, chunk.ordinal);
            return;
        };
        for row in rows {
            let value = self.value(&Words::of(&visible_text(row), passage.lang()), passage.lang(), 0.0, chunk.ordinal);
            let cost = tokens::count(row);
            self.push(Text::Row { table: chunk.ordinal, row: row.to_owned(), open: open.clone() }, value, cost, chunk.ordinal);
        }
    }

    /// Squared strength: what stands high in the ranking is shown in full before what stands low is begun.
    fn value(&self, words: &Words, lang: &str, lead: f32, ordinal: u32) -> f32 {
        let strength = self.leaf.found.get(&ordinal).copied().unwrap_or(COMPANION * self.leaf.score);
        strength * strength * (self.matcher.coverage(words, lang) + lead + FLOOR)
    }

    fn push(&mut self, text: Text, value: f32, tokens: u32, ordinal: u32) {
        self.units.push(Unit { leaf: self.leaf_index, chunk: self.chunk_index, text, value, tokens: tokens.max(1), ordinal });
    }
}

/// Tables up to this many tokens are never divided.
const ROWS_FROM: u32 = 200;

/// A canonical table without tables inside it: what opens it, header rows included, and its other rows.
fn rows(html: &str) -> Option<(String, Vec<&str>)> {
    if html.matches("<table").count() != 1 {
        return None;
    }
    let first = html.find("<tr")?;
    let mut open = html.get(..first)?.to_owned();
    let mut rows = Vec::new();
    let mut rest = html.get(first..)?;
    // A row that others reach into by a span cannot be shown without them.
    if rest.contains("rowspan") {
        return None;
    }
    while let Some(start) = rest.find("<tr") {
        let end = rest.get(start..)?.find("</tr>")? + start + "</tr>".len();
        let row = rest.get(start..end)?;
        if rows.is_empty() && row.contains("<th") && !row.contains("<td") {
            open.push_str(row);
        } else {
            rows.push(row);
        }
        rest = rest.get(end..)?;
    }
    // Frames between header and body rows do not matter to the shorter table.
    let open = open.replace("<thead>", "").replace("</thead>", "").replace("<tbody>", "");
    (rows.len() > 1).then_some((open, rows))
}
