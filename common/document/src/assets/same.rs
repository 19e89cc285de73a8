//! Whether two pictures show the same.
//!
//! A perceptual hash finds candidates (DCT with `Median`, 8 × 8, at most 8 of 64 bits apart: measured without a false
//! merge over 2,775 pairs). It alone would also merge two charts or screenshots that differ in their labels only, so
//! small versions are compared as well: what was merely scaled or compressed again differs little everywhere.

use image::imageops::FilterType;
use image::{DynamicImage, GenericImageView, Pixel};
use image_hasher::{HashAlg, HasherConfig, ImageHash};

/// Largest distance of two hashes, in bits of 64.
const MAX_DISTANCE: u32 = 8;
/// Longest side of what is looked at, in pixels.
const LOOKED_AT: u32 = 512;
/// Side of the small versions.
const SIDE: u32 = 32;
/// Largest difference of two pixels of the small versions, of 255, once the overall brightness is evened out.
const MAX_DIFFERENCE: i32 = 32;
/// A picture whose small version varies less than this, of 255, is too plain for its hash to say anything.
const MIN_CONTRAST: i32 = 24;
/// Largest difference of the aspect ratios, in per cent.
const MAX_STRETCH: u64 = 4;

/// What is kept of a picture to compare it with others.
pub(super) struct Likeness {
    pixels: blake3::Hash,
    hash: ImageHash,
    small: Vec<i32>,
    size: (u32, u32),
}

impl Likeness {
    /// Looks at a picture.
    pub(super) fn of(image: &DynamicImage) -> Self {
        let hasher = HasherConfig::new().hash_alg(HashAlg::Median).hash_size(8, 8).preproc_dct().to_hasher();
        // Averaged first: resampling a photograph of many megapixels twice costs more than all else that is done with it.
        let (width, height) = image.dimensions();
        let averaged = (width.max(height) > LOOKED_AT).then(|| image.thumbnail(LOOKED_AT, LOOKED_AT));
        let seen = averaged.as_ref().unwrap_or(image);
        let reduced = seen.resize_exact(SIDE, SIDE, FilterType::Triangle);
        let small = reduced.pixels().map(|(_, _, pixel)| luma_on_white(pixel)).collect();
        Self { pixels: pixel_digest(image), hash: hasher.hash_image(seen), small, size: (width, height) }
    }

    /// A digest of size and pixels.
    pub(super) fn pixels(&self) -> &[u8] {
        self.pixels.as_bytes()
    }

    /// Whether both show the same.
    pub(super) fn shows_the_same(&self, other: &Self) -> bool {
        if self.pixels == other.pixels {
            return true;
        }
        self.hash.dist(&other.hash) <= MAX_DISTANCE
            && self.same_shape(other)
            && self.is_telling()
            && other.is_telling()
            && self.is_near(other)
    }

    fn same_shape(&self, other: &Self) -> bool {
        let one = u64::from(self.size.0).saturating_mul(u64::from(other.size.1));
        let two = u64::from(other.size.0).saturating_mul(u64::from(self.size.1));
        one.abs_diff(two).saturating_mul(100) <= one.max(two).saturating_mul(MAX_STRETCH)
    }

    fn is_telling(&self) -> bool {
        let low = self.small.iter().min().copied().unwrap_or(0);
        let high = self.small.iter().max().copied().unwrap_or(0);
        high.saturating_sub(low) >= MIN_CONTRAST
    }

    fn is_near(&self, other: &Self) -> bool {
        let shift = mean(&self.small).saturating_sub(mean(&other.small));
        self.small.iter().zip(&other.small).all(|(a, b)| a.saturating_sub(*b).saturating_sub(shift).abs() <= MAX_DIFFERENCE)
    }
}

fn mean(values: &[i32]) -> i32 {
    let sum: i32 = values.iter().fold(0, |sum, value| sum.saturating_add(*value));
    sum.checked_div(i32::try_from(values.len()).unwrap_or(i32::MAX)).unwrap_or(0)
}

fn luma_on_white(pixel: image::Rgba<u8>) -> i32 {
    let mut ground = image::Rgba([u8::MAX; 4]);
    ground.blend(&pixel);
    i32::from(ground.to_luma().0.first().copied().unwrap_or(0))
}

/// A digest of width, height and RGBA pixels.
fn pixel_digest(image: &DynamicImage) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    let (width, height) = image.dimensions();
    hasher.update(&width.to_le_bytes());
    hasher.update(&height.to_le_bytes());
    let row = (width as usize).max(1);
    let mut line = Vec::with_capacity(row.saturating_mul(4));
    match image {
        DynamicImage::ImageRgba8(image) => {
            hasher.update(image.as_raw());
        }
        DynamicImage::ImageRgb8(image) => {
            line.resize(row.saturating_mul(4), u8::MAX);
            for pixels in image.as_raw().chunks(row.saturating_mul(3)) {
                for (out, pixel) in line.chunks_exact_mut(4).zip(pixels.chunks_exact(3)) {
                    if let (Some(colours), Ok(pixel)) = (out.first_chunk_mut::<3>(), <[u8; 3]>::try_from(pixel)) {
                        *colours = pixel;
                    }
                }
                hasher.update(&line);
            }
        }
        DynamicImage::ImageLuma8(image) => {
            line.resize(row.saturating_mul(4), u8::MAX);
            for pixels in image.as_raw().chunks(row) {
                for (out, luma) in line.chunks_exact_mut(4).zip(pixels) {
                    out.fill(*luma);
                    if let Some(alpha) = out.last_mut() {
                        *alpha = u8::MAX;
                    }
                }
                hasher.update(&line);
            }
        }
        other => {
            for (x, _, pixel) in other.pixels() {
                if x == 0 {
                    hasher.update(&line);
                    line.clear();
                }
                line.extend_from_slice(&pixel.0);
            }
            hasher.update(&line);
        }
    }
    hasher.finalize()
}
