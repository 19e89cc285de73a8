//! How tools name things to one another: short, and to be copied as it is.

use std::fmt;
use std::str::FromStr;

use quarry_model::{ApiError, DocumentId, SectionId};

/// A document, a section or a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// `doc_…`
    Document(DocumentId),
    /// `doc_…/sec_…`, or `doc_…/Setup / Wiring` by titles.
    Section(DocumentId, SectionName),
    /// `doc_…#12`: the chunk's place in the document.
    Chunk(DocumentId, u32),
}

/// How a section is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SectionName {
    /// By identity.
    Id(SectionId),
    /// By its titles, as citations show them, or the last of them where that is enough.
    Titles(String),
}

impl FromStr for SectionName {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(text.parse().map_or_else(|_| Self::Titles(text.trim().to_owned()), Self::Id))
    }
}

impl Reference {
    /// The document it is of or in.
    pub fn document(&self) -> &DocumentId {
        match self {
            Self::Document(document) | Self::Section(document, _) | Self::Chunk(document, _) => document,
        }
    }
}

impl FromStr for Reference {
    type Err = ApiError;

    fn from_str(text: &str) -> Result<Self, ApiError> {
        let text = text.trim();
        let shown: String = text.chars().take(80).collect();
        let wrong = || {
            let problem = format!("`{shown}` is no reference; write doc_…, doc_…/sec_… or doc_…#12, as other tools give them");
            ApiError::invalid_field("refs", &problem)
        };
        if let Some((document, section)) = text.split_once('/') {
            let document = document.parse().map_err(|_| wrong())?;
            return Ok(Self::Section(document, section.parse().unwrap_or_else(|never| match never {})));
        }
        match text.split_once('#') {
            Some((document, ordinal)) => Ok(Self::Chunk(document.parse().map_err(|_| wrong())?, ordinal.parse().map_err(|_| wrong())?)),
            None => Ok(Self::Document(text.parse().map_err(|_| wrong())?)),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Document(document) => write!(f, "{document}"),
            Self::Section(document, SectionName::Id(section)) => write!(f, "{document}/{section}"),
            Self::Section(document, SectionName::Titles(titles)) => write!(f, "{document}/{titles}"),
            Self::Chunk(document, ordinal) => write!(f, "{document}#{ordinal}"),
        }
    }
}

/// `p. 3`, `pp. 3–5`, or nothing.
pub(super) fn pages(pages: &[u32]) -> String {
    match (pages.first(), pages.last()) {
        (Some(first), Some(last)) if first == last => format!("p. {first}"),
        (Some(first), Some(last)) => format!("pp. {first}–{last}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_as_they_are_written() {
        let section = SectionId::for_path(&["Setup"], 0);
        for text in [
            "doc_0a1b2c3d4e5f".to_owned(),
            format!("doc_0a1b2c3d4e5f/{section}"),
            "doc_0a1b2c3d4e5f#12".to_owned(),
            "doc_0a1b2c3d4e5f/Setup / Wiring".to_owned(),
        ] {
            assert_eq!(text.parse::<Reference>().unwrap().to_string(), text);
        }
        for text in ["", "pump.pdf", "doc_0a1b2c3d4e5f#", "doc_0a1b2c3d4e5f#-1", "doc_x/sec_y", "#1"] {
            assert!(text.parse::<Reference>().is_err(), "{text}");
        }
    }
}
