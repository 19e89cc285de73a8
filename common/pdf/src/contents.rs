//! Contents pages: most of their lines end in a page number that stands apart.

use crate::lines::Line;

/// Entries that a page must have to be one.
const MIN_ENTRIES: usize = 5;
/// Space between an entry and its page number, in sizes, where no dots lead to it.
const GAP: f32 = 3.0;
/// How far page numbers may be from standing under each other, in points.
const UNDER: f32 = 4.0;

/// An entry of a contents page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContentsEntry {
    /// Where its text begins, in points from the left.
    pub indent: f32,
    /// Where its page number ends.
    end: f32,
    /// The page number as printed; 0 for a Roman one, which come before all others.
    pub printed: u32,
}

/// The entries of a page that lists what stands elsewhere, from the top; empty for any other page.
pub fn contents_of(lines: &[Line]) -> Vec<ContentsEntry> {
    let mut lines: Vec<&Line> = lines.iter().filter(|line| line.angle == 0).collect();
    lines.sort_by(|a, b| a.baseline.total_cmp(&b.baseline).then(a.rect.x0.total_cmp(&b.rect.x0)));
    let mut rows: Vec<Vec<&Line>> = Vec::new();
    for line in lines {
        match rows.last_mut() {
            Some(row) if row.iter().any(|l| (l.baseline - line.baseline).abs() < 0.4 * l.size) => row.push(line),
            _ => rows.push(vec![line]),
        }
    }
    let entries: Vec<ContentsEntry> = rows.iter_mut().filter_map(|row| entry(row)).collect();
    // Page numbers rise down the page, and stand under each other; the figures of a table do neither.
    let rising = entries.windows(2).filter(|pair| matches!(pair, [a, b] if a.printed <= b.printed)).count();
    let count = entries.len();
    let mut ends: Vec<f32> = entries.iter().map(|entry| entry.end).collect();
    ends.sort_by(f32::total_cmp);
    let Some(right) = ends.get(count / 2).copied() else { return Vec::new() };
    let under = ends.iter().filter(|end| (*end - right).abs() < UNDER).count();
    let is_contents = count >= MIN_ENTRIES
        && count.saturating_mul(2) >= rows.len()
        && under.saturating_mul(10) >= count.saturating_mul(8)
        && rising.saturating_mul(10) >= count.saturating_sub(1).saturating_mul(9);
    if is_contents { entries } else { Vec::new() }
}

/// A row of a page as an entry, if it is one.
fn entry(row: &mut Vec<&Line>) -> Option<ContentsEntry> {
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
    let indent = row.first()?.rect.x0;
    (lettered && (led || apart)).then_some(ContentsEntry { indent, end: last.rect.x1, printed: value })
}
