//! A JSON value whose numbers are text and whose objects keep their order and their repeated keys.
//!
//! `serde_json` says whether a text is JSON; what it would make of the numbers is not what was written, so the values
//! themselves are taken from the text.

use std::borrow::Cow;

use quarry_model::{DocumentCode, DocumentFailure};
use serde::de::IgnoredAny;

/// Deepest nesting. Data deeper than this is made to break readers.
pub(crate) const MAX_DEPTH: usize = 128;

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    /// `null`.
    Null,
    /// A number or a truth value, as written.
    Plain(&'a str),
    /// A string.
    Text(Cow<'a, str>),
    /// An array.
    Array(Vec<Value<'a>>),
    /// An object.
    Object(Vec<(Cow<'a, str>, Value<'a>)>),
}

impl<'a> Value<'a> {
    /// Reads one value that is the whole of `text`, and takes the number of its values off `left`.
    ///
    /// Fails with what is wrong and where (`CORRUPT`), `TOO_DEEP`, or `TOO_LARGE`.
    pub(crate) fn parse(text: &'a str, left: &mut u64) -> Result<Self, DocumentFailure> {
        serde_json::from_str::<IgnoredAny>(text).map_err(|error| DocumentFailure::new(DocumentCode::Corrupt, error.to_string()))?;
        Scanner { rest: text, open: Vec::new(), left }.scan()
    }

    /// What is shown of a value that holds no others; `None` for the two that do.
    pub(crate) fn scalar(&self) -> Option<&str> {
        match self {
            Self::Null => Some("null"),
            Self::Plain(text) => Some(text),
            Self::Text(text) => Some(text.trim()),
            Self::Array(_) | Self::Object(_) => None,
        }
    }

    /// Whether it holds nothing: `null`, an empty string, an empty array or object.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Plain(_) => false,
            Self::Text(text) => text.trim().is_empty(),
            Self::Array(items) => items.is_empty(),
            Self::Object(members) => members.is_empty(),
        }
    }

    /// What an object says it is called.
    pub(crate) fn title(&self) -> Option<&str> {
        const NAMES: [&str; 6] = ["title", "name", "label", "heading", "headline", "subject"];
        let Self::Object(members) = self else { return None };
        NAMES.iter().find_map(|name| {
            let (_, value) = members.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?;
            match value {
                Self::Text(text) => Some(text.trim()).filter(|text| !text.is_empty() && text.len() <= 300 && !text.contains('\n')),
                _ => None,
            }
        })
    }
}

enum Open<'a> {
    Array(Vec<Value<'a>>),
    Object(Vec<(Cow<'a, str>, Value<'a>)>, Option<Cow<'a, str>>),
}

/// Reads text that is known to be JSON. Nothing recurses.
struct Scanner<'a, 'l> {
    rest: &'a str,
    open: Vec<Open<'a>>,
    left: &'l mut u64,
}

impl<'a> Scanner<'a, '_> {
    fn scan(mut self) -> Result<Value<'a>, DocumentFailure> {
        loop {
            self.rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n', ',', ':']);
            let Some(first) = self.rest.bytes().next() else { return Ok(Value::Null) };
            let value = match first {
                b'{' | b'[' => {
                    self.advance(1);
                    self.begin(first)?;
                    continue;
                }
                b'}' | b']' => {
                    self.advance(1);
                    match self.open.pop() {
                        Some(Open::Array(items)) => Value::Array(items),
                        Some(Open::Object(members, _)) => Value::Object(members),
                        None => return Ok(Value::Null),
                    }
                }
                b'"' => {
                    let text = self.string();
                    if let Some(Open::Object(_, key @ None)) = self.open.last_mut() {
                        *key = Some(text);
                        continue;
                    }
                    Value::Text(text)
                }
                _ => match self.token() {
                    "null" => Value::Null,
                    token => Value::Plain(token),
                },
            };
            if let Some(whole) = self.attach(value)? {
                return Ok(whole);
            }
        }
    }

    fn begin(&mut self, bracket: u8) -> Result<(), DocumentFailure> {
        if self.open.len() >= MAX_DEPTH {
            return Err(DocumentFailure::new(DocumentCode::TooDeep, format!("JSON nested deeper than {MAX_DEPTH}")));
        }
        self.open.push(if bracket == b'{' { Open::Object(Vec::new(), None) } else { Open::Array(Vec::new()) });
        Ok(())
    }

    /// Puts a value where it belongs; gives it back when it is the outermost.
    fn attach(&mut self, value: Value<'a>) -> Result<Option<Value<'a>>, DocumentFailure> {
        let Some(left) = self.left.checked_sub(1) else {
            return Err(DocumentFailure::new(DocumentCode::TooLarge, "the file holds more values than a workbook may hold cells"));
        };
        *self.left = left;
        match self.open.last_mut() {
            None => return Ok(Some(value)),
            Some(Open::Array(items)) => items.push(value),
            Some(Open::Object(members, key)) => members.push((key.take().unwrap_or_default(), value)),
        }
        Ok(None)
    }

    fn advance(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    /// A string, from its opening quote.
    fn string(&mut self) -> Cow<'a, str> {
        let mut escaped = false;
        let mut escapes = false;
        let body = self.rest.get(1..).unwrap_or_default();
        let end = body.bytes().position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            escapes |= escaped;
            ends
        });
        let length = end.unwrap_or(body.len());
        let quoted = self.rest.get(..length.saturating_add(2)).unwrap_or(self.rest);
        self.advance(length.saturating_add(2));
        let raw = body.get(..length).unwrap_or_default();
        if escapes {
            // An escape that stands for no character (half a surrogate pair) stays as it is written.
            return serde_json::from_str::<String>(quoted).map_or(Cow::Borrowed(raw), Cow::Owned);
        }
        Cow::Borrowed(raw)
    }

    /// A number or a word.
    fn token(&mut self) -> &'a str {
        let end = self.rest.find([' ', '\t', '\r', '\n', ',', '}', ']']).unwrap_or(self.rest.len()).max(1);
        let token = self.rest.get(..end).unwrap_or(self.rest);
        self.advance(token.len().max(1));
        token
    }
}
