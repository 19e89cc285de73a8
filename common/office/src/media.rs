//! The pictures of a package, each read once.

use std::collections::BTreeMap;

use quarry_document::Warnings;
use quarry_model::{Asset, DocumentCode, DocumentFailure};

use crate::package::{Package, Relationships, Target};

/// What a picture's relationship led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Index into the document's assets; `None` for one whose bytes could not be read.
    Asset(Option<usize>),
    /// It lies outside and is never fetched: its address.
    Outside(String),
}

/// Pictures in the order in which they are first met.
#[derive(Debug, Default)]
pub struct Media {
    assets: Vec<Asset>,
    /// Part name → asset; `None` for one that could not be read.
    of_part: BTreeMap<String, Option<usize>>,
}

impl Media {
    /// The picture that `id` leads to. One that is missing is a warning.
    pub fn find(
        &mut self,
        id: &str,
        package: &mut Package<'_>,
        relationships: &Relationships,
        warnings: &mut Warnings,
    ) -> Result<Found, DocumentFailure> {
        match relationships.get(id).map(|relationship| &relationship.target) {
            Some(Target::Part(part)) => self.asset(part, package, warnings).map(Found::Asset),
            Some(Target::External(address)) => Ok(Found::Outside(short(address))),
            None => {
                warnings.partial(DocumentCode::Corrupt, format!("a picture's relationship {} is missing", short(id)));
                Ok(Found::Asset(None))
            }
        }
    }

    fn asset(&mut self, part: &str, package: &mut Package<'_>, warnings: &mut Warnings) -> Result<Option<usize>, DocumentFailure> {
        if let Some(known) = self.of_part.get(part) {
            return Ok(*known);
        }
        let bytes = package.media(part, warnings)?.filter(|bytes| !bytes.is_empty());
        let asset = bytes.map(|bytes| {
            let original_name = part.rsplit('/').next().unwrap_or_default().to_owned();
            self.assets.push(Asset { bytes, original_name });
            self.assets.len().saturating_sub(1)
        });
        self.of_part.insert(part.to_owned(), asset);
        Ok(asset)
    }

    /// All of them.
    pub fn into_assets(self) -> Vec<Asset> {
        self.assets
    }
}

/// A picture that lies outside: what is said of it, and its address.
pub fn said_of_outside(alt: &str, address: &str) -> String {
    if alt.is_empty() { address.to_owned() } else { format!("{alt} ({address})") }
}

fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}
