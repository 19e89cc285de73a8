//! Workbooks: names of sheets, every cell's value, remarks, drawings.

use anyhow::{Context, Result};
use quarry_document::archive::Archive;
use quarry_document::xml::{self, Element, Ns, Tree};
use quarry_model::Limits;

use super::office;

fn child<'t>(element: Element<'t>, name: &str) -> Option<Element<'t>> {
    element.elements().find(|inner| inner.name() == name)
}

/// The texts that cells share; how they are pronounced is not shown.
fn shared(tree: &Tree) -> Vec<String> {
    tree.root().elements().map(told).collect()
}

fn told(item: Element<'_>) -> String {
    item.elements()
        .filter(|inner| inner.name() != "rPh")
        .flat_map(|inner| std::iter::once(inner).chain(inner.descendants()))
        .filter(|inner| inner.name() == "t")
        .map(Element::text)
        .collect()
}

/// Which cell formats show a number as it is.
fn general(tree: &Tree) -> Vec<bool> {
    let formats = child(tree.root(), "cellXfs").into_iter().flat_map(Element::elements);
    formats.map(|format| format.attribute(Ns::None, "numFmtId").is_none_or(|id| id == "0")).collect()
}

/// Words of an XLSX. Deliberate exceptions: a number with a format is told as the format shows it; truth values and errors
/// by their names; a number with a fraction has more digits in the file than a sheet shows.
pub(super) fn text(bytes: &[u8]) -> Result<String> {
    let limits = Limits::default();
    let mut archive = Archive::open(bytes, &limits)?;
    let names: Vec<String> = archive.names().map(str::to_owned).collect();
    let mut read =
        |name: &str| -> Result<Option<Tree>> { Ok(archive.read(name)?.map(|part| Tree::parse(&xml::decode(part), &limits)).transpose()?) };
    let strings = read("xl/sharedStrings.xml")?.as_ref().map(shared).unwrap_or_default();
    let formats = read("xl/styles.xml")?.as_ref().map(general).unwrap_or_default();
    let mut out = String::new();
    let workbook = read("xl/workbook.xml")?.context("a workbook")?;
    for sheet in workbook.root().descendants().filter(|inner| inner.name() == "sheet") {
        out.push_str(sheet.attribute(Ns::None, "name").unwrap_or_default());
        out.push(' ');
    }
    for name in names.iter().filter(|name| name.starts_with("xl/worksheets/") && name.ends_with(".xml")) {
        let tree = read(name)?.context("a sheet")?;
        for cell in tree.root().descendants().filter(|inner| inner.name() == "c") {
            let value = child(cell, "v").map(Element::text).unwrap_or_default();
            let format: usize = cell.attribute(Ns::None, "s").and_then(|format| format.parse().ok()).unwrap_or_default();
            match cell.attribute(Ns::None, "t").unwrap_or("n") {
                "s" => out.push_str(value.trim().parse().ok().and_then(|at: usize| strings.get(at)).map_or("", String::as_str)),
                "inlineStr" => out.push_str(&child(cell, "is").map(told).unwrap_or_default()),
                "str" => out.push_str(&value),
                "n" if formats.get(format) != Some(&false) && value.len() < 12 && value.bytes().all(|b| b.is_ascii_digit()) => {
                    out.push_str(&value);
                }
                _ => {}
            }
            out.push(' ');
        }
    }
    let beside = |name: &&String| name.starts_with("xl/comments") || (name.starts_with("xl/drawings/") && name.ends_with(".xml"));
    for name in names.iter().filter(beside) {
        out.push_str(&office::strings(archive.read(name)?.context("a part")?)?);
    }
    Ok(out)
}
