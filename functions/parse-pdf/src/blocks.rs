//! Lines → blocks: paragraphs, list items and heading candidates, joined over columns and pages.

use quarry_document::numbering;
use quarry_language::script::is_ideographic;
use quarry_model::PageBox;
use quarry_pdf::{Line, Rect, Word, reading_order};

use crate::figures::Figure;
use crate::page::{Body, PageText};
use crate::tables::FoundTable;

/// Stands for a table or a figure while lines are put in reading order.
const PLACEHOLDER: char = '\u{fffc}';

/// One block in reading order.
#[derive(Debug, Clone)]
pub(crate) enum Block {
    Text(TextBlock),
    Table(FoundTable, u32),
    Figure(Figure, u32),
}

/// A paragraph, a list item, or a line that may be a heading.
#[derive(Debug, Clone)]
pub(crate) struct TextBlock {
    /// Lines with their page.
    pub(crate) lines: Vec<(Line, u32)>,
    /// White space above, in sizes; large at the top of a page or column.
    pub(crate) above: f32,
    /// Whether it stands in the middle of its column.
    pub(crate) centred: bool,
}

impl TextBlock {
    pub(crate) fn first(&self) -> Option<&Line> {
        self.lines.first().map(|(line, _)| line)
    }

    pub(crate) fn page(&self) -> u32 {
        self.lines.first().map_or(1, |(_, page)| *page)
    }

    /// The size of its first line; of its first words, where only a number stands before them on their baseline.
    pub(crate) fn size(&self) -> f32 {
        match self.lines.as_slice() {
            [(number, p), (title, q), ..] if p == q && (number.baseline - title.baseline).abs() < 0.4 * title.size => {
                let lone = number.words.len() == 1 && number.words.iter().all(|w| !w.text.contains(char::is_alphabetic));
                if lone { title.size } else { number.size }
            }
            [(first, _), ..] => first.size,
            [] => 0.0,
        }
    }

    pub(crate) fn all(&self, test: impl Fn(&Line) -> bool) -> bool {
        self.lines.iter().all(|(line, _)| test(line))
    }

    /// Its text: lines joined, words broken at a line's end made whole.
    pub(crate) fn text(&self) -> String {
        self.laid().0
    }

    /// Its text, and where in it each line begins.
    pub(crate) fn laid(&self) -> (String, Vec<usize>) {
        let listing = self.is_listing();
        let mut out = String::new();
        let mut starts = Vec::with_capacity(self.lines.len());
        for (line, _) in &self.lines {
            let text = line.text();
            if listing && !out.is_empty() {
                out.push('\n');
                out.push_str(&text);
            } else if out.is_empty() {
                out.push_str(&text);
            } else {
                join_line(&mut out, &text);
            }
            starts.push(out.len().saturating_sub(text.len()));
        }
        (out, starts)
    }

    /// Whether its lines stay lines: several, all of a font of one width.
    pub(crate) fn is_listing(&self) -> bool {
        self.lines.len() > 1 && self.all(|line| line.monospace)
    }
}

/// The pages some lines stand on.
pub(crate) fn pages_of(lines: &[(Line, u32)]) -> Vec<u32> {
    let mut pages: Vec<u32> = lines.iter().map(|(_, page)| *page).collect();
    pages.sort_unstable();
    pages.dedup();
    pages
}

/// One box a page and column for some lines in reading order.
pub(crate) fn boxes_of(lines: &[(Line, u32)]) -> Vec<PageBox> {
    let mut out: Vec<(u32, Rect)> = Vec::new();
    for (line, page) in lines {
        match out.last_mut() {
            Some((last, rect)) if last == page && line.rect.horizontal_overlap(rect) > 0.0 && line.rect.y0 > rect.y0 - line.size => {
                *rect = rect.union(&line.rect);
            }
            _ => out.push((*page, line.rect)),
        }
    }
    out.iter().map(|(page, rect)| page_box(*page, rect)).collect()
}

pub(crate) fn page_box(page: u32, rect: &Rect) -> PageBox {
    let tenth = |v: f32| (v * 10.0).round() / 10.0;
    PageBox { page, x0: tenth(rect.x0), y0: tenth(rect.y0), x1: tenth(rect.x1), y1: tenth(rect.y1) }
}

/// Adds a line to a text: a hyphen at the end is dropped where a word was broken and kept where a compound was (it has a
/// hyphen already, or a capital or a digit stands beside it), and CJK text is joined without a space.
pub(crate) fn join_line(out: &mut String, line: &str) {
    let hyphen = |c: char| matches!(c, '-' | '\u{2010}' | '\u{2011}' | '\u{ad}');
    let mut ends = out.chars().rev();
    let (last, before) = (ends.next(), ends.next());
    let next = line.chars().next();
    if last.is_some_and(hyphen) && before.is_some_and(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric) {
        let compound = out.rsplit(char::is_whitespace).next().is_some_and(|word| word.chars().filter(|c| hyphen(*c)).count() > 1);
        if before.is_some_and(char::is_lowercase) && next.is_some_and(char::is_lowercase) && !compound {
            out.pop();
        }
    } else if !(last.is_some_and(is_cjk) && next.is_some_and(is_cjk)) {
        out.push(' ');
    }
    out.push_str(line);
}

/// Characters that are set without a space between them, and the full-width marks that stand among them.
pub(crate) fn is_cjk(c: char) -> bool {
    is_ideographic(c) || matches!(c, '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}')
}

/// All blocks of the document.
pub(crate) fn blocks_of(pages: Vec<PageText>, mut parts: Vec<(Vec<FoundTable>, Vec<Figure>)>, body: Body) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for (page, (tables, figures)) in pages.into_iter().zip(parts.drain(..)) {
        let number = page.number;
        let mut lines = page.lines;
        lines.extend(tables.iter().enumerate().map(|(i, t)| placeholder('T', i, t.rect)));
        lines.extend(figures.iter().enumerate().map(|(i, f)| placeholder('F', i, f.rect)));
        let mut tables: Vec<Option<FoundTable>> = tables.into_iter().map(Some).collect();
        let mut figures: Vec<Option<Figure>> = figures.into_iter().map(Some).collect();
        let ordered = reading_order(lines);
        let extent = ordered.iter().map(|l| l.rect).reduce(|a, b| a.union(&b)).unwrap_or_default();
        let mut before: Option<Line> = None;
        for line in ordered {
            if let Some((kind, index)) = placed(&line) {
                let found = match kind {
                    'T' => tables.get_mut(index).and_then(Option::take).map(|table| Block::Table(table, number)),
                    _ => figures.get_mut(index).and_then(Option::take).map(|figure| Block::Figure(figure, number)),
                };
                blocks.extend(found);
                before = None;
                continue;
            }
            add_line(&mut blocks, line.clone(), number, before.as_ref(), body, &extent);
            before = Some(line);
        }
    }
    blocks
}

fn placeholder(kind: char, index: usize, rect: Rect) -> Line {
    let word = Word { text: format!("{PLACEHOLDER}{kind}{index}"), rect, size: 10.0, font: 0, rise: 0.0, spaced: false };
    Line {
        words: vec![word],
        rect,
        baseline: rect.y1,
        size: 10.0,
        font: 0,
        bold: false,
        italic: false,
        monospace: false,
        color: [0; 3],
        angle: 0,
        hidden: false,
        drawn: usize::MAX,
    }
}

fn placed(line: &Line) -> Option<(char, usize)> {
    if line.drawn != usize::MAX {
        return None;
    }
    let mut marks = line.words.first()?.text.strip_prefix(PLACEHOLDER)?.chars();
    let kind = marks.next()?;
    Some((kind, marks.as_str().parse().ok()?))
}

fn add_line(blocks: &mut Vec<Block>, line: Line, page: u32, before: Option<&Line>, body: Body, extent: &Rect) {
    let above = before.map_or(9.0, |last| (line.baseline - last.baseline) / line.size.max(1.0));
    let above = if above < 0.0 { 9.0 } else { above };
    if let Some(Block::Text(open)) = blocks.last_mut()
        && continues(open, &line, page, before, body)
    {
        open.lines.push((line, page));
        return;
    }
    let middle = f32::midpoint(line.rect.x0, line.rect.x1);
    let centred = (middle - f32::midpoint(extent.x0, extent.x1)).abs() < 6.0 && line.rect.width() < 0.8 * extent.width();
    blocks.push(Block::Text(TextBlock { lines: vec![(line, page)], above, centred }));
}

/// Whether a line goes on with the block before it.
fn continues(open: &TextBlock, line: &Line, page: u32, before: Option<&Line>, body: Body) -> bool {
    let Some((last, last_page)) = open.lines.last() else { return false };
    let size = last.size.max(line.size);
    // A piece on the same baseline: the rest of a line cut by a wide gap, or what follows a list mark.
    let level = *last_page == page && (last.baseline - line.baseline).abs() < 0.4 * size && line.rect.x0 >= last.rect.x1 - 1.0;
    if level {
        return true;
    }
    let alike = (last.size - line.size).abs() <= 0.12 * size
        && last.monospace == line.monospace
        && (last.bold == line.bold || !starts_bold_run(open, line));
    if !alike || begins_item(&line.text()) {
        return false;
    }
    let flows = *last_page == page && before.is_some_and(|b| b.drawn == last.drawn || b.rect == last.rect);
    if flows {
        let step = (line.baseline - last.baseline) / size;
        if step > 0.0 && open.lines.len() == 1 && is_numbered_title(last, line) {
            return false;
        }
        if step > 0.0 {
            // Titles of several lines are set looser than text; a number begins another title.
            let title = last.size.min(line.size) >= body.size * 1.18 && step <= 1.6 && !begins_number(&line.text());
            let tight = step <= (body.leading * 1.22).max(1.28) || title || (open.lines.len() > 1 && same_step(open, step));
            let left = open.lines.get(1).map_or(open.lines.first(), Some).map_or(last.rect.x0, |(l, _)| l.rect.x0);
            // A title or item with its number hung out: the second line begins under the first word after the number.
            let hung = open.lines.len() == 1 && last.words.iter().skip(1).take(3).any(|w| (w.rect.x0 - line.rect.x0).abs() < 2.5);
            // Lines of a centred title are centred on each other, and none begins where the one before does.
            let centre = |l: &Line| f32::midpoint(l.rect.x0, l.rect.x1);
            let centred = open.centred
                || (last.rect.x0 - line.rect.x0).abs() > 0.9 * size
                    && open.lines.iter().all(|(l, _)| (centre(l) - centre(line)).abs() < 0.4 * size);
            let indented = line.rect.x0 - left > 0.9 * size && line.rect.x0 - last.rect.x0 > 0.9 * size && !centred && !hung;
            let first_indented = open.lines.len() == 1 && last.rect.x0 - line.rect.x0 > 0.5 * size;
            let outdented = left - line.rect.x0 > 0.9 * size && !first_indented && !centred;
            let short = last.rect.x1 < widest(open) - 4.0 * size && open.lines.len() > 1 && ends_sentence(last);
            return tight && !indented && !outdented && !short;
        }
    }
    goes_on(open, line)
}

/// Whether a block goes on with a line in a new column or on a new page: a sentence that is not over does.
pub(crate) fn goes_on(open: &TextBlock, line: &Line) -> bool {
    let Some((last, _)) = open.lines.last() else { return false };
    !ends_sentence(last) && open.lines.len() > 1 && line.text().chars().next().is_some_and(|c| c.is_lowercase() || is_cjk(c))
}

/// Whether a line that begins with a dotted number ends though what comes next would have had room on it: a title, set as
/// its text is.
fn is_numbered_title(line: &Line, next: &Line) -> bool {
    let dotted = numbering::detect(&line.text()).is_some_and(|n| n.depth.is_some_and(|d| d >= 2) && !n.rest.trim().is_empty());
    // A word in Chinese is as long as its line, and may be broken anywhere.
    let word = next.words.first().map_or(0.0, |word| word.rect.width().min(4.0 * next.size));
    dotted && next.rect.x1 - line.rect.x1 > word + 2.0 * line.size
}

/// Whether a line begins with a section's number.
fn begins_number(text: &str) -> bool {
    numbering::detect(text).is_some_and(|number| number.depth.is_some())
}

/// Whether the weight changes between whole lines, as it does between a heading and its text (and not within prose).
fn starts_bold_run(open: &TextBlock, line: &Line) -> bool {
    open.all(|l| l.bold) != line.bold
}

fn same_step(open: &TextBlock, step: f32) -> bool {
    let mut steps = open.lines.windows(2).filter_map(|w| match w {
        [(a, p), (b, q)] if p == q && b.baseline > a.baseline => Some((b.baseline - a.baseline) / b.size.max(1.0)),
        _ => None,
    });
    steps.next().is_some_and(|first| (first - step).abs() < 0.08)
}

fn widest(open: &TextBlock) -> f32 {
    open.lines.iter().map(|(l, _)| l.rect.x1).fold(f32::MIN, f32::max)
}

fn ends_sentence(line: &Line) -> bool {
    let text = line.text();
    text.trim_end_matches(['"', '\'', '”', '’', ')', ']', '»']).ends_with(['.', '!', '?', ':', ';', '。', '！', '？', '：', '；'])
}

/// Whether a line begins a list item.
pub(crate) fn begins_item(text: &str) -> bool {
    let text = text.trim_start();
    let Some(first) = text.chars().next() else { return false };
    if matches!(first, '•' | '◦' | '▪' | '■' | '●' | '○' | '►' | '‣' | '∙' | '➢' | '❖' | '✓' | '☐' | '☑' | '☒' | '□' | '◆' | '★')
    {
        return true;
    }
    if matches!(first, '-' | '–' | '—' | '*' | '·') {
        return text.chars().nth(1).is_none_or(char::is_whitespace);
    }
    let head: String = text.chars().take_while(|c| !c.is_whitespace()).take(8).collect();
    let bare = head.trim_start_matches(['(', '[']).trim_end_matches(['.', ')', ']', ':']);
    let marked = head.ends_with(['.', ')', ']']) && head.chars().count() <= 5;
    marked
        && !bare.is_empty()
        && (bare.chars().all(|c| c.is_ascii_digit()) || bare.chars().count() == 1 && bare.chars().all(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::join_line;

    #[test]
    fn hyphens_at_a_line_s_end() {
        for (above, below, joined) in [
            ("a long sen", "tence", "a long sen tence"),
            ("a long sen-", "tence", "a long sentence"),
            ("all of the fea\u{2011}", "tures", "all of the features"),
            ("a proof-of-", "concept", "a proof-of-concept"),
            ("by Addison-", "Wesley", "by Addison-Wesley"),
            ("pages 10-", "20", "pages 10-20"),
            ("it is so -", "or not", "it is so - or not"),
            ("汉字", "汉字", "汉字汉字"),
        ] {
            let mut out = above.to_owned();
            join_line(&mut out, below);
            assert_eq!(out, joined);
        }
    }
}
