//! What opens with a group and what the group's end closes: notes, comments, boxes, pictures and shapes.

use quarry_document::flow::{self, Block, Note, Role};
use quarry_model::{Asset, DocumentCode};

use super::Reader;
use crate::context::{Context, Kind};
use crate::state::{Ends, Target};

/// Notes and boxes within each other.
const CONTEXTS: usize = 32;

impl Reader<'_> {
    /// Opens a place of its own that ends with this group.
    pub(crate) fn open_context(&mut self, kind: Kind) {
        if self.contexts.len() >= CONTEXTS {
            // Deeper ones are part of the text around them.
            self.state.target = Target::Body;
            return;
        }
        self.contexts.push(Context::new(kind));
        self.state.target = Target::Body;
        self.state.ends = Ends::Context;
        self.state.paragraph = crate::state::ParagraphState::default();
    }

    /// A footnote or endnote begins: its mark stands in the text around it.
    pub(crate) fn open_note(&mut self, end: bool) {
        if !self.fields.shows() || self.state.deleted {
            self.state.target = Target::Skip;
            return;
        }
        let mut number = 0;
        if let Some(count) = self.notes.get_mut(usize::from(end)) {
            *count = count.saturating_add(1);
            number = *count;
        }
        let mark = format!("[^{}{number}]", if end { "e" } else { "" });
        if let Some(context) = self.contexts.last_mut() {
            context.line.push(&mark);
        }
        self.open_context(Kind::Note(format!("{mark}:")));
    }

    /// A note that turns out to be an endnote.
    pub(crate) fn endnote(&mut self) {
        if let [.., outer, note] = self.contexts.as_mut_slice()
            && let Kind::Note(label) = &mut note.kind
            && let Some(number) = label.strip_prefix("[^").filter(|number| !number.starts_with('e')).map(str::to_owned)
        {
            let [footnotes, endnotes] = &mut self.notes;
            *footnotes = footnotes.saturating_sub(1);
            *endnotes = endnotes.saturating_add(1);
            let length = outer.line.length().saturating_sub(number.chars().count().saturating_add(1));
            outer.line.truncate(length);
            let mark = format!("[^e{endnotes}]");
            outer.line.push(&mark);
            *label = format!("{mark}:");
        }
    }

    /// A comment begins.
    pub(crate) fn open_comment(&mut self) {
        let author = std::mem::take(&mut self.author);
        let author = author.trim();
        let label = if author.is_empty() { "Comment:".to_owned() } else { format!("Comment ({author}):") };
        self.open_context(Kind::Note(label));
    }

    /// A group ends: what it opened is closed, and the state around it is back.
    pub(super) fn close(&mut self) {
        let ended = self.state;
        match ended.ends {
            Ends::Nothing => {}
            Ends::Context => self.end_context(),
            Ends::Field => {
                if let Some(instruction) = self.fields.end()
                    && let Some(context) = self.contexts.last_mut()
                {
                    if context.line.anchor.is_none() {
                        context.line.anchor = flow::anchor(&instruction).map(str::to_owned);
                    }
                    if context.line.sequence.is_none() {
                        context.line.sequence = flow::sequence(&instruction).map(str::to_owned);
                    }
                }
            }
            Ends::Picture => self.end_picture(),
            Ends::Shape => {
                let description = std::mem::take(&mut self.description);
                self.text_of_description(&description);
            }
            Ends::Label => {
                let label = std::mem::take(&mut self.label);
                if let Some(context) = self.contexts.last_mut().filter(|_| !ended.deleted) {
                    context.label = Some(label.trim().to_owned()).filter(|label| !label.is_empty());
                }
            }
            Ends::PropertyValue => {
                let value = std::mem::take(&mut self.value);
                if std::mem::take(&mut self.property).trim() == "wzDescription" {
                    self.description = value.split_whitespace().collect::<Vec<_>>().join(" ");
                }
            }
            Ends::Bookmark => {
                let name = std::mem::take(&mut self.bookmark);
                if let Some(context) = self.contexts.last_mut() {
                    context.line.bookmarks.push(name.trim().to_owned());
                }
            }
        }
        if let Some(outer) = self.stack.pop() {
            self.state = outer;
        }
    }

    /// The place that was opened last ends; what it holds goes to the one around it.
    pub(super) fn end_context(&mut self) {
        self.end_paragraph();
        if self.contexts.len() < 2 {
            return;
        }
        let Some(context) = self.contexts.pop() else { return };
        let kind = context.kind.clone();
        let (mut blocks, dropped) = context.finish(self.limits);
        self.tell_dropped(dropped);
        if blocks.is_empty() {
            return;
        }
        if kind == Kind::Header {
            self.headers.push(blocks);
            return;
        }
        for block in &mut blocks {
            if let Block::Paragraph(paragraph) = block
                && matches!(paragraph.role, Role::Heading(..) | Role::Title)
            {
                paragraph.role = Role::Body;
            }
        }
        let Some(outer) = self.contexts.last_mut() else { return };
        match kind {
            Kind::Note(label) => outer.line.after.push(Block::Note(Note { label, blocks })),
            _ => outer.line.after.append(&mut blocks),
        }
    }

    fn end_picture(&mut self) {
        let picture = std::mem::take(&mut self.picture);
        let description = std::mem::take(&mut self.description);
        if self.state.deleted || !self.fields.shows() {
            return;
        }
        let header = self.contexts.last().is_some_and(|context| context.kind == Kind::Header);
        if header {
            // Headers repeat on every page: what they picture is decoration, what it says is kept.
            self.text_of_description(&description);
            return;
        }
        if picture.too_large {
            self.warnings.partial(DocumentCode::TooLarge, format!("a picture larger than {} bytes is left out", self.limits.stream_bytes));
        }
        let asset = picture.into_file().map(|bytes| {
            self.assets.push(Asset { bytes, original_name: String::new() });
            self.assets.len().saturating_sub(1)
        });
        if asset.is_none() {
            self.warnings.partial(DocumentCode::Unsupported, "a picture is empty or in a format that is not read");
        }
        if let Some(context) = self.contexts.last_mut() {
            context.line.picture_at(asset, &description);
        }
    }

    /// A property of a shape begins with its name.
    pub(crate) fn begin_property(&mut self) {
        self.property.clear();
        self.value.clear();
    }

    /// A shape ends whose description no picture took.
    pub(crate) fn text_of_description(&mut self, description: &str) {
        if let Some(context) = self.contexts.last_mut().filter(|_| !description.is_empty()) {
            context.line.push(description);
        }
    }
}
