//! Kinds of text. Content decides where it can (markup, mail headers, JSON); between plain text, Markdown and tables the
//! extension does, for any text can be any of them.

use std::borrow::Cow;

use quarry_document::encoding::{self, Declaration};
use quarry_model::Format;
use serde::de::IgnoredAny;

/// Lines looked at for tables and Markdown.
const LINES: usize = 200;

/// A kind of text and the encoding it is written in.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) format: Format,
    pub(super) encoding: String,
}

/// Why bytes are not a text file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NotText {
    /// Nothing but white space.
    Blank,
    /// Not text in any encoding.
    Binary,
}

/// Whether a format's source is text.
pub(super) fn is_text_format(format: Format) -> bool {
    matches!(
        format,
        Format::Csv
            | Format::Tsv
            | Format::Markdown
            | Format::Text
            | Format::Html
            | Format::Mhtml
            | Format::Xml
            | Format::Eml
            | Format::Json
            | Format::Jsonl
            | Format::Fragment
    )
}

/// What kind of text a file is that begins with `head` (and is no longer, when `whole`).
pub(super) fn format_of_text(head: &[u8], whole: bool, claimed: Option<Format>) -> Result<Found, NotText> {
    if head.iter().all(u8::is_ascii_whitespace) {
        return Err(NotText::Blank);
    }
    if !encoding::looks_like_text(head) {
        return Err(NotText::Binary);
    }
    let decoded = encoding::decode(head, Declaration::Markup);
    let sample = Sample { text: decoded.text.trim_start_matches(['\u{FEFF}', ' ', '\t', '\r', '\n']), whole };
    if sample.text.is_empty() && whole {
        return Err(NotText::Blank);
    }
    let format = match claimed {
        Some(claimed) if is_text_format(claimed) && sample.fits(claimed) => claimed,
        _ => sample.sniff(),
    };
    Ok(Found { format, encoding: decoded.charset.label().to_owned() })
}

/// The beginning of a text, without leading white space.
struct Sample<'a> {
    text: &'a str,
    whole: bool,
}

impl Sample<'_> {
    /// Whether the text can be what its extension says.
    fn fits(&self, claimed: Format) -> bool {
        match claimed {
            Format::Html => true,
            Format::Xml => self.text.starts_with('<') && !self.is_html_page(),
            Format::Json | Format::Fragment => self.text.starts_with(['{', '[']) || self.json() == Json::One,
            Format::Jsonl => self.text.starts_with(['{', '[', '"']),
            Format::Eml => self.mail_headers() >= 1,
            Format::Mhtml => self.mail_headers() >= 1 && self.is_web_archive(),
            _ => !self.is_html_page() && !self.text.starts_with("{\\rtf"),
        }
    }

    /// What the text is by itself.
    fn sniff(&self) -> Format {
        if self.is_html_page() {
            return Format::Html;
        }
        if self.text.starts_with("<?xml") {
            return Format::Xml;
        }
        if self.mail_headers() >= 2 {
            return if self.is_web_archive() { Format::Mhtml } else { Format::Eml };
        }
        match self.json() {
            Json::One => return Format::Json,
            Json::Lines => return Format::Jsonl,
            Json::None => {}
        }
        if let Some(name) = self.first_element() {
            return if HTML_ELEMENTS.contains(&name.as_ref()) { Format::Html } else { Format::Xml };
        }
        self.table().unwrap_or_else(|| if self.is_markdown() { Format::Markdown } else { Format::Text })
    }

    /// Whether a page begins here, for certain: the doctype or the root element of HTML, after declarations and comments.
    fn is_html_page(&self) -> bool {
        let rest = after_prolog(self.text);
        starts_with_word(rest, "<!doctype html") || starts_with_word(rest, "<html")
    }

    /// The name of the element the text begins with, in lower case; `None` unless it is closed in the sample or the
    /// sample is cut off.
    fn first_element(&self) -> Option<Cow<'_, str>> {
        let rest = after_prolog(self.text).strip_prefix('<')?;
        if rest.starts_with('!') {
            return Some(Cow::Borrowed("!"));
        }
        let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.')))?;
        let name = rest.get(..end).filter(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '_'))?;
        // An address in angle brackets begins like an element too.
        let next = rest.get(end..)?.chars().next()?;
        if !(next.is_whitespace() || matches!(next, '>' | '/')) || name.ends_with(':') {
            return None;
        }
        let closed = rest.contains(&format!("</{name}")) || rest.get(end..)?.trim_start().starts_with("/>");
        (closed || !self.whole || HTML_ELEMENTS.contains(&name.to_ascii_lowercase().as_str()))
            .then(|| Cow::Owned(name.to_ascii_lowercase()))
    }

    /// How many headers of a mail message the text begins with; 0 when it begins with anything else.
    fn mail_headers(&self) -> usize {
        let mut known = 0usize;
        for (index, line) in self.text.lines().take(LINES).enumerate() {
            if line.is_empty() {
                return known;
            }
            if line.starts_with([' ', '\t']) || (index == 0 && line.starts_with("From ")) {
                continue;
            }
            let Some((name, _)) = line.split_once(':') else { return 0 };
            if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_') {
                return 0;
            }
            known = known.saturating_add(usize::from(MAIL_HEADERS.iter().any(|header| header.eq_ignore_ascii_case(name))));
        }
        known
    }

    /// Whether the headers are those of a saved web page.
    fn is_web_archive(&self) -> bool {
        let headers = self.text.split("\n\n").next().unwrap_or_default();
        let headers = headers.split("\r\n\r\n").next().unwrap_or_default().to_ascii_lowercase();
        headers.contains("multipart/related") && (headers.contains("snapshot-content-location") || headers.contains("saved by"))
            || headers.contains("multipart/related") && headers.contains("type=\"text/html\"") && !headers.contains("\nto:")
    }

    fn json(&self) -> Json {
        if !self.text.starts_with(['{', '[']) {
            let scalar = self.whole && serde_json::from_str::<IgnoredAny>(self.text).is_ok();
            return if scalar { Json::One } else { Json::None };
        }
        let mut values = serde_json::Deserializer::from_str(self.text).into_iter::<IgnoredAny>();
        let mut complete = 0usize;
        loop {
            match values.next() {
                Some(Ok(_)) => complete = complete.saturating_add(1),
                None => break,
                // Cut off by the end of the sample: so far all was well.
                Some(Err(error)) if error.is_eof() && !self.whole => {
                    return if complete == 0 { Json::One } else { Json::Lines };
                }
                Some(Err(_)) => return Json::None,
            }
        }
        if complete == 1 { Json::One } else { Json::Lines }
    }

    /// A table of separated values: every line has the same number of separators. Lines of prose have one comma each
    /// often enough, so commas must come twice.
    fn table(&self) -> Option<Format> {
        let mut lines: Vec<&str> = self.text.lines().take(LINES).filter(|line| !line.trim().is_empty()).collect();
        if !self.whole && lines.len() < LINES {
            lines.pop();
        }
        if lines.len() < 3 {
            return None;
        }
        [('\t', 1, Format::Tsv), (',', 2, Format::Csv), (';', 2, Format::Csv)].into_iter().find_map(|(separator, least, format)| {
            let mut counts = lines.iter().map(|line| line.matches(separator).count());
            let first = counts.next().filter(|count| *count >= least)?;
            counts.all(|count| count == first).then_some(format)
        })
    }

    /// Whether at least two habits of Markdown show.
    fn is_markdown(&self) -> bool {
        if self.text.starts_with("#!") {
            return false;
        }
        let mut seen = [false; 6];
        let [heading, fence, link, rule, list, strong] = &mut seen;
        for line in self.text.lines().take(LINES) {
            let line = line.trim_end();
            let hashes = line.bytes().take_while(|b| *b == b'#').count();
            *heading |= (1..=6).contains(&hashes) && line.get(hashes..).is_some_and(|rest| rest.starts_with(' '));
            *fence |= line.starts_with("```") || line.starts_with("~~~");
            *link |= line.contains("](");
            *rule |= line.len() >= 3 && line.contains("---") && line.bytes().all(|b| matches!(b, b'|' | b'-' | b':' | b' '));
            *list |= line.starts_with("- ") || line.starts_with("* ");
            *strong |= line.matches("**").count() >= 2;
        }
        seen.into_iter().filter(|habit| *habit).count() >= 2
    }
}

#[derive(PartialEq, Eq)]
enum Json {
    None,
    One,
    Lines,
}

/// The text after XML declarations, processing instructions and comments.
fn after_prolog(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let end = if rest.starts_with("<?") {
            rest.find("?>").map(|at| at.saturating_add(2))
        } else if rest.starts_with("<!--") {
            rest.find("-->").map(|at| at.saturating_add(3))
        } else {
            return rest;
        };
        match end.and_then(|end| rest.get(end..)) {
            Some(after) => rest = after.trim_start(),
            None => return rest,
        }
    }
}

/// Whether `text` begins with `word` in any case, followed by something that ends a word.
fn starts_with_word(text: &str, word: &str) -> bool {
    let Some(start) = text.get(..word.len()) else { return false };
    start.eq_ignore_ascii_case(word) && text.get(word.len()..).and_then(|rest| rest.chars().next()).is_none_or(|c| !c.is_alphanumeric())
}

const MAIL_HEADERS: &[&str] = &[
    "From",
    "To",
    "Cc",
    "Date",
    "Subject",
    "Message-ID",
    "MIME-Version",
    "Received",
    "Return-Path",
    "Delivered-To",
    "Reply-To",
    "Sender",
    "Content-Type",
    "Content-Transfer-Encoding",
    "DKIM-Signature",
    "In-Reply-To",
    "References",
    "Snapshot-Content-Location",
];

const HTML_ELEMENTS: &[&str] = &[
    "a",
    "article",
    "aside",
    "b",
    "base",
    "blockquote",
    "body",
    "br",
    "button",
    "center",
    "code",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "fieldset",
    "figure",
    "font",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "i",
    "iframe",
    "img",
    "input",
    "label",
    "li",
    "link",
    "main",
    "meta",
    "nav",
    "ol",
    "p",
    "pre",
    "script",
    "section",
    "small",
    "span",
    "strong",
    "style",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "title",
    "tr",
    "u",
    "ul",
];
