//! The bytes of pictures: JPEG as it is stored where that is all there is to it, pixels otherwise.

use std::collections::{BTreeMap, BTreeSet};

use hayro_interpret::font::GlyphRun;
use hayro_interpret::hayro_syntax::object::dict::keys::{COLORSPACE, DECODE, MASK, SMASK};
use hayro_interpret::hayro_syntax::object::{Array, Object, ObjectIdentifier, Stream};
use hayro_interpret::kurbo::{Affine, BezPath, Rect as KurboRect};
use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageData, ImageDrawProps, InterpreterCache, InterpreterSettings,
    SoftMask, interpret_page,
};
use hayro_syntax::Filter;

use crate::document::Pdf;

/// A picture as it can be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PictureData {
    /// A JPEG file, as the document holds it.
    Jpeg(Vec<u8>),
    /// 8-bit RGBA, row by row.
    Rgba {
        /// Pixels.
        width: u32,
        /// Pixels.
        height: u32,
        /// Four bytes a pixel.
        data: Vec<u8>,
    },
}

impl Pdf {
    /// The pictures of a page (from 1) by their object, of those that are `wanted` and have at most `max_pixels`.
    /// A picture that cannot be decoded is missing from the answer.
    pub fn pictures(&self, page: usize, wanted: &BTreeSet<(u32, i32)>, max_pixels: u64) -> BTreeMap<(u32, i32), PictureData> {
        let mut found = BTreeMap::new();
        let mut left = BTreeSet::new();
        for id in wanted {
            match self.inner().xref().get::<Stream<'_>>(ObjectIdentifier::new(id.0, id.1)).and_then(|stream| plain_jpeg(&stream)) {
                Some(jpeg) => {
                    found.insert(*id, PictureData::Jpeg(jpeg));
                }
                None => {
                    left.insert(*id);
                }
            }
        }
        let Some(raw) = page.checked_sub(1).and_then(|index| self.inner().pages().get(index)) else { return found };
        if left.is_empty() {
            return found;
        }
        let (width, height) = raw.render_dimensions();
        let cache = InterpreterCache::new();
        let bounds = KurboRect::new(0.0, 0.0, f64::from(width), f64::from(height));
        let mut context = Context::new(Affine::IDENTITY, bounds, &cache, self.inner().xref(), InterpreterSettings::default());
        let mut taker = Taker { left, max_pixels, found };
        interpret_page(raw, &mut context, &mut taker);
        taker.found
    }
}

/// The JPEG inside a stream whose only filter is JPEG and whose colours are plain grey or RGB without a mask.
fn plain_jpeg(stream: &Stream<'_>) -> Option<Vec<u8>> {
    if stream.filters().as_slice() != [Filter::DctDecode] {
        return None;
    }
    let dict = stream.dict();
    if dict.contains_key(SMASK) || dict.contains_key(MASK) || dict.contains_key(DECODE) {
        return None;
    }
    let plain = match dict.get::<Object<'_>>(COLORSPACE)? {
        Object::Name(name) => matches!(name.as_str(), "DeviceRGB" | "DeviceGray"),
        Object::Array(array) => is_plain_icc(&array),
        _ => false,
    };
    plain.then(|| stream.raw_data().into_owned()).filter(|data| data.starts_with(&[0xff, 0xd8]))
}

fn is_plain_icc(array: &Array<'_>) -> bool {
    let mut items = array.iter::<Object<'_>>();
    let named = matches!(items.next(), Some(Object::Name(name)) if name.as_str() == "ICCBased" || name.as_str() == "CalRGB" || name.as_str() == "CalGray");
    match items.next() {
        Some(Object::Stream(profile)) => named && matches!(profile.dict().get::<u32>("N"), Some(1 | 3)),
        Some(Object::Dict(_)) => named,
        _ => false,
    }
}

/// A device that draws nothing and keeps the pictures it is handed.
struct Taker {
    left: BTreeSet<(u32, i32)>,
    max_pixels: u64,
    found: BTreeMap<(u32, i32), PictureData>,
}

impl<'a> Device<'a> for Taker {
    fn draw_image(&mut self, image: Image<'a, '_>, _: ImageDrawProps<'a>) {
        let id = match &image {
            Image::Raster(raster) => raster.stream().obj_id(),
            Image::Stencil(stencil) => stencil.stream().obj_id(),
        };
        let id = (id.obj_number, id.gen_number);
        if !self.left.contains(&id) || u64::from(image.width()).saturating_mul(u64::from(image.height())) > self.max_pixels {
            return;
        }
        let mut taken = None;
        match image {
            Image::Raster(raster) => raster.with_rgba(|image, alpha| taken = rgba(&image, alpha.map(|a| a.data)), None),
            // A stencil paints its dark pixels: black on white is how it looks on paper.
            Image::Stencil(stencil) => stencil.with_stencil(
                |luma, _| {
                    let data = luma.data.iter().flat_map(|ink| [255u8.saturating_sub(*ink); 3].into_iter().chain([255])).collect();
                    taken = Some(PictureData::Rgba { width: luma.width, height: luma.height, data });
                },
                None,
            ),
        }
        if let Some(picture) = taken {
            self.left.remove(&id);
            self.found.insert(id, picture);
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'a>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}
    fn draw_glyph_run(&mut self, _: &GlyphRun<'_, 'a>, _: DrawProps<'a>, _: &DrawMode) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}

fn rgba(image: &ImageData, alpha: Option<Vec<u8>>) -> Option<PictureData> {
    let (width, height) = (image.width(), image.height());
    let pixels = (width as usize).checked_mul(height as usize)?;
    let alpha = alpha.filter(|a| a.len() == pixels);
    let mut data = Vec::with_capacity(pixels.checked_mul(4)?);
    let opacity = |i: usize| alpha.as_ref().and_then(|a| a.get(i)).copied().unwrap_or(255);
    match image {
        ImageData::Rgb(rgb) => {
            for (i, pixel) in rgb.data.chunks_exact(3).enumerate() {
                data.extend_from_slice(pixel);
                data.push(opacity(i));
            }
        }
        ImageData::Luma(luma) => {
            for (i, grey) in luma.data.iter().enumerate() {
                data.extend_from_slice(&[*grey; 3]);
                data.push(opacity(i));
            }
        }
    }
    Some(PictureData::Rgba { width, height, data })
}
