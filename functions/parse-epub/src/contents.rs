//! The book's own contents list: the navigation document of EPUB 3, else the NCX of EPUB 2.

use quarry_document::encoding::{self, Declaration};
use quarry_document::xml::{Element, Ns};
use quarry_document::{Warnings, html};
use quarry_model::{DocumentFailure, Evidence, Heading, Limits};

use crate::package::{Package, locate};

/// An entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// As shown.
    pub title: String,
    /// From 1.
    pub level: u32,
    /// The file it leads to, in the container; empty when it leads nowhere.
    pub part: String,
    /// The place in that file; empty for its beginning.
    pub fragment: String,
}

impl Entry {
    pub(crate) fn into_heading(self) -> Heading {
        Heading { number: None, title: self.title, level: self.level, page: None, evidence: Evidence::Toc }
    }
}

/// Reads it; empty when the book has none.
pub(crate) fn read(package: &mut Package<'_>, limits: &Limits, warnings: &mut Warnings) -> Result<Vec<Entry>, DocumentFailure> {
    if let Some(item) = package.navigation()
        && let Some(bytes) = package.read(&item.part, warnings)?
    {
        let links = html::read_contents(&encoding::decode(&bytes, Declaration::Markup).text, limits)?;
        if !links.is_empty() {
            return Ok(links.into_iter().map(|link| entry(&item.part, link.title, link.level, &link.address)).collect());
        }
    }
    let Some(item) = package.ncx() else { return Ok(Vec::new()) };
    let Some(tree) = package.tree(&item.part, warnings)? else { return Ok(Vec::new()) };
    let mut entries = Vec::new();
    let map = tree.root().descendants().find(|element| element.name() == "navMap");
    // Open points; the depth of the stack is the level.
    let mut open: Vec<_> = map.iter().map(|map| points(*map)).collect();
    while let Some(points_here) = open.last_mut() {
        let Some(point) = points_here.next() else {
            open.pop();
            continue;
        };
        let level = u32::try_from(open.len()).unwrap_or(u32::MAX);
        let label = point.elements().find(|element| element.name() == "navLabel").map(Element::text).unwrap_or_default();
        let title = label.split_whitespace().collect::<Vec<_>>().join(" ");
        let address = point.elements().find(|element| element.name() == "content").and_then(|content| content.attribute(Ns::None, "src"));
        if !title.is_empty() {
            entries.push(entry(&item.part, title, level, address.unwrap_or_default()));
        }
        open.push(points(point));
    }
    Ok(entries)
}

fn points<'t>(parent: Element<'t>) -> Box<dyn Iterator<Item = Element<'t>> + 't> {
    Box::new(parent.elements().filter(|element| element.name() == "navPoint"))
}

fn entry(from: &str, title: String, level: u32, address: &str) -> Entry {
    let (part, fragment) =
        Some(address).filter(|address| !address.is_empty()).and_then(|address| locate(from, address)).unwrap_or_default();
    Entry { title, level, part, fragment }
}
