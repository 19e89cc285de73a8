//! What comes with a message beside its text.

use mail_parser::{Message, MessagePart};
use quarry_document::encoding::Declaration;
use quarry_document::html;
use quarry_document::prose::{Collector, Picture};
use quarry_model::{Asset, DocumentCode, DocumentFailure, Evidence, Row, Warning};

use crate::{body, part};

/// A larger text is listed and not read: it is a file of its own, not a note beside a message.
const TEXT_BYTES: usize = 1 << 20;

/// Attachments of one message, until they are listed at its end.
#[derive(Debug, Default)]
pub(crate) struct Attachments<'m> {
    list: Vec<(&'m MessagePart<'m>, String)>,
}

impl<'m> Attachments<'m> {
    /// Adds one.
    pub(crate) fn add(&mut self, attachment: &'m MessagePart<'m>) {
        let number = self.list.len().saturating_add(1);
        let name = part::name(attachment).unwrap_or_else(|| format!("attachment {number}"));
        self.list.push((attachment, name));
    }

    /// Lists them with name, type and size; adds pictures; reads those that are short text, each below a heading of its
    /// own at `level`.
    pub(crate) fn write(self, message: &Message<'_>, level: u32, out: &mut Collector<'_>) -> Result<(), DocumentFailure> {
        if self.list.is_empty() {
            return Ok(());
        }
        let lines: Vec<String> = self
            .list
            .iter()
            .map(|(file, name)| format!("- {name} ({}, {})", part::media_type(file), part::size(part::bytes(file).len())))
            .collect();
        out.push(Row::text(out.section(), format!("Attachments:\n{}", lines.join("\n"))));
        let section = out.section();
        for (index, (file, name)) in self.list.iter().enumerate().filter(|(_, (file, _))| is_picture(file)) {
            let key = format!("attachment:{}:{index}", file.offset_body);
            out.embedded().add(key.clone(), Asset { bytes: part::bytes(file).to_vec(), original_name: name.clone() });
            out.resolve_with(|address| Some(address.to_owned()));
            out.picture(section, &Picture { source: key, description: name.clone() });
        }
        let mut unread = Vec::new();
        for (file, name) in &self.list {
            if is_picture(file) {
                continue;
            }
            let kind = part::media_type(file);
            if !is_text(&kind) || part::bytes(file).len() > TEXT_BYTES {
                unread.push(name.as_str());
                continue;
            }
            out.heading(name, level, Evidence::Markup);
            if kind == "text/html" {
                out.resolve_with(|_| None);
                html::read_document(&part::text(message, file, Declaration::Markup), out)?;
            } else {
                body::paragraphs(&part::text(message, file, Declaration::Never), out);
            }
        }
        if !unread.is_empty() {
            out.warn(Warning::new(
                DocumentCode::Unsupported,
                format!("attachments are listed but not read; upload them by themselves: {}", unread.join(", ")),
            ));
        }
        Ok(())
    }
}

/// Whether a part is a picture.
pub(crate) fn is_picture(file: &MessagePart<'_>) -> bool {
    part::media_type(file).starts_with("image/")
}

fn is_text(kind: &str) -> bool {
    kind.starts_with("text/") && kind != "text/rtf"
        || matches!(kind, "application/json" | "application/xml" | "application/x-yaml" | "application/yaml")
        || kind.ends_with("+json")
        || kind.ends_with("+xml") && kind != "image/svg+xml"
}
