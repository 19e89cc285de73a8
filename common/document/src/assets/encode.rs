//! Deterministic compression: longest side 2,400, JPEG at quality 85, PNG stays PNG unless it is a photograph that is
//! three times smaller as JPEG, orientation applied and metadata left out.

use std::collections::HashSet;
use std::io::Cursor;

use fast_image_resize::{FilterType as Resampling, ResizeAlg, ResizeOptions, Resizer};
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{DynamicImage, GenericImageView};

use super::Kind;
use super::decode::{BMP, JPEG, PNG, TIFF};

/// Longest side of a stored picture, in pixels.
const LONGEST_SIDE: u32 = 2_400;
/// JPEG quality.
const QUALITY: u8 = 85;
/// How much smaller a JPEG must be to replace a PNG.
const JPEG_GAIN: usize = 3;
/// Distinct colours, at five bits a channel, among the pixels sampled, above which a picture counts as a photograph.
const PHOTOGRAPH_COLOURS: usize = 256;
/// Pixels sampled along each side.
const SAMPLES: u32 = 64;

/// A picture ready to be stored.
pub(super) struct Encoded {
    /// New bytes; `None` keeps those of the source.
    pub bytes: Option<Vec<u8>>,
    /// What they are.
    pub kind: Kind,
    /// Pixels.
    pub size: (u32, u32),
    /// Why encoding failed; the source's bytes are then kept.
    pub failure: Option<String>,
}

/// Chooses the form in which a picture is stored.
pub(super) fn encode(image: DynamicImage, source: &[u8], kind: Kind, turned: bool) -> Encoded {
    let (width, height) = image.dimensions();
    let too_long = width.max(height) > LONGEST_SIDE;
    let image = if too_long { shrunk(image) } else { image };
    let size = image.dimensions();
    let changed = too_long || turned || kind == TIFF || kind == BMP;
    let result = if kind == JPEG { again_as_jpeg(&image, source, changed) } else { lossless(&image, source, kind, changed) };
    match result {
        Ok((bytes, kind)) => Encoded { bytes, kind, size, failure: None },
        Err(error) => Encoded { bytes: None, kind, size: (width, height), failure: Some(error.to_string()) },
    }
}

/// The picture with its longest side at [`LONGEST_SIDE`], by Lanczos with three lobes, a tenth of the time `image` takes for it. One whose
/// pixels the resizer does not know is resized by `image`.
fn shrunk(image: DynamicImage) -> DynamicImage {
    let (width, height) = image.dimensions();
    let longest = width.max(height);
    let side = |length: u32| {
        let scaled = u64::from(length).saturating_mul(u64::from(LONGEST_SIDE)).checked_div(u64::from(longest)).unwrap_or(1);
        u32::try_from(scaled.max(1)).unwrap_or(LONGEST_SIDE)
    };
    let mut small = DynamicImage::new(side(width), side(height), image.color());
    let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(Resampling::Lanczos3));
    match Resizer::new().resize(&image, &mut small, &options) {
        Ok(()) => small,
        Err(_) => image.resize(LONGEST_SIDE, LONGEST_SIDE, image::imageops::FilterType::Lanczos3),
    }
}

type Chosen = Result<(Option<Vec<u8>>, Kind), image::ImageError>;

fn again_as_jpeg(image: &DynamicImage, source: &[u8], changed: bool) -> Chosen {
    let jpeg = as_jpeg(image)?;
    if !changed
        && let Some(stripped) = without_metadata(source)
        && stripped.len() <= jpeg.len()
    {
        return Ok((Some(stripped), JPEG));
    }
    Ok((Some(jpeg), JPEG))
}

fn lossless(image: &DynamicImage, source: &[u8], kind: Kind, changed: bool) -> Chosen {
    let png = if changed { Some(as_png(image)?) } else { None };
    let stays = png.as_ref().map_or(source.len(), Vec::len);
    if (changed || kind == PNG) && is_photograph(image) {
        let jpeg = as_jpeg(image)?;
        if jpeg.len().saturating_mul(JPEG_GAIN) <= stays {
            return Ok((Some(jpeg), JPEG));
        }
    }
    Ok(if changed { (png, PNG) } else { (None, kind) })
}

fn as_jpeg(image: &DynamicImage) -> Result<Vec<u8>, image::ImageError> {
    let mut out = Vec::new();
    image.to_rgb8().write_with_encoder(JpegEncoder::new_with_quality(&mut out, QUALITY))?;
    Ok(out)
}

pub(crate) fn as_png(image: &DynamicImage) -> Result<Vec<u8>, image::ImageError> {
    let mut out = Cursor::new(Vec::new());
    image.write_with_encoder(PngEncoder::new_with_quality(&mut out, CompressionType::Default, FilterType::Adaptive))?;
    Ok(out.into_inner())
}

/// Opaque, and of many colours.
fn is_photograph(image: &DynamicImage) -> bool {
    let (width, height) = image.dimensions();
    let mut colours = HashSet::new();
    for row in 0..SAMPLES.min(height) {
        for column in 0..SAMPLES.min(width) {
            let x = at(column, width);
            let y = at(row, height);
            let [red, green, blue, alpha] = image.get_pixel(x, y).0;
            if alpha != u8::MAX {
                return false;
            }
            colours.insert([red >> 3, green >> 3, blue >> 3]);
        }
    }
    colours.len() > PHOTOGRAPH_COLOURS
}

/// The place of a sample along a side; every pixel of a side shorter than [`SAMPLES`].
fn at(sample: u32, length: u32) -> u32 {
    const SIDE: u64 = SAMPLES as u64;
    if length <= SAMPLES {
        return sample;
    }
    u32::try_from(u64::from(sample).saturating_mul(u64::from(length)) / SIDE).unwrap_or(0)
}

/// A JPEG without its metadata segments (EXIF, XMP, comments, …); JFIF, colour profile and Adobe's colour mark stay.
/// `None` when its segments cannot be followed.
fn without_metadata(source: &[u8]) -> Option<Vec<u8>> {
    let mut out = source.get(..2).filter(|magic| *magic == [0xFF, 0xD8])?.to_vec();
    let mut at = 2_usize;
    loop {
        let marker = *source.get(at.checked_add(1)?).filter(|_| source.get(at) == Some(&0xFF))?;
        if marker == 0xDA {
            out.extend_from_slice(source.get(at..)?);
            return Some(out);
        }
        let length = u16::from_be_bytes([*source.get(at.checked_add(2)?)?, *source.get(at.checked_add(3)?)?]);
        let end = at.checked_add(2)?.checked_add(usize::from(length))?;
        let segment = source.get(at..end).filter(|_| length >= 2)?;
        let metadata = matches!(marker, 0xE1 | 0xE3..=0xED | 0xEF | 0xFE);
        if !metadata {
            out.extend_from_slice(segment);
        }
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_left_out_and_the_picture_stays() {
        let image = DynamicImage::new_rgb8(8, 8);
        let jpeg = as_jpeg(&image).unwrap();
        let mut tagged = jpeg[..2].to_vec();
        tagged.extend_from_slice(&[0xFF, 0xE1, 0, 8, b'E', b'x', b'i', b'f', 0, 0]);
        tagged.extend_from_slice(&jpeg[2..]);
        assert_eq!(without_metadata(&tagged).unwrap(), jpeg);
        assert_eq!(without_metadata(&tagged[..9]), None);
        assert_eq!(without_metadata(b"\xFF\xD8\xFF\xE1\x00\x00"), None);
    }
}
