//! The tree, built with bounds.

use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::{LocalName, ParseOpts, QualName, driver, local_name, ns};
use quarry_model::{DocumentCode, DocumentFailure, Limits};
use scraper::{Html, HtmlTreeSink, Node};

use super::guard;

/// How much is fed between two looks at the tree.
const STEP_BYTES: usize = 16 << 10;
/// Pages nest deeper than XML: end tags are left out, and each unclosed `<font>` holds all that follows. Walking is
/// iterative, so that only the tree builder's own time (its stack is searched for every tag) bounds the depth.
const DEPTH_FACTOR: u32 = 4;
/// Unclosed formatting is opened again in every paragraph; the tree may hold this many nodes for each byte read.
const NODES_PER_BYTE: usize = 2;

/// What the text is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Document,
    Fragment,
}

/// Builds the tree.
pub(super) fn parse(html: &str, kind: Kind, limits: &Limits) -> Result<Html, DocumentFailure> {
    let most = limits.xml_attributes as usize;
    if guard::most_attributes(html, most) > most {
        return Err(DocumentFailure::new(DocumentCode::TooLarge, format!("an element has more than {most} attributes")));
    }
    let mut parser = match kind {
        Kind::Document => driver::parse_document(HtmlTreeSink::new(Html::new_document()), ParseOpts::default()),
        Kind::Fragment => driver::parse_fragment(
            HtmlTreeSink::new(Html::new_fragment()),
            ParseOpts::default(),
            QualName::new(None, ns!(html), local_name!("body")),
            Vec::new(),
            false,
        ),
    };
    let depth_limit = limits.xml_depth.saturating_mul(DEPTH_FACTOR) as usize;
    let mut fed = 0_usize;
    for step in steps(html) {
        parser.process(StrTendril::from_slice(step));
        fed = fed.saturating_add(step.len());
        let page = parser.tokenizer.sink.sink.0.borrow();
        let nodes = page.tree.nodes();
        let too_many = nodes.len() > fed.saturating_mul(NODES_PER_BYTE).saturating_add(STEP_BYTES);
        let deep = nodes.into_iter().next_back().is_some_and(|last| last.ancestors().nth(depth_limit).is_some());
        if deep {
            return Err(DocumentFailure::new(DocumentCode::TooDeep, format!("elements are nested more than {depth_limit} deep")));
        }
        if too_many {
            return Err(DocumentFailure::new(DocumentCode::TooLarge, "unclosed elements multiply beyond all measure"));
        }
    }
    Ok(parser.finish())
}

fn steps(html: &str) -> impl Iterator<Item = &str> {
    let mut rest = html;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut end = rest.len().min(STEP_BYTES);
        while !rest.is_char_boundary(end) {
            end = end.saturating_add(1);
        }
        let (step, after) = rest.split_at(end);
        rest = after;
        Some(step)
    })
}

/// The text of the first `<title>`.
pub(super) fn title(page: &Html) -> Option<String> {
    let title = page.tree.nodes().find(|node| is_named(node.value(), &local_name!("title")))?;
    let text: String = title.descendants().filter_map(|node| node.value().as_text()).map(|text| &**text).collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

/// Whether a node is an HTML element of that name.
pub(super) fn is_named(node: &Node, name: &LocalName) -> bool {
    node.as_element().is_some_and(|element| element.name.local == *name && element.name.ns == ns!(html))
}
