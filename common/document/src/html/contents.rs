//! Contents lists of books: nested lists of links.

use ego_tree::NodeRef;
use scraper::Node;
use scraper::node::Element;

use super::content;

/// An entry of a contents list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentsLink {
    /// As shown, white space folded.
    pub title: String,
    /// Its depth, from 1.
    pub level: u32,
    /// Where it leads; empty for an entry that only groups others.
    pub address: String,
}

/// The entries of `<nav epub:type="toc">`, or of the first navigation list there is.
pub(super) fn read(root: NodeRef<'_, Node>) -> Vec<ContentsLink> {
    let navs = || root.descendants().filter(|node| is(*node, &["nav"]));
    let named = navs().find(|node| {
        let says = |name| node.value().as_element().and_then(|element| element.attr(name)).unwrap_or_default();
        says("epub:type").split_ascii_whitespace().any(|word| word == "toc") || says("role") == "doc-toc"
    });
    let Some(list) = named.or_else(|| navs().next()) else { return Vec::new() };
    let items = list.descendants().filter(|node| is(*node, &["li"]));
    items
        .filter_map(|item| {
            let label = item.children().find(|child| is(*child, &["a", "span"])).or_else(|| {
                // Some tools wrap the link once more.
                item.children().filter(|child| !is(*child, &["ol", "ul"])).flat_map(|child| child.descendants()).find(|n| is(*n, &["a"]))
            })?;
            let title = content::words(label);
            let depth = item.ancestors().take_while(|node| *node != list).filter(|node| is(*node, &["ol", "ul"])).count();
            let address = element(label).and_then(|element| element.attr("href")).unwrap_or_default().trim().to_owned();
            (!title.is_empty()).then(|| ContentsLink { title, level: u32::try_from(depth.max(1)).unwrap_or(u32::MAX), address })
        })
        .collect()
}

fn element(node: NodeRef<'_, Node>) -> Option<&Element> {
    node.value().as_element()
}

fn is(node: NodeRef<'_, Node>, names: &[&str]) -> bool {
    element(node).is_some_and(|element| names.contains(&element.name()))
}
