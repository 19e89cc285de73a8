//! Where the readers of text formats put what they find: rows in order, headings, pictures, warnings.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use quarry_model::{Asset, DocumentCode, Evidence, Heading, Limits, Parsed, Row, RowRef, Warning};

use crate::grid::BuiltTable;

/// Browsers read padded and unpadded base64, and forgive trailing bits.
const FORGIVING: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true).with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
/// A longer address is cut where it is shown.
const ADDRESS_CHARS: usize = 2_000;

/// A picture as a text format names it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Picture {
    /// Its address, or a `data:` URI.
    pub source: String,
    /// Caption, alternative text, title: what is said of it, best first; empty for nothing.
    pub description: String,
}

/// Pictures that a document brings along beside its text: parts of a container, of a message.
#[derive(Debug, Default)]
pub struct Embedded {
    pictures: BTreeMap<String, Asset>,
    stored: BTreeMap<String, usize>,
}

impl Embedded {
    /// Adds a picture under the name that addresses are resolved to; the first of a name counts.
    pub fn add(&mut self, name: String, asset: Asset) {
        self.pictures.entry(name).or_insert(asset);
    }

    /// Names of pictures that no text has shown so far, in order.
    pub fn unused(&self) -> Vec<String> {
        self.pictures.keys().cloned().collect()
    }
}

/// Turns an address in the text into the name of an embedded picture.
type Resolve<'a> = Box<dyn Fn(&str) -> Option<String> + 'a>;

/// Where an element with a watched id stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The row that comes next.
    pub row: usize,
    /// The heading that comes next, or the one it stands in.
    pub heading: usize,
}

/// Collects the rows of one document.
pub struct Collector<'a> {
    limits: &'a Limits,
    parsed: Parsed,
    section: Option<usize>,
    unreadable_pictures: usize,
    dropped_cells: u64,
    embedded: Embedded,
    resolve: Option<Resolve<'a>>,
    heading_rows: Vec<usize>,
    watched: BTreeSet<String>,
    anchors: BTreeMap<String, Place>,
    note_marks: BTreeMap<String, String>,
}

impl<'a> Collector<'a> {
    /// An empty document.
    pub fn new(limits: &'a Limits) -> Self {
        Self {
            limits,
            parsed: Parsed::default(),
            section: None,
            unreadable_pictures: 0,
            dropped_cells: 0,
            embedded: Embedded::default(),
            resolve: None,
            heading_rows: Vec::new(),
            watched: BTreeSet::new(),
            anchors: BTreeMap::new(),
            note_marks: BTreeMap::new(),
        }
    }

    /// The limits in force.
    pub fn limits(&self) -> &'a Limits {
        self.limits
    }

    /// The pictures the document brings along.
    pub fn embedded(&mut self) -> &mut Embedded {
        &mut self.embedded
    }

    /// How addresses in the text that follows lead to embedded pictures.
    pub fn resolve_with(&mut self, resolve: impl Fn(&str) -> Option<String> + 'a) {
        self.resolve = Some(Box::new(resolve));
    }

    /// Takes note that `mark` in the text refers to the note with this id.
    pub fn refer_to_note(&mut self, id: String, mark: String) {
        self.note_marks.insert(id, mark);
    }

    /// The mark by which the text referred to the note with this id last.
    pub fn note_mark(&self, id: &str) -> Option<String> {
        self.note_marks.get(id).cloned()
    }

    /// Takes note of where these ids stand in the text that follows.
    pub fn watch(&mut self, ids: BTreeSet<String>) {
        self.watched = ids;
        self.anchors.clear();
    }

    /// Where the watched ids were found.
    pub fn anchors(&self) -> &BTreeMap<String, Place> {
        &self.anchors
    }

    /// An element with this id begins here.
    pub fn anchor(&mut self, id: &str) {
        if self.watched.contains(id) {
            let place = self.place();
            self.anchors.entry(id.to_owned()).or_insert(place);
        }
    }

    /// What comes next.
    pub fn place(&self) -> Place {
        Place { row: self.parsed.rows.len(), heading: self.parsed.headings.len() }
    }

    /// For each heading so far, the row that followed it.
    pub fn heading_rows(&self) -> &[usize] {
        &self.heading_rows
    }

    /// The section rows are put into: the last heading.
    pub fn section(&self) -> Option<usize> {
        self.section
    }

    /// Where the next row will stand.
    pub fn next_row(&self) -> usize {
        self.parsed.rows.len()
    }

    /// The rows so far, for what a reader learns about one only later.
    pub fn rows_mut(&mut self) -> &mut Vec<Row> {
        &mut self.parsed.rows
    }

    /// Opens a section. White space in the title is folded; a title without any text opens nothing.
    pub fn heading(&mut self, title: &str, level: u32, evidence: Evidence) {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        if title.is_empty() {
            return;
        }
        self.section = Some(self.parsed.headings.len());
        self.heading_rows.push(self.parsed.rows.len());
        self.parsed.headings.push(Heading { title, number: None, level: level.max(1), page: None, evidence });
    }

    /// Adds a row as it is, and says where it stands.
    pub fn push(&mut self, row: Row) -> usize {
        let index = self.parsed.rows.len();
        self.parsed.rows.push(row);
        index
    }

    /// Adds a table to the open section.
    pub fn table(&mut self, built: BuiltTable) -> usize {
        self.dropped_cells = self.dropped_cells.saturating_add(built.dropped_cells);
        self.push(Row::table(self.section, built.table))
    }

    /// Adds a picture to `section`: with its bytes when the document itself holds them, otherwise as what is said of it
    /// and its address. Nothing is ever fetched.
    pub fn picture(&mut self, section: Option<usize>, picture: &Picture) -> usize {
        let description = picture.description.split_whitespace().collect::<Vec<_>>().join(" ");
        let source = picture.source.trim();
        let data = source.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"));
        if let Some(asset) = self.embedded_asset(source) {
            return self.push(Row::image(section, asset, description));
        }
        if !data {
            let content = match (description.is_empty(), source.is_empty()) {
                (_, true) => description,
                (true, false) => shown(source),
                (false, false) => format!("{description} ({})", shown(source)),
            };
            return self.push(Row { asset: None, ..Row::image(section, 0, content) });
        }
        let Some(bytes) = self.decode(source) else {
            self.unreadable_pictures = self.unreadable_pictures.saturating_add(1);
            return self.push(Row { asset: None, ..Row::image(section, 0, description) });
        };
        let asset = self.parsed.assets.len();
        self.parsed.assets.push(Asset { bytes, original_name: String::new() });
        self.push(Row::image(section, asset, description))
    }

    /// Adds the pictures of a block; those whose bytes are kept are embedded at the end of the block's row, `host`.
    pub fn pictures(&mut self, section: Option<usize>, pictures: Vec<Picture>, host: Option<usize>, source_span: Option<(u64, u64)>) {
        for picture in pictures {
            let at = self.picture(section, &picture);
            let Some(row) = self.parsed.rows.get_mut(at) else { continue };
            row.source_span = source_span;
            let embedded = row.asset.is_some();
            if let Some(host) = host.filter(|_| embedded).and_then(|host| self.parsed.rows.get_mut(host)) {
                let end = host.content.chars().count();
                host.refs.push(RowRef { row: at, at: end });
            }
        }
    }

    /// The asset of an embedded picture; its bytes are moved out the first time.
    fn embedded_asset(&mut self, address: &str) -> Option<usize> {
        let name = self.resolve.as_ref()?(address)?;
        if let Some(asset) = self.embedded.pictures.remove(&name) {
            self.embedded.stored.insert(name.clone(), self.parsed.assets.len());
            self.parsed.assets.push(asset);
        }
        self.embedded.stored.get(&name).copied()
    }

    fn decode(&self, uri: &str) -> Option<Vec<u8>> {
        let (head, body) = uri.get(5..)?.split_once(',')?;
        let head = head.to_ascii_lowercase();
        if !head.trim_start().starts_with("image/") || body.len() as u64 > self.limits.stream_bytes {
            return None;
        }
        let bytes = percent_decoded(body);
        if !head.split(';').any(|parameter| parameter.trim() == "base64") {
            return (!bytes.is_empty()).then_some(bytes);
        }
        let tight: Vec<u8> = bytes.into_iter().filter(|b| !b.is_ascii_whitespace()).collect();
        FORGIVING.decode(tight).ok().filter(|bytes| !bytes.is_empty())
    }

    /// Tells of something that was not read in full.
    pub fn warn(&mut self, warning: Warning) {
        self.parsed.warnings.push(warning);
    }

    /// Everything collected.
    pub fn finish(mut self) -> Parsed {
        if self.unreadable_pictures > 0 {
            let message = format!("{} pictures inside the text could not be decoded", self.unreadable_pictures);
            self.parsed.warnings.push(Warning::new(DocumentCode::Corrupt, message));
            self.parsed.partial = true;
        }
        if self.dropped_cells > 0 {
            let message = format!("{} table cells beyond {} in one table were left out", self.dropped_cells, self.limits.table_cells);
            self.parsed.warnings.push(Warning::new(DocumentCode::TooLarge, message));
            self.parsed.partial = true;
        }
        self.parsed
    }
}

fn shown(address: &str) -> String {
    address.chars().filter(|c| !c.is_control()).take(ADDRESS_CHARS).collect()
}

/// Bytes that a percent-encoded text stands for.
pub fn percent_decoded(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let digits = (ahead.next(), ahead.next());
        match (byte, digits) {
            (b'%', (Some(high), Some(low))) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                out.push(hex_value(high) << 4 | hex_value(low));
                bytes = ahead;
            }
            _ => out.push(byte),
        }
    }
    out
}

fn hex_value(digit: u8) -> u8 {
    char::from(digit).to_digit(16).and_then(|d| u8::try_from(d).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(source: &str, description: &str) -> Picture {
        Picture { source: source.into(), description: description.into() }
    }

    #[test]
    fn pictures_are_decoded_or_named_never_fetched() {
        let limits = Limits::default();
        let mut collector = Collector::new(&limits);
        for source in ["data:image/gif;base64,R0lG ODlh", "data:image/gif;base64,R0lGODlh", "DATA:image/svg+xml,%3Csvg%2F%3E"] {
            collector.picture(None, &picture(source, "a  chart"));
        }
        collector.picture(None, &picture("http://169.254.169.254/x.png", "remote"));
        collector.picture(None, &picture("file:///etc/passwd", ""));
        collector.picture(None, &picture("data:text/html,<b>", "no picture"));
        let parsed = collector.finish();
        assert_eq!(parsed.assets.iter().map(|a| a.bytes.as_slice()).collect::<Vec<_>>(), [&b"GIF89a"[..], b"GIF89a", b"<svg/>"]);
        let said: Vec<&str> = parsed.rows.iter().map(|r| r.content.as_str()).collect();
        assert_eq!(said, ["a chart", "a chart", "a chart", "remote (http://169.254.169.254/x.png)", "file:///etc/passwd", "no picture"]);
        assert!(parsed.rows[3..].iter().all(|row| row.asset.is_none()));
        assert_eq!((parsed.warnings.len(), parsed.partial), (1, true));
    }

    #[test]
    fn headings_open_sections() {
        let limits = Limits::default();
        let mut collector = Collector::new(&limits);
        collector.heading(" \n", 1, Evidence::Markup);
        assert_eq!(collector.section(), None);
        collector.heading(" A\n  b ", 2, Evidence::Markup);
        assert_eq!(collector.section(), Some(0));
        assert_eq!(collector.finish().headings[0].title, "A b");
    }
}
