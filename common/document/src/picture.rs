//! What the reader of picture files asks of a picture before it hands it on. Sizes are checked on the header, before
//! anything is allocated for pixels.

use image::GenericImageView;
use quarry_model::{DocumentCode, DocumentFailure, Limits};

use crate::assets::decode::{self, Decoded};
use crate::assets::encode;

/// A picture that can be drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// `png`, `jpeg`, …
    pub format: &'static str,
    /// Pixels, upright.
    pub width: u32,
    /// Pixels, upright.
    pub height: u32,
}

/// Looks at a picture of any drawable format; of an animation at its first frame.
///
/// Fails with `TOO_LARGE` for more pixels than `limits.image_pixels`, with `CORRUPT` when it cannot be decoded whole.
pub fn look(bytes: &[u8], limits: &Limits) -> Result<Look, DocumentFailure> {
    let kind = decode::kind(bytes);
    let image = decoded(bytes, limits)?;
    let (width, height) = image.dimensions();
    Ok(Look { format: kind.name, width, height })
}

/// A picture as PNG, upright, for one page of a file that holds several. Fails like [`look`].
pub fn as_png(bytes: &[u8], limits: &Limits) -> Result<(Vec<u8>, Look), DocumentFailure> {
    let image = decoded(bytes, limits)?;
    let (width, height) = image.dimensions();
    // What PNG cannot hold (32-bit samples) is kept at eight bits.
    let png = encode::as_png(&image).or_else(|_| encode::as_png(&image.to_rgba8().into()));
    let png = png.map_err(|error| DocumentFailure::new(DocumentCode::Corrupt, error.to_string()))?;
    Ok((png, Look { format: "png", width, height }))
}

/// The EXIF block of a picture (a TIFF file of its own), if it has one.
pub fn exif(bytes: &[u8]) -> Option<Vec<u8>> {
    decode::exif(bytes)
}

fn decoded(bytes: &[u8], limits: &Limits) -> Result<image::DynamicImage, DocumentFailure> {
    match decode::decode(bytes, decode::kind(bytes), limits) {
        Decoded::Image { image, .. } => Ok(image),
        Decoded::TooLarge { width, height } => Err(DocumentFailure::new(
            DocumentCode::TooLarge,
            format!("{width} × {height} pixels, at most {} are read", limits.image_pixels),
        )),
        Decoded::NotRendered => Err(DocumentFailure::new(DocumentCode::Unsupported, "this kind of picture cannot be drawn")),
        Decoded::Broken(reason) => Err(DocumentFailure::new(DocumentCode::Corrupt, reason)),
    }
}
