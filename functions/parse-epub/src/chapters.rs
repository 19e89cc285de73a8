//! The contents list brought together with what the chapters hold.
//!
//! An entry confirms the heading it leads to and gives it its level: chapters begin with `<h1>` or `<h2>` as their maker
//! liked, the list alone knows parts, chapters and sections. Where an entry leads to no heading (a title set as a
//! paragraph, as a picture), a heading is put there. Headings the list does not name keep their distance to the one they
//! follow.

use std::collections::{BTreeMap, BTreeSet};

use quarry_document::prose::{Collector, Place};
use quarry_model::{Evidence, Heading, Parsed, RowKind};

use crate::contents::Entry;

/// A heading may follow the place its entry leads to after as many rows: a picture, a number, an ornament.
const NEAR_ROWS: usize = 4;

/// Where a file of the book begins and ends in rows and headings.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: Place,
    end: Place,
}

/// The chapters read so far.
pub(crate) struct Chapters<'e> {
    entries: &'e [Entry],
    spans: BTreeMap<String, Span>,
    anchors: BTreeMap<(String, String), Place>,
}

impl<'e> Chapters<'e> {
    pub(crate) fn new(entries: &'e [Entry]) -> Self {
        Self { entries, spans: BTreeMap::new(), anchors: BTreeMap::new() }
    }

    /// The ids in a file that entries lead to.
    pub(crate) fn anchors_of(&self, part: &str) -> BTreeSet<String> {
        self.entries.iter().filter(|entry| entry.part == part && !entry.fragment.is_empty()).map(|entry| entry.fragment.clone()).collect()
    }

    /// Takes note of a file that was read.
    pub(crate) fn read(&mut self, part: &str, start: Place, out: &Collector<'_>) {
        self.spans.insert(part.to_owned(), Span { start, end: out.place() });
        for (id, place) in out.anchors() {
            self.anchors.insert((part.to_owned(), id.clone()), *place);
        }
    }

    /// Where an entry leads, and the end of that file; `None` when it leads to nothing that was read.
    fn place(&self, entry: &Entry) -> Option<(Place, Place)> {
        let span = self.spans.get(&entry.part)?;
        if entry.fragment.is_empty() {
            return Some((span.start, span.end));
        }
        self.anchors.get(&(entry.part.clone(), entry.fragment.clone())).map(|place| (*place, span.end))
    }

    /// Brings headings and list together. `heading_rows` says which row follows each heading.
    pub(crate) fn mend(&self, parsed: &mut Parsed, heading_rows: &[usize]) {
        let mut marks: Vec<Mark> = parsed
            .headings
            .drain(..)
            .zip(heading_rows)
            .map(|(heading, row)| Mark { row: *row, markup: heading.level, heading, listed: false, gone: false })
            .collect();
        let mut added: Vec<Mark> = Vec::new();
        let mut titles = BTreeSet::new();
        for entry in self.entries {
            let Some((place, end)) = self.place(entry) else { continue };
            if let Some(index) = matching(entry, place, end, &marks) {
                absorb(entry, index, &mut marks);
                if let Some(mark) = marks.get_mut(index) {
                    mark.listed = true;
                    mark.heading.level = entry.level;
                    mark.heading.evidence = Evidence::Toc;
                }
                continue;
            }
            // The place is a title that is set as text: the row is the title.
            let row = parsed.rows.iter().enumerate().skip(place.row).take(end.row.saturating_sub(place.row).min(NEAR_ROWS));
            let as_text = row.filter(|(_, row)| row.kind == RowKind::Text).find(|(_, row)| key(&row.content) == key(&entry.title));
            let at = as_text.map_or(place.row, |(index, _)| index);
            if as_text.is_some() {
                titles.insert(at);
            }
            let heading = Heading { number: None, title: entry.title.clone(), level: entry.level, page: None, evidence: Evidence::Toc };
            added.push(Mark { row: at, markup: 0, heading, listed: true, gone: false });
        }
        marks.retain(|mark| !mark.gone);
        let mut all = merge(marks, added);
        relative_levels(&mut all);
        rewrite(parsed, all, &titles);
    }
}

/// A heading at its place.
struct Mark {
    heading: Heading,
    /// The row that follows it.
    row: usize,
    /// The level of its element; 0 when it has none.
    markup: u32,
    /// Whether the contents list names it.
    listed: bool,
    /// Whether it became part of another.
    gone: bool,
}

/// The heading an entry leads to: the one that stands right there, or near it with the same words.
fn matching(entry: &Entry, place: Place, end: Place, marks: &[Mark]) -> Option<usize> {
    let near =
        || (place.heading..end.heading).filter_map(|index| Some((index, marks.get(index)?))).filter(|(_, mark)| !mark.listed && !mark.gone);
    let wanted = key(&entry.title);
    let alike = |mark: &Mark| {
        let own = key(&mark.heading.title);
        !own.is_empty() && !wanted.is_empty() && (wanted.contains(&own) || own.contains(&wanted))
    };
    let close = |mark: &Mark| mark.row.saturating_sub(place.row) <= NEAR_ROWS;
    near()
        .take_while(|(_, mark)| close(mark))
        .find(|(_, mark)| alike(mark))
        .or_else(|| near().next().filter(|(_, mark)| mark.row == place.row))
        .map(|(index, _)| index)
}

/// A title in two headings ("Chapter 1", "Loomings") that the list has as one.
fn absorb(entry: &Entry, index: usize, marks: &mut [Mark]) {
    let next = index.saturating_add(1);
    let Some([first, second]) = marks.get(index..).and_then(|rest| rest.get(..2)) else { return };
    let both = format!("{}{}", key(&first.heading.title), key(&second.heading.title));
    if first.row != second.row || second.listed || both != key(&entry.title) {
        return;
    }
    let title = format!("{} {}", first.heading.title, second.heading.title);
    if let Some(first) = marks.get_mut(index) {
        first.heading.title = title;
    }
    if let Some(second) = marks.get_mut(next) {
        second.gone = true;
    }
}

/// Both lists in the order of their rows; what the contents list adds stands before a heading at the same row.
fn merge(marks: Vec<Mark>, added: Vec<Mark>) -> Vec<Mark> {
    let mut all = added;
    all.extend(marks);
    // A stable sort: entries among themselves and headings among themselves keep their order.
    all.sort_by_key(|mark| mark.row);
    all
}

/// Levels of headings the list does not name, by their distance to the listed heading they follow.
fn relative_levels(marks: &mut [Mark]) {
    let mut last: Option<(u32, u32)> = None;
    for mark in marks {
        if mark.listed {
            last = Some((mark.heading.level, mark.markup));
        } else if let Some((level, markup)) = last {
            let below = mark.markup.saturating_sub(markup.min(mark.markup));
            // Under a heading without an element of its own every element is one level further down.
            let below = if markup == 0 { mark.markup.max(1) } else { below };
            let above = markup.saturating_sub(mark.markup);
            mark.heading.level = level.saturating_add(below).saturating_sub(above).max(1);
        }
    }
}

/// Gives every row the section it now stands in; rows that became titles go.
fn rewrite(parsed: &mut Parsed, marks: Vec<Mark>, titles: &BTreeSet<usize>) {
    let mut moved = Vec::with_capacity(parsed.rows.len());
    let mut rows = Vec::with_capacity(parsed.rows.len());
    let mut next = 0_usize;
    for (index, mut row) in std::mem::take(&mut parsed.rows).into_iter().enumerate() {
        while marks.get(next).is_some_and(|mark| mark.row <= index) {
            next = next.saturating_add(1);
        }
        row.section = next.checked_sub(1);
        if titles.contains(&index) && row.refs.is_empty() {
            moved.push(usize::MAX);
            continue;
        }
        moved.push(rows.len());
        rows.push(row);
    }
    for reference in rows.iter_mut().flat_map(|row| row.refs.iter_mut()) {
        reference.row = moved.get(reference.row).copied().unwrap_or(usize::MAX);
    }
    parsed.rows = rows;
    parsed.headings = marks.into_iter().map(|mark| mark.heading).collect();
}

/// Letters and digits alone: lists differ from their headings in spaces and punctuation.
fn key(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
