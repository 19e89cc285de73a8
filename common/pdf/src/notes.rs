//! Words that belong to a page without standing in its content: values of form fields that nobody has drawn, and comments.

use hayro_syntax::object::{Array, Dict, Name, Object, String as PdfString};

use crate::document::Pdf;
use crate::geometry::Rect;
use crate::outline::text_string;

/// Deepest chain of parents of a form field.
const MAX_PARENTS: usize = 16;
/// Most notes of one document.
const MAX_NOTES: usize = 20_000;
/// Most annotations of one page that are looked at.
const MAX_ANNOTATIONS: usize = 5_000;
/// Hidden and no-view annotations are not shown.
const NOT_SHOWN: u32 = 0b10_0010;

/// What a note is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteKind {
    /// The value of a form field.
    Field,
    /// A comment on the page.
    Comment,
}

/// Words beside a page's content.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// From 1.
    pub page: u32,
    /// Where, in points from the top left.
    pub rect: Rect,
    /// What it is.
    pub kind: NoteKind,
    /// The field's name as it is shown to people; empty for a comment.
    pub label: String,
    /// Never empty.
    pub text: String,
}

impl Pdf {
    /// Field values without an appearance, and comments: page by page, from the top.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        for (index, page) in self.inner().pages().iter().enumerate() {
            let Ok(number) = u32::try_from(index.saturating_add(1)) else { break };
            let Some(annotations) = page.raw().get::<Array<'_>>("Annots") else { continue };
            let matrix = page.initial_transform(true).as_coeffs();
            let mut here: Vec<Note> =
                annotations.iter::<Dict<'_>>().take(MAX_ANNOTATIONS).filter_map(|annotation| note(&annotation, number, matrix)).collect();
            here.sort_by(|a, b| a.rect.y0.total_cmp(&b.rect.y0).then(a.rect.x0.total_cmp(&b.rect.x0)));
            notes.append(&mut here);
            if notes.len() >= MAX_NOTES {
                notes.truncate(MAX_NOTES);
                break;
            }
        }
        notes
    }
}

fn note(annotation: &Dict<'_>, page: u32, matrix: [f64; 6]) -> Option<Note> {
    if annotation.get::<u32>("F").unwrap_or(0) & NOT_SHOWN != 0 {
        return None;
    }
    let drawn = annotation.get::<Dict<'_>>("AP").is_some_and(|looks| looks.contains_key("N"));
    let (kind, label, text) = match annotation.get::<Name<'_>>("Subtype")?.as_str() {
        // What is drawn is read with the page.
        "Widget" | "FreeText" if drawn => return None,
        "Widget" => (NoteKind::Field, field_label(annotation), field_value(annotation)?),
        "Text" | "FreeText" | "Highlight" | "Underline" | "StrikeOut" | "Squiggly" | "Caret" | "Stamp" | "Ink" | "Square" | "Circle"
        | "Line" | "Polygon" | "PolyLine" | "FileAttachment" => (NoteKind::Comment, String::new(), string(annotation, "Contents")?),
        _ => return None,
    };
    let [x0, y0, x1, y1] = annotation.get::<[f64; 4]>("Rect")?;
    let [a, b, c, d, e, f] = matrix;
    let shown = |x: f64, y: f64| ((a * x + c * y + e) as f32, (b * x + d * y + f) as f32);
    let ((ax, ay), (bx, by)) = (shown(x0, y0), shown(x1, y1));
    Some(Note { page, rect: Rect::from_corners(ax, ay, bx, by), kind, label, text })
}

/// A text string, white space folded at its ends; `None` when nothing is left.
fn string(dict: &Dict<'_>, key: &str) -> Option<String> {
    let text = text_string(dict.get::<PdfString<'_>>(key)?.as_bytes()).replace('\r', "\n");
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn field_label(field: &Dict<'_>) -> String {
    inherited(field, |dict| string(dict, "TU").or_else(|| string(dict, "T"))).unwrap_or_default()
}

/// The value of a text, choice or button field. A signature has none that could be read.
fn field_value(field: &Dict<'_>) -> Option<String> {
    let value = inherited(field, |dict| dict.get::<Object<'_>>("V"))?;
    let text = match value {
        Object::String(text) => text_string(text.as_bytes()),
        Object::Name(state) if state.as_str() != "Off" => state.as_str().to_owned(),
        Object::Array(chosen) => chosen.iter::<PdfString<'_>>().map(|one| text_string(one.as_bytes())).collect::<Vec<_>>().join(", "),
        _ => return None,
    };
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// What a field says, or the nearest of its parents.
fn inherited<'a, T>(field: &Dict<'a>, of: impl Fn(&Dict<'a>) -> Option<T>) -> Option<T> {
    let mut here = field.clone();
    for _ in 0..MAX_PARENTS {
        if let Some(found) = of(&here) {
            return Some(found);
        }
        here = here.get::<Dict<'a>>("Parent")?;
    }
    None
}
