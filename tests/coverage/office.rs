//! Containers of XML: the text nodes of the parts that a reader of the document sees.

use anyhow::{Context, Result, ensure};
use quarry_document::archive::Archive;
use quarry_document::xml::{self, Child, Element, Ns, Tree};
use quarry_model::Limits;

/// How the text of a kind of part is told.
struct Vocabulary {
    /// Elements whose characters are text; empty for all.
    text: &'static [&'static str],
    /// Elements whose text is a deliberate exception.
    left_out: &'static [&'static str],
    /// Elements within a word.
    inline: Inline,
}

enum Inline {
    /// Only these.
    Only(&'static [&'static str]),
    /// All but these.
    AllBut(&'static [&'static str]),
}

/// Deleted with changes tracked: no part of the text. Formulas are told as LaTeX. A slide number is not text. The other
/// form of a drawing says the same.
const OFFICE: Vocabulary = Vocabulary {
    text: &["t"],
    left_out: &["del", "moveFrom", "oMath", "fld", "Fallback"],
    inline: Inline::AllBut(&["p", "tab", "br", "cr", "tc", "tr", "txbxContent", "si", "is", "comment", "pt", "sdt", "noBreakHyphen"]),
};
/// Categories, names of series and titles; numbers are shown as their format says.
const CHART: Vocabulary = Vocabulary { text: &["t", "v"], left_out: &["numRef", "numLit"], inline: Inline::AllBut(&["pt", "p"]) };
/// Changes, contents (evidence for headings, told by them), numbers of pages, marks of notes, authors and dates of
/// remarks, formulas.
const OPEN_DOCUMENT: Vocabulary = Vocabulary {
    text: &[],
    left_out: &["tracked-changes", "table-of-content", "page-number", "note-citation", "date", "creator", "math", "sequence-decls"],
    inline: Inline::Only(&["span"]),
};
/// Scripts and looks; navigation stands in the contents.
const BOOK: Vocabulary = Vocabulary {
    text: &[],
    left_out: &["head", "script", "style", "nav", "ncx", "math"],
    inline: Inline::Only(&["span", "b", "i", "em", "strong"]),
};
/// Every character.
const ANY: Vocabulary = Vocabulary { text: &[], left_out: &[], inline: Inline::Only(&[]) };

fn gather(element: Element<'_>, vocabulary: &Vocabulary, is_text: bool, out: &mut String) {
    for child in element.children() {
        match child {
            Child::Text(text) if is_text => out.push_str(text),
            Child::Text(_) => {}
            Child::Element(child) if vocabulary.left_out.contains(&child.name()) || is_contents_entry(child) => out.push(' '),
            Child::Element(child) => {
                let inline = match &vocabulary.inline {
                    Inline::Only(names) => names.contains(&child.name()),
                    Inline::AllBut(names) => !names.contains(&child.name()),
                };
                out.push_str(if inline { "" } else { " " });
                gather(child, vocabulary, vocabulary.text.is_empty() || vocabulary.text.contains(&child.name()), out);
                out.push_str(if inline { "" } else { " " });
            }
        }
    }
}

/// The title or an entry of a table of contents in a Word document: evidence for the headings, and told by them.
fn is_contents_entry(element: Element<'_>) -> bool {
    element
        .child(Ns::W, "pPr")
        .and_then(|properties| properties.child(Ns::W, "pStyle"))
        .and_then(|style| style.attribute(Ns::W, "val"))
        .is_some_and(|style| style.strip_prefix("TOC").is_some_and(|level| level == "Heading" || level.chars().all(|c| c.is_ascii_digit())))
}

fn gathered(part: Vec<u8>, vocabulary: &Vocabulary, out: &mut String) -> Result<()> {
    let tree = Tree::parse(&xml::decode(part), &Limits::default())?;
    gather(tree.root(), vocabulary, vocabulary.text.is_empty(), out);
    out.push(' ');
    Ok(())
}

/// The text of those parts that have a vocabulary.
fn parts(bytes: &[u8], vocabulary: impl Fn(&str) -> Option<&'static Vocabulary>) -> Result<String> {
    let mut archive = Archive::open(bytes, &Limits::default())?;
    let told: Vec<(String, &Vocabulary)> =
        archive.names().filter_map(|name| vocabulary(name).map(|vocabulary| (name.to_owned(), vocabulary))).collect();
    ensure!(!told.is_empty(), "a container has parts with text");
    let mut text = String::new();
    for (name, vocabulary) in told {
        gathered(archive.read(&name)?.with_context(|| name.clone())?, vocabulary, &mut text).context(name)?;
    }
    Ok(text)
}

fn is_numbered(name: &str, prefix: &str) -> bool {
    let number = name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(".xml"));
    number.is_some_and(|number| number.chars().all(|c| c.is_ascii_digit()))
}

/// Words of a DOCX.
pub(super) fn word(bytes: &[u8]) -> Result<String> {
    parts(bytes, |name| {
        let text = ["document", "header", "footer", "footnotes", "endnotes", "comments", "diagrams/data"];
        if text.iter().any(|part| is_numbered(name, &format!("word/{part}"))) {
            return Some(&OFFICE);
        }
        is_numbered(name, "word/charts/chart").then_some(&CHART)
    })
}

/// Words of a PPTX. Layouts and masters only prompt for text.
pub(super) fn slides(bytes: &[u8]) -> Result<String> {
    parts(bytes, |name| {
        let text = ["slides/slide", "notesSlides/notesSlide", "diagrams/data"];
        if text.iter().any(|part| is_numbered(name, &format!("ppt/{part}"))) {
            return Some(&OFFICE);
        }
        is_numbered(name, "ppt/charts/chart").then_some(&CHART)
    })
}

/// Words of an ODT.
pub(super) fn open_document(bytes: &[u8]) -> Result<String> {
    parts(bytes, |name| (name == "content.xml").then_some(&OPEN_DOCUMENT))
}

/// Words of an EPUB.
pub(super) fn book(bytes: &[u8]) -> Result<String> {
    parts(bytes, |name| name.ends_with(".xhtml").then_some(&BOOK))
}

/// Words of an XML document.
pub(super) fn xml(bytes: &[u8]) -> Result<String> {
    let mut text = String::new();
    gathered(bytes.to_vec(), &ANY, &mut text)?;
    Ok(text)
}

/// Words of one part of a workbook: texts, remarks, drawings.
pub(super) fn strings(part: Vec<u8>) -> Result<String> {
    let mut text = String::new();
    gathered(part, &OFFICE, &mut text)?;
    Ok(text)
}
