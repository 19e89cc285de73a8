//! The few styles that matter: bold cells, hidden sheets.

use std::collections::BTreeSet;

use quarry_document::xml::Tag;

/// Names of styles, by what they do.
#[derive(Debug, Default)]
pub(super) struct Styles {
    bold: BTreeSet<String>,
    hidden: BTreeSet<String>,
    /// The style being read.
    current: String,
}

impl Styles {
    /// Looks at a start tag of the styles.
    pub(super) fn start(&mut self, tag: &Tag<'_>) {
        match tag.name() {
            "style" => self.current = tag.attribute("name").unwrap_or_default().into_owned(),
            "text-properties" if tag.attribute("font-weight").is_some_and(|weight| weight == "bold" || weight == "700") => {
                self.bold.insert(self.current.clone());
            }
            "table-properties" if tag.attribute("display").is_some_and(|display| display == "false") => {
                self.hidden.insert(self.current.clone());
            }
            _ => {}
        }
    }

    pub(super) fn is_bold(&self, style: &str) -> bool {
        self.bold.contains(style)
    }

    pub(super) fn hides(&self, style: &str) -> bool {
        self.hidden.contains(style)
    }
}
