//! Which paragraphs are headings. A line by itself only makes a candidate; the text around it decides.

use std::ops::Range;

use quarry_document::numbering::{self, Numbering, Shape};

use super::levels::Key;
use super::paragraphs::Paragraphs;
use super::{caps, underline};

/// A heading that text follows in the same paragraph is no longer than this: longer lines are the beginning of prose.
const RUN_IN_CHARS: usize = 60;

/// A heading.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// The paragraph it stands in.
    pub(super) paragraph: usize,
    pub(super) key: Key,
    pub(super) title: String,
    /// Where the rest of the paragraph begins.
    pub(super) rest: usize,
}

/// What a paragraph could be, and how sure that is by itself.
struct Candidate {
    found: Found,
    certain: bool,
    value: Option<u32>,
}

/// Finds the headings, in order.
pub(super) fn find(paragraphs: &Paragraphs<'_>) -> Vec<Found> {
    if paragraphs.coarse {
        return Vec::new();
    }
    let candidates: Vec<Option<Candidate>> = (0..paragraphs.all.len()).map(|index| candidate(paragraphs, index)).collect();
    let kinds = Kinds::of(&candidates, paragraphs);
    candidates
        .into_iter()
        .flatten()
        .filter(|candidate| candidate.certain || kinds.are_headings(candidate.found.key))
        .map(|c| c.found)
        .collect()
}

fn candidate(paragraphs: &Paragraphs<'_>, index: usize) -> Option<Candidate> {
    let mut lines: Vec<(Range<usize>, &str)> =
        paragraphs.lines(index).take(4).map(|range| (range.clone(), paragraphs.text(range))).collect();
    let found =
        |key, title: &str, rest| Found { paragraph: index, key, title: title.split_whitespace().collect::<Vec<_>>().join(" "), rest };
    if let Some(drawn) = underline::find(&lines) {
        let title = paragraphs.text(drawn.title);
        return Some(Candidate { found: found(drawn.key, title, drawn.rest), certain: true, value: None });
    }
    lines.truncate(2);
    let (first, line) = lines.first()?.clone();
    let next = lines.get(1).map(|(range, text)| (range.start, *text));
    let rest = next.map_or(first.end, |(start, _)| start);
    if let Some(number) = numbering::detect(line) {
        let certain = is_chapter_word(number.pattern.shape);
        let alone = next.is_none() || (certain && next.is_some_and(|(_, text)| is_run_in(line, text)));
        let key = Key::Numbering(number.pattern.name, number.depth.unwrap_or(1), number.pattern.rank);
        return alone.then(|| Candidate { found: found(key, line, rest), certain, value: number.value });
    }
    let caps = next.is_none() && caps::is_capital_line(line);
    caps.then(|| Candidate { found: found(Key::Caps, line, rest), certain: false, value: None })
}

/// Words such as Chapter say what they are; figures and letters also number lists.
fn is_chapter_word(shape: Shape) -> bool {
    matches!(shape, Shape::Word { .. } | Shape::OrdinalWord { .. } | Shape::Around { .. } | Shape::Alone { .. })
}

/// `Article 5` and its text on the next line; not the first line of a wrapped sentence, not a line of a contents list.
fn is_run_in(line: &str, next: &str) -> bool {
    let next = next.trim_start();
    let another: Option<Numbering<'_>> = numbering::detect(next);
    line.chars().nth(RUN_IN_CHARS).is_none()
        && !line.trim_end().ends_with([',', ';', '-'])
        && !next.starts_with(char::is_lowercase)
        && !another.is_some_and(|number| is_chapter_word(number.pattern.shape))
}

/// What is known of each kind of uncertain candidate.
struct Kinds {
    known: Vec<Kind>,
    small_text: bool,
}

struct Kind {
    key: Key,
    count: usize,
    /// How many are followed by text of their own, or by a heading below them.
    followed: usize,
    /// How many have a greater number than the one before, or begin again at 1.
    running: usize,
    last: Option<u32>,
}

impl Kinds {
    fn of(candidates: &[Option<Candidate>], paragraphs: &Paragraphs<'_>) -> Self {
        let mut known: Vec<Kind> = Vec::new();
        for (index, candidate) in candidates.iter().enumerate() {
            let Some(candidate) = candidate.as_ref().filter(|candidate| !candidate.certain) else { continue };
            let key = grouped(candidate.found.key);
            let next = candidates.get(index.saturating_add(1));
            let followed = match next {
                None => false,
                Some(None) => true,
                Some(Some(next)) => grouped(next.found.key) != key || is_deeper(next.found.key, candidate.found.key),
            };
            let at = known.iter().position(|kind| kind.key == key).unwrap_or(known.len());
            if at == known.len() {
                known.push(Kind { key, count: 0, followed: 0, running: 0, last: None });
            }
            let Some(kind) = known.get_mut(at) else { continue };
            let running = candidate.value.is_none_or(|value| value <= 1 || kind.last.is_some_and(|last| value > last));
            kind.count = kind.count.saturating_add(1);
            kind.followed = kind.followed.saturating_add(usize::from(followed));
            kind.running = kind.running.saturating_add(usize::from(running));
            kind.last = candidate.value;
        }
        let has_caps = known.iter().any(|kind| kind.key == Key::Caps);
        let end = paragraphs.all.last().map_or(0, |last| last.range.end);
        Self { known, small_text: has_caps && caps::is_mostly_small(paragraphs.text(0..end)) }
    }

    /// Two or more, most of them followed by text, their numbers running on: that is what headings do and lists do not.
    fn are_headings(&self, key: Key) -> bool {
        let Some(kind) = self.known.iter().find(|kind| kind.key == grouped(key)) else { return false };
        let most = |count: usize| count.saturating_mul(5) >= kind.count.saturating_mul(3);
        kind.count >= 2 && most(kind.followed) && most(kind.running) && (key != Key::Caps || self.small_text)
    }
}

/// Numbers of every depth are one kind.
fn grouped(key: Key) -> Key {
    match key {
        Key::Numbering(name @ ("dotted" | "letter dotted"), _, rank) => Key::Numbering(name, 0, rank),
        key => key,
    }
}

fn is_deeper(below: Key, above: Key) -> bool {
    match (below, above) {
        (Key::Numbering(_, below, _), Key::Numbering(_, above, _)) => below > above,
        _ => false,
    }
}
