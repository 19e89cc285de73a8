//! Text formats: HTML, Markdown, plain text.

use pulldown_cmark::{Event, Options, Parser};
use quarry_document::encoding::{self, Declaration};
use scraper::{Html, Node};

/// Elements within a word.
const INLINE: [&str; 26] = [
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "em", "font", "i", "ins", "kbd", "mark", "q", "s", "samp", "small", "span", "strong",
    "sub", "sup", "time", "tt", "u", "var", "wbr",
];
/// Nobody reads these: programs, looks, and what stands in for them. The page's name is the document's.
const LEFT_OUT: [&str; 8] = ["title", "script", "style", "noscript", "template", "iframe", "math", "canvas"];

/// Words of a page.
pub(super) fn html(bytes: &[u8]) -> String {
    let page = Html::parse_document(&encoding::decode(bytes, Declaration::Markup).text);
    let mut out = String::new();
    for edge in page.tree.root().traverse() {
        let (node, opens) = match edge {
            ego_tree::iter::Edge::Open(node) => (node, true),
            ego_tree::iter::Edge::Close(node) => (node, false),
        };
        match node.value() {
            Node::Text(text) if opens => {
                let out_of_sight =
                    |node: ego_tree::NodeRef<'_, Node>| node.value().as_element().is_some_and(|element| LEFT_OUT.contains(&element.name()));
                if !node.ancestors().any(out_of_sight) {
                    out.push_str(text);
                }
            }
            Node::Element(element) if !INLINE.contains(&element.name()) => out.push(' '),
            _ => {}
        }
    }
    out
}

/// Words of a Markdown text, and of the HTML in it.
pub(super) fn markdown(bytes: &[u8]) -> String {
    let decoded = encoding::decode(bytes, Declaration::Never);
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_MATH | Options::ENABLE_STRIKETHROUGH;
    let mut out = String::new();
    let mut pages = String::new();
    for event in Parser::new_ext(&decoded.text, options) {
        match event {
            Event::Text(text) | Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                out.push_str(&text);
                pages.push(' ');
            }
            Event::Html(text) | Event::InlineHtml(text) => pages.push_str(&text),
            Event::Start(pulldown_cmark::Tag::Emphasis | pulldown_cmark::Tag::Strong)
            | Event::End(pulldown_cmark::TagEnd::Emphasis | pulldown_cmark::TagEnd::Strong) => {}
            _ => out.push(' '),
        }
    }
    format!("{out} {}", html(pages.as_bytes()))
}

/// Words of a plain text.
pub(super) fn plain(bytes: &[u8]) -> String {
    encoding::decode(bytes, Declaration::Never).text.into_owned()
}
