//! What a picture's bytes are, and its pixels.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader};
use quarry_model::Limits;

use super::Kind;

/// What became of a picture.
pub(crate) enum Decoded {
    /// Its pixels, upright.
    Image {
        /// First frame.
        image: DynamicImage,
        /// Whether its metadata said that it had to be turned.
        turned: bool,
    },
    /// A format that is not drawn here.
    NotRendered,
    /// Its header promises more pixels than allowed.
    TooLarge {
        /// As the header says.
        width: u32,
        /// As the header says.
        height: u32,
    },
    /// Damaged.
    Broken(String),
}

macro_rules! kinds {
    ($($constant:ident $name:literal $extension:literal $media:literal;)*) => {
        $(pub(crate) const $constant: Kind = Kind { name: $name, extension: $extension, media_type: $media };)*
    };
}

kinds! {
    PNG "png" "png" "image/png";
    JPEG "jpeg" "jpg" "image/jpeg";
    GIF "gif" "gif" "image/gif";
    WEBP "webp" "webp" "image/webp";
    TIFF "tiff" "tiff" "image/tiff";
    BMP "bmp" "bmp" "image/bmp";
    EMF "emf" "emf" "image/emf";
    WMF "wmf" "wmf" "image/wmf";
    SVG "svg" "svg" "image/svg+xml";
    WDP "wdp" "wdp" "image/vnd.ms-photo";
    UNKNOWN "unknown" "bin" "application/octet-stream";
}

/// What the bytes are, by their beginning.
pub(crate) fn kind(bytes: &[u8]) -> Kind {
    match image::guess_format(bytes) {
        Ok(ImageFormat::Png) => return PNG,
        Ok(ImageFormat::Jpeg) => return JPEG,
        Ok(ImageFormat::Gif) => return GIF,
        Ok(ImageFormat::WebP) => return WEBP,
        Ok(ImageFormat::Tiff) => return TIFF,
        Ok(ImageFormat::Bmp) => return BMP,
        _ => {}
    }
    let begins = |magic: &[u8]| bytes.starts_with(magic);
    if begins(&[1, 0, 0, 0]) && bytes.get(40..44) == Some(b" EMF") {
        EMF
    } else if begins(&[0xD7, 0xCD, 0xC6, 0x9A]) || begins(&[1, 0, 9, 0, 0, 3]) || begins(&[2, 0, 9, 0, 0, 3]) {
        WMF
    } else if begins(b"II\xBC\x01") {
        WDP
    } else if is_svg(bytes) {
        SVG
    } else {
        UNKNOWN
    }
}

fn is_svg(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(4_096)).unwrap_or_default();
    let head = String::from_utf8_lossy(head);
    head.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']).starts_with('<') && head.contains("<svg")
}

/// The pixels. Dimensions are checked on the header, before anything is allocated for them.
pub(crate) fn decode(bytes: &[u8], kind: Kind, limits: &Limits) -> Decoded {
    let format = match kind {
        PNG => ImageFormat::Png,
        JPEG => ImageFormat::Jpeg,
        GIF => ImageFormat::Gif,
        WEBP => ImageFormat::WebP,
        TIFF => ImageFormat::Tiff,
        BMP => ImageFormat::Bmp,
        EMF | WMF | SVG | WDP => return Decoded::NotRendered,
        _ => return Decoded::Broken("its format is not known".to_owned()),
    };
    // One damaged picture must not cost the document, whatever a decoder makes of it.
    catch_unwind(AssertUnwindSafe(|| decode_as(bytes, format, limits)))
        .unwrap_or_else(|_| Decoded::Broken("its decoder gave up".to_owned()))
}

/// The EXIF block of a picture, if it has one.
pub(crate) fn exif(bytes: &[u8]) -> Option<Vec<u8>> {
    let read = || {
        let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().ok()?;
        reader.into_decoder().ok()?.exif_metadata().ok().flatten()
    };
    catch_unwind(AssertUnwindSafe(read)).ok().flatten()
}

fn decode_as(bytes: &[u8], format: ImageFormat, limits: &Limits) -> Decoded {
    let broken = |error: image::ImageError| Decoded::Broken(error.to_string());
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut bounds = image::Limits::default();
    bounds.max_alloc = Some(limits.image_pixels.saturating_mul(8));
    reader.limits(bounds);
    let mut decoder = match reader.into_decoder() {
        Ok(decoder) => decoder,
        Err(error) => return broken(error),
    };
    let (width, height) = decoder.dimensions();
    if u64::from(width).saturating_mul(u64::from(height)) > limits.image_pixels {
        return Decoded::TooLarge { width, height };
    }
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    match DynamicImage::from_decoder(decoder) {
        Ok(mut image) => {
            image.apply_orientation(orientation);
            Decoded::Image { image, turned: orientation != Orientation::NoTransforms }
        }
        Err(error) => broken(error),
    }
}
