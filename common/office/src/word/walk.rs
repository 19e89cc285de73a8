//! The walk through the blocks of a part.

use std::collections::BTreeMap;
use std::rc::Rc;

use quarry_document::Warnings;
use quarry_document::flow::{Block, ContentsEntry, Fields, Paragraph, ParagraphBuilder, Purpose, Role, ends_in_page_number};
use quarry_document::xml::{Element, Ns};
use quarry_model::{DocumentCode, DocumentFailure, Evidence, Limits};

use crate::media::Media;
use crate::package::{Package, Relationships};
use crate::word::inline::Look;
use crate::word::notes::{NoteIndex, NoteKind};
use crate::word::numbering::Numbering;
use crate::word::properties::{attribute, toggle, value, w};
use crate::word::styles::{NumberProperties, ParagraphStyle, Styles, outline_level};

/// A header or footer that some section names, in order of appearance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeaderReference {
    pub id: String,
    pub is_header: bool,
}

/// Where a walk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Body,
    /// Notes do not refer to notes.
    Note,
    /// A header or footer: pictures are decoration, page numbers are not text.
    Header,
}

/// Everything a walk needs and everything it gathers beside blocks.
pub(crate) struct Walk<'w, 'p, 't> {
    pub package: &'w mut Package<'p>,
    pub limits: &'w Limits,
    pub styles: &'w Styles,
    pub numbering: &'w mut Numbering,
    pub notes: &'w NoteIndex<'t>,
    pub warnings: &'w mut Warnings,
    /// Of the part being walked.
    pub relationships: Rc<Relationships>,
    pub fields: Fields,
    pub media: Media,
    pub headers: Vec<HeaderReference>,
    pub place: Place,
    /// Inside the content control that holds the table of contents.
    in_contents_control: usize,
    /// How runs of the current paragraph look unless they say otherwise.
    pub look: Look<'t>,
    marks: BTreeMap<(NoteKind, String), String>,
    marked: [usize; 3],
}

impl<'w, 'p, 't> Walk<'w, 'p, 't> {
    pub(crate) fn new(
        package: &'w mut Package<'p>,
        limits: &'w Limits,
        styles: &'w Styles,
        numbering: &'w mut Numbering,
        notes: &'w NoteIndex<'t>,
        warnings: &'w mut Warnings,
        relationships: Rc<Relationships>,
    ) -> Self {
        Self {
            package,
            limits,
            styles,
            numbering,
            notes,
            warnings,
            relationships,
            fields: Fields::default(),
            media: Media::default(),
            headers: Vec::new(),
            place: Place::Body,
            in_contents_control: 0,
            look: Look::default(),
            marks: BTreeMap::new(),
            marked: [0; 3],
        }
    }

    /// The blocks inside a container: the body, a cell, a note, a text box.
    pub(crate) fn blocks(&mut self, container: Element<'t>) -> Result<Vec<Block>, DocumentFailure> {
        let mut out = Blocks::default();
        self.container(container, &mut out)?;
        if !out.carried.is_empty() {
            // The mark of the last paragraph is deleted, but nothing follows that could take its content.
            push(&mut out.list, out.carried.finish());
        }
        Ok(out.list)
    }

    /// Blocks of another part, or of a place apart from the text around it: with fields of their own.
    pub(crate) fn foreign_blocks(
        &mut self,
        container: Element<'t>,
        relationships: &Rc<Relationships>,
    ) -> Result<Vec<Block>, DocumentFailure> {
        let relationships = std::mem::replace(&mut self.relationships, Rc::clone(relationships));
        let fields = std::mem::take(&mut self.fields);
        let (place, look) = (std::mem::replace(&mut self.place, Place::Note), self.look);
        let blocks = self.blocks(container);
        (self.place, self.look) = (place, look);
        self.fields = fields;
        self.relationships = relationships;
        blocks
    }

    /// Blocks of a text box: same part, but its paragraphs are no headings of the document.
    pub(crate) fn box_blocks(&mut self, container: Element<'t>) -> Result<Vec<Block>, DocumentFailure> {
        let (fields, look) = (std::mem::take(&mut self.fields), self.look);
        let blocks = self.blocks(container);
        (self.fields, self.look) = (fields, look);
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

    fn container(&mut self, container: Element<'t>, out: &mut Blocks) -> Result<(), DocumentFailure> {
        for child in container.elements() {
            match (child.ns(), child.name()) {
                (Ns::W, "p") => self.paragraph(child, out)?,
                (Ns::W, "tbl") => {
                    let blocks = self.table(child)?;
                    out.list.extend(blocks);
                }
                (Ns::W, "sdt") => self.content_control(child, out)?,
                (Ns::W, "del" | "moveFrom" | "sdtPr" | "sdtEndPr" | "tcPr" | "customXmlPr") => {}
                (Ns::W, "sectPr") => self.section(child),
                (Ns::W, "bookmarkStart") => out.bookmarks.extend(attribute(child, "name").map(str::to_owned)),
                (Ns::W, "altChunk") => self.note_foreign("an embedded document (altChunk)"),
                (Ns::Mc, "AlternateContent") => {
                    let before = out.list.len();
                    for branch in child.elements() {
                        self.container(branch, out)?;
                        if out.list.len() > before {
                            break;
                        }
                    }
                }
                (Ns::W, "r" | "hyperlink" | "fldSimple") | (Ns::M, "oMath" | "oMathPara") => {
                    // Content that should stand in a paragraph and does not.
                    let mut inline = std::mem::take(&mut out.carried);
                    self.loose(child, &mut inline)?;
                    out.carried = inline;
                }
                _ => self.container(child, out)?,
            }
        }
        Ok(())
    }

    fn content_control(&mut self, control: Element<'t>, out: &mut Blocks) -> Result<(), DocumentFailure> {
        let gallery = w(control, "sdtPr").and_then(|properties| w(properties, "docPartObj")).and_then(|part| value(part, "docPartGallery"));
        let contents = usize::from(gallery.is_some_and(|gallery| gallery.eq_ignore_ascii_case("table of contents")));
        self.in_contents_control = self.in_contents_control.saturating_add(contents);
        let outcome = match w(control, "sdtContent") {
            Some(content) => self.container(content, out),
            None => Ok(()),
        };
        self.in_contents_control = self.in_contents_control.saturating_sub(contents);
        outcome
    }

    /// Inline content outside any paragraph.
    fn loose(&mut self, element: Element<'t>, inline: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        self.look = Look::default();
        self.inline_one(element, inline)
    }

    fn paragraph(&mut self, element: Element<'t>, out: &mut Blocks) -> Result<(), DocumentFailure> {
        let properties = w(element, "pPr");
        let style = self.styles.paragraph(properties.and_then(|properties| value(properties, "pStyle")));
        let mark = properties.and_then(|properties| w(properties, "rPr"));
        self.look = Look { hidden: style.hidden, bold: style.bold, font: None };
        if let Some(section) = properties.and_then(|properties| w(properties, "sectPr")) {
            self.section(section);
        }
        let mut inline = std::mem::take(&mut out.carried);
        inline.bookmarks.append(&mut out.bookmarks);
        inline.in_contents |= self.fields.in_contents();
        inline.in_directory |= self.fields.in_directory();
        self.inline(element, &mut inline)?;
        // A deleted paragraph mark joins this paragraph to the next, which gives the joined one its properties.
        if mark.is_some_and(|mark| w(mark, "del").is_some() || w(mark, "moveFrom").is_some()) {
            out.carried = inline;
            return Ok(());
        }
        let contents = self.contents_role(&style, &inline);
        let direct = properties.map(NumberProperties::of).unwrap_or_default();
        let label = if contents { None } else { self.numbering.label(direct, &style, self.styles) };
        let (anchor, sequence) = (inline.anchor.take(), inline.sequence.take());
        let directory = inline.in_directory;
        let mut paragraph = inline.finish();
        paragraph.label = label;
        let mark_hidden = mark.and_then(|mark| toggle(mark, "vanish"));
        if mark_hidden == Some(true) && paragraph.text.is_empty() {
            paragraph.label = None;
        }
        let level = match properties.and_then(outline_level) {
            Some(level) => Some(u32::from(level).saturating_add(1)).filter(|level| *level <= 9),
            None => style.heading_level,
        };
        paragraph.role = match level {
            _ if contents => contents_entry(&paragraph.text, &style, anchor, directory),
            _ if style.purpose == Purpose::Title => Role::Title,
            Some(level) => Role::Heading(level, Evidence::Style),
            None if style.purpose == Purpose::Caption || sequence.is_some() => Role::Caption { sequence: sequence.unwrap_or_default() },
            None => Role::Body,
        };
        push(&mut out.list, paragraph);
        Ok(())
    }

    /// Whether a paragraph belongs to the contents region. Standing inside the field is not enough: a field that never
    /// ends must not swallow the document.
    fn contents_role(&self, style: &ParagraphStyle, inline: &ParagraphBuilder) -> bool {
        if matches!(style.purpose, Purpose::Contents(_) | Purpose::ContentsOther) {
            return true;
        }
        let inside = inline.in_contents || inline.in_directory || self.in_contents_control > 0;
        inside && style.heading_level.is_none() && (inline.anchor.is_some() || ends_in_page_number(inline.peek()))
    }

    fn section(&mut self, section: Element<'t>) {
        for reference in section.elements() {
            let is_header = reference.is(Ns::W, "headerReference");
            if !is_header && !reference.is(Ns::W, "footerReference") {
                continue;
            }
            if let Some(id) = reference.attribute(Ns::R, "id") {
                let found = HeaderReference { id: id.to_owned(), is_header };
                if !self.headers.contains(&found) && self.headers.len() < 1_000 {
                    self.headers.push(found);
                }
            }
        }
    }

    /// The mark of a note, and whether this is the first place that refers to it.
    pub(crate) fn note_mark(&mut self, kind: NoteKind, id: &str) -> (String, bool) {
        let key = (kind, id.to_owned());
        if let Some(mark) = self.marks.get(&key) {
            return (mark.clone(), false);
        }
        let (prefix, place) = match kind {
            NoteKind::Footnote => ("", 0),
            NoteKind::Endnote => ("e", 1),
            NoteKind::Comment => ("c", 2),
        };
        let mut number = 0;
        if let Some(count) = self.marked.get_mut(place) {
            *count = count.saturating_add(1);
            number = *count;
        }
        let mark = format!("{prefix}{number}");
        self.marks.insert(key, mark.clone());
        (mark, true)
    }

    /// Content of a kind that lies outside this file.
    pub(crate) fn note_foreign(&mut self, what: &str) {
        self.warnings.partial(DocumentCode::Unsupported, format!("{what} is not read"));
    }
}

/// Blocks of one container while they are gathered.
#[derive(Default)]
struct Blocks {
    list: Vec<Block>,
    /// Content of paragraphs whose mark is deleted.
    carried: ParagraphBuilder,
    /// Bookmarks between paragraphs; they begin with the next one.
    bookmarks: Vec<String>,
}

fn push(list: &mut Vec<Block>, paragraph: Paragraph) {
    let numbered_heading = matches!(paragraph.role, Role::Heading(..)) && paragraph.label.is_some();
    if !paragraph.is_empty() || numbered_heading {
        list.push(Block::Paragraph(Box::new(paragraph)));
    }
}

/// An entry of the contents region, as its style says; one of a list of figures or the like is no evidence.
fn contents_entry(text: &str, style: &ParagraphStyle, anchor: Option<String>, directory: bool) -> Role {
    match style.purpose {
        Purpose::ContentsOther => Role::ContentsOther,
        _ if directory => Role::ContentsOther,
        Purpose::Contents(level) => Role::Contents(ContentsEntry::read(text, level, anchor)),
        _ => Role::Contents(ContentsEntry::read(text, 1, anchor)),
    }
}
