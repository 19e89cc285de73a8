//! Form values that nobody has drawn, and comments: rows after the page they belong to.

use quarry_model::{PageBox, Parsed, Row};
use quarry_pdf::{NoteKind, Pdf};

/// Adds them, in page order.
pub(crate) fn add(parsed: &mut Parsed, pdf: &Pdf) {
    for note in pdf.notes() {
        let content = match note.kind {
            NoteKind::Field if !note.label.is_empty() => format!("{}: {}", note.label, note.text),
            _ => note.text,
        };
        let mut row = Row::text(None, content);
        row.pages = vec![note.page];
        row.boxes = vec![PageBox { page: note.page, x0: note.rect.x0, y0: note.rect.y0, x1: note.rect.x1, y1: note.rect.y1 }];
        insert_after_page(parsed, row);
    }
}

/// Puts a row behind the rows of its page and of those before it, into the section that is open there.
pub(super) fn insert_after_page(parsed: &mut Parsed, mut row: Row) {
    let page = row.pages.first().copied().unwrap_or(0);
    let at = parsed.rows.iter().position(|other| other.pages.first().is_some_and(|first| *first > page)).unwrap_or(parsed.rows.len());
    row.section = match at.checked_sub(1).and_then(|before| parsed.rows.get(before)) {
        Some(before) => before.section,
        // Nothing stands before it: the last heading of the pages up to here, if there is one.
        None => parsed.headings.iter().rposition(|heading| heading.page.is_some_and(|on| on <= page)),
    };
    // References between rows are by index: those behind the new one move.
    for reference in parsed.rows.iter_mut().flat_map(|row| &mut row.refs).filter(|reference| reference.row >= at) {
        reference.row = reference.row.saturating_add(1);
    }
    parsed.rows.insert(at, row);
}
