//! The package: its parts as trees and pictures.

use quarry_document::Warnings;
use quarry_document::archive::{Archive, resolve_target};
use quarry_document::prose::percent_decoded;
use quarry_document::xml::{self, Tree};
use quarry_model::{DocumentCode, DocumentFailure, Limits};

/// An open package.
pub(crate) struct Package<'a> {
    archive: Archive<'a>,
    limits: &'a Limits,
}

impl<'a> Package<'a> {
    /// Opens a package. Fails with `ENCRYPTED` when its manifest says that the content is.
    pub(crate) fn open(bytes: &'a [u8], limits: &'a Limits) -> Result<Self, DocumentFailure> {
        let mut archive = Archive::open(bytes, limits)?;
        if let Some(manifest) = archive.read("META-INF/manifest.xml")?
            && let Ok(manifest) = Tree::parse(&xml::decode(manifest), limits)
            && manifest.root().descendants().any(|element| element.name() == "encryption-data")
        {
            return Err(DocumentFailure::new(DocumentCode::Encrypted, "the document is protected by a password"));
        }
        Ok(Self { archive, limits })
    }

    /// A part as a tree; `None` when there is none. One that is damaged is a warning, a crossed limit a failure.
    pub(crate) fn tree(&mut self, part: &str, warnings: &mut Warnings) -> Result<Option<Tree>, DocumentFailure> {
        let Some(bytes) = self.bytes(part, warnings)? else { return Ok(None) };
        match Tree::parse(&xml::decode(bytes), self.limits) {
            Ok(tree) => Ok(Some(tree)),
            Err(failure) if failure.code == DocumentCode::Corrupt => {
                warnings.partial(failure.code, format!("{part}: {}", failure.detail));
                Ok(None)
            }
            Err(failure) => Err(failure),
        }
    }

    /// A part's bytes.
    pub(crate) fn bytes(&mut self, part: &str, warnings: &mut Warnings) -> Result<Option<Vec<u8>>, DocumentFailure> {
        match self.archive.read(part) {
            Err(failure) if matches!(failure.code, DocumentCode::Corrupt | DocumentCode::Unsupported) => {
                warnings.partial(failure.code, failure.detail);
                Ok(None)
            }
            read => read,
        }
    }
}

/// A link as a part of the package; `None` for an address outside.
pub(crate) fn part_of(address: &str) -> Option<String> {
    let address = String::from_utf8_lossy(&percent_decoded(address.trim())).into_owned();
    resolve_target("", &address)
}
