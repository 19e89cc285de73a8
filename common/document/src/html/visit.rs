//! Walking a tree without recursion.

use ego_tree::NodeRef;
use scraper::Node;
use scraper::node::Element;

/// What is done on the way.
pub(super) trait Visitor<'a> {
    /// A text node.
    fn text(&mut self, text: &'a str);

    /// An element begins. `false` passes over what is in it, and [`Visitor::close`] is not called for it.
    fn open(&mut self, node: NodeRef<'a, Node>, element: &'a Element) -> bool;

    /// The element opened last ends.
    fn close(&mut self);
}

/// Visits everything below `root`, in document order.
pub(super) fn visit<'a>(root: NodeRef<'a, Node>, visitor: &mut impl Visitor<'a>) {
    let mut next = root.first_child();
    while let Some(node) = next {
        let descend = match node.value() {
            Node::Text(text) => {
                visitor.text(text);
                false
            }
            Node::Element(element) => visitor.open(node, element),
            _ => false,
        };
        if descend {
            if let Some(child) = node.first_child() {
                next = Some(child);
                continue;
            }
            visitor.close();
        }
        next = after(node, root, visitor);
    }
}

/// The node after `node` and everything in it; elements that end on the way are closed.
fn after<'a>(node: NodeRef<'a, Node>, root: NodeRef<'a, Node>, visitor: &mut impl Visitor<'a>) -> Option<NodeRef<'a, Node>> {
    let mut at = node;
    loop {
        if let Some(sibling) = at.next_sibling() {
            return Some(sibling);
        }
        at = at.parent().filter(|parent| *parent != root)?;
        if at.value().is_element() {
            visitor.close();
        }
    }
}
