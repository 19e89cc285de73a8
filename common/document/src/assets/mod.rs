//! Pictures: each stored once per document, compressed deterministically, never lost.
//!
//! A picture that cannot be decoded or drawn is kept byte for byte and a warning says so. Which file a picture gets is
//! decided where its chunk gets its ordinal; here are its bytes, its extension and its identity.

pub(crate) mod decode;
pub(crate) mod encode;
mod same;

use std::collections::HashMap;

use bytes::Bytes;
use quarry_model::{Asset, DocumentCode, Limits, Row, Warning};

use decode::Decoded;
use same::Likeness;

/// A picture as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Picture {
    /// Stored bytes.
    pub bytes: Bytes,
    /// From our own list, never from the document.
    pub kind: Kind,
    /// Pixels as stored; `None` when it cannot be decoded.
    pub size: Option<(u32, u32)>,
    /// Whether it is kept as it is because it cannot be drawn here.
    pub not_rendered: bool,
    /// What its chunk's identity is made from: a digest of size and pixels, or the bytes when there are none.
    pub identity: Vec<u8>,
    /// As in the source.
    pub original_name: String,
}

/// What a stored file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    /// In the manifest: `jpeg`.
    pub name: &'static str,
    /// Of the file: `jpg`.
    pub extension: &'static str,
    /// It is served with.
    pub media_type: &'static str,
}

/// The pictures of one document.
#[derive(Debug, Default)]
pub(crate) struct Pictures {
    /// In the order of their first use.
    pub stored: Vec<Picture>,
    /// For each asset of the parser, which stored picture shows it; `None` for one that no row points at.
    pub of_asset: Vec<Option<usize>>,
    /// What could not be read.
    pub warnings: Vec<Warning>,
}

impl Pictures {
    /// Stores every asset that a row points at: equal bytes once, equal pictures once.
    pub(crate) fn store(assets: Vec<Asset>, rows: &[Row], limits: &Limits) -> Self {
        let mut used = vec![false; assets.len()];
        for asset in rows.iter().filter_map(|row| row.asset) {
            if let Some(slot) = used.get_mut(asset) {
                *slot = true;
            }
        }
        let mut store = Self::default();
        let mut by_bytes: HashMap<blake3::Hash, usize> = HashMap::new();
        let mut likenesses: Vec<Option<Likeness>> = Vec::new();
        for (index, (asset, used)) in assets.into_iter().zip(used).enumerate() {
            if !used {
                store.of_asset.push(None);
                continue;
            }
            let hash = blake3::hash(&asset.bytes);
            let place = match by_bytes.get(&hash) {
                Some(place) => *place,
                None => store.add(index, asset, &mut likenesses, limits),
            };
            by_bytes.insert(hash, place);
            store.of_asset.push(Some(place));
        }
        store
    }

    fn add(&mut self, index: usize, asset: Asset, likenesses: &mut Vec<Option<Likeness>>, limits: &Limits) -> usize {
        let number = index.saturating_add(1);
        let kind = decode::kind(&asset.bytes);
        let (picture, likeness) = match decode::decode(&asset.bytes, kind, limits) {
            Decoded::Image { image, turned } => {
                let likeness = Likeness::of(&image);
                let same = likenesses.iter().position(|other| other.as_ref().is_some_and(|other| other.shows_the_same(&likeness)));
                if let Some(place) = same {
                    return place;
                }
                let identity = likeness.pixels().to_vec();
                let encoded = encode::encode(image, &asset.bytes, kind, turned);
                if let Some(reason) = encoded.failure {
                    self.warn(DocumentCode::Corrupt, format!("picture {number} was kept as it is: {reason}"));
                }
                let picture = Picture {
                    bytes: encoded.bytes.map_or_else(|| Bytes::from(asset.bytes), Bytes::from),
                    kind: encoded.kind,
                    size: Some(encoded.size),
                    not_rendered: false,
                    identity,
                    original_name: asset.original_name,
                };
                (picture, Some(likeness))
            }
            Decoded::NotRendered => (kept(asset, kind, None), None),
            Decoded::TooLarge { width, height } => {
                let message =
                    format!("picture {number} of {width} × {height} pixels is larger than allowed and was kept without being decoded");
                self.warn(DocumentCode::TooLarge, message);
                (kept(asset, kind, Some((width, height))), None)
            }
            Decoded::Broken(reason) => {
                self.warn(DocumentCode::Corrupt, format!("picture {number} cannot be decoded and was kept as it is: {reason}"));
                (kept(asset, kind, None), None)
            }
        };
        self.stored.push(picture);
        likenesses.push(likeness);
        self.stored.len().saturating_sub(1)
    }

    fn warn(&mut self, code: DocumentCode, message: String) {
        self.warnings.push(Warning::new(code, message));
    }
}

fn kept(asset: Asset, kind: Kind, size: Option<(u32, u32)>) -> Picture {
    Picture {
        identity: blake3::hash(&asset.bytes).as_bytes().to_vec(),
        bytes: Bytes::from(asset.bytes),
        kind,
        size,
        not_rendered: true,
        original_name: asset.original_name,
    }
}

/// Rows that show decoration: the same picture, without words of its own, on most pages of a document of at least four.
/// Its first showing stays; formats without pages have no decoration.
pub(crate) fn decoration(rows: &[Row], pictures: &Pictures, page_count: Option<u32>) -> Vec<bool> {
    let mut leave_out = vec![false; rows.len()];
    let Some(page_count) = page_count.filter(|pages| *pages >= 4) else { return leave_out };
    let stored = |row: &Row| row.asset.and_then(|asset| pictures.of_asset.get(asset).copied().flatten());
    let mut pages: HashMap<usize, std::collections::BTreeSet<u32>> = HashMap::new();
    for row in rows {
        if let Some(picture) = stored(row) {
            pages.entry(picture).or_default().extend(&row.pages);
        }
    }
    let mut shown = std::collections::HashSet::new();
    for (row, leave) in rows.iter().zip(&mut leave_out) {
        let Some(picture) = stored(row) else { continue };
        let often = pages.get(&picture).is_some_and(|on| on.len() > page_count as usize / 2);
        *leave = often && !shown.insert(picture) && row.content.trim().is_empty();
    }
    leave_out
}

#[cfg(test)]
mod tests;
