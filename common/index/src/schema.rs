//! The fields of a segment.

use std::sync::LazyLock;

use tantivy::schema::{BytesOptions, FAST, Field, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{TextAnalyzer, TokenizerManager};

use crate::tokenizer::Words;

/// Name of our tokenizer.
const TOKENIZER: &str = "quarry";

/// The fields.
pub(crate) struct Fields {
    /// The schema they belong to.
    pub(crate) schema: Schema,
    /// Words of content and summary, with positions.
    pub(crate) content: Field,
    /// Words of the path, with positions.
    pub(crate) path: Field,
    /// Ordinal of the chunk (column).
    pub(crate) ordinal: Field,
    /// Type of the chunk (column): 0 text, 1 image, 2 table.
    pub(crate) ctype: Field,
    /// Path of the section (column).
    pub(crate) section: Field,
    /// The chunk itself.
    pub(crate) chunk: Field,
}

/// Name of [`Fields::ordinal`].
pub(crate) const ORDINAL: &str = "ordinal";
/// Name of [`Fields::ctype`].
pub(crate) const CTYPE: &str = "ctype";
/// Name of [`Fields::section`].
pub(crate) const SECTION: &str = "section";

/// The one schema.
pub(crate) fn fields() -> &'static Fields {
    static FIELDS: LazyLock<Fields> = LazyLock::new(|| {
        let mut builder = Schema::builder();
        let words = TextFieldIndexing::default()
            .set_tokenizer(TOKENIZER)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions)
            .set_fieldnorms(true);
        let text = TextOptions::default().set_indexing_options(words);
        let column = NumericOptions::default().set_fast();
        let content = builder.add_text_field("content", text.clone());
        let path = builder.add_text_field("path", text);
        let ordinal = builder.add_u64_field(ORDINAL, column.clone());
        let ctype = builder.add_u64_field(CTYPE, column);
        let section = builder.add_text_field(SECTION, TextOptions::default() | FAST);
        let chunk = builder.add_bytes_field("chunk", BytesOptions::default().set_stored());
        Fields { schema: builder.build(), content, path, ordinal, ctype, section, chunk }
    });
    &FIELDS
}

/// Tokenizers by name.
pub(crate) fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::default();
    manager.register(TOKENIZER, TextAnalyzer::builder(Words::default()).build());
    manager
}
