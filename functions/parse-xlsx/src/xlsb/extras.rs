//! Named tables and comments.

use quarry_document::Warnings;
use quarry_model::DocumentFailure;
use quarry_office::package::{Package, Target};

use super::part::area;
use super::record::text;
use super::workbook::each;
use crate::bytes::u32_at;
use crate::cells::Area;
use crate::sheet::{Float, Floating, NamedTable, Sheet};
use crate::xlsx::part::Pointers;

pub(super) fn read(
    package: &mut Package<'_>,
    part: &str,
    pointers: &Pointers,
    sheet: &mut Sheet,
    warnings: &mut Warnings,
) -> Result<(), DocumentFailure> {
    let relationships = package.relationships(part, warnings)?;
    for id in &pointers.tables {
        let Some(Target::Part(part)) = relationships.get(id).map(|relationship| &relationship.target) else { continue };
        each(package, Some(part), warnings, |kind, data| {
            if kind == 343 {
                let header_rows = u32_at(data, 24).unwrap_or(1).min(1);
                sheet.tables.extend(area(data).map(|area| NamedTable { area, header_rows }));
            }
        })?;
    }
    let (mut authors, mut at): (Vec<String>, Option<(Area, usize)>) = Default::default();
    for (_, part) in relationships.parts_of_kind("comments") {
        each(package, Some(part), warnings, |kind, data| match kind {
            632 => authors.push(text(data, 0).map(|(author, _)| author).unwrap_or_default()),
            635 => at = data.get(4..).and_then(area).zip(u32_at(data, 0).map(|author| author as usize)),
            637 => {
                let Some((area, author)) = at.take() else { return };
                let author = authors.get(author).cloned().unwrap_or_default();
                let said = text(data, 1).map(|(said, _)| said).unwrap_or_default();
                let said = said.strip_prefix(&format!("{author}:")).filter(|_| !author.is_empty()).unwrap_or(&said).trim().to_owned();
                if !said.is_empty() {
                    let what = Floating::Note { author, text: said };
                    sheet.floats.push(Float { row: area.top, column: area.left, what });
                }
            }
            _ => {}
        })?;
    }
    Ok(())
}
