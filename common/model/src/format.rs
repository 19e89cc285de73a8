//! The table of formats: what Quarry recognises, and which room reads it.

use serde::{Deserialize, Serialize};

/// A kind of file, as its content says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the table below says what each is")]
pub enum Format {
    Pdf,
    Docx,
    Pptx,
    Xlsx,
    Xlsb,
    Xls,
    Ods,
    Csv,
    Tsv,
    Markdown,
    Text,
    Html,
    Mhtml,
    Xml,
    Epub,
    Odt,
    Rtf,
    Eml,
    Json,
    Jsonl,
    Png,
    Jpeg,
    Gif,
    Webp,
    Tiff,
    Bmp,
    Doc,
    Ppt,
    Fragment,
}

/// The function that reads a family of formats; its folder is `functions/parse-<name>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "named by what it reads")]
pub enum Family {
    Text,
    Html,
    Docx,
    Pdf,
    Pptx,
    Xlsx,
    Epub,
    Odt,
    Rtf,
    Eml,
    Json,
    Image,
    Legacy,
    Fragment,
}

impl Family {
    /// Every family there is a function for.
    pub const ALL: [Self; 14] = [
        Self::Text,
        Self::Html,
        Self::Docx,
        Self::Pdf,
        Self::Pptx,
        Self::Xlsx,
        Self::Epub,
        Self::Odt,
        Self::Rtf,
        Self::Eml,
        Self::Json,
        Self::Image,
        Self::Legacy,
        Self::Fragment,
    ];

    /// The function's name: its folder, its binary, its queue.
    pub fn function(self) -> &'static str {
        match self {
            Self::Text => "parse-text",
            Self::Html => "parse-html",
            Self::Docx => "parse-docx",
            Self::Pdf => "parse-pdf",
            Self::Pptx => "parse-pptx",
            Self::Xlsx => "parse-xlsx",
            Self::Epub => "parse-epub",
            Self::Odt => "parse-odt",
            Self::Rtf => "parse-rtf",
            Self::Eml => "parse-eml",
            Self::Json => "parse-json",
            Self::Image => "parse-image",
            Self::Legacy => "parse-legacy",
            Self::Fragment => "parse-fragment",
        }
    }
}

/// What is known of one format.
#[derive(Debug, Clone, Copy)]
pub struct FormatRow {
    /// The format.
    pub format: Format,
    /// Its name in records, manifests and JSON.
    pub name: &'static str,
    /// Extensions without the dot, the usual one first.
    pub extensions: &'static [&'static str],
    /// Media types, the registered one first.
    pub media_types: &'static [&'static str],
    /// Who reads it; `None` is recognised and answered `UNSUPPORTED`.
    pub family: Option<Family>,
    /// Whether it has pages, so that rows without a page are a fault.
    pub paged: bool,
}

macro_rules! formats {
    ($($format:ident $name:literal [$($ext:literal),*] [$($mime:literal),*] $family:expr, $paged:literal;)*) => {
        /// Every format, in a fixed order.
        pub const FORMAT_TABLE: &[FormatRow] = &[$(FormatRow {
            format: Format::$format, name: $name, extensions: &[$($ext),*], media_types: &[$($mime),*],
            family: $family, paged: $paged,
        }),*];
    };
}

formats! {
    Pdf "pdf" ["pdf"] ["application/pdf"] Some(Family::Pdf), true;
    Docx "docx" ["docx", "docm", "dotx", "dotm"] ["application/vnd.openxmlformats-officedocument.wordprocessingml.document"] Some(Family::Docx), false;
    Pptx "pptx" ["pptx", "pptm", "ppsx", "potx"] ["application/vnd.openxmlformats-officedocument.presentationml.presentation"] Some(Family::Pptx), true;
    Xlsx "xlsx" ["xlsx", "xlsm", "xltx"] ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"] Some(Family::Xlsx), false;
    Xlsb "xlsb" ["xlsb"] ["application/vnd.ms-excel.sheet.binary.macroenabled.12"] Some(Family::Xlsx), false;
    Xls "xls" ["xls", "xlt"] ["application/vnd.ms-excel"] Some(Family::Xlsx), false;
    Ods "ods" ["ods"] ["application/vnd.oasis.opendocument.spreadsheet"] Some(Family::Xlsx), false;
    Csv "csv" ["csv"] ["text/csv"] Some(Family::Xlsx), false;
    Tsv "tsv" ["tsv", "tab"] ["text/tab-separated-values"] Some(Family::Xlsx), false;
    Markdown "markdown" ["md", "markdown", "mdown", "mkd"] ["text/markdown"] Some(Family::Text), false;
    Text "text" ["txt", "text", "log"] ["text/plain"] Some(Family::Text), false;
    Html "html" ["html", "htm", "xhtml"] ["text/html", "application/xhtml+xml"] Some(Family::Html), false;
    Mhtml "mhtml" ["mhtml", "mht"] ["multipart/related"] Some(Family::Eml), false;
    Xml "xml" ["xml"] ["application/xml", "text/xml"] Some(Family::Html), false;
    Epub "epub" ["epub"] ["application/epub+zip"] Some(Family::Epub), false;
    Odt "odt" ["odt"] ["application/vnd.oasis.opendocument.text"] Some(Family::Odt), false;
    Rtf "rtf" ["rtf"] ["application/rtf", "text/rtf"] Some(Family::Rtf), false;
    Eml "eml" ["eml"] ["message/rfc822"] Some(Family::Eml), false;
    Json "json" ["json"] ["application/json"] Some(Family::Json), false;
    Jsonl "jsonl" ["jsonl", "ndjson"] ["application/jsonl", "application/x-ndjson"] Some(Family::Json), false;
    Png "png" ["png"] ["image/png"] Some(Family::Image), false;
    Jpeg "jpeg" ["jpg", "jpeg"] ["image/jpeg"] Some(Family::Image), false;
    Gif "gif" ["gif"] ["image/gif"] Some(Family::Image), false;
    Webp "webp" ["webp"] ["image/webp"] Some(Family::Image), false;
    Tiff "tiff" ["tif", "tiff"] ["image/tiff"] Some(Family::Image), true;
    Bmp "bmp" ["bmp"] ["image/bmp"] Some(Family::Image), false;
    Doc "doc" ["doc", "dot"] ["application/msword"] Some(Family::Legacy), false;
    Ppt "ppt" ["ppt", "pps"] ["application/vnd.ms-powerpoint"] Some(Family::Legacy), true;
    Fragment "fragment" ["fragment"] ["application/vnd.quarry.fragment+json"] Some(Family::Fragment), false;
}

impl Format {
    /// The format's row.
    pub fn row(self) -> &'static FormatRow {
        FORMAT_TABLE.iter().find(|row| row.format == self).unwrap_or(&FORMAT_TABLE[0])
    }

    /// The format's name.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Its usual extension, without the dot.
    pub fn extension(self) -> &'static str {
        self.row().extensions.first().copied().unwrap_or("bin")
    }

    /// Its registered media type.
    pub fn media_type(self) -> &'static str {
        self.row().media_types.first().copied().unwrap_or("application/octet-stream")
    }

    /// What a file name's extension claims; a hint only.
    pub fn of_file_name(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        let extension = extension.to_ascii_lowercase();
        FORMAT_TABLE.iter().find(|row| row.extensions.contains(&extension.as_str())).map(|row| row.format)
    }

    /// What a media type claims (parameters ignored); a hint only.
    pub fn of_media_type(media_type: &str) -> Option<Self> {
        let bare = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        FORMAT_TABLE.iter().find(|row| row.media_types.contains(&bare.as_str())).map(|row| row.format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_format_has_one_row_and_extensions_are_not_shared() {
        let mut seen = HashSet::new();
        let mut extensions = HashSet::new();
        for row in FORMAT_TABLE {
            assert!(seen.insert(row.format));
            assert_eq!(row.format.row().name, row.name);
            for extension in row.extensions {
                assert!(extensions.insert(*extension), "{extension}");
                assert_eq!(Format::of_file_name(&format!("A.{}", extension.to_uppercase())), Some(row.format));
            }
        }
        assert_eq!(Format::of_media_type("Text/HTML; charset=utf-8"), Some(Format::Html));
        assert_eq!(Format::of_file_name("README"), None);
    }
}
