//! Pictures and charts of a workbook, by the parts they stand in.

use std::collections::BTreeMap;

use quarry_document::Warnings;
use quarry_document::archive::{Archive, resolve_target};
use quarry_document::xml::{Element, Tree, decode};
use quarry_model::{Asset, DocumentCode, DocumentFailure, Limits};

use super::content::Pictures;
use crate::sheet::{Assets, Floating, Sheet};

/// Fills in what the frames show.
pub(super) fn resolve(
    archive: &mut Archive<'_>,
    sheets: &mut [Sheet],
    pictures: &Pictures,
    assets: &mut Assets,
    limits: &Limits,
    warnings: &mut Warnings,
) -> Result<(), DocumentFailure> {
    let mut known: BTreeMap<String, Option<usize>> = BTreeMap::new();
    for (sheet, float, href) in &pictures.parts {
        let Some(float) = sheets.get_mut(*sheet).and_then(|sheet| sheet.floats.get_mut(*float)) else { continue };
        let Floating::Picture(_, said) = &float.what else { continue };
        let Some(part) = resolve_target(super::CONTENT, href).filter(|_| !href.contains("://")) else {
            float.what = Floating::Picture(None, if said.is_empty() { short(href) } else { format!("{said} ({})", short(href)) });
            continue;
        };
        if archive.contains(&format!("{part}/content.xml")) {
            let told = object(archive, &format!("{part}/content.xml"), limits);
            float.what = Floating::Chart(if told.is_empty() { said.clone() } else { told });
            continue;
        }
        let asset = match known.get(&part) {
            Some(asset) => *asset,
            None => {
                let asset = picture(archive, &part, assets, limits, warnings)?;
                known.insert(part, asset);
                asset
            }
        };
        float.what = Floating::Picture(asset, said.clone());
    }
    Ok(())
}

fn picture(
    archive: &mut Archive<'_>,
    part: &str,
    assets: &mut Assets,
    limits: &Limits,
    warnings: &mut Warnings,
) -> Result<Option<usize>, DocumentFailure> {
    match archive.read(part) {
        Ok(Some(bytes)) if !bytes.is_empty() => {
            let original_name = part.rsplit('/').next().unwrap_or_default().to_owned();
            assets.push(Asset { bytes, original_name });
            Ok(assets.len().checked_sub(1))
        }
        Ok(_) => {
            warnings.partial(DocumentCode::Corrupt, format!("picture {part} is missing"));
            Ok(None)
        }
        Err(failure) if archive.expansion().used() > limits.expanded_bytes => Err(failure),
        Err(failure) => {
            warnings.partial(failure.code, failure.detail);
            Ok(None)
        }
    }
}

/// The words of an embedded object: a chart's titles, then its data, one row a line. A damaged one says nothing.
fn object(archive: &mut Archive<'_>, part: &str, limits: &Limits) -> String {
    let Ok(Some(bytes)) = archive.read(part) else { return String::new() };
    let Ok(tree) = Tree::parse(&decode(bytes), limits) else { return String::new() };
    let mut lines: Vec<String> = Vec::new();
    for element in tree.root().descendants() {
        match element.name() {
            "title" | "subtitle" => lines.push(words(element)),
            "table-row" => {
                let cells = element.elements().filter(|cell| cell.name().ends_with("table-cell"));
                lines.push(cells.map(words).collect::<Vec<_>>().join("\t"));
            }
            _ => {}
        }
    }
    lines.retain(|line| !line.trim().is_empty());
    lines.join("\n")
}

fn words(element: Element<'_>) -> String {
    element.text().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}
