//! Elements whose words are not text nodes: pictures, form fields, formulas.

use ego_tree::NodeRef;
use scraper::Node;
use scraper::node::Element;

use crate::prose::Picture;

/// The picture of an `<img>`; `None` when nothing is known of it.
pub(super) fn picture(element: &Element) -> Option<Picture> {
    let attribute = |name: &str| element.attr(name).map(str::trim).filter(|value| !value.is_empty());
    let first_of_set = |name: &str| attribute(name).and_then(|set| set.split([',', ' ', '\n', '\t']).find(|part| !part.is_empty()));
    // Pages that load late put a placeholder into `src` and the address beside it.
    let late = ["data-src", "data-original", "data-lazy-src"].into_iter().find_map(attribute);
    let own = attribute("src").filter(|source| late.is_none() || !source.starts_with("data:"));
    let source = own.or(late).or_else(|| first_of_set("srcset")).or_else(|| first_of_set("data-srcset")).unwrap_or_default();
    let description = ["alt", "aria-label", "title"].into_iter().find_map(attribute).unwrap_or_default();
    let known = !source.is_empty() || !description.is_empty();
    known.then(|| Picture { source: source.to_owned(), description: description.to_owned() })
}

/// The pictures that a drawing of vectors frames (the usual cover of a book); its title describes them.
pub(super) fn framed(drawing: NodeRef<'_, Node>) -> Vec<Picture> {
    let elements = || drawing.descendants().filter_map(|node| node.value().as_element().map(|element| (node, element)));
    let title = elements().find(|(_, element)| element.name() == "title").map(|(node, _)| words(node)).unwrap_or_default();
    elements()
        .filter(|(_, element)| element.name() == "image")
        .filter_map(|(_, element)| {
            // The tree knows the namespace of `xlink:href`, which no plain look-up finds.
            let source = element.attrs().find(|(name, _)| *name == "href" || *name == "xlink:href")?.1.trim();
            (!source.is_empty()).then(|| Picture { source: source.to_owned(), description: title.clone() })
        })
        .collect()
}

/// The words that stand in a drawing of vectors, one `<text>` after the other.
pub(super) fn drawn_words(drawing: NodeRef<'_, Node>) -> String {
    let texts = drawing.descendants().filter(|node| node.value().as_element().is_some_and(|element| element.name() == "text"));
    texts.map(words).filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
}

/// All text below a node, white space folded.
pub(super) fn words(node: NodeRef<'_, Node>) -> String {
    let text: String = node.descendants().filter_map(|node| node.value().as_text()).map(|text| &**text).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What an `<input>` shows.
pub(super) fn field(element: &Element) -> Option<&str> {
    let kind = element.attr("type").unwrap_or("text").trim().to_ascii_lowercase();
    match kind.as_str() {
        "hidden" | "password" | "file" | "color" | "range" | "image" => None,
        "checkbox" | "radio" if element.attr("checked").is_some() => Some("[x]"),
        "checkbox" | "radio" => Some("[ ]"),
        _ => element.attr("value").map(str::trim).filter(|value| !value.is_empty()),
    }
}

/// The TeX a formula was made from, when its `MathML` says it.
pub(super) fn tex(formula: NodeRef<'_, Node>) -> Option<String> {
    let annotation = formula.descendants().find(|node| {
        node.value().as_element().is_some_and(|element| {
            element.name() == "annotation" && element.attr("encoding").is_some_and(|e| e.to_ascii_lowercase().contains("tex"))
        })
    })?;
    let text: String = annotation.descendants().filter_map(|node| node.value().as_text()).map(|text| &**text).collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then(|| format!("${text}$"))
}

/// Whether any text below a node holds a letter or a figure.
pub(super) fn has_words(node: NodeRef<'_, Node>) -> bool {
    node.descendants().any(|node| match node.value() {
        Node::Text(text) => text.contains(char::is_alphanumeric),
        Node::Element(element) => element.name() == "img",
        _ => false,
    })
}

/// Whether a reading (`<rt>`) stands in parentheses of its own (`<rp>`).
pub(super) fn is_parenthesised(reading: NodeRef<'_, Node>) -> bool {
    reading.prev_siblings().find_map(|node| node.value().as_element()).is_some_and(|element| element.name() == "rp")
}
