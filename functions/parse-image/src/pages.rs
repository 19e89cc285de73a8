//! TIFF: each directory that shows a picture is a page.

use quarry_document::{Source, picture};
use quarry_model::{DocumentCode, DocumentFailure, Limits, Parsed, Row, Warning};

use crate::directories::Tiff;
use crate::{asset, description};

/// Bytes that a pixel takes while it is worked on, for the bound on all pages together.
const PIXEL_BYTES: u64 = 4;

/// Reads every page. Fails with `CORRUPT` when none can be shown, with `TOO_MANY_PAGES`, or as a single picture does.
pub(crate) fn read(source: &Source<'_>, limits: &Limits) -> Result<Parsed, DocumentFailure> {
    let tiff =
        Tiff::read(source.bytes).ok_or_else(|| DocumentFailure::new(DocumentCode::Corrupt, "the TIFF header leads to no directory"))?;
    let count = u32::try_from(tiff.offsets.len()).unwrap_or(u32::MAX);
    if count > limits.pdf_pages {
        return Err(DocumentFailure::new(DocumentCode::TooManyPages, format!("{count} pages, at most {} are read", limits.pdf_pages)));
    }
    if count == 1 {
        let look = picture::look(source.bytes, limits)?;
        let said = tiff.first_texts(source.bytes);
        let row = Row { pages: vec![1], ..Row::image(None, 0, description(source.file_name, None, &look, &said)) };
        let title = said.into_iter().next();
        let assets = vec![asset(source.bytes.to_vec(), source.file_name)];
        return Ok(Parsed { rows: vec![row], assets, title, page_count: Some(1), ..Parsed::default() });
    }
    let mut parsed = Parsed { page_count: Some(count), ..Parsed::default() };
    let mut one = source.bytes.to_vec();
    let mut budget = limits.expanded_bytes;
    let mut first_failure = None;
    for (page, offset) in (1_u32..).zip(&tiff.offsets) {
        tiff.show(&mut one, *offset);
        let shown = if budget == 0 {
            Err(DocumentFailure::new(DocumentCode::TooLarge, "the pages before it took all the room there is"))
        } else {
            picture::as_png(&one, limits)
        };
        match shown {
            Ok((png, look)) => {
                budget = budget.saturating_sub(u64::from(look.width).saturating_mul(u64::from(look.height)).saturating_mul(PIXEL_BYTES));
                let said = description(source.file_name, Some((page, count)), &look, &tiff.texts(source.bytes, *offset));
                parsed.rows.push(Row { pages: vec![page], ..Row::image(None, parsed.assets.len(), said) });
                parsed.assets.push(asset(png, source.file_name));
            }
            Err(failure) => {
                parsed.partial = true;
                parsed.warnings.push(Warning {
                    page: Some(page),
                    ..Warning::new(failure.code, format!("page {page} was not read: {}", failure.detail))
                });
                first_failure.get_or_insert(failure);
            }
        }
    }
    if tiff.circle {
        parsed.partial = true;
        parsed.warnings.push(Warning::new(DocumentCode::Corrupt, "the pages lead back to an earlier one; each was read once"));
    }
    match first_failure {
        Some(failure) if parsed.rows.is_empty() => Err(failure),
        _ => Ok(parsed),
    }
}
