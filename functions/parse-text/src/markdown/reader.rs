//! Events → rows.

use std::ops::Range;

use pulldown_cmark::{BlockQuoteKind, CodeBlockKind, CowStr, Event, Tag, TagEnd};
use quarry_document::encoding::Decoded;
use quarry_document::html::{self, Surroundings};
use quarry_document::prose::{Collector, Holders, Inline, List};
use quarry_model::{Evidence, Parsed, Row, Warning};

use super::block::{Block, OpenHtml, OpenPicture, OpenTable};
use super::notes::Notes;
use super::tags;

/// Reads the events of one document.
pub(super) struct Reader<'t, 'l> {
    decoded: &'t Decoded<'t>,
    /// Where the Markdown begins in the text: offsets of events count from here.
    start: usize,
    out: Collector<'l>,
    holders: Holders,
    block: Block,
    notes: Notes,
    open_notes: Vec<(String, usize)>,
    picture: Option<OpenPicture>,
    table: Option<OpenTable>,
    html: Option<OpenHtml>,
    /// The fence of the code block that is open.
    code: Option<String>,
    heading: bool,
    /// The element whose content is no text, when one is open within a paragraph.
    unreadable: Option<&'static str>,
    /// Bytes of text before each open link, and its address.
    links: Vec<(usize, String)>,
    /// Whether the last row stands in the list that is open.
    follows: bool,
    /// Events before this offset have been read already.
    read_until: usize,
    /// Bytes that may still be searched for the ends of tables.
    search_budget: usize,
}

impl<'t, 'l> Reader<'t, 'l> {
    pub(super) fn new(decoded: &'t Decoded<'t>, start: usize, out: Collector<'l>) -> Self {
        Self {
            decoded,
            start,
            out,
            holders: Holders::default(),
            block: Block::default(),
            notes: Notes::default(),
            open_notes: Vec::new(),
            picture: None,
            table: None,
            html: None,
            code: None,
            heading: false,
            unreadable: None,
            links: Vec::new(),
            follows: false,
            read_until: 0,
            search_budget: decoded.text.len().saturating_mul(4),
        }
    }

    /// Whether an event's range was read as part of something larger; then its block belongs to that as a whole.
    pub(super) fn has_read(&mut self, range: &Range<usize>) -> bool {
        let inside = self.html.is_some() && range.start < self.read_until;
        if inside {
            self.read_until = self.read_until.max(range.end);
        } else if self.html.is_some() && self.read_until > 0 {
            self.end_whole_table();
        }
        inside
    }

    pub(super) fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(end) => self.end(end, &range),
            Event::Text(text) => self.text(&text, &range),
            Event::Code(code) => {
                self.block.covers(&range);
                self.inline().push_verbatim(&code);
            }
            Event::InlineMath(math) => self.text(&format!("${math}$"), &range),
            Event::DisplayMath(math) => self.text(&format!("$${math}$$"), &range),
            Event::Html(html) => match &mut self.html {
                Some(open) => open.html.push_str(&html),
                None => self.inline_html(&html, &range),
            },
            Event::InlineHtml(html) => self.inline_html(&html, &range),
            Event::FootnoteReference(label) => {
                self.text(&format!("[^{label}]"), &range);
                self.block.calls.push(label.to_string());
            }
            Event::SoftBreak => self.inline().space(),
            Event::HardBreak => self.line_break(),
            Event::Rule => self.flush(),
            Event::TaskListMarker(done) => self.text(if done { "[x] " } else { "[ ] " }, &range),
        }
    }

    pub(super) fn finish(mut self) -> Parsed {
        if self.html.is_some() {
            self.end_whole_table();
        }
        self.flush();
        let mut parsed = self.out.finish();
        parsed.rows = self.notes.place(parsed.rows);
        parsed
    }

    fn start(&mut self, tag: Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Paragraph | Tag::DefinitionListTitle => self.begin(&range),
            Tag::Heading { .. } => {
                self.begin(&range);
                self.heading = true;
            }
            Tag::BlockQuote(kind) => {
                self.begin(&range);
                self.holders.quote();
                if let Some(kind) = kind {
                    self.inline().push(alert(kind));
                    self.flush();
                }
            }
            Tag::CodeBlock(kind) => {
                self.begin(&range);
                let language = match &kind {
                    CodeBlockKind::Fenced(info) => info.split_whitespace().next().unwrap_or_default().to_owned(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some(language);
            }
            Tag::HtmlBlock => {
                self.begin(&range);
                self.html = Some(OpenHtml { html: String::new(), range });
            }
            Tag::List(first) => {
                self.begin(&range);
                self.follows &= self.holders.is_tight();
                self.holders.list(match first {
                    Some(first) => List::numbered(i64::try_from(first).unwrap_or(i64::MAX), false, '1'),
                    None => List::plain(),
                });
            }
            Tag::Item => {
                self.begin(&range);
                self.holders.item(None);
            }
            Tag::FootnoteDefinition(label) => {
                self.begin(&range);
                self.open_notes.push((label.to_string(), self.out.next_row()));
                self.holders.marked(format!("[^{label}]: "));
            }
            Tag::DefinitionList => {
                self.begin(&range);
                self.holders.list(List::plain());
            }
            Tag::DefinitionListDefinition => {
                self.begin(&range);
                self.holders.marked("  ".to_owned());
            }
            Tag::Table(_) => {
                self.begin(&range);
                self.table = Some(OpenTable::new(self.out.limits()));
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.in_head = matches!(tag, Tag::TableHead);
                    table.builder.row();
                }
            }
            Tag::Strikethrough => self.inline().push("~~"),
            Tag::Link { dest_url, .. } => {
                let before = self.inline().length();
                self.links.push((before, dest_url.to_string()));
            }
            Tag::Image { dest_url, title, .. } => self.start_picture(&dest_url, &title),
            _ => {}
        }
    }

    fn end(&mut self, end: TagEnd, range: &Range<usize>) {
        match end {
            TagEnd::Paragraph | TagEnd::DefinitionListTitle => self.flush(),
            TagEnd::Heading(level) => self.end_heading(level as u32),
            TagEnd::BlockQuote(_) | TagEnd::Item | TagEnd::DefinitionListDefinition => {
                self.flush();
                self.holders.close();
            }
            TagEnd::List(_) | TagEnd::DefinitionList => {
                self.flush();
                self.holders.close();
                self.follows &= self.holders.is_tight();
            }
            TagEnd::FootnoteDefinition => {
                self.flush();
                self.holders.close();
                self.follows = false;
                if let Some((label, first)) = self.open_notes.pop() {
                    self.notes.body(&label, first..self.out.next_row());
                }
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::HtmlBlock => self.end_html(),
            TagEnd::TableCell => {
                let text = self.block.text.take();
                if let Some(table) = &mut self.table {
                    table.cell(text, range.end);
                }
            }
            TagEnd::TableRow => {
                if let Some(table) = &mut self.table {
                    table.end_row(self.decoded.text.get(self.start..).unwrap_or_default(), range.end);
                }
            }
            TagEnd::Table => self.end_table(range),
            TagEnd::Strikethrough => self.inline().push("~~"),
            TagEnd::Link => self.end_link(),
            TagEnd::Image => self.end_picture(),
            _ => {}
        }
    }

    /// Where text goes: into a picture's description while one is open.
    fn inline(&mut self) -> &mut Inline {
        match &mut self.picture {
            Some(picture) => &mut picture.alternative,
            None => &mut self.block.text,
        }
    }

    fn text(&mut self, text: &str, range: &Range<usize>) {
        self.block.covers(range);
        if self.unreadable.is_some() {
            return;
        }
        if self.code.is_some() { self.inline().push_verbatim(text) } else { self.inline().push(text) }
    }

    fn line_break(&mut self) {
        if self.heading { self.inline().space() } else { self.inline().line_break() }
    }

    fn begin(&mut self, range: &Range<usize>) {
        self.flush();
        self.block.range = Some(range.clone());
    }

    fn end_heading(&mut self, level: u32) {
        self.heading = false;
        // A heading in a quotation heads what is quoted, not what follows it here.
        if !self.holders.in_quote() && self.open_notes.is_empty() {
            let title = self.block.text.take();
            self.out.heading(&title, level, Evidence::Markup);
            self.follows = false;
        }
        self.flush();
    }

    fn end_code(&mut self) {
        let Some(language) = self.code.take() else { return };
        let code = self.block.text.take_verbatim();
        if !code.is_empty() || !language.is_empty() {
            let fence = "`".repeat(longest_run(&code).saturating_add(1).max(3));
            self.block.text.push_verbatim(&format!("{fence}{language}\n{code}\n{fence}"));
        }
        self.flush();
    }

    fn end_table(&mut self, range: &Range<usize>) {
        let Some(table) = self.table.take() else { return };
        let at = self.out.table(table.builder.finish(1, 0, ""));
        let span = self.span(range);
        if let Some(row) = self.out.rows_mut().get_mut(at) {
            row.source_span = span;
        }
        self.follows = false;
        self.flush();
    }

    /// A link shows its text; its address is told only when it has none.
    fn end_link(&mut self) {
        let Some((before, address)) = self.links.pop() else { return };
        let pictures = !self.block.pictures.is_empty() || self.picture.is_some();
        if self.inline().length() == before && !pictures {
            self.inline().push(&address);
        }
    }

    fn start_picture(&mut self, source: &CowStr<'_>, title: &CowStr<'_>) {
        match &mut self.picture {
            Some(picture) => picture.nested = picture.nested.saturating_add(1),
            None => self.picture = Some(OpenPicture::new(source, title)),
        }
    }

    fn end_picture(&mut self) {
        match self.picture.take() {
            Some(mut picture) if picture.nested > 0 => {
                picture.nested = picture.nested.saturating_sub(1);
                self.picture = Some(picture);
            }
            Some(picture) => self.block.pictures.push(picture.close()),
            None => {}
        }
    }

    fn inline_html(&mut self, html: &str, range: &Range<usize>) {
        self.block.covers(range);
        match (tags::tag(html), self.unreadable) {
            (tags::Tag::Readable(name), Some(open)) if name == open => self.unreadable = None,
            (_, Some(_)) => {}
            (tags::Tag::Unreadable(name), None) => self.unreadable = Some(name),
            (tags::Tag::Break, None) => self.line_break(),
            (tags::Tag::Block, None) if self.heading => self.inline().space(),
            (tags::Tag::Block, None) => self.inline().new_line(),
            (tags::Tag::Picture, None) => self.block.pictures.extend(html::picture_of(html, self.out.limits())),
            (tags::Tag::Nothing | tags::Tag::Readable(_), None) => {}
        }
    }

    /// Reads a block of HTML; one that ends inside a table is first completed from the source.
    fn end_html(&mut self) {
        let Some(open) = self.html.take() else { return };
        match self.whole_table(&open) {
            Some(end) if end > open.range.end => {
                self.read_until = end;
                self.html = Some(open);
            }
            _ => self.read_html(&open.html, &open.range),
        }
    }

    /// Where the table ends that a block of HTML leaves open; only outside of lists and quotations, whose prefixes would
    /// stand between its lines.
    fn whole_table(&mut self, open: &OpenHtml) -> Option<usize> {
        if !self.holders.is_empty() {
            return None;
        }
        let source = self.decoded.text.get(self.start..)?;
        let first = open.range.start.saturating_add(unclosed_table(source.get(open.range.clone())?)?);
        self.search_budget = self.search_budget.checked_sub(source.len().saturating_sub(first))?;
        html::whole_table(source, first).map(|range| range.end)
    }

    fn end_whole_table(&mut self) {
        let Some(open) = self.html.take() else { return };
        let range = open.range.start..self.read_until.max(open.range.end);
        self.read_until = 0;
        let source = self.decoded.text.get(self.start..).unwrap_or_default();
        self.read_html(source.get(range.clone()).unwrap_or(&open.html), &range);
    }

    fn read_html(&mut self, html: &str, range: &Range<usize>) {
        let surroundings =
            Surroundings { holders: self.holders.clone(), source_span: self.span(range), headings: true, ..Surroundings::default() };
        let before = self.out.next_row();
        if let Err(failure) = html::read_fragment(html, &mut self.out, &surroundings) {
            // Markup that cannot be read as such is still text.
            self.out.warn(Warning::new(failure.code, failure.detail));
            let row = Row { source_span: surroundings.source_span, ..Row::text(self.out.section(), html.trim()) };
            self.out.push(row);
        }
        if self.out.next_row() > before {
            self.holders.use_markers();
            self.follows = self.holders.is_tight();
        }
        self.block.range = None;
    }

    /// Ends the block that is being read.
    fn flush(&mut self) {
        let mut block = std::mem::take(&mut self.block);
        self.unreadable = None;
        let span = block.range.as_ref().and_then(|range| self.span(range));
        let text = block.text.take_block();
        let host = (!text.is_empty()).then(|| {
            let content = self.holders.prefixed(&text);
            let tight = self.follows && self.holders.is_tight();
            self.out.push(Row { source_span: span, tight, ..Row::text(self.out.section(), content) })
        });
        if host.is_some() {
            self.follows = self.holders.is_tight();
        }
        self.out.pictures(self.out.section(), block.pictures, host, span);
        for label in &block.calls {
            self.notes.call(label, self.out.next_row(), self.out.section());
        }
    }

    fn span(&self, range: &Range<usize>) -> Option<(u64, u64)> {
        self.decoded.source_span(range.start.saturating_add(self.start)..range.end.saturating_add(self.start))
    }
}

fn alert(kind: BlockQuoteKind) -> &'static str {
    match kind {
        BlockQuoteKind::Note => "[!NOTE]",
        BlockQuoteKind::Tip => "[!TIP]",
        BlockQuoteKind::Important => "[!IMPORTANT]",
        BlockQuoteKind::Warning => "[!WARNING]",
        BlockQuoteKind::Caution => "[!CAUTION]",
    }
}

/// The longest run of backticks a line begins with.
fn longest_run(code: &str) -> usize {
    let runs = code.lines().map(str::trim_start).map(|line| line.len().saturating_sub(line.trim_start_matches('`').len()));
    runs.max().unwrap_or(0)
}

/// Where the first table begins that is not closed in this piece of HTML.
fn unclosed_table(html: &str) -> Option<usize> {
    let at = html.as_bytes().windows(6).position(|window| window.eq_ignore_ascii_case(b"<table"))?;
    html::whole_table(html, at).is_none().then_some(at)
}
