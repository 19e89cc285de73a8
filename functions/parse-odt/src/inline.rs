//! The content of one paragraph.

use quarry_document::flow::{Block, Note, ParagraphBuilder};
use quarry_document::xml::{Child, Element, Ns};
use quarry_model::DocumentFailure;

use crate::walk::{Place, Walk};

/// Most spaces that one element may stand for.
const SPACES: usize = 1_000;

/// How text is shown.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shown {
    pub bold: bool,
    pub hidden: bool,
}

impl Walk<'_, '_> {
    /// Collects what stands inside a paragraph or anything in it that only groups.
    pub(crate) fn inline(&mut self, element: Element<'_>, out: &mut ParagraphBuilder, shown: Shown) -> Result<(), DocumentFailure> {
        for child in element.children() {
            match child {
                Child::Text(text) => characters(text, out, shown),
                Child::Element(element) => self.inline_one(element, out, shown)?,
            }
        }
        Ok(())
    }

    /// One element of a paragraph.
    pub(crate) fn inline_one(&mut self, child: Element<'_>, out: &mut ParagraphBuilder, shown: Shown) -> Result<(), DocumentFailure> {
        match (child.ns(), child.name()) {
            (Ns::OdfText, "s") => {
                let count = child.attribute(Ns::OdfText, "c").and_then(|count| count.trim().parse().ok()).unwrap_or(1_usize);
                put(&" ".repeat(count.min(SPACES)), out, shown);
            }
            (Ns::OdfText, "tab") => put("\t", out, shown),
            (Ns::OdfText, "line-break") => put("\n", out, shown),
            (Ns::OdfText, "span") => {
                let look = self.styles.look("text", child.attribute(Ns::OdfText, "style-name"));
                let shown = Shown { bold: look.bold.unwrap_or(shown.bold), hidden: shown.hidden || look.hidden.unwrap_or_default() };
                self.inline(child, out, shown)?;
            }
            (Ns::OdfText, "a") => {
                if out.anchor.is_none() {
                    let address = child.attribute(Ns::Xlink, "href").and_then(|address| address.strip_prefix('#'));
                    out.anchor = address.map(|anchor| anchor.split('|').next().unwrap_or_default().to_owned());
                }
                self.inline(child, out, shown)?;
            }
            (Ns::OdfText, "bookmark" | "bookmark-start" | "reference-mark" | "reference-mark-start") => {
                out.bookmarks.extend(child.attribute(Ns::OdfText, "name").map(str::to_owned));
            }
            (Ns::OdfText, "note") => self.note(child, out)?,
            (Ns::OdfOffice, "annotation") => self.annotation(child, out)?,
            (Ns::OdfText, "ruby") => self.ruby(child, out, shown)?,
            (Ns::OdfText, "page-number" | "page-count") => {
                out.shows_page = true;
                if self.place != Place::Header {
                    self.inline(child, out, shown)?;
                }
            }
            (Ns::OdfText, "sequence") => {
                if out.sequence.is_none() {
                    out.sequence = child.attribute(Ns::OdfText, "name").map(str::to_owned);
                }
                self.inline(child, out, shown)?;
            }
            (Ns::OdfText, "hidden-text" | "hidden-paragraph") => {
                let hidden = child.attribute(Ns::OdfText, "is-hidden") == Some("true");
                let kept = child.attribute(Ns::OdfText, "string-value").unwrap_or_default();
                if child.text().is_empty() && !kept.is_empty() {
                    put(kept, out, Shown { hidden: true, ..shown });
                } else {
                    self.inline(child, out, Shown { hidden: shown.hidden || hidden, ..shown })?;
                }
            }
            (Ns::OdfText, "script" | "tracked-changes") | (Ns::OdfOffice, "annotation-end" | "event-listeners") => {}
            (Ns::OdfDraw, _) => self.graphic(child, out)?,
            (Ns::OdfTable, "table") => {
                let blocks = self.table(child)?;
                out.after.extend(blocks);
            }
            (Ns::OdfText, "p" | "h" | "list") => {
                // A paragraph in a place that should hold text only: its words still count.
                put("\n", out, shown);
                self.inline(child, out, shown)?;
            }
            _ => self.inline(child, out, shown)?,
        }
        Ok(())
    }

    fn note(&mut self, note: Element<'_>, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        let end = note.attribute(Ns::OdfText, "note-class") == Some("endnote");
        let Some(body) = note.child(Ns::OdfText, "note-body") else { return Ok(()) };
        let mut number = 0;
        if let Some(count) = self.notes.get_mut(usize::from(end)) {
            *count = count.saturating_add(1);
            number = *count;
        }
        let mark = format!("[^{}{number}]", if end { "e" } else { "" });
        out.push(&mark);
        let blocks = self.apart(body, Place::Note)?;
        if !blocks.is_empty() {
            out.after.push(Block::Note(Note { label: format!("{mark}:"), blocks }));
        }
        Ok(())
    }

    fn annotation(&mut self, annotation: Element<'_>, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        let author = annotation.child(Ns::Dc, "creator").map(Element::text).unwrap_or_default();
        let author = author.trim();
        let label = if author.is_empty() { "Comment:".to_owned() } else { format!("Comment ({author}):") };
        let blocks = self.apart(annotation, Place::Note)?;
        if !blocks.is_empty() {
            out.after.push(Block::Note(Note { label, blocks }));
        }
        Ok(())
    }

    /// The base, then its reading in brackets.
    fn ruby(&mut self, ruby: Element<'_>, out: &mut ParagraphBuilder, shown: Shown) -> Result<(), DocumentFailure> {
        if let Some(base) = ruby.child(Ns::OdfText, "ruby-base") {
            self.inline(base, out, shown)?;
        }
        let reading = ruby.child(Ns::OdfText, "ruby-text").map(Element::text).unwrap_or_default();
        if !reading.trim().is_empty() {
            put(&format!("({})", reading.trim()), out, shown);
        }
        Ok(())
    }
}

/// Characters of the source: white space is folded as `OpenDocument` says, other spaces have elements of their own.
fn characters(text: &str, out: &mut ParagraphBuilder, shown: Shown) {
    let mut folded = String::with_capacity(text.len());
    let mut after_space = out.peek().is_empty() || out.peek().ends_with([' ', '\n']);
    for c in text.chars() {
        let space = matches!(c, ' ' | '\t' | '\r' | '\n');
        if !(space && after_space) {
            folded.push(if space { ' ' } else { c });
        }
        after_space = space;
    }
    put(&folded, out, shown);
}

fn put(text: &str, out: &mut ParagraphBuilder, shown: Shown) {
    if shown.hidden { out.hidden(text) } else { out.text(text, shown.bold) }
}
