//! A whole part in flat arrays.

use std::collections::HashMap;

use quarry_model::{DocumentCode, DocumentFailure, Limits};

use super::{Event, Ns, Reader};

/// Most nodes of one tree: ten thousand pages of ordinary text. Keeps a tree under half a gigabyte.
const MAX_NODES: usize = 4_000_000;
/// No node.
const NONE: u32 = u32::MAX;

/// A range of the pool.
#[derive(Debug, Clone, Copy, Default)]
struct Slice {
    start: u32,
    end: u32,
}

#[derive(Debug)]
struct Node {
    /// `None` for text.
    ns: Option<Ns>,
    /// The name of an element, the characters of a text.
    slice: Slice,
    /// Its attributes.
    attributes: Slice,
    first_child: u32,
    next: u32,
}

#[derive(Debug)]
struct Attribute {
    ns: Ns,
    name: Slice,
    value: Slice,
}

/// A parsed part.
#[derive(Debug)]
pub struct Tree {
    pool: String,
    nodes: Vec<Node>,
    attributes: Vec<Attribute>,
}

impl Tree {
    /// Reads a whole part (text as [`super::decode`] gives it).
    ///
    /// Fails like [`Reader::next`], with `TOO_LARGE` for too many nodes, and with `CORRUPT` when there is no element.
    pub fn parse(text: &str, limits: &Limits) -> Result<Self, DocumentFailure> {
        if u32::try_from(text.len()).is_err() {
            return Err(DocumentFailure::new(DocumentCode::TooLarge, "an XML part of more than 4 GiB"));
        }
        let mut builder = Builder::default();
        let mut reader = Reader::new(text, limits);
        while let Some(event) = reader.next()? {
            match event {
                Event::Start { ns, name, attributes } => builder.start(ns, name, attributes)?,
                Event::Text(text) => builder.text(&text)?,
                Event::End => {
                    builder.open.pop();
                }
            }
        }
        if builder.tree.nodes.first().is_none_or(|node| node.ns.is_none()) {
            return Err(super::corrupt(0, "no element"));
        }
        Ok(builder.tree)
    }

    /// The outermost element.
    pub fn root(&self) -> Element<'_> {
        Element { tree: self, index: 0 }
    }

    fn node(&self, index: u32) -> Option<&Node> {
        self.nodes.get(index as usize)
    }

    fn slice(&self, slice: Slice) -> &str {
        self.pool.get(slice.start as usize..slice.end as usize).unwrap_or_default()
    }
}

/// Builds a tree from events.
struct Builder {
    tree: Tree,
    /// Open elements with their last child so far.
    open: Vec<(u32, u32)>,
    /// Names are stored once.
    names: HashMap<Box<str>, Slice>,
}

impl Default for Builder {
    fn default() -> Self {
        Self { tree: Tree { pool: String::new(), nodes: Vec::new(), attributes: Vec::new() }, open: Vec::new(), names: HashMap::new() }
    }
}

impl Builder {
    fn start(&mut self, ns: Ns, name: &str, attributes: super::Attributes<'_>) -> Result<(), DocumentFailure> {
        let slice = self.intern(name);
        let first = self.tree.attributes.len() as u32;
        for (ns, name, value) in attributes.iter() {
            let name = self.intern(name);
            let value = self.push(value);
            self.tree.attributes.push(Attribute { ns, name, value });
        }
        let attributes = Slice { start: first, end: self.tree.attributes.len() as u32 };
        let index = self.append(Node { ns: Some(ns), slice, attributes, first_child: NONE, next: NONE })?;
        self.open.push((index, NONE));
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), DocumentFailure> {
        // Pieces of one run (around references) become one node again.
        let last = self.open.last().map(|&(_, last)| last).filter(|&last| last != NONE);
        let end = self.tree.pool.len() as u32;
        if let Some(node) = last.and_then(|last| self.tree.nodes.get_mut(last as usize))
            && node.ns.is_none()
            && node.slice.end == end
        {
            self.tree.pool.push_str(text);
            node.slice.end = self.tree.pool.len() as u32;
            return Ok(());
        }
        let slice = self.push(text);
        self.append(Node { ns: None, slice, attributes: Slice::default(), first_child: NONE, next: NONE }).map(|_| ())
    }

    fn append(&mut self, node: Node) -> Result<u32, DocumentFailure> {
        if self.tree.nodes.len() >= MAX_NODES || self.tree.attributes.len() >= MAX_NODES {
            return Err(DocumentFailure::new(DocumentCode::TooLarge, format!("an XML part with more than {MAX_NODES} nodes")));
        }
        let index = self.tree.nodes.len() as u32;
        self.tree.nodes.push(node);
        if let Some((parent, last)) = self.open.last_mut() {
            let previous = if *last == NONE { *parent } else { *last };
            if let Some(previous_node) = self.tree.nodes.get_mut(previous as usize) {
                if *last == NONE {
                    previous_node.first_child = index;
                } else {
                    previous_node.next = index;
                }
            }
            *last = index;
        }
        Ok(index)
    }

    fn push(&mut self, text: &str) -> Slice {
        let start = self.tree.pool.len() as u32;
        self.tree.pool.push_str(text);
        Slice { start, end: self.tree.pool.len() as u32 }
    }

    fn intern(&mut self, name: &str) -> Slice {
        if let Some(slice) = self.names.get(name) {
            return *slice;
        }
        let slice = self.push(name);
        self.names.insert(name.into(), slice);
        slice
    }
}

/// An element of a tree.
#[derive(Debug, Clone, Copy)]
pub struct Element<'t> {
    tree: &'t Tree,
    index: u32,
}

/// A child of an element.
#[derive(Debug, Clone, Copy)]
pub enum Child<'t> {
    /// An element.
    Element(Element<'t>),
    /// Characters.
    Text(&'t str),
}

impl<'t> Element<'t> {
    fn node(self) -> Option<&'t Node> {
        self.tree.node(self.index)
    }

    /// Its namespace.
    pub fn ns(self) -> Ns {
        self.node().and_then(|node| node.ns).unwrap_or(Ns::None)
    }

    /// Its name without prefix.
    pub fn name(self) -> &'t str {
        self.node().map(|node| self.tree.slice(node.slice)).unwrap_or_default()
    }

    /// Whether it is this element.
    pub fn is(self, ns: Ns, name: &str) -> bool {
        self.node().is_some_and(|node| node.ns == Some(ns) && self.tree.slice(node.slice) == name)
    }

    /// A number that no other element of the tree has; ascending in document order.
    pub fn position(self) -> u32 {
        self.index
    }

    /// An attribute's value.
    pub fn attribute(self, ns: Ns, name: &str) -> Option<&'t str> {
        let node = self.node()?;
        let attributes = self.tree.attributes.get(node.attributes.start as usize..node.attributes.end as usize)?;
        let found = attributes.iter().find(|attribute| attribute.ns == ns && self.tree.slice(attribute.name) == name)?;
        Some(self.tree.slice(found.value))
    }

    /// All its attributes: namespace, name, value.
    pub fn attributes(self) -> impl Iterator<Item = (Ns, &'t str, &'t str)> {
        let range = self.node().map(|node| node.attributes).unwrap_or_default();
        let attributes = self.tree.attributes.get(range.start as usize..range.end as usize).unwrap_or_default();
        attributes.iter().map(move |attribute| (attribute.ns, self.tree.slice(attribute.name), self.tree.slice(attribute.value)))
    }

    /// Its children, elements and text, in order.
    pub fn children(self) -> Children<'t> {
        Children { tree: self.tree, next: self.node().map_or(NONE, |node| node.first_child) }
    }

    /// Its child elements in order.
    pub fn elements(self) -> impl Iterator<Item = Element<'t>> {
        self.children().filter_map(|child| match child {
            Child::Element(element) => Some(element),
            Child::Text(_) => None,
        })
    }

    /// Its first child element of this name.
    pub fn child(self, ns: Ns, name: &str) -> Option<Element<'t>> {
        self.elements().find(|element| element.is(ns, name))
    }

    /// All elements below it in document order, itself left out.
    pub fn descendants(self) -> impl Iterator<Item = Element<'t>> {
        let mut stack = vec![self.children()];
        std::iter::from_fn(move || {
            while let Some(children) = stack.last_mut() {
                match children.next() {
                    Some(Child::Element(element)) => {
                        stack.push(element.children());
                        return Some(element);
                    }
                    Some(Child::Text(_)) => {}
                    None => {
                        stack.pop();
                    }
                }
            }
            None
        })
    }

    /// All characters below it, in document order.
    pub fn text(self) -> String {
        let mut out = String::new();
        let mut stack = vec![self.children()];
        while let Some(children) = stack.last_mut() {
            match children.next() {
                Some(Child::Element(element)) => stack.push(element.children()),
                Some(Child::Text(text)) => out.push_str(text),
                None => {
                    stack.pop();
                }
            }
        }
        out
    }
}

/// Iterator over the children of an element.
#[derive(Debug, Clone)]
pub struct Children<'t> {
    tree: &'t Tree,
    next: u32,
}

impl<'t> Iterator for Children<'t> {
    type Item = Child<'t>;

    fn next(&mut self) -> Option<Child<'t>> {
        let node = self.tree.node(self.next)?;
        let index = std::mem::replace(&mut self.next, node.next);
        Some(match node.ns {
            Some(_) => Child::Element(Element { tree: self.tree, index }),
            None => Child::Text(self.tree.slice(node.slice)),
        })
    }
}
