//! The content of one paragraph.

use quarry_document::xml::{Child, Element, Ns};
use quarry_model::DocumentFailure;

use crate::math;
use crate::word::block::{Block, Note, Paragraph, Picture};
use crate::word::fields::{anchor, form_value, sequence};
use crate::word::notes::NoteKind;
use crate::word::properties::{attribute, toggle, value, w};
use crate::word::walk::{Place, Walk};
use quarry_document::symbols;

/// A paragraph's content while it is collected.
#[derive(Debug, Default)]
pub(crate) struct Inline {
    text: String,
    /// Code points of `text`.
    length: usize,
    hidden: String,
    pictures: Vec<Picture>,
    pub after: Vec<Block>,
    pub bookmarks: Vec<String>,
    pub in_contents: bool,
    pub in_directory: bool,
    pub anchor: Option<String>,
    pub sequence: Option<String>,
    shows_page: bool,
    bold: usize,
    letters: usize,
}

impl Inline {
    pub(crate) fn push(&mut self, text: &str) {
        self.length = self.length.saturating_add(text.chars().count());
        self.text.push_str(text);
    }

    /// A picture at this place.
    pub(crate) fn picture_at(&mut self, asset: Option<usize>, alt: &str) {
        self.pictures.push(Picture { asset, alt: alt.to_owned(), at: self.length });
    }

    /// The text so far.
    pub(crate) fn peek(&self) -> &str {
        &self.text
    }

    /// Whether anything was collected.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.hidden.is_empty() && self.pictures.is_empty() && self.after.is_empty()
    }

    /// How much was collected; grows with everything that is.
    pub(crate) fn extent(&self) -> usize {
        [self.text.trim().len(), self.hidden.len(), self.pictures.len(), self.after.len()].into_iter().fold(0, usize::saturating_add)
    }

    /// The paragraph: white space at its ends and before line breaks cut, pictures moved along.
    pub(crate) fn finish(self) -> Paragraph {
        let (text, pictures) = trim(&self.text, self.pictures);
        Paragraph {
            text,
            hidden: self.hidden.trim().to_owned(),
            pictures,
            bookmarks: self.bookmarks,
            bold: self.letters > 0 && self.bold == self.letters,
            shows_page: self.shows_page,
            after: self.after,
            ..Paragraph::default()
        }
    }
}

/// Cuts white space around the text and at the ends of its lines; positions follow.
fn trim(text: &str, mut pictures: Vec<Picture>) -> (String, Vec<Picture>) {
    let (mut out, mut kept, mut pending) = (String::with_capacity(text.len()), 0_usize, String::new());
    let mut next = 0;
    for (index, c) in text.chars().enumerate() {
        while let Some(picture) = pictures.get_mut(next).filter(|picture| picture.at <= index) {
            picture.at = kept;
            next = next.saturating_add(1);
        }
        match c {
            '\n' => {
                pending.retain(|c| c == '\n');
                pending.push('\n');
            }
            c if c.is_whitespace() => pending.push(c),
            c => {
                if !out.is_empty() {
                    kept = kept.saturating_add(pending.chars().count());
                    out.push_str(&pending);
                }
                pending.clear();
                out.push(c);
                kept = kept.saturating_add(1);
            }
        }
    }
    for picture in pictures.iter_mut().skip(next) {
        picture.at = kept;
    }
    (out, pictures)
}

/// How a run is shown.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Look<'t> {
    pub hidden: bool,
    pub bold: bool,
    pub font: Option<&'t str>,
}

impl<'t> Walk<'_, '_, 't> {
    /// Collects what stands inside a paragraph or anything in it that only groups.
    pub(crate) fn inline(&mut self, element: Element<'t>, out: &mut Inline) -> Result<(), DocumentFailure> {
        element.elements().try_for_each(|child| self.inline_one(child, out))
    }

    /// One element of a paragraph.
    pub(crate) fn inline_one(&mut self, child: Element<'t>, out: &mut Inline) -> Result<(), DocumentFailure> {
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
        out: &mut Inline,
        read: fn(&mut Self, Element<'t>, &mut Inline) -> Result<(), DocumentFailure>,
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

    fn run(&mut self, run: Element<'t>, out: &mut Inline) -> Result<(), DocumentFailure> {
        let look = self.look_of(run);
        self.run_content(run, look, out)
    }

    fn run_content(&mut self, run: Element<'t>, look: Look<'t>, out: &mut Inline) -> Result<(), DocumentFailure> {
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

    fn text(&self, text: &str, look: Look<'_>, out: &mut Inline) {
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
            out.hidden.push_str(text);
            return;
        }
        let letters = text.chars().filter(|c| !c.is_whitespace()).count();
        out.letters = out.letters.saturating_add(letters);
        if look.bold {
            out.bold = out.bold.saturating_add(letters);
        }
        out.push(text);
    }

    fn field_character(&mut self, character: Element<'t>, look: Look<'t>, out: &mut Inline) {
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
    fn ruby(&mut self, ruby: Element<'t>, out: &mut Inline) -> Result<(), DocumentFailure> {
        if let Some(base) = w(ruby, "rubyBase") {
            self.inline(base, out)?;
        }
        if let Some(reading) = w(ruby, "rt") {
            let before = out.length;
            out.push("(");
            self.inline(reading, out)?;
            if out.length > before.saturating_add(1) {
                out.push(")");
            } else {
                out.text.pop();
                out.length = before;
            }
        }
        Ok(())
    }

    fn note(&mut self, kind: NoteKind, reference: Element<'t>, out: &mut Inline) -> Result<(), DocumentFailure> {
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

fn note_instruction(instruction: &str, out: &mut Inline) {
    if out.anchor.is_none() {
        out.anchor = anchor(instruction).map(str::to_owned);
    }
    if out.sequence.is_none() {
        out.sequence = sequence(instruction).map(str::to_owned);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trimming_moves_pictures_along() {
        let picture = |at| Picture { asset: None, alt: String::new(), at };
        let (text, pictures) = trim("  ab \n cd  ", vec![picture(0), picture(3), picture(8), picture(11)]);
        assert_eq!(text, "ab\n cd");
        assert_eq!(pictures.iter().map(|p| p.at).collect::<Vec<_>>(), [0, 1, 5, 6]);
        assert_eq!(trim("   ", vec![picture(2)]), (String::new(), vec![picture(0)]));
    }
}
