//! Styles, resolved through their parents.

use std::collections::{BTreeMap, BTreeSet};

use quarry_document::flow::Purpose;
use quarry_document::xml::{Element, Ns};

#[derive(Debug, Default)]
struct Style {
    parent: Option<String>,
    /// As shown, in lower case.
    name: String,
    bold: Option<bool>,
    hidden: Option<bool>,
}

/// What a style comes to, its ancestors included.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Look {
    pub purpose: Purpose,
    pub bold: Option<bool>,
    pub hidden: Option<bool>,
}

/// All styles of a document, by family and name.
#[derive(Debug, Default)]
pub(crate) struct Styles {
    styles: BTreeMap<(String, String), Style>,
}

impl Styles {
    /// Adds the styles of a part; a style of the content comes after, and before, one of the same name in common.
    pub(crate) fn read(&mut self, root: Element<'_>) {
        let groups = root.elements().filter(|group| group.ns() == Ns::OdfOffice && matches!(group.name(), "styles" | "automatic-styles"));
        for element in groups.flat_map(Element::elements).filter(|element| element.is(Ns::OdfStyle, "style")) {
            let value = |name| element.attribute(Ns::OdfStyle, name);
            let (Some(family), Some(name)) = (value("family"), value("name")) else { continue };
            let properties = element.child(Ns::OdfStyle, "text-properties");
            let weight = properties.and_then(|properties| properties.attribute(Ns::OdfFo, "font-weight"));
            let display = properties.and_then(|properties| properties.attribute(Ns::OdfText, "display"));
            let style = Style {
                parent: value("parent-style-name").map(str::to_owned),
                name: value("display-name").map_or_else(|| name.replace("_20_", " "), str::to_owned).to_lowercase(),
                bold: weight.map(|weight| weight == "bold" || weight.parse::<u32>().is_ok_and(|weight| weight >= 600)),
                hidden: display.map(|display| display == "none"),
            };
            self.styles.insert((family.to_owned(), name.to_owned()), style);
        }
    }

    /// What a style of a family comes to.
    pub(crate) fn look(&self, family: &str, name: Option<&str>) -> Look {
        let (mut look, mut seen) = (Look::default(), BTreeSet::new());
        let mut next = name;
        while let Some(name) = next.filter(|name| seen.insert(*name)) {
            let Some(style) = self.styles.get(&(family.to_owned(), name.to_owned())) else {
                // Some writers name built-in styles without defining them.
                if look.purpose == Purpose::Text {
                    look.purpose = purpose(&name.replace("_20_", " ").to_lowercase());
                }
                break;
            };
            if look.purpose == Purpose::Text {
                look.purpose = purpose(&style.name);
            }
            look.bold = look.bold.or(style.bold);
            look.hidden = look.hidden.or(style.hidden);
            next = style.parent.as_deref();
        }
        look
    }
}

/// The built-in styles for captions have names of what they caption.
fn purpose(name: &str) -> Purpose {
    match name {
        "illustration" | "table" | "drawing" | "figure" => Purpose::Caption,
        name if name.ends_with("caption") => Purpose::Caption,
        "contents heading" | "illustration index heading" | "index heading" => Purpose::ContentsOther,
        name => Purpose::of(name),
    }
}
