//! The one function that turns rows into chunks (contract §2), for every format.
//!
//! A chunk never crosses a section. Text is packed at paragraphs, cut at sentences where a paragraph is too large, and
//! neither dropped nor repeated. Pictures and tables are chunks of their own; where they stand is a mark on a line of
//! its own in the text that hosts them, and a link both ways.

mod asset;
mod pack;
mod render;
pub(crate) mod split;
#[cfg(test)]
mod tests;
mod unit;

use std::collections::HashMap;

use quarry_language::tokens;
use quarry_model::{Chunk, ChunkId, ChunkMetadata, ChunkType, Connection, Limits, PageBox, Position, Relation, Row, RowKind, SectionId};

use crate::assets::Pictures;
use crate::heading::{Section, SectionTree};
use asset::AssetWriter;
use pack::pack;
use render::{Rendered, render};
use unit::{Unit, embedded_rows, mark_tokens, text_units};

pub(crate) use asset::{PictureFile, StoredTable};

/// A chunk, and its words where they differ from its content.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    /// Everything but language, words, keywords and summaries.
    pub chunk: Chunk,
    /// Content without marks and markup; `None` when that is the content itself.
    pub plain: Option<String>,
    /// Index of its section in the tree.
    pub section: usize,
}

impl Draft {
    /// The words of the chunk.
    pub(crate) fn words(&self) -> &str {
        self.plain.as_deref().unwrap_or(&self.chunk.content)
    }
}

/// All chunks of a document, and the files its assets got.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    /// In reading order; the ordinal is the index.
    pub chunks: Vec<Draft>,
    /// For each row that is an asset with a chunk, its file.
    pub file_of_row: HashMap<usize, String>,
    /// For each stored picture that has a chunk, its file, in order of first use.
    pub pictures: Vec<PictureFile>,
    /// For each table, its file.
    pub tables: Vec<StoredTable>,
}

/// Turns rows into chunks.
pub(crate) fn chunks(rows: &[Row], tree: &SectionTree, pictures: &Pictures, left_out: &[bool], limits: &Limits) -> Drafts {
    let hosts = embedded_rows(rows);
    let mark = mark_tokens();
    let mut writer = Writer { rows, tree, limits, assets: AssetWriter::new(rows, pictures, limits), drafts: Vec::new() };
    let mut run = Run::default();
    for (index, row) in rows.iter().enumerate() {
        let standing_alone = row.kind != RowKind::Text;
        let skipped = left_out.get(index).copied().unwrap_or(false) || (standing_alone && hosts.contains_key(&index));
        let empty = !standing_alone && row.content.trim().is_empty() && row.refs.is_empty();
        if skipped || empty {
            continue;
        }
        let section = tree.index_of(row.section);
        if section != run.section {
            writer.write_run(std::mem::take(&mut run));
        }
        run.section = section;
        if row.kind == RowKind::Image && row.asset.is_none() {
            run.without_file.push((run.units.len(), index));
        } else if standing_alone {
            run.stream(row).push(Unit::mark(index, mark));
        } else {
            let units = text_units(index, row, &hosts, left_out, limits, mark);
            run.stream(row).extend(units);
        }
    }
    writer.write_run(run);
    let AssetWriter { file_of_row, picture_files, table_files, .. } = writer.assets;
    Drafts { chunks: writer.drafts, file_of_row, pictures: picture_files, tables: table_files }
}

/// Rows of one section that follow each other.
#[derive(Default)]
struct Run<'a> {
    section: usize,
    units: Vec<Unit<'a>>,
    /// What the source hides. It is never mixed with what it shows, and stands after it: hidden words between shown ones
    /// would cut a section into scraps.
    hidden: Vec<Unit<'a>>,
    /// Pictures of which no file is kept, so that no mark can name one: how many units stand before each, and its row.
    without_file: Vec<(usize, usize)>,
}

impl<'a> Run<'a> {
    fn stream(&mut self, row: &Row) -> &mut Vec<Unit<'a>> {
        if row.hidden { &mut self.hidden } else { &mut self.units }
    }
}

struct Writer<'a> {
    rows: &'a [Row],
    tree: &'a SectionTree,
    limits: &'a Limits,
    assets: AssetWriter<'a>,
    drafts: Vec<Draft>,
}

impl Writer<'_> {
    fn write_run(&mut self, run: Run<'_>) {
        let mut without_file = run.without_file.into_iter().peekable();
        let mut told = 0_usize;
        for group in pack(run.units, self.limits) {
            while let Some((_, row)) = without_file.next_if(|(before, _)| *before <= told) {
                self.write_alone(row);
            }
            told = told.saturating_add(group.len());
            self.write_group(group, run.section);
        }
        for (_, row) in without_file {
            self.write_alone(row);
        }
        for group in pack(run.hidden, self.limits) {
            self.write_group(group, run.section);
        }
    }

    fn write_group(&mut self, group: Vec<Unit<'_>>, section: usize) {
        if group.iter().any(Unit::has_text) {
            self.write_text(group, section);
        } else {
            self.write_assets_alone(&group);
        }
    }

    fn next_ordinal(&self) -> u32 {
        u32::try_from(self.drafts.len()).unwrap_or(u32::MAX)
    }

    fn write_assets_alone(&mut self, group: &[Unit<'_>]) {
        for row in group.iter().flat_map(Unit::marks) {
            self.write_alone(row);
        }
    }

    fn write_alone(&mut self, row: usize) {
        let ordinal = self.next_ordinal();
        let drafts = self.assets.write(row, ordinal, self.tree).drafts;
        self.drafts.extend(drafts);
    }

    /// Writes a text chunk and, after it, the assets that stand in it.
    fn write_text(&mut self, mut group: Vec<Unit<'_>>, section: usize) {
        // Tokens were counted part by part. Only a chunk near the limit can be above it when counted whole.
        let sum = group.iter().fold(0_u32, |sum, unit| sum.saturating_add(unit.tokens));
        if group.len() > 1 && sum > self.limits.chunk_tokens.saturating_mul(3) / 4 && self.is_too_large(&group) {
            let second = group.split_off(group.len() / 2);
            for half in [group, second] {
                self.write_group(half, section);
            }
            return;
        }
        let ordinal = self.next_ordinal();
        let mut next = ordinal.saturating_add(1);
        let mut written = Vec::new();
        let Rendered { content, plain, marks } = render(&group, |row| {
            let asset = self.assets.write(row, next, self.tree);
            next = next.saturating_add(u32::try_from(asset.drafts.len()).unwrap_or(u32::MAX));
            let reference = format!("[{}]", asset.file);
            written.push(asset.drafts);
            reference
        });
        let id = ChunkId::text(plain.as_deref().unwrap_or(&content));
        let back = Connection { target: id.clone(), target_ordinal: ordinal, relation: Relation::Related, reference: None, position: None };
        let mut connect_to = Vec::with_capacity(marks.len());
        for (mark, drafts) in marks.into_iter().zip(&mut written) {
            for draft in drafts.iter_mut() {
                draft.chunk.metadata.connect_to.push(back.clone());
            }
            if let Some(first) = drafts.first() {
                connect_to.push(Connection {
                    target: first.chunk.chunk_id.clone(),
                    target_ordinal: first.chunk.ordinal,
                    relation: Relation::Embeds,
                    reference: Some(mark.text),
                    position: Some(Position { start: mark.start, end: mark.end }),
                });
            }
        }
        // Assets that stand in it cite their own place.
        let (pages, boxes) = place(group.iter().filter(|unit| unit.has_text()).filter_map(|unit| self.rows.get(unit.row)));
        let hidden = group.iter().filter(|unit| unit.has_text()).filter_map(|unit| self.rows.get(unit.row)).any(|row| row.hidden);
        let Some(section_entry) = self.tree.sections().get(section) else { return };
        let metadata = ChunkMetadata {
            page_nums: pages,
            boxes,
            connect_to,
            hidden,
            ..metadata(section_entry.id.clone(), &content, tokens::count(&content))
        };
        let chunk = Chunk { chunk_id: id, kind: ChunkType::Text, ordinal, content, path: section_entry.path.clone(), metadata };
        self.drafts.push(Draft { chunk, plain, section });
        self.drafts.extend(written.into_iter().flatten());
    }

    fn is_too_large(&self, group: &[Unit<'_>]) -> bool {
        let rendered = render(group, |_| "[images/image-999999.jpeg]".to_owned());
        !tokens::fits(&rendered.content, self.limits.chunk_tokens)
    }
}

/// Metadata with nothing but what follows from the content itself.
fn metadata(section_id: SectionId, content: &str, token_count: u32) -> ChunkMetadata {
    ChunkMetadata {
        length: u32::try_from(content.chars().count()).unwrap_or(u32::MAX),
        token_count,
        summary: String::new(),
        page_nums: Vec::new(),
        tokens: Vec::new(),
        keywords: Vec::new(),
        lang: String::new(),
        file_path: None,
        section_id,
        boxes: Vec::new(),
        connect_to: Vec::new(),
        rows: None,
        hidden: false,
        document_top_summary: String::new(),
    }
}

/// Pages and boxes of some rows, each row once.
fn place<'a>(rows: impl Iterator<Item = &'a Row>) -> (Vec<u32>, Vec<PageBox>) {
    let mut pages: Vec<u32> = Vec::new();
    let mut boxes: Vec<PageBox> = Vec::new();
    let mut last: Option<&Row> = None;
    for row in rows {
        if !last.is_some_and(|last| std::ptr::eq(last, row)) {
            pages.extend(&row.pages);
            boxes.extend(&row.boxes);
        }
        last = Some(row);
    }
    pages.sort_unstable();
    pages.dedup();
    (pages, boxes)
}

/// The title a nameless picture or table is known by: its section's.
fn context(section: Option<&Section>) -> &str {
    section.map_or("", |section| section.title.as_str())
}
