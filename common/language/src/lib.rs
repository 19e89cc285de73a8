//! What words are.
//!
//! What this room is for: every rule about text that parsers and the index must share, so that a word counted while
//! parsing is the word found while searching: units of text, folding, stems, stop words, languages, sentences and
//! token counts. What enters: text. What leaves: words, languages, offsets and counts. What it must never do: I/O,
//! reading a clock, knowing a document format or an index library.
//!
//! ```
//! use quarry_language::{content_words, detect, tokens};
//!
//! assert_eq!(detect("The pump must not be started before the valves are open."), "en");
//! assert_eq!(content_words("The pump and the valves of C++", "en"), ["pump", "valves", "c++"]);
//! assert_eq!(tokens::count("hello world"), 2);
//! ```

pub mod detect;
pub mod fold;
pub mod query;
pub mod script;
pub mod segment;
pub mod sentence;
pub mod stem;
pub mod stop;
pub mod surface;
pub mod tokens;
pub mod words;

pub use detect::detect;
pub use fold::fold;
pub use query::{Concept, Query};
pub use segment::{Token, analyze};
pub use sentence::sentences;
pub use surface::surface;
pub use words::{content_tokens, content_words};

/// Names the rules of this crate and their dictionaries. Splits of different analysers are never mixed: whatever
/// changes a token, a position or a stem changes this.
pub const ANALYZER_ID: &str = "quarry-1/unicode-16/jieba-0.11/icu-2.4/snowball-1.2";
