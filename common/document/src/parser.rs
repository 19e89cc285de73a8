//! The one entry point of every format.

use bytes::Bytes;
use quarry_model::message::Profile;
use quarry_model::pdf::Shard;
use quarry_model::{DocumentFailure, Limits, Parsed};

/// One document as a parser is given it.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// All of its bytes.
    pub bytes: &'a [u8],
    /// As uploaded; for titles and hints, never for a path.
    pub file_name: &'a str,
    /// What the profiler found.
    pub profile: &'a Profile,
}

impl Source<'_> {
    /// The file name without its extension: the title of text that stands before any heading.
    pub fn stem(&self) -> &str {
        file_stem(self.file_name)
    }
}

/// A file name without its extension; the whole name when nothing would be left.
pub fn file_stem(file_name: &str) -> &str {
    match file_name.rsplit_once('.') {
        Some((stem, _)) if !stem.trim().is_empty() => stem,
        _ => file_name,
    }
}

/// Reads one family of formats into rows.
///
/// A parser is synchronous and pure: the same source and limits give the same rows. It runs on a thread with a large
/// stack, under a time limit, and its panics are caught; it still must not rely on any of the three.
pub trait Parser: Send + Sync + 'static {
    /// Its function's name: `parse-docx`.
    fn name(&self) -> &'static str;

    /// Changes whenever the same bytes may give other artifacts; part of the revision.
    fn version(&self) -> &'static str;

    /// Reads a source. What cannot be read is a warning in the result; an error means that nothing of it can be used.
    fn parse(&self, source: &Source<'_>, limits: &Limits) -> Result<Parsed, DocumentFailure>;

    /// The same in parts, of a parser that can.
    fn in_parts(&self) -> Option<&dyn ParseInParts> {
        None
    }
}

/// Reads a long document in runs of pages: each by itself, anywhere, in any order; then puts them together.
///
/// Reading in parts and putting them together gives what [`Parser::parse`] gives, whatever the cuts.
pub trait ParseInParts {
    /// Reads the pages of one run, as far as they can be read without the others. The same source, profile and limits
    /// give the same bytes.
    fn read_part(&self, source: &Source<'_>, shard: Shard, limits: &Limits) -> Result<Vec<u8>, DocumentFailure>;

    /// Makes one document of all parts, in page order. `Ok(None)`: they are not what [`Self::read_part`] gave.
    fn join(&self, source: &Source<'_>, parts: Vec<Bytes>, limits: &Limits) -> Result<Option<Parsed>, DocumentFailure>;
}

/// So that a program holding every format can choose at run time.
impl Parser for Box<dyn Parser> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn version(&self) -> &'static str {
        (**self).version()
    }

    fn parse(&self, source: &Source<'_>, limits: &Limits) -> Result<Parsed, DocumentFailure> {
        (**self).parse(source, limits)
    }

    fn in_parts(&self) -> Option<&dyn ParseInParts> {
        (**self).in_parts()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems() {
        assert_eq!(file_stem("a.b.docx"), "a.b");
        assert_eq!(file_stem(".bashrc"), ".bashrc");
        assert_eq!(file_stem("README"), "README");
    }
}
