//! Elements → rows, in document order. The depth of the tree bounds the recursion.

use std::collections::HashSet;

use quarry_document::html::{self, Surroundings};
use quarry_document::prose::Collector;
use quarry_document::xml::{Child, Element};
use quarry_model::{Evidence, Parsed, Row};

use super::running::Running;
use super::shape::{facts, folded, has_own_text, is_info, is_leaf, is_list, is_preformatted, is_prose, spaced_text, title, title_element};
use super::table;

/// A longer text says what it is by itself: the name of its element is left out.
const NAMED_CHARS: usize = 200;

/// Writes rows.
pub(super) struct Walk<'c> {
    out: Collector<'c>,
    in_lines: bool,
    /// Elements whose text is a heading already.
    told: HashSet<u32>,
}

impl<'c> Walk<'c> {
    pub(super) fn new(out: Collector<'c>) -> Self {
        Self { out, in_lines: false, told: HashSet::new() }
    }

    pub(super) fn finish(self) -> Parsed {
        self.out.finish()
    }

    /// The document: its root is no section unless it has a title.
    pub(super) fn root(&mut self, root: Element<'_>) {
        match title(root) {
            Some(title) => self.section(root, &title, 1),
            None => self.inside(root, 1),
        }
    }

    fn section(&mut self, element: Element<'_>, title: &str, level: u32) {
        self.in_lines = false;
        self.out.heading(title, level, Evidence::Markup);
        self.told.extend(title_element(element).map(Element::position));
        self.inside(element, level.saturating_add(1));
        self.in_lines = false;
    }

    /// What an element holds, but for its title.
    fn inside(&mut self, element: Element<'_>, level: u32) {
        self.attributes(element);
        if is_leaf(element) || has_own_text(element) {
            self.paragraph(element, level);
            return;
        }
        if table::are_alike(element) {
            let rows: Vec<Element<'_>> = element.elements().collect();
            if let Some(tables) = table::of_records(&rows, self.out.limits()) {
                self.tables(tables);
                return;
            }
        }
        let children: Vec<Element<'_>> = element.elements().filter(|child| !self.told.contains(&child.position())).collect();
        let mut rest = children.into_iter().peekable();
        while let Some(child) = rest.next() {
            // Like elements in a row beside others: a table among other things.
            let mut run = vec![child];
            while let Some(next) = rest.next_if(|next| next.name() == child.name() && !is_leaf(*next)) {
                run.push(next);
            }
            match table::of_records(&run, self.out.limits()) {
                Some(tables) => self.tables(tables),
                None => {
                    for child in run {
                        self.element(child, level);
                    }
                }
            }
        }
    }

    fn tables(&mut self, tables: Vec<quarry_document::BuiltTable>) {
        self.in_lines = false;
        for table in tables {
            self.out.table(table);
        }
    }

    fn element(&mut self, element: Element<'_>, level: u32) {
        if table::is_marked(element) {
            let built = table::marked(element, self.out.limits());
            self.tables(vec![built]);
        } else if is_list(element) {
            self.list(element, level);
        } else if is_leaf(element) || is_preformatted(element) {
            self.leaf(element, level);
        } else if has_own_text(element) {
            self.attributes(element);
            self.paragraph(element, level);
        } else if is_info(element) {
            self.inside(element, level);
        } else if let Some(title) = title(element) {
            self.section(element, &title, level);
        } else if is_record(element) {
            self.section(element, element.name(), level);
        } else {
            self.in_lines = false;
            self.inside(element, level);
        }
    }

    /// An element of nothing but text: `name: text`, or the text alone where the name says nothing.
    fn leaf(&mut self, element: Element<'_>, level: u32) {
        let raw = element.text();
        if is_preformatted(element) && raw.trim().contains('\n') {
            self.attributes(element);
            self.line(raw.trim_matches(['\n', '\r']).trim_end().to_owned());
            return;
        }
        if is_markup(&raw) {
            self.attributes(element);
            self.markup(&raw);
            return;
        }
        let text = folded(&spaced_text(element));
        let facts = facts(element).map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join(", ");
        let name = element.name();
        let prose = is_prose(element) || text.chars().count() > NAMED_CHARS;
        if prose && facts.is_empty() {
            self.in_lines = false;
            self.paragraph(element, level);
            return;
        }
        let line = match (text.is_empty(), facts.is_empty()) {
            (true, true) => return,
            (true, false) => format!("{name}: {facts}"),
            (false, true) => format!("{name}: {text}"),
            (false, false) => format!("{name}: {text} ({facts})"),
        };
        self.line(line);
    }

    /// Text with elements in it. Tables and lists in it come after the words before them.
    fn paragraph(&mut self, element: Element<'_>, level: u32) {
        if is_leaf(element) && is_markup(&element.text()) {
            self.markup(&element.text());
            return;
        }
        let mut text = Running::default();
        for child in element.children() {
            match child {
                Child::Text(piece) => text.push(piece),
                Child::Element(inner) if table::is_marked(inner) || is_list(inner) => {
                    self.text(&std::mem::take(&mut text).finish());
                    self.element(inner, level);
                }
                Child::Element(inner) => text.element(inner),
            }
        }
        self.text(&text.finish());
    }

    fn list(&mut self, list: Element<'_>, level: u32) {
        self.in_lines = false;
        if let Some(title) = title(list) {
            self.text(&title);
        }
        let told = title_element(list).map(Element::position);
        for item in list.elements().filter(|item| Some(item.position()) != told) {
            let inner: Vec<Element<'_>> = item.descendants().filter(|inner| is_list(*inner) || table::is_marked(*inner)).take(1).collect();
            if inner.is_empty() {
                let text = folded(&Running::of(item));
                if !text.is_empty() {
                    self.line(format!("- {text}"));
                }
            } else {
                self.inside(item, level);
            }
        }
        self.in_lines = false;
    }

    fn attributes(&mut self, element: Element<'_>) {
        for (name, value) in facts(element) {
            self.line(format!("{name}: {value}"));
        }
    }

    /// HTML inside a text, as feeds have it.
    fn markup(&mut self, text: &str) {
        self.in_lines = false;
        if html::read_fragment(text, &mut self.out, &Surroundings::default()).is_err() {
            // Too deep for a page: its characters are still text.
            self.text(text);
        }
    }

    fn text(&mut self, text: &str) {
        self.in_lines = false;
        let text = folded(text);
        if !text.is_empty() {
            let section = self.out.section();
            self.out.push(Row::text(section, text));
        }
    }

    fn line(&mut self, line: String) {
        let section = self.out.section();
        let prose = line.contains('\n');
        self.out.push(Row { tight: self.in_lines && !prose, ..Row::text(section, line) });
        self.in_lines = !prose;
    }
}

/// Whether an element holds facts by name: leaves whose names differ for the most part, not paragraphs.
fn is_record(element: Element<'_>) -> bool {
    let leaves: Vec<&str> = element.elements().filter(|child| is_leaf(*child) && !is_prose(*child)).map(Element::name).collect();
    let mut names = leaves.clone();
    names.sort_unstable();
    names.dedup();
    !leaves.is_empty() && names.len().saturating_mul(2) > leaves.len()
}

/// Whether a text is HTML: a tag that closes.
fn is_markup(text: &str) -> bool {
    let known = ["</p>", "</a>", "</div>", "</li>", "</b>", "</strong>", "</em>", "</td>", "</h2>", "</h3>", "<br", "<p>", "<img "];
    text.contains('<') && known.iter().any(|tag| text.contains(tag))
}
