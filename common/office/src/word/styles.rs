//! Styles, resolved through `basedOn`.

use std::collections::{BTreeMap, BTreeSet};

use quarry_document::Warnings;
use quarry_document::flow::Purpose;
use quarry_document::xml::{Element, Ns, Tree};
use quarry_model::DocumentCode;

use crate::word::properties::{attribute, number, toggle, value, w};

/// What a style itself says.
#[derive(Debug, Clone, Default)]
struct Style {
    name: String,
    based_on: Option<String>,
    outline: Option<u8>,
    number: NumberProperties,
    hidden: Option<bool>,
    bold: Option<bool>,
    /// Half points.
    size: Option<i64>,
    first_row_looks: bool,
    first_column_looks: bool,
}

/// `w:numPr`: which list, which of its levels. Either may come from elsewhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct NumberProperties {
    pub list: Option<i64>,
    pub level: Option<i64>,
}

impl NumberProperties {
    /// Reads `w:numPr` of a `w:pPr`.
    pub(crate) fn of(properties: Element<'_>) -> Self {
        let Some(numbering) = w(properties, "numPr") else { return Self::default() };
        Self { list: number(numbering, "numId"), level: number(numbering, "ilvl") }
    }
}

/// What a paragraph style comes to, its ancestors included.
#[derive(Debug, Clone, Default)]
pub(crate) struct ParagraphStyle {
    /// From 1; `None` for body text.
    pub heading_level: Option<u32>,
    pub purpose: Purpose,
    pub number: NumberProperties,
    /// The style that `number` was found at, for lists that name their styles.
    pub number_style: Option<String>,
    pub hidden: bool,
    pub bold: bool,
}

/// All styles of a document.
#[derive(Debug, Default)]
pub(crate) struct Styles {
    by_id: BTreeMap<String, Style>,
    default_paragraph: Option<String>,
    resolved: BTreeMap<String, ParagraphStyle>,
}

impl Styles {
    /// Reads the styles part and resolves every paragraph style once.
    pub(crate) fn read(tree: &Tree, warnings: &mut Warnings) -> Self {
        let mut styles = Self::default();
        for element in tree.root().elements().filter(|element| element.is(Ns::W, "style")) {
            let Some(id) = attribute(element, "styleId") else { continue };
            let kind = attribute(element, "type").unwrap_or("paragraph");
            if kind == "paragraph" && matches!(attribute(element, "default"), Some("1" | "true" | "on")) {
                styles.default_paragraph.get_or_insert_with(|| id.to_owned());
            }
            styles.by_id.entry(id.to_owned()).or_insert_with(|| Style::read(element));
        }
        let ids: Vec<String> = styles.by_id.keys().cloned().collect();
        for id in ids {
            let resolved = styles.resolve(&id, warnings);
            styles.resolved.insert(id, resolved);
        }
        styles
    }

    /// A paragraph's style; the default one when it names none or an unknown one.
    pub(crate) fn paragraph(&self, id: Option<&str>) -> ParagraphStyle {
        let named = id.and_then(|id| self.resolved.get(id));
        named.or_else(|| self.default_paragraph.as_ref().and_then(|id| self.resolved.get(id))).cloned().unwrap_or_default()
    }

    /// Whether a character style hides its text.
    pub(crate) fn hides(&self, id: &str) -> Option<bool> {
        self.chain(id).into_iter().find_map(|style| style.hidden)
    }

    /// Whether a character style is bold.
    pub(crate) fn bold(&self, id: &str) -> Option<bool> {
        self.chain(id).into_iter().find_map(|style| style.bold)
    }

    /// Whether a table style gives its first row, and its first column, a look of their own.
    pub(crate) fn table_looks(&self, id: &str) -> (bool, bool) {
        let chain = self.chain(id);
        (chain.iter().any(|style| style.first_row_looks), chain.iter().any(|style| style.first_column_looks))
    }

    /// The list a style belongs to.
    pub(crate) fn number_of(&self, id: &str) -> NumberProperties {
        self.resolved.get(id).map(|style| style.number).unwrap_or_default()
    }

    /// A style and its ancestors, nearest first; a cycle ends it.
    fn chain(&self, id: &str) -> Vec<&Style> {
        let (mut chain, mut seen, mut next) = (Vec::new(), BTreeSet::new(), Some(id));
        while let Some(id) = next.filter(|id| seen.insert(*id)) {
            let Some(style) = self.by_id.get(id) else { break };
            chain.push(style);
            next = style.based_on.as_deref();
        }
        chain
    }

    fn resolve(&self, id: &str, warnings: &mut Warnings) -> ParagraphStyle {
        let (mut found, mut seen, mut next) = (ParagraphStyle::default(), BTreeSet::new(), Some(id));
        let (mut outline, mut hidden, mut bold, mut size) = (None, None, None, None);
        while let Some(id) = next {
            if !seen.insert(id) {
                warnings.note(DocumentCode::Corrupt, format!("styles are based on each other in a circle, at {}", short(id)));
                break;
            }
            let Some(style) = self.by_id.get(id) else { break };
            let name = style.name.as_str();
            outline = outline.or(style.outline).or_else(|| built_in_level(name));
            // What stands under a title (author, date) is often based on its style, but smaller.
            let under = size.zip(style.size).is_some_and(|(own, of_title)| own < of_title);
            if found.purpose == Purpose::Text && !(under && Purpose::of(name) == Purpose::Title) {
                found.purpose = Purpose::of(name);
            }
            size = size.or(style.size);
            if found.number.list.is_none() && style.number.list.is_some() {
                found.number.list = style.number.list;
                found.number_style = Some(id.to_owned());
            }
            found.number.level = found.number.level.or(style.number.level);
            hidden = hidden.or(style.hidden);
            bold = bold.or(style.bold);
            next = style.based_on.as_deref();
        }
        // Level 9 (here 10) is Word's way of saying body text.
        found.heading_level = outline.map(|level| u32::from(level).saturating_add(1)).filter(|level| *level <= 9);
        found.hidden = hidden.unwrap_or_default();
        found.bold = bold.unwrap_or_default();
        found
    }
}

impl Style {
    fn read(element: Element<'_>) -> Self {
        let paragraph = w(element, "pPr");
        let run = w(element, "rPr");
        let looks = |part: &str| {
            element
                .elements()
                .any(|child| child.is(Ns::W, "tblStylePr") && attribute(child, "type") == Some(part) && child.elements().next().is_some())
        };
        Self {
            name: value(element, "name").unwrap_or_default().trim().to_lowercase(),
            based_on: value(element, "basedOn").map(str::to_owned),
            outline: paragraph.and_then(outline_level),
            number: paragraph.map(NumberProperties::of).unwrap_or_default(),
            hidden: run.and_then(|run| toggle(run, "vanish")),
            bold: run.and_then(|run| toggle(run, "b")),
            size: run.and_then(|run| number(run, "sz")),
            first_row_looks: looks("firstRow"),
            first_column_looks: looks("firstCol"),
        }
    }
}

/// `w:outlineLvl` of a `w:pPr`: 0 to 8 for headings, 9 for body text.
pub(crate) fn outline_level(properties: Element<'_>) -> Option<u8> {
    number(properties, "outlineLvl").and_then(|level| u8::try_from(level).ok()).filter(|level| *level <= 9)
}

/// Built-in heading styles have their level by name, whether or not it is written out.
fn built_in_level(name: &str) -> Option<u8> {
    let digit = name.strip_prefix("heading ")?.parse::<u8>().ok()?;
    (1..=9).contains(&digit).then(|| digit.saturating_sub(1))
}

fn short(text: &str) -> String {
    text.chars().take(40).collect()
}
