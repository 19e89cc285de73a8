//! Headers and footers: each text once, before the body.

use std::collections::BTreeSet;
use std::rc::Rc;

use quarry_model::{DocumentFailure, Limits};

use crate::block::{Block, Paragraph, Role};
use crate::notes::NoteIndex;
use crate::numbering::Numbering;
use crate::package::{Package, Relationships, Target};
use crate::styles::Styles;
use crate::walk::{HeaderReference, Walk};
use crate::warnings::Warnings;

/// A line that shows the page number and no more words than this is nothing but the page number: "Page 3 of 9".
const PAGE_LINE_WORDS: usize = 3;

/// The blocks of all headers, then of all footers, that sections name. A text that occurs in several of them is kept once.
pub(crate) fn read(
    package: &mut Package<'_>,
    references: &[HeaderReference],
    relationships: &Rc<Relationships>,
    styles: &Styles,
    warnings: &mut Warnings,
    limits: &Limits,
) -> Result<Vec<Block>, DocumentFailure> {
    let (mut parts, mut texts, mut out) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for is_header in [true, false] {
        for reference in references.iter().filter(|reference| reference.is_header == is_header) {
            let Some(Target::Part(part)) = relationships.get(&reference.id).map(|relationship| &relationship.target) else { continue };
            if !parts.insert(part.clone()) {
                continue;
            }
            let Some(tree) = package.optional_tree(part, warnings)? else { continue };
            let own = package.relationships(part, warnings)?;
            let none = NoteIndex::default();
            let mut numbering = Numbering::default();
            let mut walk = Walk::new(package, limits, styles, &mut numbering, &none, warnings, own);
            walk.decoration = true;
            for block in walk.blocks(tree.root())? {
                keep(block, &mut texts, &mut out);
            }
        }
    }
    Ok(out)
}

fn keep(block: Block, texts: &mut BTreeSet<String>, out: &mut Vec<Block>) {
    match block {
        Block::Paragraph(mut paragraph) => {
            let after = std::mem::take(&mut paragraph.after);
            let words = paragraph.text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).count();
            let page_line = paragraph.shows_page && words <= PAGE_LINE_WORDS;
            if !page_line && !paragraph.text.is_empty() && texts.insert(paragraph.text.clone()) {
                out.push(Block::Paragraph(Box::new(Paragraph { role: Role::Body, label: None, ..*paragraph })));
            }
            after.into_iter().for_each(|block| keep(block, texts, out));
        }
        // Tables in headers only place things side by side.
        Block::Table(block) => {
            for cell in block.table.rows.into_iter().flatten() {
                for line in cell.text.lines().map(str::trim).filter(|line| !line.is_empty()) {
                    keep(Block::Paragraph(Box::new(Paragraph::plain(line))), texts, out);
                }
                for nested in cell.tables {
                    keep(Block::Table(crate::block::TableBlock { table: nested, after: Vec::new() }), texts, out);
                }
            }
            block.after.into_iter().for_each(|block| keep(block, texts, out));
        }
        Block::Note(note) => note.blocks.into_iter().for_each(|block| keep(block, texts, out)),
    }
}
