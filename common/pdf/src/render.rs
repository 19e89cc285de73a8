//! A page as a picture, and boxes marked on it.
//!
//! A picture carries its resolution (the PNG's `pHYs`), so that boxes in points can be laid over a picture that was drawn
//! long before.
#![allow(clippy::arithmetic_side_effects, reason = "pixels are counted in floating point and clamped to the picture before use")]

use std::io::Cursor;

use hayro::hayro_interpret::InterpreterSettings;
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::{PixmapSettings, RenderCache, RenderSettings};
use png::{BitDepth, ColorType, PixelDimensions, Unit};

use crate::document::Pdf;
use crate::geometry::Rect;

/// Resolution of page images, in dots per inch: twice the size of the page in points, so that small print can be read.
pub const PAGE_DPI: f32 = 144.0;
/// Most pixels of a page image. A larger page (a plan, a poster) is drawn at a lower resolution.
const MAX_PIXELS: f32 = 16_000_000.0;
/// Longest side of a page image, in pixels.
const MAX_SIDE: f32 = 8_000.0;
const POINTS_PER_METRE: f32 = 72.0 / 0.0254;
/// What is laid over a marked box (multiplied, as a felt pen does), and its frame.
const MARK: [u8; 3] = [255, 236, 120];
const FRAME: [u8; 3] = [230, 140, 0];
/// Thickness of the frame, in pixels.
const FRAME_PIXELS: usize = 2;

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The document has no such page.
    #[error("there is no page {page}; the document has {pages}")]
    NoPage {
        /// As asked for, from 1.
        page: u32,
        /// How many there are.
        pages: usize,
    },
    /// The picture cannot be written.
    #[error("the page image cannot be written")]
    Write(#[from] png::EncodingError),
    /// A stored picture cannot be read back.
    #[error("the page image cannot be read")]
    Read(#[from] png::DecodingError),
    /// A stored picture is not one that was drawn here.
    #[error("this is no page image")]
    Foreign,
}

/// A page as a PNG, in grey when nothing on it has a colour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageImage {
    /// The file.
    pub png: Vec<u8>,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
}

impl Pdf {
    /// Draws a page (from 1) at `dpi` dots per inch, or at the highest resolution below that which the limits on pixels
    /// allow. What cannot be drawn is left white; nothing of the document is run.
    ///
    /// Drawing cannot be interrupted: who calls it with a document of unknown origin does so on a thread with a large
    /// stack, under a clock.
    pub fn render(&self, page: u32, dpi: f32) -> Result<PageImage, RenderError> {
        let pages = self.page_count();
        let raw = (page as usize).checked_sub(1).and_then(|index| self.inner().pages().get(index));
        let raw = raw.ok_or(RenderError::NoPage { page, pages })?;
        let scale = scale_of(raw.render_dimensions(), dpi);
        let cache = RenderCache::new();
        let target = PixmapSettings { x_scale: scale, y_scale: scale, bg_color: WHITE };
        let pixels = hayro::render(raw, &cache, &InterpreterSettings::default(), &RenderSettings::default(), &target);
        let picture = Picture {
            width: u32::from(pixels.width()),
            height: u32::from(pixels.height()),
            scale,
            // The ground is white and opaque, so that colours are never premultiplied with less than all.
            rgb: pixels.data_as_u8_slice().chunks_exact(4).flat_map(|p| p.iter().take(3).copied()).collect(),
        };
        Ok(PageImage { png: picture.encode()?, width: picture.width, height: picture.height })
    }
}

/// Marks boxes, in points from the top left, on a page image drawn by [`Pdf::render`].
pub fn mark(png: &[u8], boxes: &[Rect]) -> Result<PageImage, RenderError> {
    let mut picture = Picture::decode(png)?;
    for rect in boxes {
        picture.mark(rect);
    }
    Ok(PageImage { png: picture.encode()?, width: picture.width, height: picture.height })
}

/// A page image at half its resolution: each pixel is the mean of four.
pub fn smaller(png: &[u8]) -> Result<PageImage, RenderError> {
    let picture = Picture::decode(png)?.halved();
    Ok(PageImage { png: picture.encode()?, width: picture.width, height: picture.height })
}

/// Pixels a point.
fn scale_of((width, height): (f32, f32), dpi: f32) -> f32 {
    let (width, height) = (width.max(1.0), height.max(1.0));
    let scale = dpi / 72.0;
    scale.min((MAX_PIXELS / (width * height)).sqrt()).min(MAX_SIDE / width.max(height)).max(1.0 / width.min(height))
}

struct Picture {
    width: u32,
    height: u32,
    /// Pixels a point.
    scale: f32,
    rgb: Vec<u8>,
}

impl Picture {
    fn encode(&self) -> Result<Vec<u8>, png::EncodingError> {
        let grey = self.rgb.chunks_exact(3).all(|p| p.first() == p.get(1) && p.first() == p.get(2));
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, self.width, self.height);
        encoder.set_color(if grey { ColorType::Grayscale } else { ColorType::Rgb });
        encoder.set_depth(BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        let dots = (self.scale * POINTS_PER_METRE).round() as u32;
        encoder.set_pixel_dims(Some(PixelDimensions { xppu: dots, yppu: dots, unit: Unit::Meter }));
        let mut writer = encoder.write_header()?;
        if grey {
            let luma: Vec<u8> = self.rgb.iter().step_by(3).copied().collect();
            writer.write_image_data(&luma)?;
        } else {
            writer.write_image_data(&self.rgb)?;
        }
        writer.finish()?;
        Ok(out)
    }

    fn decode(png: &[u8]) -> Result<Self, RenderError> {
        let mut reader = png::Decoder::new(Cursor::new(png)).read_info()?;
        let info = reader.info();
        let (width, height, color) = (info.width, info.height, info.color_type);
        let dots = info.pixel_dims.filter(|d| d.unit == Unit::Meter && d.xppu > 0).ok_or(RenderError::Foreign)?;
        let size = reader.output_buffer_size().filter(|size| *size as f32 <= MAX_PIXELS * 3.1).ok_or(RenderError::Foreign)?;
        let mut data = vec![0; size];
        reader.next_frame(&mut data)?;
        let rgb = match color {
            ColorType::Rgb => data,
            ColorType::Grayscale => data.iter().flat_map(|grey| [*grey; 3]).collect(),
            _ => return Err(RenderError::Foreign),
        };
        Ok(Self { width, height, scale: dots.xppu as f32 / POINTS_PER_METRE, rgb })
    }

    /// An odd last row or column is left out.
    fn halved(&self) -> Self {
        let (width, height) = ((self.width / 2).max(1), (self.height / 2).max(1));
        let row_bytes = (self.width as usize).saturating_mul(3);
        let mut rgb = Vec::with_capacity((width as usize).saturating_mul(height as usize).saturating_mul(3));
        let mut rows = self.rgb.chunks_exact(row_bytes.max(1));
        while let Some(upper) = rows.next().filter(|_| rgb.len() < rgb.capacity()) {
            let lower = rows.next().unwrap_or(upper);
            for (above, below) in upper.chunks(6).zip(lower.chunks(6)).take(width as usize) {
                for channel in 0..3 {
                    let of = |pixels: &[u8], at: usize| u16::from(pixels.get(at).or_else(|| pixels.get(channel)).copied().unwrap_or(255));
                    let sum = of(above, channel) + of(above, channel + 3) + of(below, channel) + of(below, channel + 3);
                    rgb.push((sum / 4) as u8);
                }
            }
        }
        Self { width, height, scale: self.scale / 2.0, rgb }
    }

    fn mark(&mut self, rect: &Rect) {
        // Half a line of air around the text reads better than a frame that touches it.
        let air = 2.0;
        let at = |value: f32, most: u32| (value * self.scale).clamp(0.0, most as f32) as usize;
        let (x0, x1) = (at(rect.x0 - air, self.width), at(rect.x1 + air, self.width));
        let (y0, y1) = (at(rect.y0 - air, self.height), at(rect.y1 + air, self.height));
        let row_bytes = (self.width as usize).saturating_mul(3);
        for (y, row) in self.rgb.chunks_exact_mut(row_bytes.max(1)).enumerate().take(y1).skip(y0) {
            let edge_row = y < y0.saturating_add(FRAME_PIXELS) || y.saturating_add(FRAME_PIXELS) >= y1;
            for (x, pixel) in row.chunks_exact_mut(3).enumerate().take(x1).skip(x0) {
                let edge = edge_row || x < x0.saturating_add(FRAME_PIXELS) || x.saturating_add(FRAME_PIXELS) >= x1;
                for ((channel, mark), frame) in pixel.iter_mut().zip(MARK).zip(FRAME) {
                    *channel = if edge { frame } else { (u16::from(*channel) * u16::from(mark) / 255) as u8 };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use quarry_model::Limits;

    use super::*;
    use crate::testing::{Builder, Leaf};

    /// One page of this size with a black square of 100 points, 100 points from the top left; turned by `rotate` degrees.
    fn page(width: f32, height: f32, rotate: i64) -> Pdf {
        let leaf = Leaf { rotate, ..Leaf::sized(width, height) }.draw(&format!("100 {} 100 100 re f", height - 200.0));
        Pdf::open(Builder::new().page(leaf).save(), &Limits::default()).unwrap()
    }

    fn pixel(picture: &Picture, x: usize, y: usize) -> [u8; 3] {
        let at = (y * picture.width as usize + x) * 3;
        [picture.rgb[at], picture.rgb[at + 1], picture.rgb[at + 2]]
    }

    #[test]
    fn a_page_is_drawn_at_two_pixels_a_point() {
        let image = page(400.0, 600.0, 0).render(1, PAGE_DPI).unwrap();
        assert_eq!((image.width, image.height), (800, 1200));
        let picture = Picture::decode(&image.png).unwrap();
        assert_eq!(pixel(&picture, 300, 300), [0; 3]);
        assert_eq!(pixel(&picture, 190, 300), [255; 3]);
        assert_eq!(pixel(&picture, 300, 410), [255; 3]);
    }

    #[test]
    fn a_turned_page_is_drawn_as_it_is_read() {
        let image = page(400.0, 600.0, 90).render(1, PAGE_DPI).unwrap();
        assert_eq!((image.width, image.height), (1200, 800));
        // What stood at the left end of the first row stands at the right end of the first column.
        assert_eq!(pixel(&Picture::decode(&image.png).unwrap(), 1200 - 300, 300), [0; 3]);
    }

    #[test]
    fn large_pages_are_drawn_smaller() {
        assert_eq!(scale_of((595.0, 842.0), PAGE_DPI), 2.0);
        for (width, height) in [(14_400.0, 14_400.0), (14_400.0, 3.0), (1.0, 14_400.0), (0.0, 0.0), (3_370.0, 2_384.0)] {
            let scale = scale_of((width, height), PAGE_DPI);
            let (width, height) = (width.max(1.0) * scale, height.max(1.0) * scale);
            assert!(
                width >= 0.99 && height >= 0.99 && width * height <= MAX_PIXELS * 1.01 && width.max(height) <= 14_400.0,
                "{width} x {height}"
            );
        }
    }

    #[test]
    fn boxes_are_marked_where_they_stand() {
        let image = page(400.0, 600.0, 0).render(1, PAGE_DPI).unwrap();
        let marked =
            mark(&image.png, &[Rect { x0: 150.0, y0: 150.0, x1: 300.0, y1: 250.0 }, Rect { x0: -50.0, y0: 590.0, x1: 9e9, y1: 9e9 }]);
        let picture = Picture::decode(&marked.unwrap().png).unwrap();
        assert_eq!(pixel(&picture, 500, 350), MARK, "white under the mark");
        assert_eq!(pixel(&picture, 350, 350), [0; 3], "black stays black");
        assert_eq!(pixel(&picture, 600, 604), [255; 3], "nothing outside");
        assert_eq!(pixel(&picture, 400, 1190), MARK, "a box over the edge is cut at it");
    }

    #[test]
    fn half_a_picture_keeps_its_scale() {
        let image = page(401.0, 600.0, 0).render(1, PAGE_DPI).unwrap();
        let half = smaller(&smaller(&image.png).unwrap().png).unwrap();
        assert_eq!((half.width, half.height), (200, 300));
        let marked = Picture::decode(&mark(&half.png, &[Rect { x0: 300.0, y0: 300.0, x1: 350.0, y1: 350.0 }]).unwrap().png).unwrap();
        assert_eq!((pixel(&marked, 75, 75), pixel(&marked, 160, 160), pixel(&marked, 145, 160)), ([0; 3], MARK, [255; 3]));
    }

    #[test]
    fn no_such_page_is_said() {
        let pdf = page(400.0, 600.0, 0);
        for number in [0, 2, u32::MAX] {
            assert!(matches!(pdf.render(number, PAGE_DPI), Err(RenderError::NoPage { pages: 1, .. })));
        }
        assert!(matches!(mark(b"no png", &[]), Err(RenderError::Read(_))));
    }

    #[test]
    fn drawing_twice_gives_the_same_bytes() {
        let pdf = page(400.0, 600.0, 0);
        assert_eq!(pdf.render(1, PAGE_DPI).unwrap(), pdf.render(1, PAGE_DPI).unwrap());
    }
}
