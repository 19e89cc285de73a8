//! Headers and footers: each text once, before the body.

use std::collections::BTreeSet;
use std::rc::Rc;

use quarry_model::{DocumentFailure, Limits};

use crate::package::{Package, Relationships, Target};
use crate::word::block::{Block, Paragraph, Role, TableBlock};
use crate::word::notes::NoteIndex;
use crate::word::numbering::Numbering;
use crate::word::styles::Styles;
use crate::word::walk::{HeaderReference, Place, Walk};
use quarry_document::Warnings;

/// A line that shows the page number and no more words than this is nothing but the page number: "Page 3 of 9".
const PAGE_LINE_WORDS: usize = 3;

/// Collects them.
#[derive(Default)]
pub(crate) struct Headers {
    /// Texts that stand somewhere already, white space folded.
    told: BTreeSet<String>,
    pub blocks: Vec<Block>,
}

impl Headers {
    /// Beside a body: what it says itself (a running title, the heads of a list's columns) is not said again.
    pub(crate) fn beside(body: &[Block]) -> Self {
        let mut headers = Self::default();
        for block in body {
            if let Block::Paragraph(paragraph) = block {
                headers.told.insert(fold(&paragraph.text));
            }
        }
        headers
    }

    /// Reads all headers, then all footers, that sections name; each part once, each text once.
    pub(crate) fn read(
        &mut self,
        package: &mut Package<'_>,
        references: &[HeaderReference],
        relationships: &Rc<Relationships>,
        styles: &Styles,
        warnings: &mut Warnings,
        limits: &Limits,
    ) -> Result<(), DocumentFailure> {
        let mut parts = BTreeSet::new();
        for is_header in [true, false] {
            for reference in references.iter().filter(|reference| reference.is_header == is_header) {
                let Some(Target::Part(part)) = relationships.get(&reference.id).map(|relationship| &relationship.target) else { continue };
                if !parts.insert(part.clone()) {
                    continue;
                }
                let Some(tree) = package.optional_tree(part, warnings)? else { continue };
                let own = package.relationships(part, warnings)?;
                let (notes, mut numbering) = (NoteIndex::default(), Numbering::default());
                let mut walk = Walk::new(package, limits, styles, &mut numbering, &notes, warnings, own);
                walk.place = Place::Header;
                let blocks = walk.blocks(tree.root())?;
                self.keep_all(blocks);
            }
        }
        Ok(())
    }

    fn keep_all(&mut self, blocks: Vec<Block>) {
        for block in blocks {
            self.keep(block);
        }
    }

    fn keep(&mut self, block: Block) {
        match block {
            Block::Paragraph(mut paragraph) => {
                let after = std::mem::take(&mut paragraph.after);
                let words = paragraph.text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).count();
                let page_line = paragraph.shows_page && words <= PAGE_LINE_WORDS;
                if !page_line && !paragraph.text.is_empty() && self.told.insert(fold(&paragraph.text)) {
                    self.blocks.push(Block::Paragraph(Box::new(Paragraph { role: Role::Body, label: None, ..*paragraph })));
                }
                self.keep_all(after);
            }
            // Tables in headers only place things side by side.
            Block::Table(block) => {
                for cell in block.table.rows.into_iter().flatten() {
                    for line in cell.text.lines().map(str::trim).filter(|line| !line.is_empty()) {
                        self.keep(Block::Paragraph(Box::new(Paragraph::plain(line))));
                    }
                    for nested in cell.tables {
                        self.keep(Block::Table(TableBlock { table: nested, after: Vec::new() }));
                    }
                }
                self.keep_all(block.after);
            }
            Block::Note(note) => self.keep_all(note.blocks),
        }
    }
}

fn fold(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
