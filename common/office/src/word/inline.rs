//! The content of one paragraph.

use quarry_document::flow::{Block, Note, ParagraphBuilder, anchor, sequence};
use quarry_document::symbols;
use quarry_document::xml::{Child, Element, Ns};
use quarry_model::DocumentFailure;

use crate::math;
use crate::word::form::form_value;
use crate::word::notes::NoteKind;
use crate::word::properties::{attribute, toggle, value, w};
use crate::word::walk::{Place, Walk};

/// How a run is shown.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Look<'t> {
    pub hidden: bool,
    pub bold: bool,
    pub font: Option<&'t str>,
}

impl<'t> Walk<'_, '_, 't> {
    /// Collects what stands inside a paragraph or anything in it that only groups.
    pub(crate) fn inline(&mut self, element: Element<'t>, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        element.elements().try_for_each(|child| self.inline_one(child, out))
    }

    /// One element of a paragraph.
    pub(crate) fn inline_one(&mut self, child: Element<'t>, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        match (child.ns(), child.name()) {
            (Ns::W, "r") => self.run(child, out)?,
            (Ns::W, "pPr" | "rPr" | "del" | "moveFrom" | "sdtPr" | "sdtEndPr" | "tcPr" | "smartTagPr" | "customXmlPr") => {}
            (Ns::W, "bookmarkStart") => out.bookmarks.extend(attribute(child, "name").map(str::to_owned)),
            (Ns::W, "hyperlink") => {
                if self.fields.in_contents() && out.anchor.is_none() {
                    out.anchor = attribute(child, "anchor").map(str::to_owned);
                }
                self.inline(child, out)?;
            }
            (Ns::W, "fldSimple") => {
                let instruction = attribute(child, "instr").unwrap_or_default();
                self.fields.begin_simple(instruction);
                note_instruction(instruction, out);
                self.inline(child, out)?;
                self.fields.end();
            }
            (Ns::W, "subDoc") => self.note_foreign("a sub-document"),
            (Ns::M, "oMath") if self.fields.shows() => out.push(&math::inline(child)),
            (Ns::M, "oMathPara") if self.fields.shows() => out.push(&math::display(child)),
            (Ns::Mc, "AlternateContent") => self.alternate(child, out, Self::inline)?,
            _ => self.inline(child, out)?,
        }
        Ok(())
    }

    /// Takes the first branch that gives anything: a choice where this reader sees something in it, else the fallback.
    /// Never two of them: both hold the same content.
    fn alternate(
        &mut self,
        element: Element<'t>,
        out: &mut ParagraphBuilder,
        read: fn(&mut Self, Element<'t>, &mut ParagraphBuilder) -> Result<(), DocumentFailure>,
    ) -> Result<(), DocumentFailure> {
        let before = out.extent();
        for branch in element.elements().filter(|branch| branch.is(Ns::Mc, "Choice") || branch.is(Ns::Mc, "Fallback")) {
            read(self, branch, out)?;
            if out.extent() > before {
                break;
            }
        }
        Ok(())
    }

    fn look_of(&self, run: Element<'t>) -> Look<'t> {
        let Some(properties) = w(run, "rPr") else { return self.look };
        let style = value(properties, "rStyle");
        let hidden = toggle(properties, "vanish").or_else(|| style.and_then(|style| self.styles.hides(style)));
        let bold = toggle(properties, "b").or_else(|| style.and_then(|style| self.styles.bold(style)));
        let font = w(properties, "rFonts").and_then(|fonts| attribute(fonts, "ascii").or_else(|| attribute(fonts, "hAnsi")));
        Look { hidden: hidden.unwrap_or(self.look.hidden), bold: bold.unwrap_or(self.look.bold), font }
    }

    fn run(&mut self, run: Element<'t>, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        let look = self.look_of(run);
        self.run_content(run, look, out)
    }

    fn run_content(&mut self, run: Element<'t>, look: Look<'t>, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        for child in run.elements() {
            match (child.ns(), child.name()) {
                (Ns::W, "t") => {
                    for text in child.children() {
                        if let Child::Text(text) = text {
                            self.text(text, look, out);
                        }
                    }
                }
                (Ns::W, "tab" | "ptab") => self.text("\t", look, out),
                (Ns::W, "br" | "cr") => self.text("\n", look, out),
                (Ns::W, "noBreakHyphen") => self.text("-", look, out),
                (Ns::W, "sym") => {
                    let code = attribute(child, "char").and_then(|code| u32::from_str_radix(code, 16).ok());
                    let font = attribute(child, "font").unwrap_or_default();
                    let shown = code.and_then(|code| symbols::character(font, code)).unwrap_or(char::REPLACEMENT_CHARACTER);
                    self.text(shown.encode_utf8(&mut [0; 4]), look, out);
                }
                (Ns::W, "instrText") => {
                    for text in child.children() {
                        if let Child::Text(text) = text {
                            self.fields.instruction(text);
                        }
                    }
                }
                (Ns::W, "fldChar") => self.field_character(child, look, out),
                (Ns::W, "footnoteReference") => self.note(NoteKind::Footnote, child, out)?,
                (Ns::W, "endnoteReference") => self.note(NoteKind::Endnote, child, out)?,
                (Ns::W, "commentReference") => self.note(NoteKind::Comment, child, out)?,
                (Ns::W, "drawing" | "pict" | "object") if self.fields.shows() => self.graphic(child, out)?,
                (Ns::W, "ruby") => self.ruby(child, out)?,
                (Ns::M, "oMath") if self.fields.shows() => out.push(&math::inline(child)),
                (Ns::Mc, "AlternateContent") => self.alternate(child, out, |walk, branch, out| {
                    let look = walk.look;
                    walk.run_content(branch, look, out)
                })?,
                _ => {}
            }
        }
        Ok(())
    }

    fn text(&self, text: &str, look: Look<'_>, out: &mut ParagraphBuilder) {
        if !self.fields.shows() {
            return;
        }
        if self.fields.in_page_number() {
            out.shows_page = true;
            if self.place == Place::Header {
                return;
            }
        }
        out.in_contents |= self.fields.in_contents();
        out.in_directory |= self.fields.in_directory();
        let replaced;
        let text = if text.contains(|c| ('\u{f000}'..='\u{f0ff}').contains(&c)) {
            replaced = symbols::replace(text, look.font);
            replaced.as_str()
        } else {
            text
        };
        if look.hidden {
            out.hidden(text);
            return;
        }
        out.text(text, look.bold);
    }

    fn field_character(&mut self, character: Element<'t>, look: Look<'t>, out: &mut ParagraphBuilder) {
        match attribute(character, "fldCharType") {
            Some("begin") => {
                if let Some(shown) = form_value(character) {
                    self.text(&shown, look, out);
                }
                self.fields.begin();
            }
            Some("separate") => self.fields.separate(),
            Some("end") => {
                if let Some(instruction) = self.fields.end() {
                    note_instruction(&instruction, out);
                }
            }
            _ => {}
        }
    }

    /// Ruby: the base, then its reading in brackets.
    fn ruby(&mut self, ruby: Element<'t>, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        if let Some(base) = w(ruby, "rubyBase") {
            self.inline(base, out)?;
        }
        if let Some(reading) = w(ruby, "rt") {
            let before = out.length();
            out.push("(");
            self.inline(reading, out)?;
            if out.length() > before.saturating_add(1) {
                out.push(")");
            } else {
                out.truncate(before);
            }
        }
        Ok(())
    }

    fn note(&mut self, kind: NoteKind, reference: Element<'t>, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        let Some(id) = attribute(reference, "id").filter(|_| self.place != Place::Note && self.fields.shows()) else { return Ok(()) };
        let Some((note, relationships)) = self.notes.get(kind, id) else { return Ok(()) };
        let (mark, first) = self.note_mark(kind, id);
        let label = if kind == NoteKind::Comment {
            let author = attribute(note, "author").map(str::trim).filter(|author| !author.is_empty());
            author.map_or_else(|| "Comment:".to_owned(), |author| format!("Comment ({author}):"))
        } else {
            out.push(&format!("[^{mark}]"));
            format!("[^{mark}]:")
        };
        if !first {
            return Ok(());
        }
        let blocks = self.foreign_blocks(note, relationships)?;
        if !blocks.is_empty() {
            out.after.push(Block::Note(Note { label, blocks }));
        }
        Ok(())
    }
}

fn note_instruction(instruction: &str, out: &mut ParagraphBuilder) {
    if out.anchor.is_none() {
        out.anchor = anchor(instruction).map(str::to_owned);
    }
    if out.sequence.is_none() {
        out.sequence = sequence(instruction).map(str::to_owned);
    }
}
