//! The anatomy of a long document: its language, its contents pages, the numbers printed on its pages, where its parts
//! begin, and how it is cut by them. Found while its pages are measured, and nowhere later.

use std::collections::{BTreeMap, BTreeSet};

use quarry_language::detect;
use quarry_model::pdf::{Anatomy, BoundaryEvidence, Numbering};
use quarry_pdf::{ContentsEntry, FontInfo, Glyph, OutlineEntry, Page, contents_of, lines_of};

use super::plan::plan;

/// Text that tells the language, in bytes, and the fewest characters that do.
const LANGUAGE_BYTES: usize = 4_000;
const LANGUAGE_CHARACTERS: usize = 200;
/// Contents pages stand among the first pages.
const CONTENTS_WITHIN: usize = 60;
/// Share of a page's height, at its top and at its bottom, in which its number is printed.
const MARGIN: f32 = 0.1;
/// Most numbers in the margins of a page that are considered.
const MOST_NUMBERS: usize = 8;
/// Pages that must agree on how printed numbers are counted; fewer do so by chance (a year, a section's number).
const AGREEING: usize = 5;
/// Entries of a contents page that begin this near to each other are of one level, in points.
const SAME_INDENT: f32 = 4.0;

/// Looks at every page once, in order.
#[derive(Default)]
pub(crate) struct Anatomist {
    text: String,
    contents: Vec<(u32, Vec<ContentsEntry>)>,
    /// Numbers in the margins, page by page.
    numbers: Vec<Vec<u32>>,
}

impl Anatomist {
    /// The next page.
    pub(crate) fn see(&mut self, page: &Page, fonts: &[FontInfo]) {
        self.numbers.push(numbers_of(page, fonts));
        let number = self.numbers.len();
        if number > CONTENTS_WITHIN && self.text.len() > LANGUAGE_BYTES {
            return;
        }
        let lines = lines_of(page, fonts);
        for line in lines.iter().filter(|line| !line.hidden) {
            if self.text.len() > LANGUAGE_BYTES {
                break;
            }
            self.text.push_str(&line.text());
            self.text.push('\n');
        }
        let entries = contents_of(&lines);
        if !entries.is_empty() && number <= CONTENTS_WITHIN {
            self.contents.push((count(number), entries));
        }
    }

    /// What all pages together say.
    pub(crate) fn anatomy(self, outline: &[OutlineEntry], most_pages: u32) -> Anatomy {
        let pages = count(self.numbers.len());
        let known = self.text.chars().count() >= LANGUAGE_CHARACTERS;
        let language = known.then(|| detect(&self.text)).filter(|language| *language != "und").map(str::to_owned);
        let mut contents: Vec<u32> = self.contents.iter().map(|(page, _)| *page).collect();
        contents.truncate(Anatomy::MOST_CONTENTS);
        let numbering = numbering(&self.numbers);
        let mut anatomy = Anatomy { language, contents, numbering, ..Anatomy::default() };
        let (evidence, first, second) = boundaries(outline, &self.contents, &anatomy, pages);
        anatomy.boundaries_by = evidence;
        anatomy.shards = plan(pages, &first, &second, most_pages);
        anatomy.boundaries = first;
        anatomy.boundaries.truncate(Anatomy::MOST_BOUNDARIES);
        anatomy
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Numbers that stand alone as words in the page's margins.
fn numbers_of(page: &Page, fonts: &[FontInfo]) -> Vec<u32> {
    let in_margin = |glyph: &&Glyph| {
        let at = glyph.origin.1 / page.height.max(1.0);
        glyph.angle == 0 && !(MARGIN..=1.0 - MARGIN).contains(&at)
    };
    let glyphs: Vec<Glyph> = page.glyphs.iter().filter(in_margin).cloned().collect();
    if glyphs.is_empty() {
        return Vec::new();
    }
    let margins = Page { width: page.width, height: page.height, glyphs, ..Page::default() };
    let lines = lines_of(&margins, fonts);
    let plain = |text: &str| {
        let digits = text.trim_matches(|c: char| !c.is_alphanumeric());
        (digits.len() <= 4 && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().ok()).flatten()
    };
    let mut numbers: Vec<u32> = lines.iter().flat_map(|line| &line.words).filter_map(|word| plain(&word.text)).take(MOST_NUMBERS).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Runs of pages whose printed numbers go up with the pages.
fn numbering(numbers: &[Vec<u32>]) -> Vec<Numbering> {
    let offset = |page: u32, printed: u32| i64::from(page).saturating_sub(i64::from(printed));
    let mut votes: BTreeMap<i64, usize> = BTreeMap::new();
    for (page, printed) in (1u32..).zip(numbers) {
        for number in printed {
            let count = votes.entry(offset(page, *number)).or_insert(0);
            *count = count.saturating_add(1);
        }
    }
    let agreed = |offset: &i64| votes.get(offset).copied().filter(|count| *count >= AGREEING);
    let mut runs: Vec<(i64, Numbering)> = Vec::new();
    for (page, printed) in (1u32..).zip(numbers) {
        // Where several numbers stand in the margins, the one that most pages agree with.
        let best = printed.iter().filter_map(|n| Some((agreed(&offset(page, *n))?, *n))).max_by_key(|(count, n)| (*count, *n));
        let Some((_, number)) = best else { continue };
        match runs.last_mut() {
            // Pages without a number in between belong to the run.
            Some((before, run)) if *before == offset(page, number) => run.last = page,
            _ => runs.push((offset(page, number), Numbering { first: page, last: page, printed: number })),
        }
    }
    let mut runs: Vec<Numbering> = runs.into_iter().map(|(_, run)| run).filter(|run| run.last > run.first).collect();
    runs.truncate(Anatomy::MOST_RUNS);
    runs
}

/// The pages on which parts of the first and of the second level begin.
fn boundaries(
    outline: &[OutlineEntry],
    contents: &[(u32, Vec<ContentsEntry>)],
    anatomy: &Anatomy,
    pages: u32,
) -> (BoundaryEvidence, Vec<u32>, Vec<u32>) {
    let sorted = |found: BTreeSet<u32>| found.into_iter().filter(|page| (1..=pages).contains(page)).collect::<Vec<u32>>();
    let level = |level: u32| sorted(outline.iter().filter(|entry| entry.level == level).filter_map(|e| Some(count(e.page?))).collect());
    let (first, second) = (level(1), level(2));
    if first.len().saturating_add(second.len()) > 1 {
        return (BoundaryEvidence::Outline, first, second);
    }
    let entries = || contents.iter().flat_map(|(_, entries)| entries);
    let left = entries().map(|entry| entry.indent).fold(f32::MAX, f32::min);
    let listed = |outermost: bool| {
        let of_level = entries().filter(|entry| (entry.indent - left < SAME_INDENT) == outermost);
        sorted(of_level.filter_map(|entry| anatomy.page_of(entry.printed)).collect())
    };
    let (first, second) = (listed(true), listed(false));
    if first.is_empty() && second.is_empty() {
        return (BoundaryEvidence::None, first, second);
    }
    (BoundaryEvidence::Contents, first, second)
}

#[cfg(test)]
mod tests {
    use quarry_model::Limits;
    use quarry_pdf::Pdf;
    use quarry_pdf::testing::{Builder, Leaf};

    use super::*;

    fn anatomy(pdf: Builder) -> Anatomy {
        let pdf = Pdf::open(pdf.save(), &Limits::default()).unwrap();
        let mut anatomist = Anatomist::default();
        pdf.read(|_, page, fonts| {
            anatomist.see(&page, fonts);
            true
        });
        anatomist.anatomy(&pdf.outline(), 40)
    }

    const PROSE: &str = "The pump stands on a plate of cast iron and is bolted to the floor, so that it neither moves nor hums.";

    /// Eight pages of front matter, the third of them the contents, then a book whose pages are numbered from 1.
    fn book() -> Builder {
        let mut pdf = Builder::new();
        for page in 1..=8 {
            let mut leaf = Leaf::a4().text(72.0, 100.0, 10.0, PROSE);
            if page == 3 {
                leaf = Leaf::a4();
                for (row, (indent, title, at)) in
                    [(72.0, "The pump", 1), (90.0, "Its oil", 20), (72.0, "The valve", 41), (90.0, "Its pin", 60), (72.0, "The gauge", 81)]
                        .into_iter()
                        .enumerate()
                {
                    let down = 100.0 + 20.0 * row as f32;
                    leaf = leaf.text(indent, down, 10.0, title).text(500.0, down, 10.0, &format!("{at:>3}").replace(' ', ""));
                }
            }
            pdf = pdf.page(leaf);
        }
        for page in 1..=100 {
            let leaf = Leaf::a4().text(72.0, 100.0, 10.0, PROSE).text(300.0, 810.0, 9.0, &format!("Page {page} of 100"));
            pdf = pdf.page(leaf.text(72.0, 30.0, 9.0, "2026 Northern Waterworks"));
        }
        pdf
    }

    #[test]
    fn printed_numbers_and_contents_pages_say_where_parts_begin() {
        let found = anatomy(book());
        assert_eq!(found.language.as_deref(), Some("en"));
        assert_eq!(found.contents, [3]);
        assert_eq!(found.numbering, [Numbering { first: 9, last: 108, printed: 1 }]);
        assert_eq!((found.boundaries_by, found.boundaries.as_slice()), (BoundaryEvidence::Contents, [9, 49, 89].as_slice()));
        let cuts: Vec<(u32, u32, u32)> = found.shards.iter().map(|shard| (shard.first, shard.last, shard.depth)).collect();
        assert_eq!(cuts, [(1, 27, 0), (28, 48, 2), (49, 88, 1), (89, 108, 1)]);
    }

    #[test]
    fn a_document_that_says_nothing_of_its_parts_is_cut_evenly() {
        let plain = (0..90).fold(Builder::new(), |pdf, _| pdf.page(Leaf::a4().text(72.0, 400.0, 10.0, "7")));
        let found = anatomy(plain);
        assert_eq!((found.language, found.boundaries_by, found.boundaries.len()), (None, BoundaryEvidence::None, 0));
        assert_eq!(found.shards.iter().map(|shard| shard.last).collect::<Vec<_>>(), [30, 60, 90]);
    }
}
