//! A web page saved with everything it shows.

use mail_parser::{Message, MessagePart, MimeHeaders, PartType};
use quarry_document::encoding::Declaration;
use quarry_document::html;
use quarry_document::prose::Collector;
use quarry_model::{Asset, DocumentCode, DocumentFailure, Limits, Parsed, Row};

use crate::attachment::is_picture;
use crate::message::names;
use crate::{envelope, part};

/// Reads the page: its main part, then the pages framed in it, with the pictures that were saved with them.
pub(crate) fn read(message: &Message<'_>, limits: &Limits) -> Result<Parsed, DocumentFailure> {
    let pages: Vec<&MessagePart<'_>> = message.parts.iter().filter(|part| matches!(part.body, PartType::Html(_))).collect();
    let start = message.parts.first().and_then(|root| root.content_type()).and_then(|kind| kind.attribute("start")).map(bare);
    let main = pages.iter().position(|page| start.is_some() && page.content_id().map(bare) == start).unwrap_or(0);
    let Some(first) = pages.get(main) else {
        return Err(DocumentFailure::new(DocumentCode::Empty, "the archive holds no page"));
    };
    let mut out = Collector::new(limits);
    let mut table: Vec<(String, Vec<String>)> = Vec::new();
    for (index, picture) in message.parts.iter().enumerate().filter(|(_, part)| is_picture(part)) {
        let key = format!("part:{index}");
        let original_name = part::name(picture).unwrap_or_default();
        out.embedded().add(key.clone(), Asset { bytes: part::bytes(picture).to_vec(), original_name });
        table.push((key, names(picture)));
    }
    let mut title = None;
    let framed = pages.iter().enumerate().filter(|(index, _)| *index != main).map(|(_, page)| page);
    for page in std::iter::once(first).chain(framed) {
        let base = page.content_location().map(str::to_owned).unwrap_or_default();
        let table = table.clone();
        out.resolve_with(move |address| {
            let whole = join(&base, address.trim());
            table.iter().find(|(_, names)| names.iter().any(|name| *name == whole || name == address.trim())).map(|(key, _)| key.clone())
        });
        let own = html::read_document(&part::text(message, page, Declaration::Markup), &mut out)?;
        title = title.or(own);
    }
    let title = title.or_else(|| envelope::subject(message));
    let mut parsed = out.finish();
    if parsed.rows.is_empty() && parsed.headings.is_empty() {
        let Some(title) = &title else {
            return Err(DocumentFailure::new(DocumentCode::Empty, "the saved page holds no text that can be read without running it"));
        };
        parsed.rows.push(Row::text(None, title.clone()));
    }
    parsed.title = title;
    Ok(parsed)
}

fn bare(id: &str) -> String {
    id.trim().trim_start_matches('<').trim_end_matches('>').to_owned()
}

/// An address relative to that of its page, as far as saved pages need it (RFC 3986 without dot segments of the base).
fn join(base: &str, address: &str) -> String {
    let scheme = address.split_once(':').is_some_and(|(scheme, _)| !scheme.is_empty() && scheme.bytes().all(|b| b.is_ascii_alphanumeric()));
    if scheme || base.is_empty() {
        return address.to_owned();
    }
    let Some((scheme, rest)) = base.split_once("://") else { return address.to_owned() };
    let host_end = rest.find('/').unwrap_or(rest.len());
    let (host, path) = rest.split_at(host_end);
    if let Some(other) = address.strip_prefix("//") {
        return format!("{scheme}://{other}");
    }
    if address.starts_with('/') {
        return format!("{scheme}://{host}{address}");
    }
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let mut segments: Vec<&str> = path.rsplit_once('/').map(|(folder, _)| folder.split('/').collect()).unwrap_or_default();
    for segment in address.split('/') {
        match segment {
            "." => {}
            ".." => {
                segments.pop();
            }
            segment => segments.push(segment),
        }
    }
    let joined = segments.join("/");
    format!("{scheme}://{host}/{}", joined.trim_start_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn addresses_are_relative_to_their_page() {
        let base = "http://host.example/a/b/page.html?q=1";
        for (address, whole) in [
            ("x.png", "http://host.example/a/b/x.png"),
            ("../x.png", "http://host.example/a/x.png"),
            ("../../../x.png", "http://host.example/x.png"),
            ("/x.png", "http://host.example/x.png"),
            ("//other.example/x.png", "http://other.example/x.png"),
            ("cid:1@x", "cid:1@x"),
        ] {
            assert_eq!(join(base, address), whole);
        }
    }
}
