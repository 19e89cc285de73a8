//! `full.md`: the whole document as one Markdown file, for people and for programs that want nothing else.

use std::collections::HashMap;

use quarry_model::{Row, RowKind};

use crate::grid;
use crate::heading::SectionTree;

/// Writes headings and rows in reading order. `files` says which file an asset's row got.
pub(super) fn write(rows: &[Row], tree: &SectionTree, files: &HashMap<usize, String>) -> String {
    let mut out = String::new();
    let mut told = 0_usize;
    let hosted: std::collections::HashSet<usize> =
        rows.iter().filter(|row| row.kind == RowKind::Text).flat_map(|row| row.refs.iter().map(|r| r.row)).collect();
    for (index, row) in rows.iter().enumerate() {
        let until = tree.index_of(row.section).saturating_add(1);
        told = headings(tree, told, until, &mut out);
        match row.kind {
            RowKind::Text => text(index, row, rows, files, &mut out),
            _ if hosted.contains(&index) => {}
            _ => block(&asset(index, row, files), &mut out),
        }
    }
    headings(tree, told, tree.sections().len(), &mut out);
    out
}

fn headings(tree: &SectionTree, told: usize, until: usize, out: &mut String) -> usize {
    for section in tree.sections().iter().take(until).skip(told).filter(|section| section.level > 0) {
        block(&format!("{} {}", "#".repeat(section.level.min(6) as usize), section.title), out);
    }
    told.max(until)
}

fn block(text: &str, out: &mut String) {
    let text = text.trim_end();
    if text.is_empty() {
        return;
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(text);
    out.push('\n');
}

fn text(index: usize, row: &Row, rows: &[Row], files: &HashMap<usize, String>, out: &mut String) {
    let mut content = String::with_capacity(row.content.len());
    let mut refs: Vec<(usize, usize)> = row.refs.iter().map(|reference| (reference.at, reference.row)).collect();
    refs.sort_unstable_by_key(|(at, _)| *at);
    let mut refs = refs.into_iter().peekable();
    if refs.peek().is_none() {
        content.push_str(&row.content);
    } else {
        for (at, character) in row.content.chars().map(Some).chain([None]).enumerate() {
            while let Some((_, index)) = refs.next_if(|(place, _)| *place <= at || character.is_none()) {
                let target = rows.get(index).map(|target| asset(index, target, files)).unwrap_or_default();
                content.push_str("\n\n");
                content.push_str(&target);
                content.push_str("\n\n");
            }
            content.extend(character);
        }
    }
    if row.continues && !out.is_empty() {
        // The paragraph goes on: its white space stands at the end of the row before.
        out.truncate(out.trim_end().len());
        let before = index.checked_sub(1).and_then(|before| rows.get(before));
        if before.is_some_and(|before| before.content.ends_with(char::is_whitespace)) {
            out.push(' ');
        }
        out.push_str(content.trim_end());
        out.push('\n');
    } else if row.tight && !out.is_empty() {
        out.push_str(content.trim_end());
        out.push('\n');
    } else {
        block(content.trim_start_matches('\n'), out);
    }
}

fn asset(index: usize, row: &Row, files: &HashMap<usize, String>) -> String {
    let Some(file) = files.get(&index) else { return row.content.clone() };
    if let Some(table) = row.grid() {
        return grid::to_markdown(&table).unwrap_or_else(|| grid::to_html(&table));
    }
    let alt = row.content.split(|c: char| c.is_whitespace() || "[]".contains(c));
    let alt = alt.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    format!("![{alt}]({file})")
}
