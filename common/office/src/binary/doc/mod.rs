//! Text documents of Word 97 to 2003 ([MS-DOC]).
//!
//! The piece table gives the text in its order, formatted pages the properties of its characters and paragraphs; marks
//! end paragraphs, cells and rows. What comes out are the same blocks as of DOCX, and everything after them is shared.

mod art;
mod fib;
mod lists;
mod notes;
mod paragraph;
mod sprm;
mod styles;
mod table;
mod text;
mod walk;

use quarry_document::Warnings;
use quarry_document::flow::{self, Fields, RunningText};
use quarry_model::{DocumentCode, DocumentFailure, Limits, Parsed};

use super::compound::Compound;
use super::numbers::{positions, u32_at};
use art::Art;
use fib::{Fib, Table};
use lists::Lists;
use notes::Notes;
use styles::Styles;
use text::{Runs, Text};
use walk::{Source, Walk};

/// The first stories of headers are separators of notes.
const SEPARATORS: usize = 6;

/// Reads a document.
///
/// Fails with `CORRUPT`, `ENCRYPTED`, and with `CONVERTER_MISSING` for documents of Word 95 and older.
pub fn read(bytes: &[u8], limits: &Limits) -> Result<Parsed, DocumentFailure> {
    let mut file = Compound::open(bytes, limits)?;
    let main = file.required("WordDocument")?;
    let fib = Fib::read(&main)?;
    let tables = file.required(fib.table_stream())?;
    let data = file.stream("Data")?.unwrap_or_default();
    let lengths = fib.lengths();
    let mut warnings = Warnings::default();
    let boxes_from = [lengths.footnotes, lengths.headers, lengths.macros, lengths.comments, lengths.endnotes];
    let boxes_from = boxes_from.into_iter().fold(lengths.body, u32::saturating_add);
    let boxes = positions(fib.table(&tables, Table::TextBoxes), 22);
    let source = Source {
        text: Text::read(&main, fib.table(&tables, Table::Pieces))?,
        paragraphs: Runs::of_paragraphs(&main, fib.table(&tables, Table::ParagraphPages)),
        characters: Runs::of_characters(&main, fib.table(&tables, Table::CharacterPages)),
        data: &data,
        styles: Styles::read(fib.table(&tables, Table::Styles)),
        notes: Notes::read(&fib, &tables, &lengths),
        boxes: boxes
            .filter(|(_, to, _)| *to <= lengths.boxes)
            .map(|(from, to, _)| (boxes_from.saturating_add(from), boxes_from.saturating_add(to)))
            .collect(),
    };
    let lists = || Lists::read(fib.table_and_rest(&tables, Table::Lists), fib.table(&tables, Table::ListOverrides));
    let mut art = Art::read(&fib, &main, &tables, &data, limits);

    let mut ignore_fields = false;
    let mut blocks = loop {
        let mut walk = Walk::new(&source, limits, &mut warnings, &mut art, lists());
        if ignore_fields {
            walk.fields = Fields::ignored();
        }
        let mut blocks = walk.blocks(0, lengths.body)?;
        let shows = walk.fields.shows();
        // Text boxes that no anchor of the text shows still speak, behind it.
        for index in 0..source.boxes.len() {
            blocks.extend(walk.box_blocks(index)?);
        }
        if shows || ignore_fields {
            break blocks;
        }
        warnings.note(DocumentCode::Corrupt, "a field has no end; fields are read as text");
        ignore_fields = true;
    };
    flow::promote(&mut blocks);
    let mut running = RunningText::beside(&blocks);
    let base = lengths.body.saturating_add(lengths.footnotes);
    let headers = fib.table(&tables, Table::Headers);
    let stories = headers.len().checked_div(4).unwrap_or_default().saturating_sub(1);
    for story in SEPARATORS..stories {
        let place = |index: usize| u32_at(headers, index.saturating_mul(4)).map(|place| base.saturating_add(place.min(lengths.headers)));
        if let (Some(from), Some(to)) = (place(story), place(story.saturating_add(1)))
            && from < to
        {
            running.keep_all(Walk::new(&source, limits, &mut warnings, &mut art, Lists::default()).blocks(from, to)?);
        }
    }
    let mut all = running.into_blocks();
    all.append(&mut blocks);
    let mut parsed = flow::assemble(all, std::mem::take(&mut art.assets));
    (parsed.warnings, parsed.partial) = warnings.finish();
    Ok(parsed)
}
