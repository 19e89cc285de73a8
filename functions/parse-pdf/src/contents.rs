//! Contents pages: most of their lines end in a page number that stands apart.

use std::collections::BTreeSet;

use quarry_pdf::Line;

use crate::page::PageText;

/// Entries that a page must have to be one.
const MIN_ENTRIES: usize = 5;
/// Space between an entry and its page number, in sizes, where no dots lead to it.
const GAP: f32 = 3.0;
/// How far page numbers may be from standing under each other, in points.
const UNDER: f32 = 4.0;

/// The pages that list what stands elsewhere.
pub(crate) fn pages_of(pages: &[PageText]) -> BTreeSet<u32> {
    pages.iter().filter(|page| is_contents(page)).map(|page| page.number).collect()
}

fn is_contents(page: &PageText) -> bool {
    let mut lines: Vec<&Line> = page.lines.iter().filter(|line| line.angle == 0).collect();
    lines.sort_by(|a, b| a.baseline.total_cmp(&b.baseline).then(a.rect.x0.total_cmp(&b.rect.x0)));
    let mut rows: Vec<Vec<&Line>> = Vec::new();
    for line in lines {
        match rows.last_mut() {
            Some(row) if row.iter().any(|l| (l.baseline - line.baseline).abs() < 0.4 * l.size) => row.push(line),
            _ => rows.push(vec![line]),
        }
    }
    let mut ends: Vec<(f32, u32)> = rows.iter_mut().filter_map(|row| entry(row)).collect();
    // Page numbers rise down the page, and stand under each other; the figures of a table do neither.
    let rising = ends.windows(2).filter(|pair| matches!(pair, [(_, a), (_, b)] if a <= b)).count();
    let count = ends.len();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let Some((right, _)) = ends.get(count / 2).copied() else { return false };
    let under = ends.iter().filter(|(end, _)| (end - right).abs() < UNDER).count();
    count >= MIN_ENTRIES
        && count.saturating_mul(2) >= rows.len()
        && under.saturating_mul(10) >= count.saturating_mul(8)
        && rising.saturating_mul(10) >= count.saturating_sub(1).saturating_mul(9)
}

/// Where the page number of an entry ends, and its value: Roman ones come before all others.
fn entry(row: &mut Vec<&Line>) -> Option<(f32, u32)> {
    row.sort_by(|a, b| a.rect.x0.total_cmp(&b.rect.x0));
    let words: Vec<_> = row.iter().flat_map(|line| &line.words).collect();
    let (last, before) = words.split_last()?;
    let number = last.text.trim_start_matches(['.', '…', '·', ' ']);
    let value = match number.parse::<u32>() {
        Ok(value) if number.len() <= 4 => value,
        _ if !number.is_empty() && number.chars().all(|c| matches!(c, 'i' | 'v' | 'x' | 'l')) => 0,
        _ => return None,
    };
    let before = before.last()?;
    let dots = |text: &str| text.ends_with(['.', '…', '·']) && !text.ends_with(char::is_alphanumeric);
    let led = number.len() < last.text.len() || dots(&before.text);
    let apart = last.rect.x0 - before.rect.x1 > GAP * last.size;
    let lettered = words.iter().any(|word| word.text.chars().any(char::is_alphabetic));
    (lettered && (led || apart)).then_some((last.rect.x1, value))
}
