//! Footnotes: small print at the foot of a column that begins with a number which the text above carries. Each is read
//! after the paragraph that refers to it, and a paragraph that it parts from its end on the next page is whole again.

use quarry_pdf::{Line, Word};

use crate::blocks::{Block, TextBlock, goes_on};
use crate::page::Body;

/// Footnotes are set smaller than the text: at most this share of its size.
const SMALL: f32 = 0.93;
/// How far above its line a mark stands, in sizes of the line.
const RAISED: f32 = 0.15;

/// Blocks with every footnote after the paragraph that refers to it.
pub(crate) fn place(blocks: Vec<Block>, body: Body) -> Vec<Block> {
    let mut at_foot: Vec<bool> = (0..blocks.len()).map(|index| is_at_foot(&blocks, index, body)).collect();
    if !at_foot.contains(&true) {
        return blocks;
    }
    // Where each note goes: after the block of its page that carries its mark. One without a mark stays where it stands.
    let mut notes: Vec<(usize, TextBlock)> = Vec::new();
    for (index, foot) in at_foot.iter_mut().enumerate().filter(|(_, foot)| **foot) {
        let Some(Block::Text(block)) = blocks.get(index) else { continue };
        let parts = split(block);
        let hosts: Vec<Option<usize>> = parts.iter().map(|part| host(&blocks, index, part, body)).collect();
        *foot = hosts.iter().any(Option::is_some);
        if *foot {
            notes.extend(parts.into_iter().zip(hosts).map(|(part, host)| (host.unwrap_or(index), part)));
        }
    }
    let mut out: Vec<Block> = Vec::with_capacity(blocks.len());
    let mut waiting: Vec<TextBlock> = Vec::new();
    let mut after_note = false;
    for (index, (block, foot)) in blocks.into_iter().zip(at_foot).enumerate() {
        if foot {
            after_note = true;
        } else if let Some(Block::Text(open)) = out.last_mut()
            && after_note
            && let Block::Text(next) = &block
            && continues_over_page(open, next)
        {
            open.lines.extend(next.lines.iter().cloned());
            after_note = false;
        } else {
            out.extend(waiting.drain(..).map(Block::Text));
            out.push(block);
            after_note = false;
        }
        waiting.extend(notes.iter().filter(|(host, _)| *host == index).map(|(_, note)| note.clone()));
    }
    out.extend(waiting.into_iter().map(Block::Text));
    out
}

/// Whether a block is small print that begins with a number and has nothing but small print under it in its column.
fn is_at_foot(blocks: &[Block], index: usize, body: Body) -> bool {
    let Some(Block::Text(block)) = blocks.get(index) else { return false };
    let Some(first) = block.first() else { return false };
    let page = block.page();
    if first.size > SMALL * body.size || number_of(first).is_none() || block.lines.iter().any(|(_, p)| *p != page) {
        return false;
    }
    let under = |other: &quarry_pdf::Rect| other.y0 > first.rect.y0 && other.horizontal_overlap(&first.rect) > 0.0;
    let here = |at: u32| at == page;
    // Blocks of a page are neighbours.
    let after = blocks.iter().skip(index.saturating_add(1)).take_while(|b| here(page_of(b)));
    let before = blocks.iter().take(index).rev().take_while(|b| here(page_of(b)));
    !after.chain(before).any(|other| match other {
        Block::Text(text) => text.lines.iter().any(|(line, p)| *p == page && line.size > SMALL * body.size && under(&line.rect)),
        Block::Table(table, _) => under(&table.rect),
        Block::Figure(figure, _) => under(&figure.rect),
    })
}

/// The page a block ends on: what stands on a page before it cannot be under anything on this one.
fn page_of(block: &Block) -> u32 {
    match block {
        Block::Text(text) => text.lines.last().map_or(1, |(_, page)| *page),
        Block::Table(_, page) | Block::Figure(_, page) => *page,
    }
}

/// The number that a line begins with, as a note's does: one to three digits, and then text. "1. First" is an item of a list.
fn number_of(line: &Line) -> Option<String> {
    let text = line.text();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(digits);
    let raised = line.words.first().is_some_and(|word| word.size < 0.9 * line.size);
    let follows = rest.chars().next().is_some_and(|c| c.is_alphabetic() || raised && !matches!(c, '.' | ')' | ','))
        || rest.starts_with(' ') && rest.trim_start().starts_with(|c: char| c.is_alphabetic() || matches!(c, '"' | '“' | '„' | '«' | '('));
    ((1..=3).contains(&number.len()) && follows).then(|| number.to_owned())
}

/// Notes that stand under each other as one block, each for itself: their numbers go up by one.
fn split(block: &TextBlock) -> Vec<TextBlock> {
    let mut parts: Vec<TextBlock> = Vec::new();
    let mut last: Option<u32> = None;
    for (line, page) in &block.lines {
        let number = number_of(line).and_then(|number| number.parse::<u32>().ok());
        let next = number.is_some() && (last.is_none() || number == last.and_then(|n| n.checked_add(1)));
        match parts.last_mut() {
            Some(open) if !next => open.lines.push((line.clone(), *page)),
            _ => parts.push(TextBlock { lines: vec![(line.clone(), *page)], above: block.above, centred: block.centred }),
        }
        if next {
            last = number;
        }
    }
    parts
}

/// The block that carries a note's mark: the first before it, on its page, with a raised mark, or else with one set on a word.
fn host(blocks: &[Block], index: usize, note: &TextBlock, body: Body) -> Option<usize> {
    let number = note.first().and_then(number_of)?;
    let page = note.page();
    let begin = blocks.iter().take(index).rposition(|b| page_of(b) != page).map_or(0, |last| last.saturating_add(1));
    let marked = |test: &dyn Fn(&Line, &Word) -> bool| {
        blocks.iter().enumerate().take(index).skip(begin).find_map(|(at, block)| {
            let Block::Text(text) = block else { return None };
            let found = text
                .lines
                .iter()
                .any(|(line, p)| *p == page && line.size > SMALL * body.size && line.words.iter().any(|word| test(line, word)));
            found.then_some(at)
        })
    };
    let bare = |text: &str| text.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let raised = |line: &Line, word: &Word| word.rise < -RAISED * line.size && bare(&word.text) == number;
    let on_word = |_: &Line, word: &Word| {
        word.text.trim_end_matches(['.', ',', ';', ')']).strip_suffix(number.as_str()).is_some_and(|before| {
            let mut ends = before.chars().rev();
            let last = ends.next();
            last.is_some_and(|c| {
                c.is_lowercase() || matches!(c, '.' | ',' | '”' | '"' | ')') && ends.next().is_some_and(char::is_alphabetic)
            })
        })
    };
    marked(&raised).or_else(|| marked(&on_word))
}

/// Whether a paragraph goes on in the next block, which begins the next page or column.
fn continues_over_page(open: &TextBlock, next: &TextBlock) -> bool {
    let (Some((last, p)), Some((first, q))) = (open.lines.last(), next.lines.first()) else { return false };
    let ahead = q > p || q == p && first.baseline < last.baseline;
    ahead
        && (last.size - first.size).abs() <= 0.12 * last.size
        && last.bold == first.bold
        && last.monospace == first.monospace
        && goes_on(open, first)
}
