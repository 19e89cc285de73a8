//! A message and the messages within it.

use mail_parser::{Message, MessagePart, MimeHeaders, PartType};
use quarry_document::encoding::Declaration;
use quarry_document::html;
use quarry_document::prose::Collector;
use quarry_model::{Asset, DocumentCode, DocumentFailure, Evidence, Limits, Parsed, Row, Warning};

use crate::attachment::{Attachments, is_picture};
use crate::{body, envelope, part};

/// Messages within messages deeper than this are named and not read; also what bounds recursion.
const NESTING: u32 = 32;
/// Parts of one message, multiparts within multiparts included; more is no message that anybody wrote.
const PARTS: usize = 10_000;

/// Reads a message.
pub(crate) fn read(message: &Message<'_>, limits: &Limits) -> Result<Parsed, DocumentFailure> {
    let mut out = Collector::new(limits);
    one(message, 1, &mut out)?;
    let mut parsed = out.finish();
    if parsed.rows.is_empty() && parsed.headings.is_empty() {
        return Err(DocumentFailure::new(DocumentCode::Empty, "the message holds no text"));
    }
    parsed.title = envelope::subject(message);
    parsed.partial |=
        parsed.warnings.iter().any(|warning| warning.code == DocumentCode::Encrypted || warning.code == DocumentCode::TooDeep);
    Ok(parsed)
}

/// One message below a heading of `level`.
fn one(message: &Message<'_>, level: u32, out: &mut Collector<'_>) -> Result<(), DocumentFailure> {
    if message.parts.len() > PARTS {
        return Err(DocumentFailure::new(DocumentCode::TooManyEntries, format!("{} parts in one message", message.parts.len())));
    }
    let subject = envelope::subject(message);
    if let Some(subject) = &subject {
        out.heading(subject, level, Evidence::Markup);
    } else if level > 1 {
        out.heading("Message without a subject", level, Evidence::Markup);
    }
    let lines = envelope::lines(message);
    if !lines.is_empty() {
        out.push(Row::text(out.section(), lines));
    }
    let mut content =
        Content { message, attachments: Attachments::default(), nested: Vec::new(), level, taken: vec![false; message.parts.len()] };
    content.part(0, out)?;
    let Content { attachments, nested, .. } = content;
    attachments.write(message, level.saturating_add(1), out)?;
    for inner in nested {
        if level >= NESTING {
            out.warn(Warning::new(DocumentCode::TooDeep, "messages nested deeper are not read"));
            break;
        }
        one(inner, level.saturating_add(1), out)?;
    }
    Ok(())
}

/// The parts of one message on the way through them.
struct Content<'m> {
    message: &'m Message<'m>,
    attachments: Attachments<'m>,
    nested: Vec<&'m Message<'m>>,
    level: u32,
    /// Parts that were visited: one that names itself as its own part is read once.
    taken: Vec<bool>,
}

impl<'m> Content<'m> {
    /// Reads a part. Multiparts nest as deep as their boundaries; recursion ends with the parts there are, each of
    /// which is visited once, and with [`NESTING`].
    fn part(&mut self, id: u32, out: &mut Collector<'_>) -> Result<(), DocumentFailure> {
        self.part_within(id, 0, out)
    }

    fn part_within(&mut self, id: u32, depth: u32, out: &mut Collector<'_>) -> Result<(), DocumentFailure> {
        let Some(part) = self.message.parts.get(id as usize) else { return Ok(()) };
        match self.taken.get_mut(id as usize) {
            Some(taken) if !*taken => *taken = true,
            _ => return Ok(()),
        }
        let kind = part::media_type(part);
        match &part.body {
            PartType::Multipart(_) if depth > NESTING => {
                out.warn(Warning::new(DocumentCode::TooDeep, "parts nested deeper are not read"));
                Ok(())
            }
            PartType::Multipart(parts) => self.multipart(&kind, parts, depth.saturating_add(1), out),
            PartType::Message(message) => {
                self.nested.push(message);
                Ok(())
            }
            PartType::Text(_) | PartType::Html(_) if part::is_attachment(part) => {
                self.attachments.add(part);
                Ok(())
            }
            PartType::Html(_) => self.html(part, out),
            PartType::Text(text) if kind.starts_with("text/") || kind.starts_with("multipart/") => {
                if kind == "text/plain" || kind.starts_with("multipart/") {
                    body::plain(&part::text(self.message, part, Declaration::Never), part, out);
                } else if !text.trim().is_empty() {
                    self.attachments.add(part);
                }
                Ok(())
            }
            _ if matches!(kind.as_str(), "application/pkcs7-mime" | "application/x-pkcs7-mime") && self.message.parts.len() == 1 => {
                out.warn(Warning::new(DocumentCode::Encrypted, "the text of the message is encrypted; only its headers are read"));
                self.attachments.add(part);
                Ok(())
            }
            _ => {
                self.attachments.add(part);
                Ok(())
            }
        }
    }

    fn multipart(&mut self, kind: &str, parts: &'m [u32], depth: u32, out: &mut Collector<'_>) -> Result<(), DocumentFailure> {
        match kind {
            "multipart/alternative" => match self.best(parts) {
                Some(best) => {
                    // The other forms say the same; what is no text (an invitation's calendar) is kept as a file.
                    for other in parts.iter().filter(|id| **id != best) {
                        let other_part = self.message.parts.get(*other as usize);
                        if let Some(other_part) = other_part.filter(|part| part::is_attachment(part)) {
                            self.attachments.add(other_part);
                        }
                    }
                    self.part_within(best, depth, out)
                }
                None => Ok(()),
            },
            "multipart/related" => self.related(parts, depth, out),
            "multipart/encrypted" => {
                out.warn(Warning::new(DocumentCode::Encrypted, "the text of the message is encrypted; only its headers are read"));
                Ok(())
            }
            _ => parts.iter().try_for_each(|id| self.part_within(*id, depth, out)),
        }
    }

    /// The form to read: HTML with words in it (it has the structure), else plain text, else the last.
    fn best(&self, parts: &[u32]) -> Option<u32> {
        let holds = |id: u32, wanted: fn(&MessagePart<'_>) -> bool| self.holds(id, wanted, 0);
        let rich = parts.iter().rev().find(|id| holds(**id, |part| matches!(&part.body, PartType::Html(html) if has_words(html))));
        let plain = parts.iter().rev().find(|id| holds(**id, |part| matches!(&part.body, PartType::Text(text) if !text.trim().is_empty())));
        rich.or(plain).or(parts.last()).copied()
    }

    /// Whether a part or one within it is wanted.
    fn holds(&self, id: u32, wanted: fn(&MessagePart<'_>) -> bool, depth: u32) -> bool {
        let Some(part) = self.message.parts.get(id as usize).filter(|_| depth <= NESTING) else { return false };
        match &part.body {
            PartType::Multipart(parts) => parts.iter().any(|id| self.holds(*id, wanted, depth.saturating_add(1))),
            _ => wanted(part),
        }
    }

    /// A page with what belongs to it: the root is read with the others at hand; what it does not show is an attachment.
    fn related(&mut self, parts: &'m [u32], depth: u32, out: &mut Collector<'_>) -> Result<(), DocumentFailure> {
        let Some((root, rest)) = parts.split_first() else { return Ok(()) };
        let mut files = Vec::new();
        for id in rest {
            let Some(part) = self.message.parts.get(*id as usize) else { continue };
            let names = names(part);
            if is_picture(part) && !names.is_empty() {
                if let Some(taken) = self.taken.get_mut(*id as usize) {
                    *taken = true;
                }
                let original_name = part::name(part).unwrap_or_default();
                // One name is enough to find it again when nothing shows it.
                let key = format!("{}:{id}", self.level);
                out.embedded().add(key.clone(), Asset { bytes: part::bytes(part).to_vec(), original_name });
                files.push((key, names, *id));
            }
        }
        let table: Vec<(String, Vec<String>)> = files.iter().map(|(key, names, _)| (key.clone(), names.clone())).collect();
        out.resolve_with(move |address| {
            let address = address.trim();
            table.iter().find(|(_, names)| names.iter().any(|name| name == address)).map(|(key, _)| key.clone())
        });
        self.part_within(*root, depth, out)?;
        let unused = out.embedded().unused();
        for (key, _, id) in files {
            if let Some(part) = self.message.parts.get(id as usize).filter(|_| unused.contains(&key)) {
                self.attachments.add(part);
            }
        }
        rest.iter().try_for_each(|id| self.part_within(*id, depth, out))
    }

    fn html(&mut self, part: &MessagePart<'_>, out: &mut Collector<'_>) -> Result<(), DocumentFailure> {
        html::read_body(&part::text(self.message, part, Declaration::Markup), out, self.level)
    }
}

/// What a picture is called in the page it belongs to.
pub(crate) fn names(part: &MessagePart<'_>) -> Vec<String> {
    let id = part.content_id().map(|id| format!("cid:{}", id.trim().trim_start_matches('<').trim_end_matches('>')));
    let place = part.content_location().map(|place| place.trim().to_owned());
    id.into_iter().chain(place).filter(|name| !name.is_empty()).collect()
}

fn has_words(html: &str) -> bool {
    let mut inside = false;
    html.chars().any(|c| {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            _ => {}
        }
        !inside && c.is_alphanumeric()
    })
}
