//! One part of a message: what it is, its name, its text in whatever encoding it is.

use mail_parser::decoders::base64::base64_decode;
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use mail_parser::{Encoding, Message, MessagePart, MimeHeaders, PartType};
use quarry_document::encoding::{self, Declaration};

/// A part's media type in lower case, `text/plain` when it names none.
pub(crate) fn media_type(part: &MessagePart<'_>) -> String {
    part.content_type().map_or_else(
        || "text/plain".to_owned(),
        |kind| format!("{}/{}", kind.c_type, kind.c_subtype.as_deref().unwrap_or("octet-stream")).to_ascii_lowercase(),
    )
}

/// Whether a part is to be kept as a file.
pub(crate) fn is_attachment(part: &MessagePart<'_>) -> bool {
    part.content_disposition().is_some_and(mail_parser::ContentType::is_attachment)
}

/// Its name, for people; control characters and folders cut off.
pub(crate) fn name(part: &MessagePart<'_>) -> Option<String> {
    let name = part.attachment_name()?;
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = name.chars().filter(|c| !c.is_control()).take(200).collect();
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    (!name.is_empty()).then_some(name)
}

/// Its bytes as sent, transfer encoding taken off.
pub(crate) fn bytes<'p>(part: &'p MessagePart<'_>) -> &'p [u8] {
    match &part.body {
        PartType::Binary(bytes) | PartType::InlineBinary(bytes) => bytes,
        PartType::Text(text) | PartType::Html(text) => text.as_bytes(),
        PartType::Message(message) => message.raw_message(),
        PartType::Multipart(_) => &[],
    }
}

/// Its text. One that names no encoding, or one that nobody knows, is looked at itself.
pub(crate) fn text(message: &Message<'_>, part: &MessagePart<'_>, declaration: Declaration) -> String {
    let named = part.content_type().and_then(|kind| kind.attribute("charset"));
    let known = named.is_some_and(|name| encoding_rs::Encoding::for_label(name.trim().as_bytes()).is_some());
    let text = match &part.body {
        PartType::Text(text) | PartType::Html(text) => text.as_ref(),
        PartType::Binary(bytes) | PartType::InlineBinary(bytes) => return encoding::decode(bytes, declaration).text.into_owned(),
        _ => "",
    };
    if known || !text.contains('\u{fffd}') {
        return text.to_owned();
    }
    let raw = message.raw_message().get(part.offset_body as usize..part.offset_end as usize).unwrap_or_default();
    let decoded = match part.encoding {
        Encoding::Base64 => base64_decode(raw),
        Encoding::QuotedPrintable => quoted_printable_decode(raw),
        Encoding::None => Some(raw.to_vec()),
    };
    decoded
        .filter(|bytes| !bytes.is_empty())
        .map_or_else(|| text.to_owned(), |bytes| encoding::decode(&bytes, declaration).text.into_owned())
}

/// A size for people.
pub(crate) fn size(bytes: usize) -> String {
    const STEP: usize = 1_024;
    match bytes {
        0..STEP => format!("{bytes} bytes"),
        STEP..1_048_576 => format!("{} KB", bytes.div_ceil(STEP)),
        _ => format!("{} MB", bytes.div_ceil(1_048_576)),
    }
}
