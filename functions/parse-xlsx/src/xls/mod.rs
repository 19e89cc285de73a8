//! XLS: the records of BIFF5, BIFF7 and BIFF8 in a compound file ([MS-XLS]).

mod art;
mod globals;
mod record;
mod substream;

use std::io::{Cursor, Read};

use quarry_document::Warnings;
use quarry_model::{DocumentCode, DocumentFailure, Limits, Parsed};

use crate::assemble;
use crate::cells::Budget;
use crate::sheet::{Float, Floating, Sheet};

pub(crate) fn read(bytes: &[u8], limits: &Limits) -> Result<Parsed, DocumentFailure> {
    let mut warnings = Warnings::default();
    let stream = workbook_stream(bytes)?;
    let globals = globals::read(&stream, limits, &mut warnings)?;
    let mut parsed = Parsed { page_count: u32::try_from(globals.sheets.len()).ok(), ..Parsed::default() };
    let assets = art::pictures(&globals.art, limits, &mut parsed.assets, &mut warnings);
    let mut budget = Budget::new(limits);
    for listed in &globals.sheets {
        let mut sheet = Sheet { name: listed.name.clone(), hidden: listed.hidden, ..Sheet::default() };
        let from = stream.get(listed.offset..).unwrap_or_default();
        let shapes = match substream::read(from, &globals, &mut budget, &mut sheet) {
            Ok(shapes) => shapes,
            Err(failure) if failure.code == DocumentCode::Corrupt => {
                warnings.partial(failure.code, format!("sheet {} is read in part: {}", sheet.name, failure.detail));
                Vec::new()
            }
            Err(failure) => return Err(failure),
        };
        for shape in shapes {
            let asset = shape.picture.checked_sub(1).and_then(|index| assets.get(index as usize)).copied().flatten();
            let what = Floating::Picture(asset, shape.said);
            sheet.floats.push(Float { row: shape.row, column: shape.column, what });
        }
        assemble::add(sheet, &mut parsed, limits);
    }
    crate::finish(parsed, &budget, warnings, limits)
}

/// The stream with the workbook's records, never longer than the file.
fn workbook_stream(bytes: &[u8]) -> Result<Vec<u8>, DocumentFailure> {
    let corrupt = |error: std::io::Error| DocumentFailure::new(DocumentCode::Corrupt, format!("compound file: {error}"));
    let mut file = cfb::CompoundFile::open(Cursor::new(bytes)).map_err(corrupt)?;
    if file.exists("/EncryptedPackage") {
        return Err(DocumentFailure::new(DocumentCode::Encrypted, "an encrypted Office document"));
    }
    let name = ["/Workbook", "/Book", "/WORKBOOK", "/BOOK"].into_iter().find(|name| file.is_stream(name));
    let name = name.ok_or_else(|| DocumentFailure::new(DocumentCode::Corrupt, "no workbook in the compound file"))?;
    let mut out = Vec::new();
    let stream = file.open_stream(name).map_err(corrupt)?;
    // A damaged tail costs the sheets that stand in it.
    let result = stream.take(bytes.len() as u64).read_to_end(&mut out);
    if out.is_empty() {
        result.map_err(corrupt)?;
    }
    Ok(out)
}
