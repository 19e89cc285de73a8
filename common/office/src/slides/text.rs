//! Paragraphs of a text body, with the bullets and numbers they inherit.

use quarry_document::numbering::numerals;
use quarry_document::symbols;
use quarry_document::xml::{Element, Ns};

use crate::drawing;

/// Levels of a list (ECMA-376 part 1, 21.1.2.4.13 and following).
const LEVELS: usize = 9;

/// What stands before a paragraph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Nothing, whatever was inherited.
    None,
    /// A bullet.
    Bullet,
    /// A number of this scheme, counted from here.
    Number { scheme: String, start: i64 },
}

impl Mark {
    /// What a paragraph's properties say.
    fn of(properties: Element<'_>) -> Option<Self> {
        properties.elements().filter(|child| child.ns() == Ns::A).find_map(|child| match child.name() {
            "buNone" => Some(Self::None),
            "buChar" | "buBlip" => Some(Self::Bullet),
            "buAutoNum" => {
                let start = child.attribute(Ns::None, "startAt").and_then(|start| start.parse().ok()).unwrap_or(1);
                Some(Self::Number { scheme: child.attribute(Ns::None, "type").unwrap_or_default().to_owned(), start })
            }
            _ => None,
        })
    }
}

/// Marks by level, as a list style says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ListStyle([Option<Mark>; LEVELS]);

impl ListStyle {
    /// Reads `a:lstStyle`, or one of the styles of a master.
    pub(crate) fn read(style: Element<'_>) -> Self {
        let mut out = Self::default();
        for child in style.elements().filter(|child| child.ns() == Ns::A) {
            let level =
                child.name().strip_prefix("lvl").and_then(|name| name.strip_suffix("pPr")).and_then(|level| level.parse::<usize>().ok());
            if let Some(slot) = level.and_then(|level| level.checked_sub(1)).and_then(|level| out.0.get_mut(level)) {
                *slot = Mark::of(child);
            }
        }
        out
    }

    fn mark(&self, level: usize) -> Option<&Mark> {
        self.0.get(level).and_then(Option::as_ref)
    }
}

/// One paragraph.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Paragraph {
    /// Trimmed, never empty; lines separated by `\n`.
    pub text: String,
    /// `-` or a number, when it is an item of a list.
    pub label: Option<String>,
    /// Indentation, from 0.
    pub level: usize,
    /// Size of its largest run in hundredths of a point, when a run says one.
    pub size: Option<u32>,
}

impl Paragraph {
    /// As a row shows it.
    pub(crate) fn line(&self) -> String {
        match &self.label {
            Some(label) => format!("{}{label} {}", "  ".repeat(self.level), self.text),
            None => self.text.clone(),
        }
    }
}

/// The paragraphs of a body that say anything. `styles` are those it inherits from, the nearest first.
pub(crate) fn paragraphs(body: Element<'_>, styles: &[&ListStyle]) -> Vec<Paragraph> {
    let own = body.child(Ns::A, "lstStyle").map(ListStyle::read).unwrap_or_default();
    let mut out = Vec::new();
    let mut counters = Counters::default();
    for element in body.elements().filter(|child| child.is(Ns::A, "p")) {
        let text = drawing::text(element);
        if text.is_empty() {
            continue;
        }
        let properties = element.child(Ns::A, "pPr");
        let level =
            properties.and_then(|properties| properties.attribute(Ns::None, "lvl")).and_then(|level| level.parse().ok()).unwrap_or(0_usize);
        let level = level.min(LEVELS.saturating_sub(1));
        let direct = properties.and_then(Mark::of);
        let mark = direct.as_ref().or_else(|| std::iter::once(&own).chain(styles.iter().copied()).find_map(|style| style.mark(level)));
        let label = counters.label(level, mark);
        out.push(Paragraph { text, label, level, size: size(element) });
    }
    out
}

fn size(paragraph: Element<'_>) -> Option<u32> {
    let runs = paragraph.elements().filter(|child| child.is(Ns::A, "r") || child.is(Ns::A, "fld"));
    runs.filter_map(|run| run.child(Ns::A, "rPr")?.attribute(Ns::None, "sz")?.parse().ok()).max()
}

/// Where the numbers of each level have come to.
#[derive(Debug, Default)]
struct Counters([Option<(String, i64)>; LEVELS]);

impl Counters {
    /// The label of the next paragraph. A number goes on while its scheme does; anything else on its level, or on a
    /// level above it, ends it.
    fn label(&mut self, level: usize, mark: Option<&Mark>) -> Option<String> {
        for deeper in self.0.iter_mut().skip(level.saturating_add(1)) {
            *deeper = None;
        }
        let slot = self.0.get_mut(level)?;
        let Some(Mark::Number { scheme, start }) = mark else {
            *slot = None;
            return (mark == Some(&Mark::Bullet)).then(|| "-".to_owned());
        };
        let number = match slot {
            Some((running, last)) if running == scheme => last.saturating_add(1),
            _ => *start,
        };
        *slot = Some((scheme.clone(), number));
        Some(written(number, scheme))
    }
}

/// A number as its scheme writes it (ECMA-376 part 1, 20.1.10.61 `ST_TextAutonumberScheme`).
fn written(number: i64, scheme: &str) -> String {
    let format = [
        ("arabicDbPeriod", "decimalFullWidth"),
        ("arabicDbPlain", "decimalFullWidth"),
        ("arabic", "decimal"),
        ("alphaLc", "lowerLetter"),
        ("alphaUc", "upperLetter"),
        ("romanLc", "lowerRoman"),
        ("romanUc", "upperRoman"),
        ("circleNum", "decimalEnclosedCircle"),
        ("ea1JpnKor", "japaneseCounting"),
        ("ea1", "chineseCounting"),
        ("thaiNum", "thaiNumbers"),
        ("hindiNum", "hindiNumbers"),
        ("hebrew2", "hebrew2"),
    ];
    let format = format.iter().find(|(prefix, _)| scheme.starts_with(prefix)).map_or("decimal", |(_, format)| *format);
    let number = numerals::format(number, format);
    if scheme.ends_with("ParenBoth") {
        format!("({number})")
    } else if scheme.ends_with("ParenR") {
        format!("{number})")
    } else if scheme.ends_with("Plain") {
        number
    } else if scheme.ends_with("Minus") {
        format!("{number} -")
    } else {
        format!("{number}.")
    }
}

/// Whether a text is nothing but the number of its slide, or the mark that stands for it.
pub(crate) fn is_slide_number(text: &str) -> bool {
    let text = symbols::replace(text, None);
    text.split_whitespace()
        .all(|word| word.chars().all(|c| c.is_numeric() || matches!(c, '‹' | '›' | '<' | '>' | '#' | '/' | '|' | '-' | '–')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quarry_document::xml::Tree;
    use quarry_model::Limits;

    fn lines(body: &str, styles: &[&ListStyle]) -> Vec<String> {
        let text = format!(
            "<p:txBody xmlns:p=\"http://schemas.openxmlformats.org/presentationml/2006/main\" xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\">{body}</p:txBody>"
        );
        let tree = Tree::parse(&text, &Limits::default()).unwrap();
        paragraphs(tree.root(), styles).iter().map(Paragraph::line).collect()
    }

    fn p(properties: &str, text: &str) -> String {
        format!("<a:p>{properties}<a:r><a:t>{text}</a:t></a:r></a:p>")
    }

    #[test]
    fn bullets_are_inherited_and_switched_off() {
        let mut style = ListStyle::default();
        style.0[0] = Some(Mark::Bullet);
        let body = format!(
            "<a:lstStyle><a:lvl2pPr><a:buChar char=\"o\"/></a:lvl2pPr></a:lstStyle>{}{}{}<a:p/>",
            p("", "one"),
            p("<a:pPr lvl=\"1\"/>", "two"),
            p("<a:pPr><a:buNone/></a:pPr>", "three")
        );
        assert_eq!(lines(&body, &[&style]), ["- one", "  - two", "three"]);
        assert_eq!(lines(&p("", "plain"), &[]), ["plain"]);
    }

    #[test]
    fn numbers_run_on_and_begin_again() {
        let number = |level: u32, scheme: &str| format!("<a:pPr lvl=\"{level}\"><a:buAutoNum type=\"{scheme}\"/></a:pPr>");
        let body = [
            p(&number(0, "arabicPeriod"), "a"),
            p(&number(1, "alphaLcParenR"), "b"),
            p(&number(1, "alphaLcParenR"), "c"),
            p(&number(0, "arabicPeriod"), "d"),
            p(&number(1, "alphaLcParenR"), "e"),
            p("", "f"),
            p("<a:pPr><a:buAutoNum type=\"romanUcParenBoth\" startAt=\"4\"/></a:pPr>", "g"),
        ];
        assert_eq!(lines(&body.concat(), &[]), ["1. a", "  a) b", "  b) c", "2. d", "  a) e", "f", "(IV) g"]);
    }

    #[test]
    fn slide_numbers_are_told_from_text() {
        assert!(is_slide_number("‹#›") && is_slide_number("12") && is_slide_number("3 / 40"));
        assert!(!is_slide_number("Page 12"));
    }
}
