//! XLSX: the parts of the package, one sheet after another.

pub(crate) mod drawing;
mod extras;
pub(crate) mod part;
mod styles;
mod texts;

use quarry_document::Warnings;
use quarry_document::xml::{Element, Ns};
use quarry_model::{DocumentCode, DocumentFailure, Limits, Parsed};
use quarry_office::package::{Package, Relationships, Target};

use crate::assemble;
use crate::cells::Budget;
use crate::formats::Formats;
use crate::sheet::Sheet;
use crate::strings::Strings;

/// Where the main part usually stands.
const USUAL: &str = "xl/workbook.xml";

/// What all sheets of a workbook share.
pub(crate) struct Book {
    pub strings: Strings,
    pub formats: Formats,
}

/// A sheet as the workbook lists it.
struct Listed {
    name: String,
    hidden: bool,
    part: String,
}

pub(crate) fn read(bytes: &[u8], limits: &Limits) -> Result<Parsed, DocumentFailure> {
    let mut warnings = Warnings::default();
    let mut package = Package::open(bytes, limits)?;
    let main = package.main_part(USUAL, &mut warnings)?;
    let tree = package.required_tree(&main)?;
    let relationships = package.relationships(&main, &mut warnings)?;
    let root = tree.root();
    let date1904 = root.child(Ns::S, "workbookPr").and_then(|properties| properties.attribute(Ns::None, "date1904")).is_some_and(is_true);
    let listed = list(root, &relationships, &mut warnings);

    let formats = match relationships.part_of_kind("styles") {
        Some(part) => package.optional_tree(part, &mut warnings)?.map(|tree| styles::read(tree.root(), date1904)),
        None => None,
    };
    let strings = match relationships.part_of_kind("sharedStrings") {
        Some(part) => texts::read(&mut package, part, limits, &mut warnings)?,
        None => Strings::default(),
    };
    let book = Book { strings, formats: formats.unwrap_or_else(|| Formats::new(date1904)) };
    // A chart drawn from one of its sheets repeats what stands there.
    let sheet_names: Vec<String> = listed.iter().map(|sheet| sheet.name.clone()).collect();

    let mut parsed = Parsed { page_count: u32::try_from(listed.len()).ok(), ..Parsed::default() };
    let mut budget = Budget::new(limits);
    let mut drawings = drawing::Drawings::default();
    for sheet in listed {
        let mut out = Sheet { name: sheet.name, hidden: sheet.hidden, ..Sheet::default() };
        let pointers = part::read(&mut package, &sheet.part, &book, &mut budget, &mut out, limits, &mut warnings)?;
        extras::read(&mut package, &sheet.part, &pointers, &mut out, &mut warnings)?;
        drawings.read(&mut package, &sheet.part, pointers.drawing.as_deref(), &sheet_names, &mut out, limits, &mut warnings)?;
        assemble::add(out, &mut parsed, limits);
    }
    parsed.assets = drawings.into_assets();
    parsed.title = package.title(&mut warnings)?;
    crate::finish(parsed, &budget, warnings, limits)
}

fn list(workbook: Element<'_>, relationships: &Relationships, warnings: &mut Warnings) -> Vec<Listed> {
    let sheets = workbook.child(Ns::S, "sheets");
    let mut out = Vec::new();
    for sheet in sheets.into_iter().flat_map(Element::elements).filter(|element| element.is(Ns::S, "sheet")) {
        let name = sheet.attribute(Ns::None, "name").unwrap_or_default().to_owned();
        let hidden = matches!(sheet.attribute(Ns::None, "state"), Some("hidden" | "veryHidden"));
        let target = sheet.attribute(Ns::R, "id").and_then(|id| relationships.get(id));
        match target.map(|relationship| &relationship.target) {
            Some(Target::Part(part)) => out.push(Listed { name, hidden, part: part.clone() }),
            _ => warnings.partial(DocumentCode::Corrupt, format!("the sheet {name} is missing")),
        }
    }
    out
}

/// Whether an attribute says yes.
pub(super) fn is_true(value: &str) -> bool {
    matches!(value, "1" | "true" | "on")
}
