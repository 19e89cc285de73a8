//! Text in pictures, as a port. Everything works without it: a picture nobody reads stays a picture.

use std::time::Duration;

/// A picture to be read.
#[derive(Debug, Clone, Copy)]
pub struct OcrPicture<'a> {
    /// A PNG.
    pub png: &'a [u8],
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Dots per inch: how large the letters are.
    pub dpi: f32,
    /// The language to expect (ISO 639-1); `None` when nothing tells.
    pub language: Option<&'a str>,
    /// Longest wait.
    pub patience: Duration,
}

/// A word and where it stands, in pixels from the top left.
#[derive(Debug, Clone, PartialEq)]
pub struct OcrWord {
    /// Never empty.
    pub text: String,
    /// Left.
    pub x0: f32,
    /// Top.
    pub y0: f32,
    /// Right.
    pub x1: f32,
    /// Bottom.
    pub y1: f32,
    /// From 0 to 1.
    pub confidence: f32,
}

/// What was read.
#[derive(Debug, Clone, PartialEq)]
pub enum Recognised {
    /// Lines of words with their places, in reading order.
    Lines(Vec<Vec<OcrWord>>),
    /// Text without places, line by line.
    Text(String),
}

/// Why nothing was read, by meaning.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OcrError {
    /// There is nobody to ask.
    #[error("text recognition is not available: {0}")]
    Unavailable(String),
    /// No answer in time.
    #[error("text recognition gave no answer within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// This picture cannot be read.
    #[error("text recognition failed: {0}")]
    Failed(String),
}

/// Reads text in pictures.
///
/// Called on a parser's own thread, which it blocks; several threads may ask at once. The same picture gives the same
/// text from a program; a model promises nothing.
pub trait Ocr: Send + Sync + 'static {
    /// Who reads, with its version, as manifests and logs name it: `tesseract 5.3.0`.
    fn name(&self) -> &str;

    /// Reads one picture.
    fn recognise(&self, picture: &OcrPicture<'_>) -> Result<Recognised, OcrError>;
}
