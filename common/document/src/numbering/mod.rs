//! Numbers and chapter words at the beginning of a line, in many languages.
//!
//! What this knows is one data table ([`PATTERNS`]), one language per entry, each with an example that must match and one
//! that must not. A match is evidence only: whether the line is a heading is for the caller, who sees its neighbours
//! (a numbered list is no list of chapters). And no match is no evidence either: a heading that markup or a style makes
//! one stays one, however long it is, whether it ends in a full stop, starts with a year or is an only child.

mod negative;
mod number;
pub mod numerals;
mod shape;
mod table;

pub use number::NumberKind;
pub use shape::Shape;
pub use table::{PATTERNS, Pattern};

/// A line longer than this is prose, whatever it begins with; nothing is scanned beyond it.
pub const LINE_CHARS: usize = 400;

/// A numbering found at the beginning of a line.
#[derive(Debug, Clone, Copy)]
pub struct Numbering<'a> {
    /// The table's row.
    pub pattern: &'static Pattern,
    /// How many levels the number itself has (`1.2.3` → 3, `2.` → 1); `None` when it does not say.
    pub depth: Option<u32>,
    /// The last number's value (`1.2.3` → 3, `IV` → 4, `b` → 2, `第十章` → 10), for seeing whether a sequence runs on.
    pub value: Option<u32>,
    /// How the number is written.
    pub kind: NumberKind,
    /// The numbering as written: `1.2.3`, `Chapter IV`, `第十章`.
    pub number_text: &'a str,
    /// What follows, without the separator.
    pub rest: &'a str,
}

/// What numbering a line begins with, if it could head a section.
///
/// Dates, times, decimals, quantities, addresses and sentences are no headings by their number; see the tests of the
/// table and of the negative rules.
pub fn detect(line: &str) -> Option<Numbering<'_>> {
    let line = line.trim();
    if line.is_empty() || line.chars().nth(LINE_CHARS).is_some() || negative::is_other_line(line) {
        return None;
    }
    PATTERNS.iter().find_map(|pattern| {
        let found = shape::matches(pattern, line)?;
        (!negative::is_no_heading(&found)).then_some(found)
    })
}

#[cfg(test)]
mod tests;
