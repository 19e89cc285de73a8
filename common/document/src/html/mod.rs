//! HTML → rows, for HTML documents and for the raw HTML inside Markdown (feature `html`).
//!
//! Reading is in three steps: [`guard`](self) refuses what a tree builder cannot take in linear time, html5ever builds the
//! tree as browsers do (whatever the nesting, it is freed without recursion), and an iterative walk writes rows. Nothing
//! is fetched, no script runs, and no word of what a reader of the page could see is left out.

mod cell;
mod content;
mod contents;
mod dom;
mod element;
mod guard;
mod landmark;
mod note;
mod table;
mod visit;
mod walk;
mod xhtml;

use std::ops::Range;

use quarry_model::{DocumentFailure, Limits};

use crate::prose::{Collector, Holders, Picture};

pub use contents::ContentsLink;

/// What surrounds a piece of HTML inside another format.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The quotations and lists it stands in.
    pub holders: Holders,
    /// Bytes of the source it was read from.
    pub source_span: Option<(u64, u64)>,
    /// Whether a heading in it opens a section.
    pub headings: bool,
    /// The level of the heading it stands under; its own are below that.
    pub below: u32,
}

/// Reads a whole HTML document into `out`, and answers its `<title>`.
pub fn read_document(html: &str, out: &mut Collector<'_>) -> Result<Option<String>, DocumentFailure> {
    let page = dom::parse(html, dom::Kind::Document, out.limits())?;
    let surroundings = Surroundings { headings: true, ..Surroundings::default() };
    walk::walk(page.tree.root(), out, &surroundings, landmark::Landmarks::of_page());
    Ok(dom::title(&page))
}

/// Reads one chapter of a book (XHTML): the rows and headings of its body, whatever landmarks it has. Answers its
/// `<title>`.
pub fn read_chapter(xhtml: &str, out: &mut Collector<'_>) -> Result<Option<String>, DocumentFailure> {
    let page = dom::parse(&xhtml::as_html(xhtml), dom::Kind::Document, out.limits())?;
    let surroundings = Surroundings { headings: true, ..Surroundings::default() };
    walk::walk(page.tree.root(), out, &surroundings, landmark::Landmarks::none());
    Ok(dom::title(&page))
}

/// Reads a page that is the text of something else, a message, below a heading of the level `below`.
pub fn read_body(html: &str, out: &mut Collector<'_>, below: u32) -> Result<(), DocumentFailure> {
    let page = dom::parse(html, dom::Kind::Document, out.limits())?;
    let surroundings = Surroundings { headings: true, below, ..Surroundings::default() };
    walk::walk(page.tree.root(), out, &surroundings, landmark::Landmarks::none());
    Ok(())
}

/// Reads the contents list of a book's navigation document (XHTML); empty when it holds none.
pub fn read_contents(xhtml: &str, limits: &Limits) -> Result<Vec<ContentsLink>, DocumentFailure> {
    let page = dom::parse(&xhtml::as_html(xhtml), dom::Kind::Document, limits)?;
    Ok(contents::read(page.tree.root()))
}

/// Reads a piece of HTML that stands inside another format.
pub fn read_fragment(html: &str, out: &mut Collector<'_>, surroundings: &Surroundings) -> Result<(), DocumentFailure> {
    let page = dom::parse(html, dom::Kind::Fragment, out.limits())?;
    walk::walk(page.tree.root(), out, surroundings, landmark::Landmarks::none());
    Ok(())
}

/// The picture of a lone `<img …>` tag.
pub fn picture_of(tag: &str, limits: &Limits) -> Option<Picture> {
    let page = dom::parse(tag, dom::Kind::Fragment, limits).ok()?;
    page.tree.nodes().filter_map(|node| node.value().as_element()).filter(|element| element.name() == "img").find_map(content::picture)
}

/// Bytes of `source` from `start` on that hold a whole `<table>…</table>` with every table nested in it; `None` when the
/// table is never closed. For Markdown, where a blank line would end the HTML in the middle of a table.
pub fn whole_table(source: &str, start: usize) -> Option<Range<usize>> {
    guard::balanced_end(source.get(start..)?, "table").map(|length| start..start.saturating_add(length))
}

#[cfg(test)]
mod tests;
