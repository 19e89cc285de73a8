use std::io::Cursor;

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};

use super::*;

fn bytes(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    image.write_to(&mut out, format).unwrap();
    out.into_inner()
}

fn drawing(seed: u32, width: u32, height: u32) -> DynamicImage {
    DynamicImage::ImageRgb8(RgbImage::from_fn(width, height, |x, y| {
        let wave = |v: u32, n: u32| ((f64::from(v) * f64::from(n + seed) / 40.0).sin() * 100.0 + 128.0) as u8;
        Rgb([wave(x, 3), wave(y, 5 + seed), wave(x + y, 2)])
    }))
}

fn store(files: Vec<Vec<u8>>) -> Pictures {
    let rows: Vec<Row> = (0..files.len()).map(|n| Row::image(None, n, "")).collect();
    let assets = files.into_iter().map(|bytes| Asset { bytes, original_name: "../../etc/passwd".into() }).collect();
    Pictures::store(assets, &rows, &Limits::default())
}

#[test]
fn equal_pictures_are_stored_once_and_different_ones_are_not() {
    let one = drawing(1, 200, 120);
    let smaller = one.resize_exact(100, 60, image::imageops::FilterType::Lanczos3);
    let pictures = store(vec![
        bytes(&one, ImageFormat::Png),
        bytes(&drawing(7, 200, 120), ImageFormat::Png),
        bytes(&one, ImageFormat::Png),
        bytes(&smaller, ImageFormat::Jpeg),
        bytes(&one, ImageFormat::Bmp),
    ]);
    assert_eq!(pictures.of_asset, [Some(0), Some(1), Some(0), Some(0), Some(0)]);
    assert!(pictures.warnings.is_empty());
}

#[test]
fn pictures_that_differ_in_a_label_both_stay() {
    let mut one = drawing(1, 320, 200);
    let two = one.clone();
    if let DynamicImage::ImageRgb8(pixels) = &mut one {
        for (x, y) in (100..140).flat_map(|x| (90..110).map(move |y| (x, y))) {
            pixels.put_pixel(x, y, Rgb([255, 255, 255]));
        }
    }
    assert_eq!(store(vec![bytes(&one, ImageFormat::Png), bytes(&two, ImageFormat::Png)]).stored.len(), 2);
}

#[test]
fn plain_pictures_are_the_same_only_pixel_by_pixel() {
    let plain = |colour| DynamicImage::ImageRgb8(RgbImage::from_pixel(20, 20, Rgb(colour)));
    let red = bytes(&plain([200, 0, 0]), ImageFormat::Png);
    let pictures = store(vec![red, bytes(&plain([0, 200, 0]), ImageFormat::Png), bytes(&plain([200, 0, 0]), ImageFormat::Bmp)]);
    assert_eq!(pictures.of_asset, [Some(0), Some(1), Some(0)]);
}

#[test]
fn large_pictures_shrink_and_photographs_become_jpeg() {
    let pictures = store(vec![bytes(&drawing(3, 3000, 40), ImageFormat::Png)]);
    let picture = &pictures.stored[0];
    assert_eq!(picture.size, Some((2400, 32)));
    let noise = DynamicImage::ImageRgb8(RgbImage::from_fn(300, 300, |x, y| {
        let n = (x.wrapping_mul(2_654_435_761) ^ y.wrapping_mul(40_503)).wrapping_mul(2_246_822_519);
        let soft = |v: u32| (v / 3 + (n >> 27)) as u8;
        Rgb([soft(x), soft(y), soft(x.midpoint(y))])
    }));
    let pictures = store(vec![bytes(&noise, ImageFormat::Png)]);
    assert_eq!(pictures.stored[0].kind.name, "jpeg");
    let lines = DynamicImage::ImageRgb8(RgbImage::from_fn(300, 300, |x, _| if x % 7 == 0 { Rgb([0; 3]) } else { Rgb([255; 3]) }));
    assert_eq!(store(vec![bytes(&lines, ImageFormat::Png)]).stored[0].kind.name, "png");
}

/// The quick ways through pixels give the digest that the slow one gives.
#[test]
fn a_picture_is_the_same_in_whatever_form_its_pixels_are_held() {
    let grey = DynamicImage::ImageLuma8(drawing(5, 70, 40).to_luma8());
    let forms = [
        DynamicImage::ImageRgb8(grey.to_rgb8()),
        DynamicImage::ImageRgba8(grey.to_rgba8()),
        DynamicImage::ImageLumaA8(grey.to_luma_alpha8()),
        DynamicImage::ImageRgb16(grey.to_rgb16()),
    ];
    let known = same::Likeness::of(&grey);
    for form in forms {
        assert_eq!(same::Likeness::of(&form).pixels(), known.pixels(), "{:?}", form.color());
    }
}

#[test]
fn storing_is_deterministic() {
    let files = || vec![bytes(&drawing(2, 500, 300), ImageFormat::Jpeg), bytes(&drawing(4, 90, 90), ImageFormat::Tiff)];
    assert_eq!(store(files()).stored, store(files()).stored);
}

#[test]
fn orientation_is_applied() {
    let jpeg = bytes(&drawing(5, 60, 20), ImageFormat::Jpeg);
    // One IFD entry: tag 0x0112 (orientation), SHORT, count 1, value 6 (turn clockwise).
    let exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
    let mut turned = jpeg[..2].to_vec();
    turned.extend_from_slice(&[0xFF, 0xE1]);
    turned.extend_from_slice(&(exif.len() as u16 + 2).to_be_bytes());
    turned.extend_from_slice(exif);
    turned.extend_from_slice(&jpeg[2..]);
    let pictures = store(vec![turned]);
    assert_eq!(pictures.stored[0].size, Some((20, 60)));
    assert!(!pictures.stored[0].bytes.windows(4).any(|w| w == b"Exif"));
}

#[test]
fn what_cannot_be_drawn_or_decoded_is_kept() {
    let mut emf = vec![1, 0, 0, 0];
    emf.resize(40, 0);
    emf.extend_from_slice(b" EMF");
    let mut cut = bytes(&drawing(1, 50, 50), ImageFormat::Png);
    cut.truncate(60);
    let files = vec![emf.clone(), b"<?xml version=\"1.0\"?>\n<svg/>".to_vec(), cut.clone(), b"nothing".to_vec()];
    let pictures = store(files);
    let kinds: Vec<&str> = pictures.stored.iter().map(|p| p.kind.extension).collect();
    assert_eq!(kinds, ["emf", "svg", "png", "bin"]);
    assert_eq!(pictures.stored[0].bytes, emf);
    assert_eq!(pictures.stored[2].bytes, cut);
    assert!(pictures.stored.iter().all(|p| p.not_rendered && p.size.is_none()));
    assert_eq!(pictures.warnings.len(), 2, "{:?}", pictures.warnings);
}

#[test]
fn dimensions_are_checked_on_the_header() {
    let mut bmp = bytes(&drawing(1, 4, 4), ImageFormat::Bmp);
    bmp[18..22].copy_from_slice(&60_000_u32.to_le_bytes());
    bmp[22..26].copy_from_slice(&60_000_u32.to_le_bytes());
    let pictures = store(vec![bmp]);
    assert_eq!(pictures.warnings[0].code, DocumentCode::TooLarge);
    assert_eq!(pictures.stored.len(), 1);
}

#[test]
fn assets_no_row_points_at_are_left_out() {
    let assets = vec![Asset { bytes: b"x".to_vec(), original_name: String::new() }];
    let pictures = Pictures::store(assets, &[], &Limits::default());
    assert_eq!((pictures.of_asset, pictures.stored.len()), (vec![None], 0));
}

#[test]
fn a_picture_on_most_pages_is_decoration_after_its_first_showing() {
    let file = bytes(&drawing(1, 40, 40), ImageFormat::Png);
    let mut rows: Vec<Row> = (1..=5).map(|page| Row { pages: vec![page], ..Row::image(None, 0, "") }).collect();
    rows[3].content = "Logo with words".into();
    let pictures = Pictures::store(vec![Asset { bytes: file, original_name: String::new() }], &rows, &Limits::default());
    assert_eq!(decoration(&rows, &pictures, Some(5)), [false, true, true, false, true]);
    assert_eq!(decoration(&rows, &pictures, None), [false; 5]);
    assert_eq!(decoration(&rows, &pictures, Some(20)), [false; 5]);
}
