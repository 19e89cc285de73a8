//! Running text: headers and footers, each text once.

use std::collections::BTreeSet;

use super::block::{Block, Paragraph, Role, TableBlock};

/// A line that shows the page number and no more words than this is nothing but the page number: "Page 3 of 9".
const PAGE_LINE_WORDS: usize = 3;

/// Collects it.
#[derive(Debug, Default)]
pub struct RunningText {
    /// Texts that stand somewhere already, white space folded.
    told: BTreeSet<String>,
    blocks: Vec<Block>,
}

impl RunningText {
    /// Beside a body: what it says itself (a running title, the heads of a list's columns) is not said again.
    pub fn beside(body: &[Block]) -> Self {
        let mut running = Self::default();
        for block in body {
            if let Block::Paragraph(paragraph) = block {
                running.told.insert(fold(&paragraph.text));
            }
        }
        running
    }

    /// What was kept.
    pub fn into_blocks(self) -> Vec<Block> {
        self.blocks
    }

    /// Takes the blocks of one header or footer.
    pub fn keep_all(&mut self, blocks: Vec<Block>) {
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
