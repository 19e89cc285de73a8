//! Writes chosen units as lines:
//!
//! ```text
//! [Document] manual.pdf  (doc_77aa01bc9f00)
//! ▸ Setup
//!   └ Wiring  [E1] p. 7
//!         Tighten to 4 Nm.
//! ```
//!
//! Each line costs what its text and line break cost together, and lines never begin with a line break or a slash, so
//! the tokenizer divides the whole at the same places and the sum is what the whole costs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quarry_model::retrieval::OmittedPart;
use quarry_model::{DocumentId, path};

use super::leaf::Leaf;
use super::select::Choice;
use super::units::Text;
use super::{Packed, counts};
use crate::passage::Passage;

/// A line of the evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Without the line break.
    pub text: String,
    /// Tokens, line break included.
    pub tokens: u32,
    /// The picture it stands for: document, revision folder's file.
    pub image: Option<(Arc<ImageOf>, String)>,
}

/// Whose picture a line shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageOf {
    /// The document.
    pub document_id: DocumentId,
    /// The revision.
    pub revision: quarry_model::Revision,
}

/// The evidence as lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rendered {
    /// In order.
    pub lines: Vec<Line>,
}

impl Rendered {
    /// Tokens of [`Self::text`]; never fewer than it has.
    pub fn tokens(&self) -> u64 {
        self.lines.iter().map(|line| u64::from(line.tokens)).sum()
    }

    /// The evidence text.
    pub fn text(&self) -> String {
        self.lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
    }
}

/// The heading lines of a leaf that stands alone in its document: for counting.
pub(super) fn head_lines(leaf: &Leaf) -> Vec<String> {
    let mut lines = vec![document_line(leaf)];
    let titles = leaf.titles();
    for (depth, title) in titles.iter().enumerate() {
        let mark = if depth + 1 == titles.len() { mark_of(leaf, "E10") } else { String::new() };
        lines.push(heading(depth, title, &mark));
    }
    lines
}

fn document_line(leaf: &Leaf) -> String {
    let Some(first) = leaf.chunks.first() else { return String::new() };
    format!("[Document] {}  ({})", one_line(&first.stored.file_name), first.stored.document_id)
}

fn heading(depth: usize, title: &str, mark: &str) -> String {
    let title = one_line(title);
    if depth == 0 { format!("▸ {title}{mark}") } else { format!("{}└ {title}{mark}", "  ".repeat(depth)) }
}

fn mark_of(leaf: &Leaf, mark: &str) -> String {
    let pages = leaf.pages();
    let pages = match (pages.first(), pages.last()) {
        (Some(first), Some(last)) if first == last => format!(" p. {first}"),
        (Some(first), Some(last)) => format!(" p. {first}-{last}"),
        _ => String::new(),
    };
    format!("  [{mark}]{pages}")
}

/// A name or title can hold anything; in a heading it is one line.
pub(super) fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_control() || c.is_whitespace()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Writes the choice, and takes units away, least worth first, until it fits to the token.
pub(super) fn finish(leaves: &[Leaf], mut choice: Choice, limit: u64) -> Packed {
    loop {
        let (rendered, marks) = write(leaves, &choice);
        let over = rendered.tokens().saturating_sub(limit);
        if over == 0 {
            let omitted = omitted(leaves, &choice);
            let shown = shown(leaves, &choice, &marks);
            return Packed { rendered, omitted, shown };
        }
        let mut rest: Vec<usize> = (0..choice.units.len()).filter(|&i| choice.taken[i]).collect();
        rest.sort_by(|&a, &b| choice.units[a].value.total_cmp(&choice.units[b].value).then(b.cmp(&a)));
        let mut freed = 0;
        for index in rest {
            if freed >= over {
                break;
            }
            choice.taken[index] = false;
            freed += u64::from(choice.units[index].tokens);
        }
    }
}

/// Documents by their best leaf, leaves in reading order; only those with something to show.
fn order(leaves: &[Leaf], choice: &Choice) -> Vec<Vec<usize>> {
    let begun: BTreeSet<usize> = choice.units.iter().zip(&choice.taken).filter(|(_, taken)| **taken).map(|(unit, _)| unit.leaf).collect();
    let mut documents: Vec<(DocumentId, Vec<usize>)> = Vec::new();
    for leaf in begun {
        let Some(first) = leaves[leaf].chunks.first() else { continue };
        let id = &first.stored.document_id;
        match documents.iter_mut().find(|(other, _)| other == id) {
            Some((_, list)) => list.push(leaf),
            None => documents.push((id.clone(), vec![leaf])),
        }
    }
    for (_, list) in &mut documents {
        list.sort_by_key(|&leaf| leaves[leaf].order());
    }
    documents.into_iter().map(|(_, list)| list).collect()
}

fn write(leaves: &[Leaf], choice: &Choice) -> (Rendered, BTreeMap<usize, String>) {
    let mut lines = Vec::new();
    let mut marks = BTreeMap::new();
    for document in order(leaves, choice) {
        let mut open: Vec<String> = Vec::new();
        for (position, &index) in document.iter().enumerate() {
            let leaf = &leaves[index];
            if position == 0 {
                lines.push(line(document_line(leaf)));
            }
            let mark = format!("E{}", marks.len() + 1);
            let titles = leaf.titles();
            let shared = open.iter().zip(&titles).take_while(|(a, b)| a == b).count().min(titles.len().saturating_sub(1));
            for (depth, title) in titles.iter().enumerate().skip(shared) {
                let mark = if depth + 1 == titles.len() { mark_of(leaf, &mark) } else { String::new() };
                lines.push(line(heading(depth, title, &mark)));
            }
            body(leaf, index, choice, &" ".repeat(4 * titles.len()), &mut lines);
            marks.insert(index, mark);
            open = titles;
        }
    }
    (Rendered { lines }, marks)
}

fn line(text: String) -> Line {
    let tokens = counts::line(&text);
    Line { text, tokens, image: None }
}

/// The leaf's chosen units as indented lines.
fn body(leaf: &Leaf, index: usize, choice: &Choice, indent: &str, lines: &mut Vec<Line>) {
    let said = said(leaf, index, choice);
    let mut writer = Writer { indent, lines, said: &said, text: String::new(), gap: false, table: None };
    let mut last_chunk = None;
    for (unit, taken) in choice.units.iter().zip(&choice.taken).filter(|(unit, _)| unit.leaf == index) {
        if last_chunk.is_some_and(|chunk| chunk != unit.chunk) {
            writer.end_of_text();
        }
        last_chunk = Some(unit.chunk);
        if !taken {
            writer.skip();
            continue;
        }
        let passage = &leaf.chunks[unit.chunk];
        writer.unit(&unit.text, passage);
    }
    writer.finish();
}

/// The sentences of a leaf that are shown, white space folded.
fn said(leaf: &Leaf, index: usize, choice: &Choice) -> String {
    let mut said = String::new();
    for (unit, _) in choice.units.iter().zip(&choice.taken).filter(|(unit, taken)| **taken && unit.leaf == index) {
        if let Text::Sentence(bytes) = &unit.text {
            let sentence = leaf.chunks[unit.chunk].stored.indexed.chunk.content.get(bytes.clone()).unwrap_or_default();
            said.push_str(&one_line(sentence));
            said.push(' ');
        }
    }
    said
}

struct Writer<'a> {
    indent: &'a str,
    /// The text that is shown anyway.
    said: &'a str,
    lines: &'a mut Vec<Line>,
    text: String,
    gap: bool,
    /// An open table: its ordinal.
    table: Option<u32>,
}

impl Writer<'_> {
    fn skip(&mut self) {
        self.gap = true;
    }

    fn unit(&mut self, text: &Text, passage: &Passage) {
        if !matches!(text, Text::Sentence(_)) {
            self.end_of_text();
        }
        match text {
            Text::Sentence(bytes) => {
                self.end_of_table();
                if std::mem::take(&mut self.gap) {
                    let spaced = self.text.is_empty() || self.text.ends_with(char::is_whitespace);
                    self.text.push_str(if spaced { "… " } else { " … " });
                }
                self.text.push_str(passage.stored.indexed.chunk.content.get(bytes.clone()).unwrap_or_default());
            }
            Text::Table(html) => {
                self.end_of_table();
                self.mark_gap();
                self.put(html);
            }
            Text::Row { table, row, open } => {
                let missing = std::mem::take(&mut self.gap);
                if self.table == Some(*table) {
                    if missing {
                        self.put("…");
                    }
                } else {
                    self.end_of_table();
                    if missing {
                        self.put("…");
                    }
                    self.put(open);
                    self.table = Some(*table);
                }
                self.put(row);
            }
            Text::Image { file, words } => {
                self.end_of_table();
                self.mark_gap();
                let name = file.as_deref().unwrap_or("image");
                // A caption that the text says as well is said once.
                let caption = one_line(words);
                let words = if self.said.contains(&caption) { "" } else { words };
                self.put(&format!("[Image: {name}] {words}"));
                if let (Some(file), Some(line)) = (file, self.lines.last_mut()) {
                    let of = ImageOf { document_id: passage.stored.document_id.clone(), revision: passage.stored.revision.clone() };
                    line.image = Some((Arc::new(of), file.clone()));
                }
            }
        }
    }

    fn mark_gap(&mut self) {
        if std::mem::take(&mut self.gap) {
            self.put("…");
        }
    }

    fn end_of_text(&mut self) {
        let text = std::mem::take(&mut self.text);
        self.put(&text);
    }

    fn end_of_table(&mut self) {
        if self.table.take().is_some() {
            self.put("</table>");
        }
    }

    fn finish(mut self) {
        if self.gap && !self.text.is_empty() {
            let text = self.text.trim_end().to_owned();
            self.text = format!("{text} …");
            self.gap = false;
        }
        self.end_of_text();
        let trailing = std::mem::take(&mut self.gap);
        if self.table.is_some() && trailing {
            self.put("…");
        }
        self.end_of_table();
        if trailing && self.lines.last().is_some_and(|line| !line.text.ends_with('…')) {
            self.put("…");
        }
    }

    /// Adds a text's lines; what is blank is left out, what was indented stays so.
    fn put(&mut self, text: &str) {
        for piece in text.split(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}']) {
            let piece = piece.trim_end();
            if !piece.trim_start().is_empty() {
                self.lines.push(line(format!("{}{piece}", self.indent)));
            }
        }
    }
}

fn shown(leaves: &[Leaf], choice: &Choice, marks: &BTreeMap<usize, String>) -> Vec<(String, Arc<Passage>)> {
    let mut seen = BTreeSet::new();
    let mut shown = Vec::new();
    for (unit, _) in choice.units.iter().zip(&choice.taken).filter(|(_, taken)| **taken) {
        let leaf = &leaves[unit.leaf];
        if !seen.insert((unit.leaf, unit.ordinal)) {
            continue;
        }
        let own = &leaf.chunks[unit.chunk];
        let passage = if own.stored.indexed.chunk.ordinal == unit.ordinal { Some(own) } else { leaf.assets.get(&unit.ordinal) };
        if let (Some(passage), Some(mark)) = (passage, marks.get(&unit.leaf)) {
            shown.push((mark.clone(), passage.clone()));
        }
    }
    let number = |mark: &str| mark.trim_start_matches('E').parse::<usize>().unwrap_or_default();
    shown.sort_by_key(|a| number(&a.0));
    shown
}

fn omitted(leaves: &[Leaf], choice: &Choice) -> Vec<OmittedPart> {
    let mut out = Vec::new();
    for (index, leaf) in leaves.iter().enumerate() {
        let units: Vec<_> = choice.units.iter().zip(&choice.taken).filter(|(unit, _)| unit.leaf == index).collect();
        let missing: Vec<_> = units.iter().filter(|(_, taken)| !**taken).collect();
        let (Some(first), false) = (leaf.chunks.first(), missing.is_empty()) else { continue };
        let mut ordinals: Vec<u32> = missing.iter().map(|(unit, _)| unit.ordinal).collect();
        ordinals.dedup();
        out.push(OmittedPart {
            document_id: first.stored.document_id.clone(),
            source_file_name: first.stored.file_name.clone(),
            section_path: path::shown(&first.stored.indexed.section.path),
            ordinals,
            tokens: missing.iter().map(|(unit, _)| u64::from(unit.tokens)).sum(),
            excerpted: missing.len() < units.len(),
        });
    }
    out
}
