//! Pulls events out of one part.

use std::borrow::Cow;

use quarry_model::{DocumentCode, DocumentFailure, Limits};
use quick_xml::events::{BytesRef, BytesStart, Event as Raw};

use super::{Ns, corrupt};

/// Namespace bindings in force at one time. Real parts hold about forty; a search through them is linear.
const MAX_BINDINGS: usize = 1_024;

/// What comes next. It borrows from the reader until the next call.
#[derive(Debug)]
pub enum Event<'r> {
    /// An element begins. An empty element gives `Start` and then `End`.
    Start {
        /// Its namespace.
        ns: Ns,
        /// Its name without prefix.
        name: &'r str,
        /// Its attributes, namespace declarations left out.
        attributes: Attributes<'r>,
    },
    /// Characters, entities and line ends resolved; one run of text may come in pieces.
    Text(Cow<'r, str>),
    /// The innermost open element ends.
    End,
}

/// The attributes of one element.
#[derive(Debug, Clone, Copy)]
pub struct Attributes<'r> {
    spans: &'r [Span],
    pool: &'r str,
}

impl<'r> Attributes<'r> {
    /// All of them in order: namespace, name without prefix, value.
    pub fn iter(self) -> impl Iterator<Item = (Ns, &'r str, &'r str)> {
        self.spans.iter().map(move |span| {
            let name = self.pool.get(span.start..span.value).unwrap_or_default();
            (span.ns, name, self.pool.get(span.value..span.end).unwrap_or_default())
        })
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.spans.len()
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.spans.is_empty()
    }
}

/// Where one attribute stands in the reader's buffer: its local name, then its value.
#[derive(Debug)]
struct Span {
    ns: Ns,
    start: usize,
    value: usize,
    end: usize,
}

#[derive(Debug)]
struct Binding {
    prefix: Box<str>,
    ns: Ns,
}

/// A bounded pull reader over decoded text.
pub struct Reader<'a> {
    inner: quick_xml::Reader<&'a [u8]>,
    max_depth: usize,
    max_attributes: usize,
    bindings: Vec<Binding>,
    /// The binding found last; most elements of a part share one prefix. Dropped whenever bindings change.
    latest: Option<usize>,
    /// Bindings in force before each open element.
    open: Vec<usize>,
    spans: Vec<Span>,
    pool: String,
    name: String,
    pending_end: bool,
}

impl<'a> Reader<'a> {
    /// A reader over one part's text.
    pub fn new(text: &'a str, limits: &Limits) -> Self {
        let mut inner = quick_xml::Reader::from_str(text.strip_prefix('\u{feff}').unwrap_or(text));
        inner.config_mut().allow_dangling_amp = true;
        Self {
            inner,
            max_depth: limits.xml_depth as usize,
            max_attributes: limits.xml_attributes as usize,
            bindings: Vec::new(),
            latest: None,
            open: Vec::new(),
            spans: Vec::new(),
            pool: String::new(),
            name: String::new(),
            pending_end: false,
        }
    }

    /// How many elements are open.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// The next event, or `None` at the end of a well-formed part.
    ///
    /// Fails with `TOO_DEEP`, with `TOO_LARGE` (attributes, namespaces), or with `CORRUPT`.
    #[allow(clippy::should_implement_trait, reason = "it lends from the reader, which an iterator cannot")]
    pub fn next(&mut self) -> Result<Option<Event<'_>>, DocumentFailure> {
        if self.pending_end {
            self.pending_end = false;
            self.close();
            return Ok(Some(Event::End));
        }
        loop {
            let at = self.inner.buffer_position();
            let event = self.inner.read_event().map_err(|error| corrupt(at, error))?;
            match event {
                Raw::Start(start) => return self.start(&start).map(Some),
                Raw::Empty(start) => {
                    self.pending_end = true;
                    return self.start(&start).map(Some);
                }
                Raw::End(_) => {
                    self.close();
                    return Ok(Some(Event::End));
                }
                Raw::Text(text) => {
                    if !self.open.is_empty() {
                        return Ok(Some(Event::Text(text.xml10_content())));
                    }
                }
                Raw::CData(text) => return Ok(Some(Event::Text(text.xml10_content()))),
                Raw::GeneralRef(reference) => return Ok(Some(Event::Text(Cow::Owned(resolve(&reference))))),
                Raw::Eof if self.open.is_empty() => return Ok(None),
                Raw::Eof => return Err(corrupt(at, "ends inside an element")),
                Raw::Decl(_) | Raw::PI(_) | Raw::Comment(_) | Raw::DocType(_) => {}
            }
        }
    }

    fn start(&mut self, start: &BytesStart<'_>) -> Result<Event<'_>, DocumentFailure> {
        if self.open.len() >= self.max_depth {
            return Err(DocumentFailure::new(DocumentCode::TooDeep, format!("XML elements nested deeper than {}", self.max_depth)));
        }
        self.open.push(self.bindings.len());
        self.spans.clear();
        self.pool.clear();
        let at = self.inner.buffer_position();
        let mut count = 0_usize;
        let mut prefixed: Vec<(usize, Box<str>)> = Vec::new();
        for attribute in start.attributes().with_checks(false) {
            let attribute = attribute.map_err(|error| corrupt(at, error))?;
            count = count.saturating_add(1);
            if count > self.max_attributes {
                return Err(DocumentFailure::new(
                    DocumentCode::TooLarge,
                    format!("an XML element with more than {} attributes", self.max_attributes),
                ));
            }
            let key = attribute.key.into_inner();
            let value = unescape(&attribute.value);
            if let Some(prefix) = key.strip_prefix("xmlns").filter(|rest| rest.is_empty() || rest.starts_with(':')) {
                self.bind(prefix.trim_start_matches(':'), &value)?;
                continue;
            }
            let (prefix, local) = key.split_once(':').unwrap_or(("", key));
            if !prefix.is_empty() {
                prefixed.push((self.spans.len(), prefix.into()));
            }
            let begin = self.pool.len();
            self.pool.push_str(local);
            let middle = self.pool.len();
            self.pool.push_str(&value);
            self.spans.push(Span { ns: Ns::None, start: begin, value: middle, end: self.pool.len() });
        }
        // Declarations may follow the attributes that use them, so prefixes are resolved once all are known.
        for (index, prefix) in prefixed {
            let ns = self.resolve(&prefix);
            if let Some(span) = self.spans.get_mut(index) {
                span.ns = ns;
            }
        }
        let qualified = start.name().into_inner();
        let (prefix, local) = qualified.split_once(':').unwrap_or(("", qualified));
        let ns = self.resolve(prefix);
        self.name.clear();
        self.name.push_str(local);
        Ok(Event::Start { ns, name: &self.name, attributes: Attributes { spans: &self.spans, pool: &self.pool } })
    }

    fn bind(&mut self, prefix: &str, name: &str) -> Result<(), DocumentFailure> {
        if self.bindings.len() >= MAX_BINDINGS {
            return Err(DocumentFailure::new(DocumentCode::TooLarge, format!("more than {MAX_BINDINGS} XML namespaces at once")));
        }
        self.bindings.push(Binding { prefix: prefix.into(), ns: Ns::of(name) });
        self.latest = None;
        Ok(())
    }

    fn close(&mut self) {
        let before = self.open.pop().unwrap_or_default();
        if before < self.bindings.len() {
            self.bindings.truncate(before);
            self.latest = None;
        }
    }

    fn resolve(&mut self, prefix: &str) -> Ns {
        if prefix == "xml" {
            return Ns::Xml;
        }
        if let Some(binding) = self.latest.and_then(|index| self.bindings.get(index)).filter(|binding| &*binding.prefix == prefix) {
            return binding.ns;
        }
        let found = self.bindings.iter().rposition(|binding| &*binding.prefix == prefix);
        match found.and_then(|index| self.bindings.get(index)) {
            Some(binding) => {
                self.latest = found;
                binding.ns
            }
            None if prefix.is_empty() => Ns::None,
            None => Ns::Other,
        }
    }
}

/// A reference in text: one of the five, a character, or itself as written.
pub(super) fn resolve(reference: &BytesRef<'_>) -> String {
    replacement(reference).map_or_else(|| format!("&{};", &**reference), String::from)
}

fn replacement(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16),
                None => number.parse(),
            };
            let character = char::from_u32(code.ok()?).unwrap_or(char::REPLACEMENT_CHARACTER);
            // Characters that XML does not allow are shown as damaged rather than passed on to stores and terminals.
            let allowed = !character.is_control() || matches!(character, '\t' | '\n' | '\r' | '\u{80}'..='\u{9f}');
            Some(if allowed { character } else { char::REPLACEMENT_CHARACTER })
        }
    }
}

/// An attribute's value with references resolved and white space as XML normalises it.
pub(super) fn unescape(raw: &str) -> Cow<'_, str> {
    if !raw.contains(['&', '\t', '\n', '\r']) {
        return Cow::Borrowed(raw);
    }
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find(['&', '\t', '\n', '\r']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let reference = from.strip_prefix('&').and_then(|body| body.split_once(';'));
        if let Some((character, after)) = reference.and_then(|(name, after)| Some((replacement(name)?, after))) {
            out.push(character);
            rest = after;
        } else {
            let mut characters = from.chars();
            out.push(if characters.next() == Some('&') { '&' } else { ' ' });
            rest = characters.as_str();
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}
