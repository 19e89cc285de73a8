//! The list of sheets, the shared texts, the styles.

use std::collections::BTreeMap;

use quarry_document::Warnings;
use quarry_model::{DocumentCode, DocumentFailure};
use quarry_office::package::Package;

use super::record::{Records, text};
use crate::bytes::{u16_at, u32_at};
use crate::formats::{Formats, builtin};
use crate::strings::Strings;

/// A sheet as the workbook lists it.
pub(super) struct Listed {
    pub name: String,
    pub hidden: bool,
    pub relationship: String,
}

/// The sheets, and whether days are counted from 1904.
pub(super) fn read(package: &mut Package<'_>, part: &str) -> Result<(Vec<Listed>, bool), DocumentFailure> {
    let missing = || DocumentFailure::new(DocumentCode::Corrupt, format!("part {part} is missing"));
    let mut records = Records::new(package.stream(part)?.ok_or_else(missing)?);
    let (mut sheets, mut date1904) = (Vec::new(), false);
    while let Some((kind, data)) = records.next()? {
        match kind {
            153 => date1904 = u32_at(data, 0).is_some_and(|flags| flags & 1 != 0),
            156 => {
                let Some((relationship, end)) = text(data, 8) else { continue };
                let Some((name, _)) = text(data, end) else { continue };
                sheets.push(Listed { name, hidden: u32_at(data, 0) != Some(0), relationship });
            }
            _ => {}
        }
    }
    Ok((sheets, date1904))
}

/// The shared texts. Damage costs the texts that come after it.
pub(super) fn strings(package: &mut Package<'_>, part: Option<&str>, warnings: &mut Warnings) -> Result<Strings, DocumentFailure> {
    let mut strings = Strings::default();
    each(package, part, warnings, |kind, data| {
        if kind == 19 {
            strings.push(&text(data, 1).map(|(text, _)| text).unwrap_or_default());
        }
    })?;
    Ok(strings)
}

/// The styles of cells.
pub(super) fn formats(
    package: &mut Package<'_>,
    part: Option<&str>,
    date1904: bool,
    warnings: &mut Warnings,
) -> Result<Formats, DocumentFailure> {
    let (mut codes, mut bold): (BTreeMap<u16, String>, Vec<bool>) = Default::default();
    let mut styles: Vec<(u16, u16)> = Vec::new();
    let mut in_cell_styles = false;
    each(package, part, warnings, |kind, data| match kind {
        44 => codes.extend(u16_at(data, 0).zip(text(data, 2).map(|(code, _)| code))),
        43 => bold.push(u16_at(data, 4).is_some_and(|weight| weight >= 600)),
        617 => in_cell_styles = true,
        618 => in_cell_styles = false,
        47 if in_cell_styles => styles.extend(u16_at(data, 2).zip(u16_at(data, 4))),
        _ => {}
    })?;
    let mut formats = Formats::new(date1904);
    for (format, font) in styles {
        let code = codes.get(&format).map_or_else(|| builtin(u32::from(format)), String::as_str);
        formats.add(code, bold.get(usize::from(font)).copied().unwrap_or_default());
    }
    Ok(formats)
}

/// Calls `take` with every record of an optional part.
pub(super) fn each(
    package: &mut Package<'_>,
    part: Option<&str>,
    warnings: &mut Warnings,
    mut take: impl FnMut(u16, &[u8]),
) -> Result<(), DocumentFailure> {
    let Some(part) = part else { return Ok(()) };
    let Some(stream) = package.stream(part)? else { return Ok(()) };
    let mut records = Records::new(stream);
    loop {
        match records.next() {
            Ok(Some((kind, data))) => take(kind, data),
            Ok(None) => return Ok(()),
            Err(failure) if failure.code == DocumentCode::Corrupt => {
                warnings.partial(failure.code, format!("part {part}: {}", failure.detail));
                return Ok(());
            }
            Err(failure) => return Err(failure),
        }
    }
}
