//! ODS: one part holds all sheets; what a cell shows stands in it as text.

mod cell;
mod content;
mod object;
mod styles;

use quarry_document::Warnings;
use quarry_document::archive::Archive;
use quarry_document::xml::{Ns, Stream, Tree, decode};
use quarry_model::{DocumentCode, DocumentFailure, Limits, Parsed};

use crate::assemble;
use crate::cells::Budget;
use crate::sheet::Sheet;

/// The part with the sheets.
const CONTENT: &str = "content.xml";

pub(crate) fn read(bytes: &[u8], limits: &Limits) -> Result<Parsed, DocumentFailure> {
    let mut warnings = Warnings::default();
    let mut archive = Archive::open(bytes, limits)?;
    if is_encrypted(&mut archive)? {
        return Err(DocumentFailure::new(DocumentCode::Encrypted, "the parts of the workbook are encrypted"));
    }
    let mut budget = Budget::new(limits);
    let mut sheets: Vec<Sheet> = Vec::new();
    let missing = || DocumentFailure::new(DocumentCode::Corrupt, "no content.xml");
    let stream = Stream::new(archive.stream(CONTENT)?.ok_or_else(missing)?, limits)?;
    let mut pictures = content::Pictures::default();
    match content::read(stream, &mut budget, &mut sheets, &mut pictures) {
        Err(failure) if failure.code == DocumentCode::Corrupt && !sheets.is_empty() => {
            warnings.partial(failure.code, format!("the workbook is read in part: {}", failure.detail));
        }
        other => other?,
    }
    let mut parsed = Parsed { page_count: u32::try_from(sheets.len()).ok(), ..Parsed::default() };
    object::resolve(&mut archive, &mut sheets, &pictures, &mut parsed.assets, limits, &mut warnings)?;
    for sheet in sheets {
        assemble::add(sheet, &mut parsed, limits);
    }
    parsed.title = title(&mut archive, limits);
    crate::finish(parsed, &budget, warnings, limits)
}

/// Whether the manifest says that parts are encrypted.
fn is_encrypted(archive: &mut Archive<'_>) -> Result<bool, DocumentFailure> {
    let manifest = archive.read("META-INF/manifest.xml")?.unwrap_or_default();
    Ok(memchr::memmem::find(&manifest, b"encryption-data").is_some())
}

/// The title in the metadata; a damaged part says nothing.
fn title(archive: &mut Archive<'_>, limits: &Limits) -> Option<String> {
    let tree = Tree::parse(&decode(archive.read("meta.xml").ok()??), limits).ok()?;
    let title = tree.root().descendants().find(|element| element.is(Ns::Dc, "title"))?.text();
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    (!title.is_empty()).then_some(title)
}
