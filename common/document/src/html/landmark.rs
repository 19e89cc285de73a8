//! Main content and what surrounds it: navigation, banners, footers, side columns.
//!
//! Nothing is left out for standing there; but such text belongs to no section of the document, and its headings open
//! none.

use ego_tree::NodeRef;
use scraper::Node;
use scraper::node::Element;

/// What the page says of its parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Landmarks {
    /// Whether parts are told apart at all.
    told: bool,
}

impl Landmarks {
    /// For a whole page.
    pub(super) fn of_page() -> Self {
        Self { told: true }
    }

    /// For a piece of HTML without a page around it.
    pub(super) fn none() -> Self {
        Self { told: false }
    }

    /// Whether an element holds main content for certain, whatever surrounds its pieces.
    pub(super) fn is_main(self, element: &Element) -> bool {
        self.told && (matches!(element.name(), "main" | "article") || has_role(element, &["main", "article"]))
    }

    /// Whether what is in an element only surrounds the main content. Within main content only navigation does: an
    /// article's header, footer and notes are part of it.
    pub(super) fn is_surrounding(self, node: NodeRef<'_, Node>, element: &Element, in_main: bool) -> bool {
        if !self.told {
            return false;
        }
        let explicit = element.attr("role").is_some();
        if has_role(element, &["navigation", "search"]) || (element.name() == "nav" && !explicit) {
            return true;
        }
        if in_main {
            return false;
        }
        match element.name() {
            "footer" | "aside" if !explicit => true,
            // The page's title often stands in its header.
            "header" if !explicit => !holds_title(node),
            _ => has_role(element, &["contentinfo", "complementary"]) || (has_role(element, &["banner"]) && !holds_title(node)),
        }
    }
}

fn has_role(element: &Element, roles: &[&str]) -> bool {
    element.attr("role").is_some_and(|role| role.split_ascii_whitespace().next().is_some_and(|first| roles.contains(&first)))
}

fn holds_title(node: NodeRef<'_, Node>) -> bool {
    node.descendants().any(|below| below.value().as_element().is_some_and(|element| element.name() == "h1"))
}
