//! What an element is, by what it holds.

use quarry_document::xml::{Child, Element, Ns};

/// Names of elements that say what the element around them is called.
const TITLES: [&str; 5] = ["title", "name", "heading", "label", "head"];
/// Names of elements around a title and other facts about the element they stand in.
const INFO: [&str; 4] = ["info", "header", "titleInfo", "front"];
/// A longer text is no title.
const TITLE_CHARS: usize = 300;
/// Elements whose white space is part of their text.
const PREFORMATTED: [&str; 6] = ["pre", "code", "programlisting", "screen", "literallayout", "verse"];
/// Lists, in the vocabularies of documents.
const LISTS: [&str; 8] = ["itemizedlist", "orderedlist", "simplelist", "ul", "ol", "list", "steps", "bibliolist"];
/// Elements that hold running text: their names say nothing.
const PROSE: [&str; 14] = [
    "p",
    "para",
    "simpara",
    "paragraph",
    "text",
    "content",
    "body",
    "description",
    "summary",
    "abstract",
    "note",
    "line",
    "item",
    "encoded",
];

/// Whether an element has a name of one of these lists, in any case.
pub(super) fn is_named(element: Element<'_>, names: &[&str]) -> bool {
    names.iter().any(|name| name.eq_ignore_ascii_case(element.name()))
}

pub(super) fn is_preformatted(element: Element<'_>) -> bool {
    is_named(element, &PREFORMATTED) || element.attribute(Ns::Xml, "space") == Some("preserve")
}

pub(super) fn is_list(element: Element<'_>) -> bool {
    is_named(element, &LISTS) && element.elements().count() > 0
}

pub(super) fn is_prose(element: Element<'_>) -> bool {
    is_named(element, &PROSE)
}

/// Whether an element has text of its own between its elements, or nothing but text.
pub(super) fn has_own_text(element: Element<'_>) -> bool {
    element.children().any(|child| matches!(child, Child::Text(text) if !text.trim().is_empty()))
}

/// Whether an element has no elements in it.
pub(super) fn is_leaf(element: Element<'_>) -> bool {
    element.elements().next().is_none()
}

/// The element that titles this one: directly in it, or in the facts at its beginning. Only the element of an object
/// with more to it has a title; a lone `name` is a fact like any other.
pub(super) fn title_element(element: Element<'_>) -> Option<Element<'_>> {
    let mut places = vec![element];
    places.extend(element.elements().take(2).filter(|first| is_named(*first, &INFO)));
    let title = TITLES.iter().find_map(|name| {
        places.iter().find_map(|place| place.elements().find(|inner| inner.name().eq_ignore_ascii_case(name) && has_own_text(*inner)))
    })?;
    (element.elements().count() > 1 && title_text(title).is_some()).then_some(title)
}

/// Whether an element is a part of a document: it has a title, not only a name.
pub(super) fn is_titled(element: Element<'_>) -> bool {
    title_element(element).is_some_and(|title| is_named(title, &["title", "heading", "head"]))
}

/// Whether an element holds facts about the one it stands in.
pub(super) fn is_info(element: Element<'_>) -> bool {
    is_named(element, &INFO)
}

/// What an element is called.
pub(super) fn title(element: Element<'_>) -> Option<String> {
    title_element(element).and_then(title_text).or_else(|| {
        let by_attribute = element.attributes().find(|(ns, name, _)| *ns == Ns::None && (*name == "title" || *name == "label"));
        by_attribute.map(|(_, _, value)| folded(value)).filter(|title| !title.is_empty() && title.chars().count() <= TITLE_CHARS)
    })
}

fn title_text(element: Element<'_>) -> Option<String> {
    let text = folded(&spaced_text(element));
    (!text.is_empty() && text.chars().count() <= TITLE_CHARS).then_some(text)
}

/// All characters below an element. Elements that stand in words keep them together, others part them.
pub(super) fn spaced_text(element: Element<'_>) -> String {
    let mut out = String::new();
    let mut stack = vec![(element.children(), has_own_text(element))];
    while let Some((children, inline)) = stack.last_mut() {
        let inline = *inline;
        match children.next() {
            Some(Child::Element(child)) => {
                if !inline && !out.is_empty() {
                    out.push(' ');
                }
                stack.push((child.children(), has_own_text(child)));
            }
            Some(Child::Text(text)) => out.push_str(text),
            None => {
                stack.pop();
            }
        }
    }
    out
}

/// White space folded.
pub(super) fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Attributes that say something: not namespaces, not those of XML itself.
pub(super) fn facts(element: Element<'_>) -> impl Iterator<Item = (&str, &str)> {
    element
        .attributes()
        .filter(|(ns, name, value)| *ns != Ns::Xml && !value.trim().is_empty() && *name != "schemaLocation")
        .map(|(_, name, value)| (name, value.trim()))
}
