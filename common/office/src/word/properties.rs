//! Reading `WordprocessingML`'s small properties.

use quarry_document::xml::{Element, Ns};

/// A child of the `WordprocessingML` namespace.
pub(crate) fn w<'t>(element: Element<'t>, name: &str) -> Option<Element<'t>> {
    element.child(Ns::W, name)
}

/// An attribute of the `WordprocessingML` namespace; also without prefix, as some writers put it.
pub(crate) fn attribute<'t>(element: Element<'t>, name: &str) -> Option<&'t str> {
    element.attribute(Ns::W, name).or_else(|| element.attribute(Ns::None, name))
}

/// `w:val` of a child.
pub(crate) fn value<'t>(element: Element<'t>, name: &str) -> Option<&'t str> {
    w(element, name).and_then(|child| attribute(child, "val"))
}

/// `w:val` of a child as a number.
pub(crate) fn number(element: Element<'_>, name: &str) -> Option<i64> {
    value(element, name)?.trim().parse().ok()
}

/// An on/off property: `Some(true)` when it is there and not switched off.
pub(crate) fn toggle(element: Element<'_>, name: &str) -> Option<bool> {
    let child = w(element, name)?;
    Some(!matches!(attribute(child, "val"), Some("0" | "false" | "off" | "none")))
}
