//! `MathML` as LaTeX. Characters stay as they are; structure becomes commands.

use quarry_document::xml::{Child, Element};

/// A formula within text: `$…$`; empty for one without content.
pub(crate) fn inline(formula: Element<'_>) -> String {
    let latex = content(formula);
    let latex = latex.trim();
    if latex.is_empty() { String::new() } else { format!("${latex}$") }
}

/// Everything inside an element. Recursion is bounded by the depth of the part.
fn content(element: Element<'_>) -> String {
    let mut out = String::new();
    for child in element.elements() {
        let piece = one(child);
        let runs_on = out.rsplit_once('\\').is_some_and(|(_, tail)| !tail.is_empty() && tail.chars().all(|c| c.is_ascii_alphabetic()));
        if runs_on && piece.starts_with(|c: char| c.is_ascii_alphabetic()) {
            out.push(' ');
        }
        out.push_str(&piece);
    }
    out
}

fn one(element: Element<'_>) -> String {
    let parts: Vec<Element<'_>> = element.elements().collect();
    let part = |index: usize| parts.get(index).map(|part| one(*part)).unwrap_or_default();
    match element.name() {
        "mi" | "mn" | "mo" | "ms" => escape(words(element).trim()),
        "mtext" => {
            let text = words(element);
            if text.trim().is_empty() { " ".to_owned() } else { format!("\\text{{{}}}", escape(&text)) }
        }
        "mspace" => " ".to_owned(),
        "mfrac" => format!("\\frac{{{}}}{{{}}}", part(0), part(1)),
        "msqrt" => format!("\\sqrt{{{}}}", content(element)),
        "mroot" => format!("\\sqrt[{}]{{{}}}", part(1), part(0)),
        "msup" => format!("{}^{{{}}}", base(&part(0)), part(1)),
        "msub" => format!("{}_{{{}}}", base(&part(0)), part(1)),
        "msubsup" | "munderover" => format!("{}_{{{}}}^{{{}}}", base(&part(0)), part(1), part(2)),
        "munder" => format!("{}_{{{}}}", base(&part(0)), part(1)),
        "mover" => match part(1).trim() {
            "¯" | "‾" | "―" => format!("\\overline{{{}}}", part(0)),
            "^" | "ˆ" => format!("\\hat{{{}}}", part(0)),
            "~" | "˜" => format!("\\tilde{{{}}}", part(0)),
            "→" | "⃗" => format!("\\vec{{{}}}", part(0)),
            "˙" | "." => format!("\\dot{{{}}}", part(0)),
            over => format!("{}^{{{over}}}", base(&part(0))),
        },
        "mfenced" => {
            let attribute = |name: &str, usual: &str| {
                element.attributes().find(|(_, own, _)| *own == name).map_or_else(|| usual.to_owned(), |(_, _, value)| value.to_owned())
            };
            let inner: Vec<String> = parts.iter().map(|part| one(*part)).collect();
            format!("{}{}{}", escape(&attribute("open", "(")), inner.join(","), escape(&attribute("close", ")")))
        }
        "mtable" => {
            let rows: Vec<String> = parts
                .iter()
                .filter(|row| matches!(row.name(), "mtr" | "mlabeledtr"))
                .map(|row| row.elements().map(content).collect::<Vec<_>>().join(" & "))
                .collect();
            format!("\\begin{{matrix}}{}\\end{{matrix}}", rows.join(" \\\\ "))
        }
        "semantics" => part(0),
        "annotation" | "annotation-xml" => String::new(),
        _ => content(element),
    }
}

/// A base of one symbol stands as it is, a longer one in braces.
fn base(latex: &str) -> String {
    if latex.chars().count() == 1 { latex.to_owned() } else { format!("{{{latex}}}") }
}

fn words(element: Element<'_>) -> String {
    let text: String = element.children().filter_map(|child| if let Child::Text(text) = child { Some(text) } else { None }).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '{' | '}' | '%' | '&' | '#' | '_' | '$') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
