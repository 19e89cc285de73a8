//! XLSB: the parts of XLSX with binary records in place of XML ([MS-XLSB]); drawings are the same XML.

mod extras;
mod part;
mod record;
mod workbook;

use quarry_document::Warnings;
use quarry_model::{DocumentCode, DocumentFailure, Limits, Parsed};
use quarry_office::package::{Package, Target};

use crate::assemble;
use crate::cells::Budget;
use crate::sheet::Sheet;
use crate::xlsx::drawing::Drawings;

/// Where the main part usually stands.
const USUAL: &str = "xl/workbook.bin";

pub(crate) fn read(bytes: &[u8], limits: &Limits) -> Result<Parsed, DocumentFailure> {
    let mut warnings = Warnings::default();
    let mut package = Package::open(bytes, limits)?;
    let main = package.main_part(USUAL, &mut warnings)?;
    let relationships = package.relationships(&main, &mut warnings)?;
    let (listed, date1904) = workbook::read(&mut package, &main)?;
    let strings = workbook::strings(&mut package, relationships.part_of_kind("sharedStrings"), &mut warnings)?;
    let formats = workbook::formats(&mut package, relationships.part_of_kind("styles"), date1904, &mut warnings)?;

    let sheet_names: Vec<String> = listed.iter().map(|sheet| sheet.name.clone()).collect();
    let mut parsed = Parsed { page_count: u32::try_from(listed.len()).ok(), ..Parsed::default() };
    let mut budget = Budget::new(limits);
    let mut drawings = Drawings::default();
    for sheet in listed {
        let Some(Target::Part(part)) = relationships.get(&sheet.relationship).map(|relationship| &relationship.target) else {
            warnings.partial(DocumentCode::Corrupt, format!("the sheet {} is missing", sheet.name));
            continue;
        };
        let mut out = Sheet { name: sheet.name, hidden: sheet.hidden, ..Sheet::default() };
        let pointers = part::read(&mut package, part, &strings, &formats, &mut budget, &mut out, &mut warnings)?;
        extras::read(&mut package, part, &pointers, &mut out, &mut warnings)?;
        drawings.read(&mut package, part, pointers.drawing.as_deref(), &sheet_names, &mut out, limits, &mut warnings)?;
        assemble::add(out, &mut parsed, limits);
    }
    parsed.assets = drawings.into_assets();
    parsed.title = package.title(&mut warnings)?;
    crate::finish(parsed, &budget, warnings, limits)
}
