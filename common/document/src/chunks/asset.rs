//! Chunks and files of pictures and tables.

use std::collections::HashMap;

use quarry_language::tokens;
use quarry_model::{Chunk, ChunkId, ChunkType, Limits, PageBox, Row, Table};

use super::{Draft, context, metadata, place};
use crate::assets::Pictures;
use crate::grid::{self, TableWindow};
use crate::heading::SectionTree;
use crate::summary::{SUMMARY_TOKENS, leading_sentences};

/// Where a stored picture went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PictureFile {
    /// Index into [`Pictures::stored`].
    pub picture: usize,
    /// `image-<ordinal>`.
    pub id: String,
    /// `images/image-<ordinal>.<ext>`.
    pub path: String,
}

/// Where a table went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredTable {
    /// `table-<ordinal>`.
    pub id: String,
    /// `tables/table-<ordinal>.html`.
    pub path: String,
    /// The whole table.
    pub html: String,
    /// Its caption.
    pub caption: String,
}

/// What one asset row became.
pub(super) struct Written {
    /// Its file, relative to the revision folder.
    pub file: String,
    /// Its chunk, or the windows of a large table.
    pub drafts: Vec<Draft>,
}

/// Writes asset rows in reading order.
pub(super) struct AssetWriter<'a> {
    rows: &'a [Row],
    pictures: &'a Pictures,
    limits: &'a Limits,
    /// Of each stored picture: its file, and how often it was shown.
    shown: HashMap<usize, (String, usize)>,
    /// What is said of each stored picture, wherever that is said first.
    said: HashMap<usize, &'a str>,
    /// How often each picture without a file was named.
    named_seen: HashMap<blake3::Hash, usize>,
    /// How often each table chunk was seen.
    tables_seen: HashMap<blake3::Hash, usize>,
    pub file_of_row: HashMap<usize, String>,
    pub picture_files: Vec<PictureFile>,
    pub table_files: Vec<StoredTable>,
}

impl<'a> AssetWriter<'a> {
    pub(super) fn new(rows: &'a [Row], pictures: &'a Pictures, limits: &'a Limits) -> Self {
        Self {
            rows,
            pictures,
            limits,
            shown: HashMap::new(),
            said: descriptions(rows, pictures),
            named_seen: HashMap::new(),
            tables_seen: HashMap::new(),
            file_of_row: HashMap::new(),
            picture_files: Vec::new(),
            table_files: Vec::new(),
        }
    }

    /// Writes the asset of a row, its first chunk at `ordinal`.
    pub(super) fn write(&mut self, row_index: usize, ordinal: u32, tree: &SectionTree) -> Written {
        let Some(row) = self.rows.get(row_index) else { return Written { file: String::new(), drafts: Vec::new() } };
        let written = match (row.grid(), row.asset) {
            (Some(table), _) => self.write_table(row, &table, ordinal, tree),
            (None, Some(asset)) => self.write_picture(row, asset, ordinal, tree),
            (None, None) => return self.write_without_file(row, ordinal, tree),
        };
        self.file_of_row.insert(row_index, written.file.clone());
        written
    }

    fn write_picture(&mut self, row: &Row, asset: usize, ordinal: u32, tree: &SectionTree) -> Written {
        let place = self.pictures.of_asset.get(asset).copied().flatten().unwrap_or(usize::MAX);
        let stored = self.pictures.stored.get(place);
        let extension = stored.map_or("bin", |picture| picture.kind.extension);
        let (file, occurrence) = if let Some((file, times)) = self.shown.get_mut(&place) {
            *times = times.saturating_add(1);
            (file.clone(), *times)
        } else {
            let id = format!("image-{ordinal}");
            let file = format!("images/{id}.{extension}");
            self.shown.insert(place, (file.clone(), 0));
            self.picture_files.push(PictureFile { picture: place, id, path: file.clone() });
            (file, 0)
        };
        let own = row.content.trim();
        let said = if own.is_empty() { self.said.get(&place).copied().unwrap_or_default() } else { own };
        let content = if said.is_empty() { context(tree.of_row(row)) } else { said }.to_owned();
        let id = ChunkId::image(stored.map_or(&[][..], |picture| &picture.identity), occurrence);
        let tokens = tokens::count(&content);
        let chunk = Piece { kind: ChunkType::Image, id, ordinal, content, tokens, file: &file, summary: leading_sentences(said) };
        let drafts = vec![draft(row, tree, chunk, None, None)];
        Written { file, drafts }
    }

    /// A picture that the document only names: a chunk of what is said of it, without a file.
    fn write_without_file(&mut self, row: &Row, ordinal: u32, tree: &SectionTree) -> Written {
        let content = row.content.trim().to_owned();
        let seen = self.named_seen.entry(blake3::hash(content.as_bytes())).or_default();
        let id = ChunkId::image(content.as_bytes(), *seen);
        *seen = seen.saturating_add(1);
        let name = format!("image-{ordinal}");
        let tokens = tokens::count(&content);
        let chunk = Piece { kind: ChunkType::Image, id, ordinal, summary: leading_sentences(&content), content, tokens, file: &name };
        let mut draft = draft(row, tree, chunk, None, None);
        draft.chunk.metadata.file_path = None;
        Written { file: String::new(), drafts: vec![draft] }
    }

    fn write_table(&mut self, row: &Row, table: &Table, ordinal: u32, tree: &SectionTree) -> Written {
        let id = format!("table-{ordinal}");
        let file = format!("tables/{id}.html");
        let windows = windows_by_page(row, table, self.limits);
        let summary = table_summary(table);
        let mut drafts = Vec::with_capacity(windows.len());
        let mut whole = None;
        let mut next = ordinal;
        for (window, part) in windows {
            let seen = self.tables_seen.entry(blake3::hash(window.html.as_bytes())).or_default();
            let id = ChunkId::table(&window.html, *seen);
            *seen = seen.saturating_add(1);
            let plain = grid::text_of(&window.html);
            if window.rows.is_none() {
                whole = Some(window.html.clone());
            }
            let (content, tokens) = (window.html, window.tokens);
            let chunk = Piece { kind: ChunkType::Table, id, ordinal: next, content, tokens, file: &file, summary: summary.clone() };
            let mut draft = draft(row, tree, chunk, Some(plain), window.rows);
            if let Some(place) = part {
                draft.chunk.metadata.page_nums = vec![place.page];
                draft.chunk.metadata.boxes = row.boxes.iter().filter(|b| b.page == place.page).copied().collect();
            }
            drafts.push(draft);
            next = next.saturating_add(1);
        }
        let html = whole.unwrap_or_else(|| grid::to_html(table));
        self.table_files.push(StoredTable { id, path: file.clone(), html, caption: table.caption.clone() });
        Written { file, drafts }
    }
}

/// The windows of a table; one that goes on over pages is cut where each page ends, and every window cites its own.
fn windows_by_page(row: &Row, table: &Table, limits: &Limits) -> Vec<(TableWindow, Option<PageBox>)> {
    if row.parts.len() < 2 {
        return grid::windows(table, limits).into_iter().map(|window| (window, None)).collect();
    }
    let head = (table.header_rows as usize).min(table.rows.len());
    let number = |rows: usize| u32::try_from(rows).unwrap_or(u32::MAX);
    let total = number(table.rows.len().saturating_sub(head));
    let ends = row.parts.iter().skip(1).map(|part| part.row).chain([table.rows.len()]);
    let mut out = Vec::new();
    for (part, end) in row.parts.iter().zip(ends) {
        let start = part.row.max(head);
        let Some(body) = table.rows.get(start..end).filter(|body| !body.is_empty()) else { continue };
        let rows = table.rows.iter().take(head).chain(body).cloned().collect();
        let before = number(start.saturating_sub(head));
        for mut window in grid::windows(&Table { rows, ..table.clone() }, limits) {
            let [first, last, _] = window.rows.unwrap_or([1, number(body.len()), 0]);
            window.rows = Some([first.saturating_add(before), last.saturating_add(before), total]);
            out.push((window, Some(part.place)));
        }
    }
    out
}

/// The first words said of each stored picture: a picture shown again without any is what it was where it had them.
fn descriptions<'a>(rows: &'a [Row], pictures: &Pictures) -> HashMap<usize, &'a str> {
    let mut out = HashMap::new();
    for row in rows {
        let place = row.asset.and_then(|asset| pictures.of_asset.get(asset).copied().flatten());
        let said = row.content.trim();
        if let Some(place) = place.filter(|_| !said.is_empty()) {
            out.entry(place).or_insert(said);
        }
    }
    out
}

fn draft(row: &Row, tree: &SectionTree, piece: Piece<'_>, plain: Option<String>, rows: Option<[u32; 3]>) -> Draft {
    let section = tree.index_of(row.section);
    let (section_path, section_id) = match tree.sections().get(section) {
        Some(section) => (section.path.as_str(), section.id.clone()),
        None => ("", quarry_model::SectionId::for_path(&[], 0)),
    };
    let name = piece.file.rsplit('/').next().unwrap_or_default();
    let (page_nums, boxes) = place([row].into_iter());
    let mut metadata = metadata(section_id, &piece.content, piece.tokens);
    metadata.summary = piece.summary;
    metadata.page_nums = page_nums;
    metadata.boxes = boxes;
    metadata.file_path = Some(piece.file.to_owned());
    metadata.rows = rows;
    metadata.hidden = row.hidden;
    let path = format!("{section_path}/{name}");
    let chunk = Chunk { chunk_id: piece.id, kind: piece.kind, ordinal: piece.ordinal, content: piece.content, path, metadata };
    Draft { chunk, plain, section }
}

struct Piece<'f> {
    kind: ChunkType,
    id: ChunkId,
    ordinal: u32,
    content: String,
    tokens: u32,
    file: &'f str,
    summary: String,
}

/// What a table is about: its caption, or else its header cells, or else its first row.
fn table_summary(table: &Table) -> String {
    if !table.caption.is_empty() {
        return leading_sentences(&table.caption);
    }
    let first = table.rows.iter().find(|row| row.iter().any(|cell| !cell.text.trim().is_empty()));
    let cells = first.into_iter().flatten().map(|cell| cell.text.split_whitespace().collect::<Vec<_>>().join(" "));
    let line = cells.filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" | ");
    tokens::truncate(&line, SUMMARY_TOKENS).to_owned()
}
