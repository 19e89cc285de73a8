//! What a file is, by its content. A pure function over the pieces of a file that are known so far: it says which piece
//! it needs next, or what the file is.
//!
//! The order is fixed, so that a file that is two things at once is always read as the same one: signatures at the first
//! byte, then a PDF header within the first KB, then text. A name's extension decides only between kinds of text, where
//! content alone cannot.

mod archive;
mod compound;
mod magic;
mod pieces;
#[cfg(test)]
mod tests;
mod text;

use quarry_model::message::Profile;
use quarry_model::{DocumentCode, DocumentFailure, Format, Limits};

pub use pieces::{HEAD_BYTES, Pieces, Stop};

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detection {
    /// By content.
    pub format: Format,
    /// What the extension claimed, when it claimed something else.
    pub claimed: Option<Format>,
    /// Character encoding, for formats whose source is text.
    pub encoding: Option<String>,
}

impl Detection {
    /// The profile that goes to the parser.
    pub fn profile(&self) -> Profile {
        Profile {
            format: self.format,
            claimed_format: self.claimed,
            encoding: self.encoding.clone(),
            category: category(self.format).to_owned(),
            routing_category: "generic".to_owned(),
            pdf: None,
        }
    }
}

/// Finds out what a file is.
///
/// [`Stop::Missing`] names bytes that must be added to `pieces` before it can go on. [`Stop::Failure`]: `EMPTY`, `CORRUPT`
/// (damaged, or not what a binary format's extension says), `ENCRYPTED`, `TOO_MANY_ENTRIES`, `UNSUPPORTED` (recognised as
/// something no format of ours, or not at all).
pub fn detect(pieces: &Pieces, file_name: &str, limits: &Limits) -> Result<Detection, Stop> {
    if pieces.size() == 0 {
        return Err(Stop::failure(DocumentCode::Empty, "0 bytes"));
    }
    let head = pieces.head()?;
    if pieces.size() == 1 {
        return Err(Stop::failure(DocumentCode::Corrupt, "1 byte"));
    }
    if head.iter().all(|byte| *byte == 0) {
        let whole = head.len() as u64 == pieces.size();
        return Err(Stop::failure(if whole { DocumentCode::Empty } else { DocumentCode::Corrupt }, "NUL bytes only"));
    }
    let claimed = Format::of_file_name(file_name);
    let (format, encoding) = by_content(pieces, head, claimed, limits)?;
    Ok(Detection { format, claimed: claimed.filter(|claimed| *claimed != format), encoding })
}

fn by_content(pieces: &Pieces, head: &[u8], claimed: Option<Format>, limits: &Limits) -> Result<(Format, Option<String>), Stop> {
    match magic::signature(head, pieces.size()) {
        Some(magic::Signature::Is(format)) => return Ok((format, None)),
        Some(magic::Signature::Zip) => return archive::format_of_zip(pieces, limits).map(|format| (format, None)),
        Some(magic::Signature::Compound) => return compound::format_of_compound(pieces).map(|format| (format, None)),
        Some(magic::Signature::Foreign(what)) => return Err(Stop::failure(DocumentCode::Unsupported, what)),
        None => {}
    }
    if magic::pdf_header_later(head) && magic::pdf_end(pieces.tail(1024)?) {
        return Ok((Format::Pdf, None));
    }
    match text::format_of_text(head, head.len() as u64 == pieces.size(), claimed) {
        Ok(found) => Ok((found.format, Some(found.encoding))),
        Err(text::NotText::Blank) => Err(Stop::failure(DocumentCode::Empty, "white space only")),
        Err(text::NotText::Binary) => Err(unknown(claimed)),
    }
}

/// Bytes that nothing recognises: a damaged file when its name promised a binary format, else of a kind we do not read.
fn unknown(claimed: Option<Format>) -> Stop {
    match claimed {
        Some(format) if !text::is_text_format(format) => {
            Stop::failure(DocumentCode::Corrupt, format!("the content is not {}", with_article(category(format))))
        }
        _ => Stop::failure(DocumentCode::Unsupported, "unknown binary data"),
    }
}

/// The failure for a format that is recognised but has no parser.
pub fn unsupported(format: Format) -> DocumentFailure {
    DocumentFailure::new(DocumentCode::Unsupported, format!("this is {}", with_article(category(format))))
}

fn with_article(noun: &str) -> String {
    let vowel = noun.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'O'])
        || noun.starts_with("RTF")
        || noun.starts_with("XML")
        || noun.starts_with("HTML");
    format!("{} {noun}", if vowel { "an" } else { "a" })
}

/// A format in at most five words.
pub fn category(format: Format) -> &'static str {
    match format {
        Format::Pdf => "PDF document",
        Format::Docx => "Word document",
        Format::Pptx => "PowerPoint presentation",
        Format::Xlsx => "Excel workbook",
        Format::Xlsb => "binary Excel workbook",
        Format::Xls => "old Excel workbook",
        Format::Ods => "OpenDocument spreadsheet",
        Format::Csv => "CSV table",
        Format::Tsv => "TSV table",
        Format::Markdown => "Markdown document",
        Format::Text => "text file",
        Format::Html => "web page",
        Format::Mhtml => "saved web page",
        Format::Xml => "XML document",
        Format::Epub => "EPUB book",
        Format::Odt => "OpenDocument text",
        Format::Rtf => "RTF document",
        Format::Eml => "e-mail message",
        Format::Json => "JSON document",
        Format::Jsonl => "JSON Lines file",
        Format::Png => "PNG image",
        Format::Jpeg => "JPEG image",
        Format::Gif => "GIF image",
        Format::Webp => "WebP image",
        Format::Tiff => "TIFF image",
        Format::Bmp => "BMP image",
        Format::Doc => "old Word document",
        Format::Ppt => "old PowerPoint presentation",
        Format::Fragment => "Quarry fragment",
    }
}
