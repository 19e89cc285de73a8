//! The bytes of all figures, read page by page.

use std::collections::{BTreeMap, BTreeSet};

use image::ImageEncoder;
use quarry_model::Limits;
use quarry_pdf::{Pdf, PictureData};

use crate::blocks::Block;

/// Picture files by the object that holds them.
pub(crate) struct Pictures {
    by_object: BTreeMap<(u32, i32), Vec<u8>>,
}

impl Pictures {
    /// Reads every picture that some figure shows, once.
    pub(crate) fn read(blocks: &[Block], pdf: &Pdf, limits: &Limits) -> Self {
        let mut wanted: BTreeMap<u32, BTreeSet<(u32, i32)>> = BTreeMap::new();
        let mut known: BTreeSet<(u32, i32)> = BTreeSet::new();
        for block in blocks {
            if let Block::Figure(figure, page) = block
                && let Some(object) = figure.object.filter(|o| known.insert(*o))
            {
                wanted.entry(*page).or_default().insert(object);
            }
        }
        let mut by_object = BTreeMap::new();
        for (page, objects) in wanted {
            for (object, data) in pdf.pictures(page as usize, &objects, limits.image_pixels) {
                if let Some(bytes) = encoded(data) {
                    by_object.insert(object, bytes);
                }
            }
        }
        Self { by_object }
    }

    /// The file of an object's picture; `None` when it could not be decoded.
    pub(crate) fn of(&self, object: Option<(u32, i32)>) -> Option<Vec<u8>> {
        self.by_object.get(&object?).cloned()
    }
}

fn encoded(data: PictureData) -> Option<Vec<u8>> {
    match data {
        PictureData::Jpeg(bytes) => Some(bytes),
        PictureData::Rgba { width, height, data } => {
            let mut out = Vec::new();
            let encoder = image::codecs::png::PngEncoder::new_with_quality(
                &mut out,
                image::codecs::png::CompressionType::Fast,
                image::codecs::png::FilterType::Adaptive,
            );
            encoder.write_image(&data, width, height, image::ExtendedColorType::Rgba8).ok()?;
            Some(out)
        }
    }
}
