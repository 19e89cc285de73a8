//! The walk: elements in document order → rows.

use ego_tree::NodeRef;
use quarry_model::{Evidence, Row};
use scraper::Node;
use scraper::node::Element;

use super::element::{Role, is_hidden, role};
use super::landmark::Landmarks;
use super::visit::{Visitor, visit};
use super::{Surroundings, content, note, table};
use crate::prose::{Collector, Holders, Inline, List, Picture};

/// Writes everything below `root` into `out`.
pub(super) fn walk(root: NodeRef<'_, Node>, out: &mut Collector<'_>, surroundings: &Surroundings, landmarks: Landmarks) {
    let mut walker = Walker {
        out,
        surroundings,
        landmarks,
        text: Inline::default(),
        hidden_text: Inline::default(),
        pictures: Vec::new(),
        figures: Vec::new(),
        holders: surroundings.holders.clone(),
        frames: Vec::new(),
        hidden: 0,
        surrounding: 0,
        main: 0,
        heading: 0,
        verbatim: 0,
        follows: surroundings.holders.is_tight(),
        after_control: false,
        note: None,
        term_note: None,
    };
    visit(root, &mut walker);
    walker.flush();
}

/// An element that is open, and what it changed.
#[derive(Clone, Copy)]
struct Frame {
    role: Role,
    hidden: bool,
    surrounding: bool,
    main: bool,
    control: bool,
    note: bool,
}

/// A `<figure>` that is open.
#[derive(Default)]
struct Figure {
    first_picture: usize,
    caption: String,
}

struct Walker<'w, 'l> {
    out: &'w mut Collector<'l>,
    surroundings: &'w Surroundings,
    landmarks: Landmarks,
    text: Inline,
    hidden_text: Inline,
    pictures: Vec<Picture>,
    figures: Vec<Figure>,
    holders: Holders,
    frames: Vec<Frame>,
    // How many open elements are of each kind.
    hidden: usize,
    surrounding: usize,
    main: usize,
    heading: usize,
    verbatim: usize,
    /// Whether the last row stands in the list that is open.
    follows: bool,
    /// Whether a link, button or key has just ended: the next one is set apart by style alone.
    after_control: bool,
    /// The mark of the note that is open and has said nothing so far.
    note: Option<String>,
    /// The mark of a note whose term was read, for the definition after it.
    term_note: Option<String>,
}

impl<'a> Visitor<'a> for Walker<'_, '_> {
    fn text(&mut self, text: &'a str) {
        let verbatim = self.verbatim > 0;
        self.after_control = false;
        let inline = self.inline();
        if verbatim { inline.push_verbatim(text) } else { inline.push(text) }
    }

    fn open(&mut self, node: NodeRef<'a, Node>, element: &'a Element) -> bool {
        for id in ["id", "name"].into_iter().filter_map(|name| element.attr(name)) {
            self.out.anchor(id);
        }
        let role = match self.role_here(element) {
            Role::Ruby if content::is_parenthesised(node) => Role::Inline,
            role => role,
        };
        if role == Role::Dropped || role == Role::Head || self.is_passed_over(node, element) || self.read_whole(role, node, element) {
            return false;
        }
        if begins_block(role) {
            self.flush();
        }
        let note = self.note_here(role, element);
        let frame = Frame {
            role,
            note: note.is_some(),
            hidden: is_hidden(element),
            surrounding: self.surrounding == 0 && self.landmarks.is_surrounding(node, element, self.main > 0),
            main: self.landmarks.is_main(element),
            control: matches!(element.name(), "a" | "button" | "kbd" | "label"),
        };
        if frame.control && std::mem::take(&mut self.after_control) {
            self.inline().space();
        }
        self.hidden = self.hidden.saturating_add(usize::from(frame.hidden));
        self.surrounding = self.surrounding.saturating_add(usize::from(frame.surrounding));
        self.main = self.main.saturating_add(usize::from(frame.main));
        self.frames.push(frame);
        match note {
            Some(mark) => {
                self.holders.marked(format!("[^{mark}]: "));
                self.note = Some(mark);
            }
            None => self.begin(role, node, element),
        }
        true
    }

    fn close(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        self.end(frame.role);
        if frame.note {
            self.note = None;
            if frame.role == Role::Block {
                self.holders.close();
            }
        }
        self.after_control |= frame.control;
        self.hidden = self.hidden.saturating_sub(usize::from(frame.hidden));
        self.surrounding = self.surrounding.saturating_sub(usize::from(frame.surrounding));
        self.main = self.main.saturating_sub(usize::from(frame.main));
    }
}

impl Walker<'_, '_> {
    fn inline(&mut self) -> &mut Inline {
        if self.hidden > 0 { &mut self.hidden_text } else { &mut self.text }
    }

    /// Within a heading everything is running text.
    fn role_here(&self, element: &Element) -> Role {
        match role(element) {
            role @ (Role::Dropped
            | Role::Head
            | Role::Break
            | Role::Picture
            | Role::Field
            | Role::Formula
            | Role::Drawing
            | Role::NoteMark
            | Role::Ruby) => role,
            _ if self.heading > 0 => Role::Inline,
            role => role,
        }
    }

    /// The `#` or `¶` that headings carry as a link to themselves, the arrow that leads from a note back to its mark.
    fn is_passed_over(&self, node: NodeRef<'_, Node>, element: &Element) -> bool {
        let permalink = self.heading > 0 && element.name() == "a" && !content::has_words(node);
        permalink || note::is_way_back(node, element)
    }

    /// The mark of the note that an element is; of a term, its definition is.
    fn note_here(&mut self, role: Role, element: &Element) -> Option<String> {
        if role == Role::Definition && element.name() == "dd" {
            return self.term_note.take();
        }
        if !matches!(role, Role::Item | Role::Block | Role::Definition) {
            return None;
        }
        let mark = element.attr("id").and_then(|id| self.out.note_mark(id))?;
        if role == Role::Definition {
            self.term_note = Some(mark.clone());
        }
        Some(mark)
    }

    /// Elements read at once; `false` for those whose content is walked.
    fn read_whole(&mut self, role: Role, node: NodeRef<'_, Node>, element: &Element) -> bool {
        match role {
            Role::Break => self.line_break(),
            Role::Picture => self.pictures.extend(content::picture(element)),
            Role::Field => {
                let shown = content::field(element);
                let inline = self.inline();
                inline.space();
                inline.push(shown.unwrap_or_default());
                inline.space();
            }
            Role::Formula => match content::tex(node) {
                Some(tex) => self.inline().push(&tex),
                None => return false,
            },
            Role::Drawing => {
                self.pictures.extend(content::framed(node));
                let words = content::drawn_words(node);
                let inline = self.inline();
                inline.space();
                inline.push(&words);
                inline.space();
            }
            Role::NoteMark => match note::reference(node, element) {
                Some((id, mark)) => {
                    self.inline().push(&format!("[^{mark}]"));
                    self.out.refer_to_note(id, mark);
                }
                None => return false,
            },
            Role::Table => return self.table(node, is_hidden(element)),
            _ => return false,
        }
        true
    }

    fn begin(&mut self, role: Role, node: NodeRef<'_, Node>, element: &Element) {
        match role {
            Role::Heading(_) => self.heading = self.heading.saturating_add(1),
            Role::Preformatted => self.verbatim = self.verbatim.saturating_add(1),
            Role::Quote => self.holders.quote(),
            Role::List => {
                self.follows &= self.holders.is_tight();
                self.holders.list(list(node, element));
            }
            Role::Item => self.holders.item(number(element, "value")),
            Role::Definition => self.holders.marked(if element.name() == "dd" { "  ".to_owned() } else { String::new() }),
            Role::Figure => self.figures.push(Figure { first_picture: self.pictures.len(), caption: String::new() }),
            Role::Choice => self.inline().new_line(),
            Role::NoteMark => self.inline().push("[^"),
            Role::Ruby => {
                let inline = self.inline();
                inline.push("(");
            }
            _ => {}
        }
    }

    fn end(&mut self, role: Role) {
        match role {
            Role::Heading(level) => self.end_heading(level),
            Role::Preformatted => self.end_verbatim(),
            Role::Caption => self.end_caption(),
            Role::Figure => {
                self.flush();
                self.end_figure();
            }
            Role::Quote | Role::Item | Role::Definition => {
                self.flush();
                self.holders.close();
            }
            Role::List => {
                self.flush();
                self.holders.close();
                self.follows &= self.holders.is_tight();
            }
            Role::Choice => self.inline().new_line(),
            Role::Ruby => self.inline().push(")"),
            Role::NoteMark => self.inline().push("]"),
            role if begins_block(role) => self.flush(),
            _ => {}
        }
    }

    /// Two breaks in a row are a paragraph's end.
    fn line_break(&mut self) {
        if self.heading > 0 {
            self.inline().space();
        } else if self.verbatim == 0 && self.inline().ends_line() {
            self.flush();
        } else {
            self.inline().line_break();
        }
    }

    fn end_heading(&mut self, level: u32) {
        self.heading = self.heading.saturating_sub(1);
        let opens = self.surroundings.headings && self.hidden == 0 && self.surrounding == 0 && !self.holders.in_quote();
        if opens {
            let title = self.text.take();
            self.out.heading(&title, level.saturating_add(self.surroundings.below), Evidence::Markup);
            self.follows = false;
        }
        self.flush();
    }

    fn end_verbatim(&mut self) {
        self.verbatim = self.verbatim.saturating_sub(1);
        let code = self.inline().take_verbatim();
        if !code.is_empty() {
            let fence = fence_for(&code);
            self.inline().push_verbatim(&format!("{fence}\n{code}\n{fence}"));
        }
        self.flush();
    }

    /// The caption is told after its picture, wherever it is written.
    fn end_caption(&mut self) {
        let shown = self.hidden == 0;
        match self.figures.last_mut() {
            Some(figure) if shown && figure.caption.is_empty() => figure.caption = self.text.take(),
            _ => {}
        }
        self.flush();
    }

    fn end_figure(&mut self) {
        let Some(figure) = self.figures.pop() else { return };
        for picture in self.pictures.iter_mut().skip(figure.first_picture) {
            picture.description = described(&figure.caption, &picture.description);
        }
        self.flush_pictures(None);
        if !figure.caption.is_empty() {
            self.row(&figure.caption, false);
        }
    }

    fn table(&mut self, node: NodeRef<'_, Node>, hidden: bool) -> bool {
        let Some(read) = table::read(node, self.out.limits()) else { return false };
        self.flush();
        let has_text = read.built.table.rows.iter().flatten().any(|cell| !cell.text.is_empty() || !cell.tables.is_empty());
        if has_text || !read.built.table.caption.is_empty() {
            let section = self.section();
            let at = self.out.table(read.built);
            if let Some(row) = self.out.rows_mut().get_mut(at) {
                row.section = section;
                row.hidden = hidden || self.hidden > 0;
                row.source_span = self.surroundings.source_span;
            }
        }
        self.pictures.extend(read.pictures);
        self.follows = false;
        self.flush();
        true
    }

    fn section(&self) -> Option<usize> {
        if self.surrounding > 0 { None } else { self.out.section() }
    }

    /// Ends the block that is being read.
    fn flush(&mut self) {
        if self.heading > 0 {
            self.inline().space();
            return;
        }
        if self.verbatim > 0 {
            self.inline().new_line();
            return;
        }
        let mut text = self.text.take_block();
        if let Some(mark) = self.note.as_deref().filter(|_| !text.is_empty()) {
            text = note::without_mark(&text, mark).to_owned();
            self.note = self.note.take().filter(|_| text.is_empty());
        }
        let host = (!text.is_empty()).then(|| self.row(&text, false));
        let hidden = self.hidden_text.take_block();
        if hidden.contains(char::is_alphanumeric) {
            self.row(&hidden, true);
        }
        if self.figures.is_empty() && !self.pictures.is_empty() {
            self.flush_pictures(host);
        }
    }

    fn row(&mut self, text: &str, hidden: bool) -> usize {
        let content = self.holders.prefixed(text);
        let tight = self.follows && self.holders.is_tight();
        self.follows = self.holders.is_tight();
        let row = Row { hidden, tight, source_span: self.surroundings.source_span, ..Row::text(self.section(), content) };
        self.out.push(row)
    }

    fn flush_pictures(&mut self, host: Option<usize>) {
        let section = self.section();
        let pictures = std::mem::take(&mut self.pictures);
        self.out.pictures(section, pictures, host, self.surroundings.source_span);
    }
}

/// A list as its element says: numbered or not, from where, which way, with what.
fn list(node: NodeRef<'_, Node>, element: &Element) -> List {
    if element.name() != "ol" {
        return List::plain();
    }
    let reversed = element.attr("reversed").is_some();
    let items = || node.children().filter(|child| child.value().as_element().is_some_and(|item| item.name() == "li")).count();
    let first = if reversed { i64::try_from(items()).unwrap_or(i64::MAX) } else { 1 };
    let style = element.attr("type").and_then(|style| style.trim().chars().next()).unwrap_or('1');
    List::numbered(number(element, "start").unwrap_or(first), reversed, style)
}

fn number(element: &Element, attribute: &str) -> Option<i64> {
    element.attr(attribute)?.trim().parse().ok()
}

fn begins_block(role: Role) -> bool {
    !matches!(role, Role::Inline | Role::Choice | Role::Ruby | Role::Formula | Role::Drawing | Role::NoteMark)
}

/// A caption and an alternative text in one; a text that says the same is told once.
fn described(caption: &str, alternative: &str) -> String {
    match (caption.is_empty(), alternative.is_empty()) {
        (true, _) => alternative.to_owned(),
        (false, true) => caption.to_owned(),
        (false, false) if caption.contains(alternative) => caption.to_owned(),
        (false, false) => format!("{caption} ({alternative})"),
    }
}

/// A fence that does not occur in the code.
fn fence_for(code: &str) -> String {
    let longest = code.lines().map(str::trim_start).map(|line| line.len().saturating_sub(line.trim_start_matches('`').len()));
    "`".repeat(longest.max().unwrap_or(0).saturating_add(1).max(3))
}
