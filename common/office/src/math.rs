//! Office math as LaTeX.

use std::fmt::Write as _;

use quarry_document::xml::{Element, Ns};

use crate::math_symbols::{accent, character, function_name};

/// A formula within text: `$…$`.
pub fn inline(formula: Element<'_>) -> String {
    wrap("$", &content(formula))
}

/// Formulas that stand by themselves: `$$…$$`, one for each.
pub fn display(paragraph: Element<'_>) -> String {
    let formulas = paragraph.elements().filter(|child| child.is(Ns::M, "oMath"));
    formulas.map(|formula| wrap("$$", &content(formula))).filter(|formula| !formula.is_empty()).collect::<Vec<_>>().join("\n")
}

fn wrap(mark: &str, latex: &str) -> String {
    let latex = latex.trim();
    if latex.is_empty() { String::new() } else { format!("{mark}{latex}{mark}") }
}

/// Everything inside an element, in order. Recursion is bounded by the depth of the part.
fn content(element: Element<'_>) -> String {
    let mut out = String::new();
    for child in element.elements() {
        let piece = one(child);
        // A command must not run into a following letter.
        let runs_on = out
            .rsplit('\\')
            .next()
            .is_some_and(|tail| !tail.is_empty() && tail.len() < out.len() && tail.chars().all(|c| c.is_ascii_alphabetic()));
        if runs_on && piece.starts_with(|c: char| c.is_ascii_alphabetic()) {
            out.push(' ');
        }
        out.push_str(&piece);
    }
    out
}

fn part(element: Element<'_>, name: &str) -> String {
    element.child(Ns::M, name).map(content).unwrap_or_default().trim().to_owned()
}

/// `m:val` of a property of an object.
fn property<'t>(element: Element<'t>, name: &str) -> Option<&'t str> {
    let properties = element.elements().find(|child| child.ns() == Ns::M && child.name().ends_with("Pr"))?;
    let property = properties.child(Ns::M, name)?;
    Some(property.attribute(Ns::M, "val").unwrap_or_default())
}

fn is_on(element: Element<'_>, name: &str) -> bool {
    property(element, name).is_some_and(|value| !matches!(value, "0" | "off" | "false"))
}

fn one(element: Element<'_>) -> String {
    if element.ns() == Ns::W && matches!(element.name(), "del" | "moveFrom" | "rPr") {
        return String::new();
    }
    if element.ns() != Ns::M {
        return content(element);
    }
    let name = element.name();
    let child = |name| part(element, name);
    match name {
        "r" => run(element),
        "f" => fraction(element),
        "rad" => {
            let degree = child("deg");
            if degree.is_empty() || is_on(element, "degHide") {
                format!("\\sqrt{{{}}}", child("e"))
            } else {
                format!("\\sqrt[{degree}]{{{}}}", child("e"))
            }
        }
        "sSup" => format!("{}^{{{}}}", base(&child("e")), child("sup")),
        "sSub" => format!("{}_{{{}}}", base(&child("e")), child("sub")),
        "sSubSup" => format!("{}_{{{}}}^{{{}}}", base(&child("e")), child("sub"), child("sup")),
        "sPre" => format!("{{}}_{{{}}}^{{{}}}{}", child("sub"), child("sup"), base(&child("e"))),
        "nary" => nary(element),
        "d" => delimited(element),
        "m" => matrix(element),
        "eqArr" => {
            let rows: Vec<String> = element.elements().filter(|row| row.is(Ns::M, "e")).map(content).collect();
            format!("\\begin{{aligned}}{}\\end{{aligned}}", rows.join(" \\\\ "))
        }
        "func" => {
            let name = child("fName");
            let name = if name.starts_with('\\') { name } else { function_name(&name) };
            format!("{name}{{{}}}", child("e"))
        }
        "limLow" => limit(element, "_"),
        "limUpp" => limit(element, "^"),
        "acc" => {
            let mark = property(element, "chr").and_then(|chr| chr.chars().next()).unwrap_or('\u{302}');
            format!("{}{{{}}}", accent(mark), child("e"))
        }
        "bar" => {
            let command = if property(element, "pos") == Some("top") { "\\overline" } else { "\\underline" };
            format!("{command}{{{}}}", child("e"))
        }
        "groupChr" => {
            let top = property(element, "pos") == Some("top");
            let mark = property(element, "chr").and_then(|chr| chr.chars().next());
            let command = match mark {
                Some('→') => "\\overrightarrow",
                Some('←') => "\\overleftarrow",
                _ if top => "\\overbrace",
                _ => "\\underbrace",
            };
            format!("{command}{{{}}}", child("e"))
        }
        "borderBox" => format!("\\boxed{{{}}}", child("e")),
        "phant" if property(element, "show").is_some_and(|show| matches!(show, "0" | "off" | "false")) => {
            format!("\\phantom{{{}}}", child("e"))
        }
        name if name.ends_with("Pr") => String::new(),
        _ => content(element),
    }
}

fn run(element: Element<'_>) -> String {
    let properties = element.child(Ns::M, "rPr");
    let is = |name: &str| properties.and_then(|properties| properties.child(Ns::M, name));
    let text: String = element.elements().filter(|child| child.name() == "t").map(Element::text).collect();
    if is("nor").is_some() {
        let words = text.trim();
        return if words.is_empty() { text } else { format!("\\text{{{}}}", escape(&text)) };
    }
    let style = is("sty").and_then(|style| style.attribute(Ns::M, "val"));
    if style == Some("p") && text.chars().count() > 1 && text.chars().all(|c| c.is_ascii_alphabetic()) {
        return function_name(&text);
    }
    let script = is("scr").and_then(|script| script.attribute(Ns::M, "val"));
    let mut out = String::new();
    for c in text.chars() {
        let piece = character(c);
        if piece.starts_with('\\') && piece.len() > 2 {
            out.push_str(&piece);
            out.push(' ');
        } else {
            out.push_str(&piece);
        }
    }
    let command = match (script, style) {
        (Some("double-struck"), _) => "\\mathbb",
        (Some("script"), _) => "\\mathcal",
        (Some("fraktur"), _) => "\\mathfrak",
        (Some("sans-serif"), _) => "\\mathsf",
        (Some("monospace"), _) => "\\mathtt",
        (_, Some("b" | "bi")) => "\\mathbf",
        _ => return out,
    };
    if out.trim().is_empty() { out } else { format!("{command}{{{}}}", out.trim()) }
}

fn fraction(element: Element<'_>) -> String {
    let (over, under) = (part(element, "num"), part(element, "den"));
    match property(element, "type") {
        Some("lin") => format!("{{{over}}}/{{{under}}}"),
        Some("skw") => format!("{{}}^{{{over}}}/_{{{under}}}"),
        Some("noBar") => format!("\\genfrac{{}}{{}}{{0pt}}{{}}{{{over}}}{{{under}}}"),
        _ => format!("\\frac{{{over}}}{{{under}}}"),
    }
}

fn nary(element: Element<'_>) -> String {
    let mark = property(element, "chr").map_or('∫', |chr| chr.chars().next().unwrap_or('∫'));
    let mut out = character(mark);
    let (sub, sup) = (part(element, "sub"), part(element, "sup"));
    if !sub.is_empty() && !is_on(element, "subHide") {
        let _ = write!(out, "_{{{sub}}}");
    }
    if !sup.is_empty() && !is_on(element, "supHide") {
        let _ = write!(out, "^{{{sup}}}");
    }
    format!("{out}{{{}}}", part(element, "e"))
}

fn delimited(element: Element<'_>) -> String {
    let side = |name, usual: char| match property(element, name) {
        None => delimiter(Some(usual)),
        Some(chr) => delimiter(chr.chars().next()),
    };
    let separator = property(element, "sepChr").and_then(|chr| chr.chars().next()).unwrap_or('|');
    let parts: Vec<String> = element.elements().filter(|child| child.is(Ns::M, "e")).map(content).collect();
    let separator = format!(" {} ", delimiter(Some(separator)));
    format!("\\left{}{}\\right{}", side("begChr", '('), parts.join(&separator).trim(), side("endChr", ')'))
}

/// A delimiter; nothing is a dot.
fn delimiter(mark: Option<char>) -> String {
    match mark {
        None => ".".to_owned(),
        Some('{') => "\\{".to_owned(),
        Some('}') => "\\}".to_owned(),
        Some('‖') => "\\|".to_owned(),
        Some('⟨' | '〈') => "\\langle ".to_owned(),
        Some('⟩' | '〉') => "\\rangle ".to_owned(),
        Some('⌊') => "\\lfloor ".to_owned(),
        Some('⌋') => "\\rfloor ".to_owned(),
        Some('⌈') => "\\lceil ".to_owned(),
        Some('⌉') => "\\rceil ".to_owned(),
        Some(other) => other.to_string(),
    }
}

fn matrix(element: Element<'_>) -> String {
    let rows: Vec<String> = element
        .elements()
        .filter(|row| row.is(Ns::M, "mr"))
        .map(|row| row.elements().filter(|cell| cell.is(Ns::M, "e")).map(content).collect::<Vec<_>>().join(" & "))
        .collect();
    format!("\\begin{{matrix}}{}\\end{{matrix}}", rows.join(" \\\\ "))
}

fn limit(element: Element<'_>, mark: &str) -> String {
    let (what, limit) = (part(element, "e"), part(element, "lim"));
    let operator = function_name(&what);
    if operator.starts_with("\\operatorname") || !operator.starts_with('\\') {
        let command = if mark == "_" { "\\underset" } else { "\\overset" };
        return format!("{command}{{{limit}}}{{{what}}}");
    }
    format!("{operator}{mark}{{{limit}}}")
}

/// A base of one symbol stands as it is, a longer one in braces.
fn base(latex: &str) -> String {
    let command = latex.strip_prefix('\\').is_some_and(|name| name.chars().all(|c| c.is_ascii_alphabetic()));
    if command || latex.chars().count() == 1 { latex.to_owned() } else { format!("{{{latex}}}") }
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
