//! Identities: who makes them, how they look, and from what they are derived (contract §1).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use unicode_normalization::UnicodeNormalization;

use crate::scope::Scope;

/// A string that is not an identity of the expected form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not a {expected}")]
pub struct IdError {
    /// What was expected, in words.
    pub expected: &'static str,
    /// What came, cut to 80 characters.
    pub value: String,
}

fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, b| {
        let _ = write!(out, "{b:02x}");
        out
    })
}

macro_rules! identity {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $hex:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// The identity as it is written everywhere.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl FromStr for $name {
            type Err = IdError;
            fn from_str(value: &str) -> Result<Self, IdError> {
                match value.strip_prefix($prefix) {
                    Some(rest) if is_hex(rest, $hex) => Ok(Self(value.to_owned())),
                    _ => Err(IdError { expected: stringify!($name), value: value.chars().take(80).collect() }),
                }
            }
        }
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.serialize_str(&self.0)
            }
        }
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

identity!(
    /// One ingestion request: `job_` and 12 hex digits, random.
    JobId, "job_", 12
);
identity!(
    /// One long-lived document: `doc_` and 12 hex digits; random, or derived from the place a file was dropped at.
    DocumentId, "doc_", 12
);
identity!(
    /// One section of one document revision: `sec_` and 12 hex digits, derived from its place in the heading tree.
    SectionId, "sec_", 12
);
identity!(
    /// One immutable reading of one document: 32 hex digits. The same input gives the same revision.
    Revision, "", 32
);
identity!(
    /// Content identity: 32 hex digits (128 bits of blake3). Not a key: two documents may hold the same chunk.
    ChunkId, "", 32
);

impl JobId {
    /// The identity for six random bytes.
    pub fn from_random(bytes: [u8; 6]) -> Self {
        Self(format!("job_{}", hex(&bytes)))
    }

    /// The job of a dropped or locally ingested file: the same place and the same content tag (an etag, or the
    /// content's hash) always mean the same job, so a doubled event starts nothing new.
    pub fn for_drop_in(scope: &Scope, key: &str, content_tag: &str) -> Self {
        let hash = derive("quarry drop-in job v1", &[scope.owner.as_str(), scope.namespace.as_str(), key, content_tag]);
        Self(format!("job_{}", &hash[..12]))
    }
}

impl DocumentId {
    /// The identity for six random bytes.
    pub fn from_random(bytes: [u8; 6]) -> Self {
        Self(format!("doc_{}", hex(&bytes)))
    }

    /// The identity of a dropped file: the same place always means the same document, so a re-drop is a new revision.
    pub fn for_drop_in(scope: &Scope, key: &str) -> Self {
        let hash = derive("quarry drop-in document v1", &[scope.owner.as_str(), scope.namespace.as_str(), key]);
        Self(format!("doc_{}", &hash[..12]))
    }
}

impl SectionId {
    /// The identity of the section at `path` (titles from the root), the `occurrence`-th with that path (from 0).
    pub fn for_path(path: &[&str], occurrence: usize) -> Self {
        let occurrence = occurrence.to_string();
        let mut parts = path.to_vec();
        parts.push(&occurrence);
        Self(format!("sec_{}", &derive("quarry section v1", &parts)[..12]))
    }
}

impl Revision {
    /// The revision for a source (its blake3 in hex), a parser (name and version) and the parsing parameters as JSON
    /// with a fixed key order.
    pub fn of(source_blake3: &str, parser: &str, parameters: &str) -> Self {
        Self(derive("quarry revision v1", &[source_blake3, parser, parameters]))
    }
}

impl ChunkId {
    /// Identity of a text chunk, from its text without asset references: NFC, runs of white space as one space, trimmed.
    pub fn text(text_without_references: &str) -> Self {
        Self(derive("quarry chunk text v1", &[&fold_text(text_without_references)]))
    }

    /// Identity of a table chunk from its canonical HTML; `occurrence` counts from 0 within the document.
    pub fn table(canonical_html: &str, occurrence: usize) -> Self {
        Self::asset("quarry chunk table v1", canonical_html.as_bytes(), occurrence)
    }

    /// Identity of an image chunk from its decoded pixels (width, height, RGBA), or from the file's bytes when it
    /// cannot be decoded; `occurrence` counts from 0 within the document.
    pub fn image(pixels_or_bytes: &[u8], occurrence: usize) -> Self {
        Self::asset("quarry chunk image v1", pixels_or_bytes, occurrence)
    }

    fn asset(domain: &str, bytes: &[u8], occurrence: usize) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(domain);
        hasher.update(bytes);
        if occurrence > 0 {
            hasher.update(b"\0occurrence\0");
            hasher.update(occurrence.to_string().as_bytes());
        }
        Self(hex(&hasher.finalize().as_bytes()[..16]))
    }
}

/// Text as identities see it: Unicode NFC, runs of white space folded to one space, trimmed.
pub fn fold_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.nfc());
    }
    out
}

/// 32 hex digits of blake3 over length-prefixed parts under a domain of their own.
fn derive(domain: &str, parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new_derive_key(domain);
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hex(&hasher.finalize().as_bytes()[..16])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::{Namespace, Owner};

    #[test]
    fn chunk_ids_fold_white_space_and_normalise() {
        assert_eq!(ChunkId::text("Caf\u{e9}  au\nlait "), ChunkId::text("Cafe\u{301} au lait"));
        assert_ne!(ChunkId::text("a b"), ChunkId::text("ab"));
    }

    #[test]
    fn types_do_not_share_ids_and_repeats_differ() {
        let text = ChunkId::text("<table></table>");
        let table = ChunkId::table("<table></table>", 0);
        assert_ne!(text, table);
        assert_ne!(table, ChunkId::image(b"<table></table>", 0));
        assert_ne!(table, ChunkId::table("<table></table>", 1));
    }

    #[test]
    fn ids_refuse_other_forms() {
        assert!("job_0a1b2c3d4e5f".parse::<JobId>().is_ok());
        for bad in ["job_0A1b2c3d4e5f", "job_0a1b", "doc_0a1b2c3d4e5f", "", "job_0a1b2c3d4e5f\n"] {
            assert!(bad.parse::<JobId>().is_err(), "{bad:?}");
        }
        assert!(serde_json::from_str::<DocumentId>("\"../../x\"").is_err());
    }

    #[test]
    fn a_dropped_file_keeps_its_document() {
        let scope = Scope::new(Owner::local(), Namespace::default());
        let a = DocumentId::for_drop_in(&scope, "inbox/default/a.md");
        assert_eq!(a, DocumentId::for_drop_in(&scope, "inbox/default/a.md"));
        assert_ne!(a, DocumentId::for_drop_in(&scope, "inbox/default/b.md"));
    }
}
