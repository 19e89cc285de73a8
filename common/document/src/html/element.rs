//! What each element means for reading.

use html5ever::ns;
use scraper::node::Element;

use super::note;

/// What an element does to the text around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Part of the running text.
    Inline,
    /// A block of its own.
    Block,
    /// Nothing in it can be read by anybody: scripts, styles, drawings, embedded pages.
    Dropped,
    /// A heading of this level.
    Heading(u32),
    /// Text as it stands.
    Preformatted,
    /// A quotation.
    Quote,
    /// A list.
    List,
    /// A list's item.
    Item,
    /// A term, or what is said of it.
    Definition,
    /// A table.
    Table,
    /// A cell or caption that stands in no table we read as one.
    LooseCell,
    /// A line's end.
    Break,
    /// A picture.
    Picture,
    /// A form field with a value of its own.
    Field,
    /// One choice of several.
    Choice,
    /// A pronunciation above its text.
    Ruby,
    /// A formula.
    Formula,
    /// A drawing of vectors.
    Drawing,
    /// The mark of a note.
    NoteMark,
    /// A picture or listing with its caption.
    Figure,
    /// The caption.
    Caption,
    /// The document's head.
    Head,
}

/// The role of an element; ARIA roles count only where they make a heading or take away a meaning.
pub(super) fn role(element: &Element) -> Role {
    if element.name.ns != ns!(html) {
        return foreign(element);
    }
    if let Some(level) = heading_level(element) {
        return Role::Heading(level);
    }
    match element.name() {
        "script" | "style" | "noscript" | "template" | "iframe" | "embed" | "frameset" | "noframes" | "canvas" | "param" | "link"
        | "meta" | "base" | "title" | "noembed" => Role::Dropped,
        "head" => Role::Head,
        "p" | "div" | "section" | "article" | "main" | "header" | "footer" | "nav" | "aside" | "form" | "fieldset" | "legend"
        | "details" | "summary" | "hr" | "address" | "center" | "hgroup" | "dialog" | "body" | "html" | "search" | "dl" | "optgroup"
        | "select" | "datalist" | "video" | "audio" | "object" | "map" => Role::Block,
        "pre" | "xmp" | "listing" | "plaintext" | "textarea" => Role::Preformatted,
        "blockquote" => Role::Quote,
        "ul" | "ol" | "menu" | "dir" => Role::List,
        "li" => Role::Item,
        "dt" | "dd" => Role::Definition,
        "table" => Role::Table,
        "td" | "th" | "tr" | "thead" | "tbody" | "tfoot" | "caption" => Role::LooseCell,
        "br" => Role::Break,
        "img" => Role::Picture,
        "input" => Role::Field,
        "option" => Role::Choice,
        "rt" => Role::Ruby,
        "figure" => Role::Figure,
        "figcaption" => Role::Caption,
        "a" if note::is_mark(element) => Role::NoteMark,
        _ => Role::Inline,
    }
}

fn foreign(element: &Element) -> Role {
    match element.name() {
        "svg" => Role::Drawing,
        "math" => Role::Formula,
        _ => Role::Inline,
    }
}

/// `<h1>` … `<h6>`, and `role="heading"` with its level (2 when it names none, as ARIA says).
pub(super) fn heading_level(element: &Element) -> Option<u32> {
    let by_role = element.attr("role").is_some_and(|role| role.trim().eq_ignore_ascii_case("heading"));
    if by_role {
        return Some(element.attr("aria-level").and_then(|level| level.trim().parse().ok()).unwrap_or(2).clamp(1, 9));
    }
    match element.name() {
        "h1" => Some(1),
        "h2" => Some(2),
        "h3" => Some(3),
        "h4" => Some(4),
        "h5" => Some(5),
        "h6" => Some(6),
        _ => None,
    }
}

/// Whether the source hides the element from its readers.
pub(super) fn is_hidden(element: &Element) -> bool {
    if element.attr("aria-hidden").is_some_and(|value| value.trim().eq_ignore_ascii_case("true")) {
        return true;
    }
    if element.attr("hidden").is_some() {
        return true;
    }
    let Some(style) = element.attr("style") else { return false };
    style.split(';').any(|rule| {
        let Some((name, value)) = rule.split_once(':') else { return false };
        let value = value.trim().trim_end_matches("!important").trim();
        match name.trim() {
            name if name.eq_ignore_ascii_case("display") => value.eq_ignore_ascii_case("none"),
            name if name.eq_ignore_ascii_case("visibility") => value.eq_ignore_ascii_case("hidden"),
            _ => false,
        }
    })
}
