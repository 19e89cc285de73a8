//! The text of one table cell or caption.

use ego_tree::NodeRef;
use quarry_model::Table;
use scraper::Node;
use scraper::node::Element;

use super::content;
use super::element::{Role, role};
use super::table::{self, Nesting};
use super::visit::{Visitor, visit};
use crate::prose::{Inline, Picture};

/// What stands in a cell.
#[derive(Debug, Default)]
pub(super) struct CellContent {
    pub(super) text: String,
    pub(super) tables: Vec<Table>,
    pub(super) pictures: Vec<Picture>,
    pub(super) dropped_cells: u64,
}

/// Reads a cell: its blocks as lines, the tables in it as tables of their own.
pub(super) fn read(cell: NodeRef<'_, Node>, nesting: Nesting<'_>) -> CellContent {
    let mut reader = Reader { nesting, inline: Inline::default(), out: CellContent::default(), open: Vec::new(), verbatim: 0 };
    visit(cell, &mut reader);
    reader.out.text = reader.inline.take();
    reader.out
}

struct Reader<'l> {
    nesting: Nesting<'l>,
    inline: Inline,
    out: CellContent,
    open: Vec<Open>,
    verbatim: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Inline,
    Line,
    Verbatim,
    Ruby,
    NoteMark,
}

impl<'a> Visitor<'a> for Reader<'_> {
    fn text(&mut self, text: &'a str) {
        if self.verbatim > 0 { self.inline.push_verbatim(text) } else { self.inline.push(text) }
    }

    fn open(&mut self, node: NodeRef<'a, Node>, element: &'a Element) -> bool {
        let open = match role(element) {
            Role::Dropped | Role::Head => return false,
            Role::Break => {
                self.inline.line_break();
                return false;
            }
            Role::Picture => {
                self.out.pictures.extend(content::picture(element));
                return false;
            }
            Role::Drawing => {
                self.out.pictures.extend(content::framed(node));
                self.inline.space();
                self.inline.push(&content::drawn_words(node));
                self.inline.space();
                return false;
            }
            Role::Field => {
                self.inline.space();
                self.inline.push(content::field(element).unwrap_or_default());
                self.inline.space();
                return false;
            }
            Role::Table => {
                if let Some(read) = table::read_nested(node, self.nesting) {
                    self.inline.new_line();
                    self.out.pictures.extend(read.pictures);
                    self.out.dropped_cells = self.out.dropped_cells.saturating_add(read.built.dropped_cells);
                    self.out.tables.push(read.built.table);
                    return false;
                }
                Open::Line
            }
            Role::Formula => match content::tex(node) {
                Some(tex) => {
                    self.inline.push(&tex);
                    return false;
                }
                None => Open::Inline,
            },
            Role::Ruby if content::is_parenthesised(node) => Open::Inline,
            Role::Ruby => {
                self.inline.push("(");
                Open::Ruby
            }
            Role::Preformatted => Open::Verbatim,
            Role::NoteMark => {
                self.inline.push("[^");
                Open::NoteMark
            }
            Role::Inline => Open::Inline,
            _ => Open::Line,
        };
        if matches!(open, Open::Line | Open::Verbatim) {
            self.inline.new_line();
        }
        self.verbatim = self.verbatim.saturating_add(usize::from(open == Open::Verbatim));
        self.open.push(open);
        true
    }

    fn close(&mut self) {
        match self.open.pop() {
            Some(Open::Line) => self.inline.new_line(),
            Some(Open::Verbatim) => {
                self.verbatim = self.verbatim.saturating_sub(1);
                self.inline.new_line();
            }
            Some(Open::Ruby) => self.inline.push(")"),
            Some(Open::NoteMark) => self.inline.push("]"),
            Some(Open::Inline) | None => {}
        }
    }
}
