//! The file name an answer suggests.

use percent_encoding::percent_decode_str;
use url::Url;

/// The name out of `Content-Disposition` (RFC 6266: `filename*` before `filename`), else the last part of the address.
pub(crate) fn file_name(disposition: Option<&str>, url: &Url) -> Option<String> {
    let given = disposition.and_then(from_disposition);
    let last = || url.path_segments().and_then(|mut parts| parts.next_back()).map(decoded);
    given.or_else(last).and_then(|name| bare(&name))
}

fn from_disposition(value: &str) -> Option<String> {
    let parameter = |wanted: &str| {
        value.split(';').skip(1).find_map(|part| {
            let (name, value) = part.split_once('=')?;
            name.trim().eq_ignore_ascii_case(wanted).then(|| value.trim().trim_matches('"').to_owned())
        })
    };
    let extended = parameter("filename*").and_then(|value| {
        let (charset, rest) = value.split_once('\'')?;
        let (_, encoded) = rest.split_once('\'')?;
        charset.eq_ignore_ascii_case("utf-8").then(|| decoded(encoded))
    });
    extended.or_else(|| parameter("filename"))
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Without folders; nothing when nothing is left.
fn bare(name: &str) -> Option<String> {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default().trim();
    (!name.is_empty() && name != "." && name != "..").then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(disposition: Option<&str>, url: &str) -> Option<String> {
        file_name(disposition, &Url::parse(url).expect(url))
    }

    #[test]
    fn names() {
        assert_eq!(named(None, "https://a.example/docs/Pump%20manual.pdf?x=1").as_deref(), Some("Pump manual.pdf"));
        assert_eq!(named(None, "https://a.example/"), None);
        assert_eq!(named(Some("attachment; filename=\"a.docx\""), "https://a.example/x").as_deref(), Some("a.docx"));
        let both = "attachment; filename=\"e.pdf\"; filename*=UTF-8''%C3%A9t%C3%A9.pdf";
        assert_eq!(named(Some(both), "https://a.example/x").as_deref(), Some("été.pdf"));
        assert_eq!(named(Some("attachment; filename=\"../../etc/passwd\""), "https://a.example/x").as_deref(), Some("passwd"));
        assert_eq!(named(Some("attachment; filename=\"..\""), "https://a.example/x"), None);
    }
}
