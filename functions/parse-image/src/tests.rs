use std::io::Cursor;

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use quarry_model::Limits;
use quarry_model::message::Profile;

use super::*;

fn read_with(bytes: &[u8], format: Format, limits: &Limits) -> Result<Parsed, DocumentFailure> {
    let profile =
        Profile { format, claimed_format: None, encoding: None, category: String::new(), routing_category: "generic".into(), pdf: None };
    ImageParser.parse(&Source { bytes, file_name: "Pump house.tif", profile: &profile }, limits)
}

fn read(bytes: &[u8], format: Format) -> Result<Parsed, DocumentFailure> {
    read_with(bytes, format, &Limits::default())
}

fn picture(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
    let image = DynamicImage::ImageRgb8(RgbImage::from_fn(width, height, |x, y| Rgb([(x * 9) as u8, (y * 7) as u8, 90])));
    let mut out = Cursor::new(Vec::new());
    image.write_to(&mut out, format).unwrap();
    out.into_inner()
}

/// A grey TIFF of these pages, each with a description; `next_of_last` is where the last directory leads.
fn tiff(pages: &[(u32, u32, &str)], next_of_last: impl Fn(&[u32]) -> u32) -> Vec<u8> {
    let mut out = b"II*\0\0\0\0\0".to_vec();
    let mut link = 4;
    let mut directories = Vec::new();
    for (width, height, said) in pages {
        let strip = out.len() as u32;
        out.extend((0..width * height).map(|n| (n * 5) as u8));
        let text = out.len() as u32;
        out.extend(said.as_bytes());
        out.push(0);
        if out.len() % 2 == 1 {
            out.push(0);
        }
        let directory = out.len() as u32;
        out[link..link + 4].copy_from_slice(&directory.to_le_bytes());
        directories.push(directory);
        let entries: [(u16, u16, u32, u32); 8] = [
            (256, 4, 1, *width),
            (257, 4, 1, *height),
            (258, 3, 1, 8),
            (262, 3, 1, 1),
            (270, 2, said.len() as u32 + 1, text),
            (273, 4, 1, strip),
            (278, 4, 1, *height),
            (279, 4, 1, width * height),
        ];
        out.extend((entries.len() as u16).to_le_bytes());
        for (tag, kind, count, value) in entries {
            out.extend(tag.to_le_bytes());
            out.extend(kind.to_le_bytes());
            out.extend(count.to_le_bytes());
            out.extend(value.to_le_bytes());
        }
        link = out.len();
        out.extend(0_u32.to_le_bytes());
    }
    let last = next_of_last(&directories);
    out[link..link + 4].copy_from_slice(&last.to_le_bytes());
    out
}

/// A JPEG that says how it was held (EXIF orientation 6: turn right) and what it shows.
fn photograph() -> Vec<u8> {
    let said = b"The mill at noon\0\0";
    let mut exif = b"Exif\0\0II*\0\x08\0\0\0\x02\0".to_vec();
    for (tag, kind, count, value) in [(0x010E_u16, 2_u16, said.len() as u32, 38_u32), (0x0112, 3, 1, 6)] {
        exif.extend(tag.to_le_bytes());
        exif.extend(kind.to_le_bytes());
        exif.extend(count.to_le_bytes());
        exif.extend(value.to_le_bytes());
    }
    exif.extend([0; 4]);
    exif.extend(said);
    let plain = picture(24, 16, ImageFormat::Jpeg);
    let mut out = plain[..2].to_vec();
    out.extend([0xFF, 0xE1]);
    out.extend((exif.len() as u16 + 2).to_be_bytes());
    out.extend(exif);
    out.extend(&plain[2..]);
    out
}

#[test]
fn a_photograph_is_turned_and_says_what_it_shows() {
    let parsed = read(&photograph(), Format::Jpeg).unwrap();
    assert_eq!(parsed.rows[0].content, "Pump house.tif\nJPEG image, 16 × 24 pixels\nThe mill at noon");
    assert_eq!(parsed.title.as_deref(), Some("The mill at noon"));
}

#[test]
fn the_golden_inputs_are_what_is_built_here() {
    let inputs = [
        ("png/gradient/input.png", picture(40, 30, ImageFormat::Png)),
        ("jpeg/turned/input.jpg", photograph()),
        ("gif/gradient/input.gif", picture(20, 10, ImageFormat::Gif)),
        ("webp/gradient/input.webp", picture(20, 10, ImageFormat::WebP)),
        ("bmp/gradient/input.bmp", picture(20, 10, ImageFormat::Bmp)),
        ("tiff/pages/input.tiff", tiff(&[(20, 10, "Front view"), (12, 14, "Back view")], |_| 0)),
    ];
    for (name, built) in inputs {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(name);
        if std::env::var("QUARRY_GOLDEN").is_ok_and(|value| value == "write") {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &built).unwrap();
        }
        assert!(std::fs::read(&path).is_ok_and(|bytes| bytes == built), "QUARRY_GOLDEN=write writes {}", path.display());
    }
}

#[test]
fn every_kind_of_picture_is_one_row_with_what_is_known() {
    let kinds = [
        (ImageFormat::Png, Format::Png, "PNG"),
        (ImageFormat::Jpeg, Format::Jpeg, "JPEG"),
        (ImageFormat::Gif, Format::Gif, "GIF"),
        (ImageFormat::WebP, Format::Webp, "WEBP"),
        (ImageFormat::Bmp, Format::Bmp, "BMP"),
        (ImageFormat::Tiff, Format::Tiff, "TIFF"),
    ];
    for (encoding, format, name) in kinds {
        let parsed = read(&picture(24, 16, encoding), format).unwrap();
        assert_eq!(parsed.rows.len(), 1);
        assert_eq!(parsed.rows[0].content, format!("Pump house.tif\n{name} image, 24 × 16 pixels"));
        assert_eq!(parsed.rows[0].pages.len(), usize::from(format == Format::Tiff));
        assert_eq!((parsed.warnings[0].code, parsed.partial), (DocumentCode::NoText, false));
    }
}

#[test]
fn pages_of_a_tiff_are_pages() {
    let bytes = tiff(&[(20, 10, "Front view"), (12, 14, "Back view"), (6, 6, "")], |_| 0);
    let parsed = read(&bytes, Format::Tiff).unwrap();
    assert_eq!(parsed.page_count, Some(3));
    assert_eq!(parsed.rows.iter().map(|row| row.pages.clone()).collect::<Vec<_>>(), [[1], [2], [3]]);
    assert_eq!(parsed.rows[1].content, "Pump house.tif, page 2 of 3\nPNG image, 12 × 14 pixels\nBack view");
    assert_eq!(picture::look(&parsed.assets[1].bytes, &Limits::default()).unwrap().width, 12);
    assert_eq!(parsed.warnings.len(), 1);
}

#[test]
fn one_page_says_what_its_description_says() {
    let parsed = read(&tiff(&[(8, 8, "Valve 7,  closed")], |_| 0), Format::Tiff).unwrap();
    assert_eq!(parsed.title.as_deref(), Some("Valve 7, closed"));
    assert!(parsed.rows[0].content.ends_with("Valve 7, closed"));
}

#[test]
fn a_chain_of_pages_in_a_circle_is_read_once() {
    let parsed = read(&tiff(&[(8, 8, "a"), (9, 9, "b")], |directories| directories[0]), Format::Tiff).unwrap();
    assert_eq!((parsed.rows.len(), parsed.partial), (2, true));
    assert!(parsed.warnings.iter().any(|warning| warning.message.contains("lead back")));
}

#[test]
fn pages_are_bounded_in_number_and_in_sum() {
    let many: Vec<(u32, u32, &str)> = (0..5).map(|_| (8, 8, "")).collect();
    let few = Limits { pdf_pages: 4, ..Limits::default() };
    assert_eq!(read_with(&tiff(&many, |_| 0), Format::Tiff, &few).unwrap_err().code, DocumentCode::TooManyPages);
    let little = Limits { expanded_bytes: 8 * 8 * 4 * 2, ..Limits::default() };
    let parsed = read_with(&tiff(&many, |_| 0), Format::Tiff, &little).unwrap();
    assert_eq!((parsed.rows.len(), parsed.partial, parsed.warnings.len()), (2, true, 4));
}

#[test]
fn row_30_a_claimed_size_is_refused_on_the_header() {
    let mut png = picture(8, 8, ImageFormat::Png);
    png[16..24].copy_from_slice(&[0, 0, 0xEA, 0x60, 0, 0, 0xEA, 0x60]);
    // The header's own checksum, as a maker of such files would set it.
    let sum = png[12..29].iter().fold(!0_u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| if sum & 1 == 1 { (sum >> 1) ^ 0xEDB8_8320 } else { sum >> 1 })
    });
    png[29..33].copy_from_slice(&(!sum).to_be_bytes());
    assert_eq!(read(&png, Format::Png).unwrap_err().code, DocumentCode::TooLarge);
}

#[test]
fn row_31_what_is_cut_off_is_corrupt() {
    for (encoding, format) in [(ImageFormat::Png, Format::Png), (ImageFormat::Bmp, Format::Bmp), (ImageFormat::Tiff, Format::Tiff)] {
        let whole = picture(64, 64, encoding);
        let failure = read(&whole[..whole.len() / 2], format).unwrap_err();
        assert_eq!(failure.code, DocumentCode::Corrupt, "{format:?}");
    }
}

#[test]
fn no_prefix_and_no_changed_byte_is_a_panic() {
    let files = [
        (tiff(&[(20, 10, "a"), (12, 14, "b")], |_| 0), Format::Tiff),
        (picture(20, 10, ImageFormat::Gif), Format::Gif),
        (picture(20, 10, ImageFormat::Png), Format::Png),
    ];
    for (bytes, format) in files {
        for end in 0..bytes.len() {
            let _ = read(&bytes[..end], format);
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x55;
            let _ = read_with(&changed, format, &Limits { image_pixels: 10_000, ..Limits::default() });
        }
    }
}
