//! The request: `{"title", "text", "chunks"}`, all optional, at least one of the last two; or an array of chunks; or a
//! string.
//!
//! A chunk is a string, or `{"content", "type", "section", "path", "page_nums", "metadata"}`. `type` is `text` (the
//! default), `table` (`content` in HTML) or `image` (`content` says what it shows). `section` is a title, or an array of
//! titles from the top. `path` is a path as `chunks.json` has it, file name first. `metadata.page_nums` and
//! `metadata.hidden` mean what they mean there; other metadata of a single value is kept as lines `key: value` beside the
//! content. What follows from the content (`chunk_id`, `ordinal`, `metadata.tokens`, …) is accepted, so that
//! `chunks.json` itself can be posted, and is made anew.

use quarry_model::{DocumentCode, DocumentFailure, path};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Longest title of a section, in characters.
const TITLE_CHARS: usize = 300;
/// Metadata that follows from the content.
const COMPUTED: [&str; 12] = [
    "length",
    "token_count",
    "summary",
    "tokens",
    "keywords",
    "lang",
    "file_path",
    "section_id",
    "boxes",
    "connect_to",
    "document_top_summary",
    "rows",
];

/// What was posted.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Fragment {
    /// The document's title.
    pub title: Option<String>,
    /// Text before all chunks.
    pub text: String,
    /// Chunks in reading order.
    pub chunks: Vec<Chunk>,
}

/// What a chunk is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Running text.
    #[default]
    Text,
    /// A table in HTML.
    Table,
    /// What a picture shows.
    Image,
}

/// One chunk.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    /// What it is.
    pub kind: Kind,
    /// Its text, without the marks of assets that were not sent.
    pub content: String,
    /// Titles of the sections it stands in, from the top.
    pub section: Vec<String>,
    /// Pages, from 1, ascending.
    pub pages: Vec<u32>,
    /// Whether its source hides it.
    pub hidden: bool,
    /// What else the caller says of it.
    pub said: Vec<(String, String)>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Posted {
    Text(String),
    Chunks(Vec<Value>),
    Object(Map<String, Value>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    title: Option<String>,
    text: Option<String>,
    #[serde(default)]
    chunks: Vec<Value>,
    #[serde(rename = "schema_version")]
    _schema_version: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenChunk {
    content: String,
    #[serde(rename = "type", default)]
    kind: Kind,
    section: Option<Titles>,
    path: Option<String>,
    #[serde(default)]
    page_nums: Vec<u32>,
    #[serde(default)]
    metadata: Map<String, Value>,
    #[serde(rename = "chunk_id")]
    _chunk_id: Option<Value>,
    #[serde(rename = "ordinal")]
    _ordinal: Option<Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Titles {
    One(String),
    Path(Vec<String>),
}

impl Fragment {
    /// Reads a request. Fails with `CORRUPT` and what is wrong where.
    pub fn read(text: &str) -> Result<Self, DocumentFailure> {
        let wrong = |at: &str, error: serde_json::Error| DocumentFailure::new(DocumentCode::Corrupt, format!("{at}: {error}"));
        let posted = serde_json::from_str(text).map_err(|error| wrong("the fragment", error))?;
        let whole = match posted {
            Posted::Text(text) => return Ok(Self { text, ..Self::default() }),
            Posted::Chunks(chunks) => Whole { title: None, text: None, chunks, _schema_version: None },
            Posted::Object(object) => serde_json::from_value(Value::Object(object)).map_err(|error| wrong("the fragment", error))?,
        };
        let mut chunks = Vec::with_capacity(whole.chunks.len());
        for (index, given) in whole.chunks.into_iter().enumerate() {
            chunks.push(Chunk::read(given).map_err(|error| wrong(&format!("chunks[{index}]"), error))?);
        }
        let title = whole.title.map(|title| folded(&title)).filter(|title| !title.is_empty());
        Ok(Self { title, text: whole.text.unwrap_or_default(), chunks })
    }
}

impl Chunk {
    fn read(given: Value) -> Result<Self, serde_json::Error> {
        if let Value::String(content) = given {
            return Ok(Self { content, ..Self::default() });
        }
        let given: GivenChunk = serde_json::from_value(given)?;
        let section = match (given.section, given.path) {
            (Some(Titles::One(title)), _) => vec![title],
            (Some(Titles::Path(titles)), _) => titles,
            (None, Some(path)) => of_path(&path, given.kind),
            (None, None) => Vec::new(),
        };
        let section = section.iter().map(|title| folded(title)).filter(|title| !title.is_empty()).collect();
        let mut pages = given.page_nums;
        let told = given.metadata.get("page_nums").and_then(Value::as_array).into_iter().flatten();
        pages.extend(told.filter_map(Value::as_u64).filter_map(|page| u32::try_from(page).ok()));
        pages.retain(|page| *page > 0);
        pages.sort_unstable();
        pages.dedup();
        Ok(Self {
            kind: given.kind,
            content: without_marks(given.content, &given.metadata),
            section,
            pages,
            hidden: given.metadata.get("hidden").and_then(Value::as_bool).unwrap_or(false),
            said: said(&given.metadata),
        })
    }
}

/// The titles in a path of `chunks.json`: without the file name, and without the asset's own.
fn of_path(given: &str, kind: Kind) -> Vec<String> {
    let mut titles: Vec<String> = path::split(given).into_iter().skip(1).collect();
    if kind != Kind::Text {
        titles.pop();
    }
    titles
}

/// Content without `[images/…]` and `[tables/…]` that its links name: those files were not sent.
fn without_marks(content: String, metadata: &Map<String, Value>) -> String {
    let links = metadata.get("connect_to").and_then(Value::as_array).into_iter().flatten();
    let marks =
        links.filter_map(|link| link.get("ref").and_then(Value::as_str)).filter(|mark| mark.starts_with('[') && mark.ends_with(']'));
    let content = marks.fold(content, |content, mark| content.replace(&format!("\n{mark}"), "").replace(mark, ""));
    content.trim_matches('\n').to_owned()
}

/// Metadata of a single value, or a list of them, that nothing else is made from.
fn said(metadata: &Map<String, Value>) -> Vec<(String, String)> {
    let own = metadata.iter().filter(|(key, _)| !COMPUTED.contains(&key.as_str()) && *key != "page_nums" && *key != "hidden");
    own.filter_map(|(key, value)| Some((folded(key), shown(value)?))).filter(|(_, value)| !value.is_empty()).collect()
}

fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Object(_) => None,
        Value::String(text) => Some(folded(text)),
        Value::Array(items) => Some(items.iter().filter_map(shown).collect::<Vec<_>>().join(", ")),
        other => Some(other.to_string()),
    }
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(TITLE_CHARS).collect()
}
