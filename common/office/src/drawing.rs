//! `DrawingML` text and descriptions.

use quarry_document::symbols;
use quarry_document::xml::{Element, Ns};

use crate::math;

/// The text of a paragraph: runs, fields, breaks, tabs, formulas; trimmed.
pub fn text(paragraph: Element<'_>) -> String {
    let mut out = String::new();
    collect(paragraph, &mut out);
    out.trim().to_owned()
}

/// Recursion is bounded by the depth of the part.
fn collect(element: Element<'_>, out: &mut String) {
    for child in element.elements() {
        match (child.ns(), child.name()) {
            (Ns::A, "t") => out.push_str(&child.text()),
            (Ns::A, "br") => out.push('\n'),
            (Ns::A, "tab") => out.push('\t'),
            (Ns::A, "pPr" | "rPr" | "endParaRPr") => {}
            (Ns::A, "r" | "fld") => run(child, out),
            (Ns::M, "oMath") => out.push_str(&math::inline(child)),
            (Ns::M, "oMathPara") => out.push_str(&math::display(child)),
            (Ns::Mc, "AlternateContent") => {
                let before = out.len();
                for branch in child.elements() {
                    collect(branch, out);
                    if out.len() > before {
                        break;
                    }
                }
            }
            _ => collect(child, out),
        }
    }
}

/// A run; characters of a symbol font as what they show.
fn run(run: Element<'_>, out: &mut String) {
    let from = out.len();
    collect(run, out);
    let said = out.get(from..).unwrap_or_default();
    if said.contains(|c| ('\u{f000}'..='\u{f0ff}').contains(&c)) {
        let font = run.child(Ns::A, "rPr").and_then(|look| look.child(Ns::A, "sym").or_else(|| look.child(Ns::A, "latin")));
        let said = symbols::replace(said, font.and_then(|font| font.attribute(Ns::None, "typeface")));
        out.truncate(from);
        out.push_str(&said);
    }
}

/// What is said of a drawing: `descr`, `alt` or `title`, the first that says anything.
pub fn described(element: Element<'_>) -> Option<String> {
    ["descr", "alt", "title"].into_iter().find_map(|name| description(element.attribute(Ns::None, name)?))
}

/// A description as it is told: white space folded, without what Office adds to those of its own making, which says
/// nothing of the picture.
pub(crate) fn description(text: &str) -> Option<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let made = [" Description automatically generated", " AI-generated content may be incorrect"];
    let text = made.iter().fold(text.as_str(), |text, made| text.split(made).next().unwrap_or_default());
    let text = text.trim_end_matches([',', ' ']);
    (!text.is_empty()).then(|| text.to_owned())
}
