//! Every limit in one table, overridable by configuration and echoed in every manifest.

use serde::{Deserialize, Serialize};

/// Sizes are bytes, times seconds, unless the name says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Largest source file: 300 MB.
    pub file_bytes: u64,
    /// Most bytes that all parts of one archive may expand to: 1 GiB.
    pub expanded_bytes: u64,
    /// Largest expansion ratio after the first MiB of output: 100.
    pub expansion_ratio: u64,
    /// Most entries of an archive: 10,000.
    pub archive_entries: u64,
    /// Deepest nesting of XML and HTML elements: 256, so that tables nested fifty deep (150 elements) still read.
    pub xml_depth: u32,
    /// Most attributes of one XML element: 1,024.
    pub xml_attributes: u32,
    /// Deepest nesting of PDF objects: 100.
    pub pdf_depth: u32,
    /// Most pages of a PDF: 1,500.
    pub pdf_pages: u32,
    /// Most pages of one PDF shard: 200.
    pub pdf_shard_pages: u32,
    /// Largest single decoded stream: 256 MiB.
    pub stream_bytes: u64,
    /// Largest picture: 100 megapixels.
    pub image_pixels: u64,
    /// Most cells of one table: 100,000.
    pub table_cells: u64,
    /// Most cells of one workbook: 5 million.
    pub workbook_cells: u64,
    /// Most sections of a document: 50,000.
    pub sections: u32,
    /// Deepest section tree; deeper headings are lifted to this level: 12.
    pub tree_depth: u32,
    /// Wall clock of one parse: 120 s.
    pub parse_seconds: u64,
    /// How often a message is received before it is given up: 3.
    pub receives: u32,
    /// Life of a presigned upload address: 2 h.
    pub upload_url_seconds: u64,
    /// Largest text chunk, in tokens: 1,200.
    pub chunk_tokens: u32,
    /// Text chunks are closed at a paragraph once they hold this many tokens: 60. With 500 a hit is three paragraphs of
    /// which one answers: measured on the open questions, nDCG@10 0.66 to 0.70 instead of 0.94 to 0.98.
    pub chunk_target_tokens: u32,
    /// A piece under this many tokens joins its predecessor: 20, a third of the target. With 60 a short paragraph of its own
    /// became the end of another: measured on the open questions, nDCG@10 0.970 instead of 0.985 (see `infra/adr/0022`).
    pub chunk_tail_tokens: u32,
    /// Evidence budget when a request names none: 8,000 tokens.
    pub token_budget: u32,
    /// Longest query, in bytes: 16 KiB.
    pub query_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 300_000_000,
            expanded_bytes: 1 << 30,
            expansion_ratio: 100,
            archive_entries: 10_000,
            xml_depth: 256,
            xml_attributes: 1_024,
            pdf_depth: 100,
            pdf_pages: 1_500,
            pdf_shard_pages: 200,
            stream_bytes: 256 << 20,
            image_pixels: 100_000_000,
            table_cells: 100_000,
            workbook_cells: 5_000_000,
            sections: 50_000,
            tree_depth: 12,
            parse_seconds: 120,
            receives: 3,
            upload_url_seconds: 7_200,
            chunk_tokens: 1_200,
            chunk_target_tokens: 60,
            chunk_tail_tokens: 20,
            token_budget: 8_000,
            query_bytes: 16 << 10,
        }
    }
}
