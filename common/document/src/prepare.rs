//! What a parser gave, made fit for everything that follows: bounded, and without rows or headings that say nothing.
//! No text is lost by it.

use quarry_language::tokens;
use quarry_model::{DocumentCode, Heading, Limits, Parsed, Row, RowKind, Warning};

use crate::chunks::split::split_text;

/// A longer title is cut for the tree; its full text then opens the section.
const TITLE_CHARS: usize = 300;

/// Prepares rows and headings.
pub(crate) fn prepare(mut parsed: Parsed, limits: &Limits) -> Parsed {
    plain_images(&mut parsed);
    empty_tables(&mut parsed);
    let only_titles = parsed.rows.iter().all(|row| row.kind == RowKind::Text && row.content.trim().is_empty());
    if only_titles {
        parsed.rows.clear();
    }
    let mut parsed = if needs_rewriting(&parsed, limits) { rewrite(parsed, limits) } else { parsed };
    if only_titles {
        // A document of nothing but headings is found by them: those that no other stands in, whose paths name the rest.
        // Their numbers are in the path as well.
        let levels: Vec<u32> = parsed.headings.iter().map(|heading| heading.level).collect();
        let is_leaf = |index: usize| levels.get(index.saturating_add(1)).is_none_or(|next| Some(next) <= levels.get(index));
        let leaves = parsed.headings.iter().enumerate().filter(|(index, _)| is_leaf(*index));
        let titles = leaves
            .map(|(index, heading)| Row { pages: heading.page.into_iter().collect(), ..Row::text(Some(index), heading.title.clone()) });
        parsed.rows = titles.chain(parsed.rows).collect();
    }
    parsed
}

/// A picture without bytes (a remote one is never fetched) is kept for what is said of it; one of which nothing is known
/// is left out.
fn plain_images(parsed: &mut Parsed) {
    let mut missing = 0_usize;
    for row in &mut parsed.rows {
        if row.kind == RowKind::Image && row.asset.is_none_or(|asset| asset >= parsed.assets.len()) {
            row.asset = None;
            if row.content.trim().is_empty() {
                row.kind = RowKind::Text;
                missing = missing.saturating_add(1);
            }
        }
    }
    if missing > 0 {
        let message = format!("{missing} picture(s) without bytes and without a description were left out");
        parsed.warnings.push(Warning::new(DocumentCode::Corrupt, message));
    }
}

/// A table without cells is its caption.
fn empty_tables(parsed: &mut Parsed) {
    for row in parsed.rows.iter_mut().filter(|row| row.kind == RowKind::Table && row.packed.is_none()) {
        let table = row.table.take_if(|table| table.rows.iter().all(Vec::is_empty));
        if row.table.is_none() {
            row.kind = RowKind::Text;
            row.content = table.map_or_else(|| std::mem::take(&mut row.content), |table| table.caption);
        }
    }
}

/// What is said of a picture beyond what one chunk holds: the text that follows it.
fn long_description(row: &Row, limits: &Limits) -> Option<usize> {
    if row.kind != RowKind::Image || tokens::fits(&row.content, limits.chunk_tokens) {
        return None;
    }
    split_text(&row.content, limits.chunk_tokens).first().map(|first| first.end)
}

fn title_row(section: Option<usize>, heading: &Heading) -> Row {
    Row { pages: heading.page.into_iter().collect(), ..Row::text(section, heading.shown()) }
}

fn folded(title: &str) -> String {
    title.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn needs_rewriting(parsed: &Parsed, limits: &Limits) -> bool {
    let odd = |h: &Heading| h.title.trim().is_empty() || h.title.len() > TITLE_CHARS || folded(&h.title) != h.title;
    parsed.headings.len() > limits.sections as usize
        || parsed.rows.iter().any(|row| long_description(row, limits).is_some())
        || parsed.headings.iter().any(odd)
        || parsed.rows.iter().any(|row| row.section.is_some_and(|s| s >= parsed.headings.len()))
}

/// Walks rows and headings together: headings without a title give their rows to the section before, headings past the
/// limit become text of the last section, long titles open their section as text.
fn rewrite(parsed: Parsed, limits: &Limits) -> Parsed {
    let mut kept: Vec<Heading> = Vec::new();
    // For each old heading: its new section, and the text rows its title becomes.
    let mut places: Vec<(Option<usize>, Option<Row>)> = Vec::with_capacity(parsed.headings.len());
    let mut folded_away = 0_usize;
    for heading in parsed.headings {
        let title = folded(&heading.title);
        let heading = Heading { title, ..heading };
        let last = kept.len().checked_sub(1);
        if heading.title.is_empty() {
            places.push((last, None));
        } else if kept.len() >= limits.sections as usize {
            folded_away = folded_away.saturating_add(1);
            places.push((last, Some(Row { tight: true, ..title_row(last, &heading) })));
        } else {
            let section = Some(kept.len());
            let long = heading.title.chars().nth(TITLE_CHARS).is_some();
            places.push((section, long.then(|| title_row(section, &heading))));
            let title = if long { shortened(&heading.title) } else { heading.title };
            kept.push(Heading { title, ..heading });
        }
    }
    let mut rows = Vec::with_capacity(parsed.rows.len());
    let mut moved = Vec::with_capacity(parsed.rows.len());
    let mut told = 0_usize;
    let old_last = places.len().checked_sub(1);
    for mut row in parsed.rows {
        let section = row.section.and_then(|s| Some(s.min(old_last?)));
        if let Some(section) = section {
            for (_, title) in places.iter_mut().take(section.saturating_add(1)).skip(told) {
                push_title(&mut rows, title.take());
            }
            told = told.max(section.saturating_add(1));
        }
        row.section = section.and_then(|s| places.get(s)).and_then(|(new, _)| *new);
        let rest = long_description(&row, limits).map(|end| Row {
            pages: row.pages.clone(),
            hidden: row.hidden,
            ..Row::text(row.section, row.content.split_off(end))
        });
        moved.push(rows.len());
        rows.push(row);
        rows.extend(rest);
    }
    for (_, title) in places.iter_mut().skip(told) {
        push_title(&mut rows, title.take());
    }
    for reference in rows.iter_mut().flat_map(|row| row.refs.iter_mut()) {
        reference.row = moved.get(reference.row).copied().unwrap_or(usize::MAX);
    }
    let mut warnings = parsed.warnings;
    if folded_away > 0 {
        let message = format!("{folded_away} headings beyond the first {} were kept as text", limits.sections);
        warnings.push(Warning::new(DocumentCode::TooLarge, message));
    }
    Parsed { rows, headings: kept, warnings, ..parsed }
}

/// Adds a title as text; titles of one section that follow each other are lines of one row.
fn push_title(rows: &mut Vec<Row>, title: Option<Row>) {
    let Some(title) = title else { return };
    match rows.last_mut() {
        Some(last) if title.tight && last.tight && last.kind == RowKind::Text && last.section == title.section => {
            last.content.push('\n');
            last.content.push_str(&title.content);
            if last.pages.last() < title.pages.last() {
                last.pages.extend(title.pages);
            }
        }
        _ => rows.push(title),
    }
}

/// At most [`TITLE_CHARS`] characters, cut before a word where there is one.
fn shortened(title: &str) -> String {
    let end = title.char_indices().nth(TITLE_CHARS.saturating_sub(1)).map_or(title.len(), |(at, _)| at);
    let head = title.get(..end).unwrap_or(title);
    let cut = head.rfind(' ').filter(|at| *at > end / 2).unwrap_or(end);
    format!("{}…", head.get(..cut).unwrap_or(head))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quarry_model::{Evidence, RowRef};

    fn heading(title: &str) -> Heading {
        Heading { title: title.into(), number: None, level: 1, page: Some(2), evidence: Evidence::Style }
    }

    #[test]
    fn headings_past_the_limit_become_text_in_their_place() {
        let mut host = Row::text(Some(3), "d");
        host.refs.push(RowRef { row: 2, at: 0 });
        let parsed = Parsed {
            headings: ["A", "B", "C", "D", "E"].map(heading).to_vec(),
            rows: vec![Row::text(Some(0), "a"), Row::text(Some(1), "b"), Row::image(Some(3), 0, "p"), host],
            assets: vec![quarry_model::Asset { bytes: vec![1], original_name: String::new() }],
            ..Parsed::default()
        };
        let out = prepare(parsed, &Limits { sections: 2, ..Limits::default() });
        let told: Vec<(Option<usize>, &str)> = out.rows.iter().map(|r| (r.section, r.content.as_str())).collect();
        assert_eq!(told, [(Some(0), "a"), (Some(1), "b"), (Some(1), "C\nD"), (Some(1), "p"), (Some(1), "d"), (Some(1), "E")]);
        assert_eq!(out.rows[4].refs[0].row, 3);
        assert_eq!(out.warnings.len(), 1);
    }

    #[test]
    fn titles_are_folded_cut_and_never_lost() {
        let long = "word ".repeat(100);
        let parsed = Parsed {
            headings: vec![heading("  "), heading("A \n B"), heading(&long), heading("")],
            rows: vec![Row::text(Some(0), "x"), Row::text(Some(9), "y")],
            ..Parsed::default()
        };
        let out = prepare(parsed, &Limits::default());
        assert_eq!(out.headings[0].title, "A B");
        assert!(out.headings[1].title.ends_with("word…") && out.headings[1].title.chars().count() <= 300);
        assert_eq!(out.rows.iter().map(|r| r.section).collect::<Vec<_>>(), [None, Some(1), Some(1)]);
        assert_eq!(out.rows[1].content, long.trim());
    }

    #[test]
    fn a_document_of_titles_only_can_be_found_by_them() {
        let below = Heading { level: 2, number: Some("1.1".into()), ..heading("A1") };
        let out = prepare(Parsed { headings: vec![heading("A"), below, heading("B")], ..Parsed::default() }, &Limits::default());
        let told: Vec<_> = out.rows.iter().map(|r| (r.section, r.content.as_str())).collect();
        assert_eq!(told, [(Some(1), "A1"), (Some(2), "B")]);
    }

    #[test]
    fn pictures_without_bytes_are_their_description_or_a_warning() {
        let rows = vec![Row::image(None, 7, "remote chart"), Row::image(None, 7, "")];
        let out = prepare(Parsed { rows, ..Parsed::default() }, &Limits::default());
        assert_eq!(out.rows.iter().map(|r| (r.kind, r.asset)).collect::<Vec<_>>(), [(RowKind::Image, None), (RowKind::Text, None)]);
        assert_eq!((out.warnings.len(), out.partial), (1, false));
    }

    #[test]
    fn a_long_description_goes_on_as_text() {
        let said = "One sentence of a description. ".repeat(400);
        let parsed = Parsed {
            rows: vec![
                Row::image(None, 0, said.clone()),
                Row::table(None, quarry_model::Table { caption: "c".into(), ..Default::default() }),
            ],
            assets: vec![quarry_model::Asset { bytes: vec![1], original_name: String::new() }],
            ..Parsed::default()
        };
        let out = prepare(parsed, &Limits::default());
        assert_eq!(format!("{}{}", out.rows[0].content, out.rows[1].content), said);
        assert!(tokens::count(&out.rows[0].content) <= 1_200);
        assert_eq!((out.rows[2].kind, out.rows[2].content.as_str()), (RowKind::Text, "c"));
    }
}
