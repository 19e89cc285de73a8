//! Picture files → rows.
//!
//! What this room is for: reading PNG, JPEG, GIF, WebP, TIFF and BMP as documents. What enters: one source's bytes. What
//! leaves: one image row for the picture, or one for each page of a TIFF, with what is known of it: the file's name,
//! its format and size, and what its metadata says it shows. What it must never do: allocate for a size that only a
//! header claims, leave a document without a row, keep a camera's place or owner.
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)
)]

mod directories;
mod pages;

use quarry_document::{Parser, Source, picture};
use quarry_model::{Asset, DocumentCode, DocumentFailure, Format, Limits, Parsed, Row, Warning};

use directories::Tiff;

/// The parser of picture files.
#[derive(Debug, Clone, Copy, Default)]
pub struct ImageParser;

impl Parser for ImageParser {
    fn name(&self) -> &'static str {
        "parse-image"
    }

    fn version(&self) -> &'static str {
        "1"
    }

    fn parse(&self, source: &Source<'_>, limits: &Limits) -> Result<Parsed, DocumentFailure> {
        let mut parsed = match source.profile.format {
            Format::Tiff => pages::read(source, limits)?,
            _ => single(source, limits)?,
        };
        parsed.warnings.push(Warning::new(
            DocumentCode::NoText,
            "no text was read from the picture: it is found by its name and by what its metadata says",
        ));
        Ok(parsed)
    }
}

fn single(source: &Source<'_>, limits: &Limits) -> Result<Parsed, DocumentFailure> {
    let look = picture::look(source.bytes, limits)?;
    let said = picture::exif(source.bytes).and_then(|exif| Tiff::read(&exif).map(|tiff| tiff.first_texts(&exif))).unwrap_or_default();
    let row = Row::image(None, 0, description(source.file_name, None, &look, &said));
    let title = said.into_iter().next();
    Ok(Parsed { rows: vec![row], assets: vec![asset(source.bytes.to_vec(), source.file_name)], title, ..Parsed::default() })
}

fn asset(bytes: Vec<u8>, file_name: &str) -> Asset {
    Asset { bytes, original_name: file_name.to_owned() }
}

/// What is known of a picture without reading it.
fn description(file_name: &str, page: Option<(u32, u32)>, look: &picture::Look, said: &[String]) -> String {
    let page = page.map_or_else(String::new, |(page, of)| format!(", page {page} of {of}"));
    let mut lines =
        vec![format!("{file_name}{page}"), format!("{} image, {} × {} pixels", look.format.to_uppercase(), look.width, look.height)];
    lines.extend(said.iter().cloned());
    lines.join("\n")
}

#[cfg(test)]
mod tests;
