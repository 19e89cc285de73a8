//! `chunks.json`: the chunks of one revision in reading order.

use serde::{Deserialize, Serialize};

use crate::identity::{ChunkId, SectionId};
use crate::row::PageBox;

/// The three kinds of chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChunkType {
    /// Text of one section.
    Text,
    /// A picture.
    Image,
    /// A table, or a window of its rows.
    Table,
}

impl ChunkType {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Image => "image",
            Self::Table => "table",
        }
    }
}

/// The file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChunkFile {
    /// [`crate::SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Reading order; `ordinal` is the index.
    pub chunks: Vec<Chunk>,
}

/// One chunk. Field order is the order in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chunk {
    /// Content identity; not a key.
    pub chunk_id: ChunkId,
    /// Which of the three.
    #[serde(rename = "type")]
    pub kind: ChunkType,
    /// Reading order over all types, from 0.
    pub ordinal: u32,
    /// Text with `[images/…]` and `[tables/…]` where assets stand; canonical HTML of a table; words of an image.
    pub content: String,
    /// `file name/heading/heading` (see [`crate::path`]); assets add their file name.
    pub path: String,
    /// Everything else.
    pub metadata: ChunkMetadata,
}

/// What is known of a chunk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChunkMetadata {
    /// Code points of `content`.
    pub length: u32,
    /// `o200k_base` tokens of `content`.
    pub token_count: u32,
    /// Empty for a short text; leading sentences, a table's header, an image's caption otherwise.
    pub summary: String,
    /// Pages it stands on, from 1.
    pub page_nums: Vec<u32>,
    /// Content words as the index sees them.
    pub tokens: Vec<String>,
    /// At most 10, strongest first.
    pub keywords: Vec<String>,
    /// ISO 639-1 code, or `und`.
    pub lang: String,
    /// The stored asset, relative to the revision folder.
    pub file_path: Option<String>,
    /// The section it belongs to.
    pub section_id: SectionId,
    /// Where it stands on its pages.
    pub boxes: Vec<PageBox>,
    /// Links to other chunks of this revision.
    pub connect_to: Vec<Connection>,
    /// Of a row window: `[first, last, of]`, rows counted from 1 without the header rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<[u32; 3]>,
    /// Whether the source hides it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// The document's summary.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub document_top_summary: String,
}

/// How two chunks belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Relation {
    /// The target stands inside this text at `position`.
    Embeds,
    /// Any other association; an asset's link back to its host.
    Related,
}

/// Code points of `content`, end exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// First code point.
    pub start: u32,
    /// One past the last.
    pub end: u32,
}

/// A link to another chunk of the same revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connection {
    /// The target's chunk id.
    pub target: ChunkId,
    /// The target's ordinal: what it is found by.
    pub target_ordinal: u32,
    /// How it belongs.
    pub relation: Relation,
    /// The mark in `content`; only with `embeds`.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Where the mark stands; only with `embeds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_the_order_of_the_contract() {
        let chunk = Chunk {
            chunk_id: ChunkId::text("a"),
            kind: ChunkType::Text,
            ordinal: 0,
            content: "a".into(),
            path: "a.md".into(),
            metadata: ChunkMetadata {
                length: 1,
                token_count: 1,
                summary: String::new(),
                page_nums: vec![],
                tokens: vec![],
                keywords: vec![],
                lang: "und".into(),
                file_path: None,
                section_id: SectionId::for_path(&["a"], 0),
                boxes: vec![PageBox { page: 7, x0: 72.0, y0: 120.5, x1: 523.0, y1: 180.0 }],
                connect_to: vec![],
                rows: None,
                hidden: false,
                document_top_summary: String::new(),
            },
        };
        let text = serde_json::to_string(&chunk).unwrap();
        let order = [
            "chunk_id",
            "type",
            "ordinal",
            "content",
            "path",
            "metadata",
            "length",
            "token_count",
            "summary",
            "page_nums",
            "tokens",
            "keywords",
            "lang",
            "file_path",
            "section_id",
            "boxes",
            "connect_to",
        ];
        let places: Vec<usize> = order.iter().map(|f| text.find(&format!("\"{f}\"")).unwrap()).collect();
        assert!(places.is_sorted(), "{text}");
        assert!(text.contains("[7,72.0,120.5,523.0,180.0]"), "{text}");
        assert_eq!(serde_json::from_str::<Chunk>(&text).unwrap(), chunk);
    }
}
