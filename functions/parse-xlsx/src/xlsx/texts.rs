//! Reads the table of shared texts, and how texts write characters that XML cannot.

use std::borrow::Cow;

use quarry_document::Warnings;
use quarry_document::xml::{Stream, StreamEvent};
use quarry_model::{DocumentCode, DocumentFailure, Limits};
use quarry_office::package::Package;

use crate::strings::Strings;

/// Reads the part. Damage costs the texts that come after it.
pub(super) fn read(package: &mut Package<'_>, part: &str, limits: &Limits, warnings: &mut Warnings) -> Result<Strings, DocumentFailure> {
    let mut strings = Strings::default();
    let Some(bytes) = package.stream(part)? else {
        warnings.partial(DocumentCode::Corrupt, format!("part {part} is missing"));
        return Ok(strings);
    };
    match fill(&mut strings, Stream::new(bytes, limits)?) {
        Err(failure) if failure.code == DocumentCode::Corrupt => warnings.partial(failure.code, format!("part {part}: {}", failure.detail)),
        other => other?,
    }
    Ok(strings)
}

fn fill<R: std::io::Read>(strings: &mut Strings, mut stream: Stream<R>) -> Result<(), DocumentFailure> {
    let mut text = String::new();
    let (mut inside, mut reading) = (false, false);
    while let Some(event) = stream.next()? {
        match event {
            StreamEvent::Start(tag) => match tag.name() {
                "si" => text.clear(),
                "t" => inside = !reading,
                // How an East Asian word is read aloud stands beside it.
                "rPh" => reading = true,
                _ => {}
            },
            StreamEvent::Text(piece) if inside => text.push_str(&piece),
            StreamEvent::Text(_) => {}
            StreamEvent::End(tag) => match tag.name() {
                "si" => strings.push(&unescape(&text)),
                "t" => inside = false,
                "rPh" => reading = false,
                _ => {}
            },
        }
    }
    Ok(())
}

/// `_x000D_` stands for the character of that number, `_x005F_` for the underscore that begins such a thing.
pub(super) fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains("_x") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("_x") {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let code = from.get(2..6).filter(|_| from.get(6..7) == Some("_")).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        match code.and_then(char::from_u32) {
            Some(character) => {
                if !character.is_control() || matches!(character, '\n' | '\t') {
                    out.push(character);
                }
                rest = from.get(7..).unwrap_or_default();
            }
            None => {
                out.push_str("_x");
                rest = from.get(2..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_joined_and_readings_left_out() {
        let xml = "<sst><si><t>plain</t></si><si><r><t>ri</t></r><r><rPr><b/></rPr><t xml:space=\"preserve\">ch </t></r></si>\
                   <si><t>東京</t><rPh sb=\"0\" eb=\"2\"><t>トウキョウ</t></rPh></si><si/></sst>";
        let mut strings = Strings::default();
        fill(&mut strings, Stream::new(xml.as_bytes(), &Limits::default()).unwrap()).unwrap();
        assert_eq!((0..5).map(|n| strings.get(n)).collect::<Vec<_>>(), [Some("plain"), Some("rich "), Some("東京"), Some(""), None]);
    }

    #[test]
    fn escapes() {
        assert_eq!(unescape("a_x000D_\nb_x005F_x0041_ _x00e9_ _x12 _xZZZZ_"), "a\nb_x0041_ é _x12 _xZZZZ_");
    }
}
