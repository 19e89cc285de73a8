//! The walk through blocks: paragraphs, headings, lists, sections, contents lists.

use std::collections::BTreeMap;

use quarry_document::Warnings;
use quarry_document::flow::{Block, ContentsEntry, Paragraph, ParagraphBuilder, Purpose, Role};
use quarry_document::xml::{Element, Ns};
use quarry_model::{Asset, DocumentFailure, Evidence, Limits};

use crate::lists::Lists;
use crate::package::Package;
use crate::styles::Styles;

/// Where a walk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Body,
    /// Notes do not hold notes.
    Note,
    /// A header or footer: pictures are decoration, page numbers are not text.
    Header,
}

/// The list that is open: key of its counter, its style, its depth from 0, and what its next paragraph is.
#[derive(Debug, Clone)]
struct OpenList {
    key: String,
    style: String,
    level: usize,
    item: Item,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item {
    /// Its first paragraph carries the label, with a number of its own or the next.
    Begins(Option<i64>),
    /// The label is told, or the item has none.
    GoesOn,
}

/// What a walk needs, and what it gathers beside blocks.
pub(crate) struct Walk<'w, 'p> {
    pub package: &'w mut Package<'p>,
    pub limits: &'w Limits,
    pub styles: &'w Styles,
    lists: &'w mut Lists,
    pub warnings: &'w mut Warnings,
    pub assets: Vec<Asset>,
    /// Part name → asset; `None` for one that could not be read.
    pub asset_of: BTreeMap<String, Option<usize>>,
    pub place: Place,
    open: Option<OpenList>,
    /// Inside a contents list, a list of figures or the like.
    contents: Option<Contents>,
    pub hidden_sections: usize,
    pub notes: [usize; 2],
    pub objects: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Contents {
    Table,
    Other,
}

impl<'w, 'p> Walk<'w, 'p> {
    pub(crate) fn new(
        package: &'w mut Package<'p>,
        limits: &'w Limits,
        styles: &'w Styles,
        lists: &'w mut Lists,
        warnings: &'w mut Warnings,
    ) -> Self {
        Self {
            package,
            limits,
            styles,
            lists,
            warnings,
            assets: Vec::new(),
            asset_of: BTreeMap::new(),
            place: Place::Body,
            open: None,
            contents: None,
            hidden_sections: 0,
            notes: [0; 2],
            objects: 0,
        }
    }

    /// The blocks inside a container: the body, a cell, a note, a text box.
    pub(crate) fn blocks(&mut self, container: Element<'_>) -> Result<Vec<Block>, DocumentFailure> {
        let mut out = Vec::new();
        self.container(container, &mut out)?;
        Ok(out)
    }

    /// Blocks of a place apart from the text around it: its lists are its own, its paragraphs no headings.
    pub(crate) fn apart(&mut self, container: Element<'_>, place: Place) -> Result<Vec<Block>, DocumentFailure> {
        let open = self.open.take();
        let before = std::mem::replace(&mut self.place, place);
        let blocks = self.blocks(container);
        (self.open, self.place) = (open, before);
        let mut blocks = blocks?;
        for block in &mut blocks {
            if let Block::Paragraph(paragraph) = block
                && matches!(paragraph.role, Role::Heading(..) | Role::Title)
            {
                paragraph.role = Role::Body;
            }
        }
        Ok(blocks)
    }

    fn container(&mut self, container: Element<'_>, out: &mut Vec<Block>) -> Result<(), DocumentFailure> {
        for child in container.elements() {
            match (child.ns(), child.name()) {
                (Ns::OdfText, "p" | "h") => self.paragraph(child, out)?,
                (Ns::OdfText, "list") => self.list(child, out)?,
                (Ns::OdfText, "numbered-paragraph") => self.container(child, out)?,
                (Ns::OdfText, "section") => {
                    let hidden = usize::from(child.attribute(Ns::OdfText, "display") == Some("none"));
                    self.hidden_sections = self.hidden_sections.saturating_add(hidden);
                    let read = self.container(child, out);
                    self.hidden_sections = self.hidden_sections.saturating_sub(hidden);
                    read?;
                }
                (Ns::OdfText, "table-of-content") => self.index(child, Contents::Table, out)?,
                (Ns::OdfText, "illustration-index" | "table-index" | "object-index" | "user-index") => {
                    self.index(child, Contents::Other, out)?;
                }
                (Ns::OdfText, "alphabetical-index" | "bibliography") => {
                    if let Some(body) = child.child(Ns::OdfText, "index-body") {
                        self.container(body, out)?;
                    }
                }
                (Ns::OdfTable, "table") => {
                    let blocks = self.table(child)?;
                    out.extend(blocks);
                }
                // What was deleted is kept here; what was inserted stands in the text.
                (Ns::OdfText, "tracked-changes") | (Ns::OdfOffice, "forms") => {}
                (Ns::OdfText, name) if name.ends_with("-decls") || name.ends_with("-source") => {}
                (Ns::OdfDraw, _) | (Ns::OdfOffice, "annotation") => {
                    let mut builder = ParagraphBuilder::default();
                    self.inline_one(child, &mut builder, crate::inline::Shown::default())?;
                    push(out, builder.finish());
                }
                _ => self.container(child, out)?,
            }
        }
        Ok(())
    }

    fn index(&mut self, index: Element<'_>, kind: Contents, out: &mut Vec<Block>) -> Result<(), DocumentFailure> {
        let before = self.contents.replace(kind);
        let read = index.child(Ns::OdfText, "index-body").map_or(Ok(()), |body| self.container(body, out));
        self.contents = before;
        read
    }

    fn list(&mut self, list: Element<'_>, out: &mut Vec<Block>) -> Result<(), DocumentFailure> {
        let outer = self.open.clone();
        let named = list.attribute(Ns::OdfText, "style-name").map(str::to_owned);
        let style = named.or_else(|| outer.as_ref().map(|outer| outer.style.clone())).unwrap_or_default();
        let (key, level) = match &outer {
            Some(outer) => (outer.key.clone(), outer.level.saturating_add(1)),
            None => (self.lists.open(list, &style), 0),
        };
        for item in list.elements().filter(|item| item.ns() == Ns::OdfText) {
            let begins = match item.name() {
                "list-item" => Item::Begins(item.attribute(Ns::OdfText, "start-value").and_then(|start| start.trim().parse().ok())),
                "list-header" => Item::GoesOn,
                _ => continue,
            };
            self.open = Some(OpenList { key: key.clone(), style: style.clone(), level, item: begins });
            let read = self.container(item, out);
            if read.is_err() {
                self.open = outer;
                return read;
            }
        }
        self.open = outer;
        Ok(())
    }

    fn paragraph(&mut self, element: Element<'_>, out: &mut Vec<Block>) -> Result<(), DocumentFailure> {
        let look = self.styles.look("paragraph", element.attribute(Ns::OdfText, "style-name"));
        let shown = crate::inline::Shown {
            bold: look.bold.unwrap_or_default(),
            hidden: look.hidden.unwrap_or_default() || self.hidden_sections > 0,
        };
        let mut builder = ParagraphBuilder::default();
        let open = self.open.clone();
        self.inline(element, &mut builder, shown)?;
        self.open = open;
        let (anchor, sequence) = (builder.anchor.take(), builder.sequence.take());
        let mut paragraph = builder.finish();
        let heading = element.name() == "h" && !paragraph.text.is_empty();
        paragraph.role = match self.contents {
            Some(kind) => contents_role(kind, look.purpose, &paragraph.text, anchor),
            None if heading => {
                let level = element.attribute(Ns::OdfText, "outline-level").and_then(|level| level.trim().parse::<u32>().ok());
                Role::Heading(level.unwrap_or(1).clamp(1, 10), Evidence::Style)
            }
            None if look.purpose == Purpose::Title && !paragraph.text.is_empty() => Role::Title,
            None if look.purpose == Purpose::Caption || sequence.is_some() => Role::Caption { sequence: sequence.unwrap_or_default() },
            None => Role::Body,
        };
        if self.contents.is_none() && !paragraph.text.is_empty() {
            paragraph.label = self.label(element, &paragraph.role);
        }
        if matches!(paragraph.role, Role::Caption { .. })
            && let Some(picture) = paragraph.pictures.first_mut()
            && !paragraph.text.is_empty()
        {
            // A frame around a picture and its caption.
            picture.alt = if picture.alt.is_empty() { paragraph.text.clone() } else { format!("{}\n{}", paragraph.text, picture.alt) };
        }
        push(out, paragraph);
        Ok(())
    }

    fn label(&mut self, element: Element<'_>, role: &Role) -> Option<quarry_document::flow::Label> {
        if let Some(open) = self.open.as_mut() {
            let Item::Begins(start) = std::mem::replace(&mut open.item, Item::GoesOn) else { return None };
            let label = self.lists.label(&open.key, &open.style, open.level, start);
            // Headings are put into lists for their numbers, not for bullets.
            return label.filter(|label| !label.bullet || !matches!(role, Role::Heading(..)));
        }
        let Role::Heading(level, _) = role else { return None };
        if element.attribute(Ns::OdfText, "is-list-header") == Some("true") {
            return None;
        }
        let restarts = element.attribute(Ns::OdfText, "restart-numbering") == Some("true");
        let start = element.attribute(Ns::OdfText, "start-value").and_then(|start| start.trim().parse().ok());
        let start = start.or(restarts.then_some(1));
        self.lists.heading((*level as usize).saturating_sub(1), start)
    }
}

fn contents_role(kind: Contents, purpose: Purpose, text: &str, anchor: Option<String>) -> Role {
    match (kind, purpose) {
        (Contents::Other, _) | (_, Purpose::ContentsOther) => Role::ContentsOther,
        (Contents::Table, Purpose::Contents(level)) => Role::Contents(ContentsEntry::read(text, level, anchor)),
        // The title of the list has a link nowhere and no page.
        (Contents::Table, _) if anchor.is_none() && !quarry_document::flow::ends_in_page_number(text) => Role::ContentsOther,
        (Contents::Table, _) => Role::Contents(ContentsEntry::read(text, 1, anchor)),
    }
}

fn push(list: &mut Vec<Block>, paragraph: Paragraph) {
    if !paragraph.is_empty() {
        list.push(Block::Paragraph(Box::new(paragraph)));
    }
}
