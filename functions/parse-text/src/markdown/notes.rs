//! Footnotes: moved from where they are written to the text that calls them.

use std::collections::HashMap;
use std::ops::Range;

use quarry_model::Row;

/// Where notes are called and where they stand.
#[derive(Debug, Default)]
pub(super) struct Notes {
    calls: Vec<Call>,
    bodies: Vec<Body>,
}

#[derive(Debug)]
struct Call {
    /// The row that stands after the calling block.
    before: usize,
    section: Option<usize>,
    label: String,
}

#[derive(Debug)]
struct Body {
    label: String,
    rows: Range<usize>,
}

impl Notes {
    /// A block that ends before row `before` calls `label`.
    pub(super) fn call(&mut self, label: &str, before: usize, section: Option<usize>) {
        self.calls.push(Call { before, section, label: label.to_lowercase() });
    }

    /// The note `label` was read into `rows`.
    pub(super) fn body(&mut self, label: &str, rows: Range<usize>) {
        self.bodies.push(Body { label: label.to_lowercase(), rows });
    }

    /// Puts each note behind the block that calls it first. A note that nobody calls, or that only another note calls,
    /// stays where it is written.
    pub(super) fn place(self, rows: Vec<Row>) -> Vec<Row> {
        if self.bodies.is_empty() || self.calls.is_empty() {
            return rows;
        }
        // A call in a note's own rows comes before a row that follows one of them.
        let mut in_a_note = vec![false; rows.len().saturating_add(1)];
        for body in &self.bodies {
            in_a_note
                .iter_mut()
                .take(body.rows.end.saturating_add(1))
                .skip(body.rows.start.saturating_add(1))
                .for_each(|inside| *inside = true);
        }
        let mut first_calls: HashMap<&str, &Call> = HashMap::new();
        for call in self.calls.iter().filter(|call| in_a_note.get(call.before) == Some(&false)) {
            first_calls.entry(&call.label).or_insert(call);
        }
        // The row before which, the section in which, the rows of the note.
        let mut moves: Vec<(usize, Option<usize>, Range<usize>)> = Vec::new();
        for body in &self.bodies {
            if let Some(call) = first_calls.get(body.label.as_str()) {
                moves.push((call.before, call.section, body.rows.clone()));
            }
        }
        moves.sort_by_key(|(before, _, _)| *before);
        reorder(rows, &moves)
    }
}

fn reorder(rows: Vec<Row>, moves: &[(usize, Option<usize>, Range<usize>)]) -> Vec<Row> {
    let mut slots: Vec<Option<Row>> = rows.into_iter().map(Some).collect();
    let mut stays = vec![true; slots.len()];
    for (_, _, range) in moves {
        stays.iter_mut().take(range.end).skip(range.start).for_each(|stay| *stay = false);
    }
    let mut out = Vec::with_capacity(slots.len());
    let mut places = vec![usize::MAX; slots.len()];
    let mut pending = moves.iter().peekable();
    for index in 0..=slots.len() {
        while let Some((_, section, range)) = pending.next_if(|(before, _, _)| *before <= index) {
            for from in range.clone() {
                if let (Some(mut row), Some(place)) = (slots.get_mut(from).and_then(Option::take), places.get_mut(from)) {
                    row.section = *section;
                    *place = out.len();
                    out.push(row);
                }
            }
        }
        if stays.get(index) == Some(&true)
            && let (Some(row), Some(place)) = (slots.get_mut(index).and_then(Option::take), places.get_mut(index))
        {
            *place = out.len();
            out.push(row);
        }
    }
    for reference in out.iter_mut().flat_map(|row| row.refs.iter_mut()) {
        reference.row = places.get(reference.row).copied().unwrap_or(usize::MAX);
    }
    out
}
