//! What floats over a sheet: pictures, shapes with words, charts, diagrams.

use std::collections::BTreeMap;
use std::rc::Rc;

use quarry_document::Warnings;
use quarry_document::grid::text_of;
use quarry_document::grid::to_html;
use quarry_document::xml::{Element, Ns};
use quarry_model::{Asset, DocumentCode, DocumentFailure, Limits};
use quarry_office::chart::{self, Chart};
use quarry_office::diagram;
use quarry_office::drawing::{described, text};
use quarry_office::package::{Package, Relationships, Target};

use crate::sheet::{Assets, Float, Floating, Sheet};

/// Longest part of an address or id that a message repeats.
const SHORT: usize = 200;

/// Reads drawings; each picture of the workbook is read once.
#[derive(Default)]
pub(crate) struct Drawings {
    assets: Assets,
    by_part: BTreeMap<String, Option<usize>>,
}

impl Drawings {
    pub(crate) fn into_assets(self) -> Assets {
        self.assets
    }

    /// Reads the drawing of a sheet into its floats. A sheet that is nothing but a chart names its drawing the same way.
    #[allow(clippy::too_many_arguments, reason = "what a workbook's parts are read with")]
    pub(crate) fn read(
        &mut self,
        package: &mut Package<'_>,
        part: &str,
        drawing: Option<&str>,
        sheet_names: &[String],
        sheet: &mut Sheet,
        limits: &Limits,
        warnings: &mut Warnings,
    ) -> Result<(), DocumentFailure> {
        let Some(id) = drawing else { return Ok(()) };
        let relationships = package.relationships(part, warnings)?;
        let Some(Target::Part(part)) = relationships.get(id).map(|relationship| &relationship.target) else { return Ok(()) };
        let Some(tree) = package.optional_tree(part, warnings)? else { return Ok(()) };
        let relationships = package.relationships(part, warnings)?;
        let mut walk = Walk { drawings: self, package, relationships, sheet_names, limits, warnings, out: &mut sheet.floats, at: (0, 0) };
        for anchor in tree.root().elements() {
            walk.anchor(anchor)?;
        }
        Ok(())
    }
}

struct Walk<'w, 'p> {
    drawings: &'w mut Drawings,
    package: &'w mut Package<'p>,
    relationships: Rc<Relationships>,
    sheet_names: &'w [String],
    limits: &'w Limits,
    warnings: &'w mut Warnings,
    out: &'w mut Vec<Float>,
    at: (u32, u32),
}

impl Walk<'_, '_> {
    fn anchor(&mut self, anchor: Element<'_>) -> Result<(), DocumentFailure> {
        if anchor.is(Ns::Mc, "AlternateContent") {
            return self.either(anchor, "", Self::inside);
        }
        self.inside(anchor, "")
    }

    /// One anchor and what it holds.
    fn inside(&mut self, anchor: Element<'_>, _alt: &str) -> Result<(), DocumentFailure> {
        let from = anchor.child(Ns::Xdr, "from");
        let number = |name| from.and_then(|from| from.child(Ns::Xdr, name)).and_then(|value| value.text().trim().parse::<u32>().ok());
        if from.is_some() {
            self.at = (number("row").unwrap_or_default(), number("col").unwrap_or_default());
        }
        self.shapes(anchor, "")
    }

    /// The first branch that shows anything. Recursion is bounded by the depth of the part.
    fn either(
        &mut self,
        choice: Element<'_>,
        alt: &str,
        walk: fn(&mut Self, Element<'_>, &str) -> Result<(), DocumentFailure>,
    ) -> Result<(), DocumentFailure> {
        let before = self.out.len();
        for branch in choice.elements() {
            for element in branch.elements() {
                walk(self, element, alt)?;
            }
            if self.out.len() > before {
                break;
            }
        }
        Ok(())
    }

    fn shapes(&mut self, element: Element<'_>, alt: &str) -> Result<(), DocumentFailure> {
        for child in element.elements() {
            self.shape(child, alt)?;
        }
        Ok(())
    }

    fn shape(&mut self, child: Element<'_>, alt: &str) -> Result<(), DocumentFailure> {
        match (child.ns(), child.name()) {
            (Ns::Xdr, "pic" | "sp" | "graphicFrame" | "cxnSp") => {
                let properties = child.elements().find(|element| element.name().starts_with("nv"));
                let own = properties.and_then(|properties| properties.child(Ns::Xdr, "cNvPr")).and_then(described);
                let before = self.out.len();
                self.shapes(child, own.as_deref().unwrap_or(alt))?;
                // A shape that shows nothing readable but is described gives its description.
                if let (true, Some(own)) = (self.out.len() == before, own) {
                    self.push(Floating::Text(own));
                }
            }
            (Ns::A, "blip") => {
                let id = child.attribute(Ns::R, "embed").or_else(|| child.attribute(Ns::R, "link"));
                self.picture(id, alt)?;
            }
            (Ns::Xdr | Ns::A, "txBody") => {
                let paragraphs = child.elements().filter(|paragraph| paragraph.is(Ns::A, "p"));
                let lines: Vec<String> = paragraphs.map(text).filter(|line| !line.is_empty()).collect();
                if !lines.is_empty() {
                    self.push(Floating::Text(lines.join("\n")));
                }
            }
            (Ns::C | Ns::Cx, "chart") => self.chart(child, alt)?,
            (Ns::Dgm, "relIds") => self.diagram(child)?,
            (Ns::Mc, "AlternateContent") => self.either(child, alt, Self::shape)?,
            _ => self.shapes(child, alt)?,
        }
        Ok(())
    }

    fn push(&mut self, what: Floating) {
        let (row, column) = self.at;
        self.out.push(Float { row, column, what });
    }

    fn picture(&mut self, id: Option<&str>, alt: &str) -> Result<(), DocumentFailure> {
        let Some(id) = id.filter(|id| !id.is_empty()) else { return Ok(()) };
        let relationships = Rc::clone(&self.relationships);
        match relationships.get(id).map(|relationship| &relationship.target) {
            Some(Target::Part(part)) => {
                let asset = self.asset(part)?;
                self.push(Floating::Picture(asset, alt.to_owned()));
            }
            // Never fetched; it stays as what is said of it and its address.
            Some(Target::External(address)) => {
                let address: String = address.chars().filter(|c| !c.is_control()).take(SHORT).collect();
                self.push(Floating::Picture(None, if alt.is_empty() { address } else { format!("{alt} ({address})") }));
            }
            None => {
                self.warnings.partial(DocumentCode::Corrupt, "a picture's relationship is missing");
                self.push(Floating::Picture(None, alt.to_owned()));
            }
        }
        Ok(())
    }

    /// The asset for a part, read once.
    fn asset(&mut self, part: &str) -> Result<Option<usize>, DocumentFailure> {
        if let Some(known) = self.drawings.by_part.get(part) {
            return Ok(*known);
        }
        let bytes = self.package.media(part, self.warnings)?.filter(|bytes| !bytes.is_empty());
        let asset = bytes.map(|bytes| {
            let original_name = part.rsplit('/').next().unwrap_or_default().to_owned();
            self.drawings.assets.push(Asset { bytes, original_name });
            self.drawings.assets.len().saturating_sub(1)
        });
        self.drawings.by_part.insert(part.to_owned(), asset);
        Ok(asset)
    }

    /// A chart. Nearly always it shows cells of this very workbook, which are told as such: it is then a picture whose
    /// words are its title and data. One that shows other data is the only place where they stand: a table.
    fn chart(&mut self, reference: Element<'_>, alt: &str) -> Result<(), DocumentFailure> {
        let relationships = Rc::clone(&self.relationships);
        match chart::find(reference, alt, self.package, &relationships, self.limits, self.warnings)? {
            Chart::Table(table) => {
                let part = reference.attribute(Ns::R, "id").and_then(|id| relationships.part(id)).unwrap_or_default();
                let tree = self.package.optional_tree(part, self.warnings)?;
                if tree.is_some_and(|tree| self.shows_own_cells(tree.root())) {
                    self.push(Floating::Chart(text_of(&to_html(&table)).trim().to_owned()));
                } else {
                    self.push(Floating::Data(table));
                }
            }
            Chart::Title(title) => self.push(Floating::Chart(title)),
            Chart::Empty => {}
        }
        Ok(())
    }

    /// Whether every value of a chart is drawn from a sheet of this workbook.
    fn shows_own_cells(&self, space: Element<'_>) -> bool {
        let values = || space.descendants().filter(|element| matches!(element.name(), "val" | "yVal" | "bubbleSize"));
        let own = |values: Element<'_>| {
            let formula = values.descendants().find(|element| matches!(element.ns(), Ns::C | Ns::Cx) && element.name() == "f");
            formula.is_some_and(|formula| self.is_own(&formula.text()))
        };
        values().next().is_some() && values().all(own)
    }

    /// Whether `Sheet1!$B$2:$B$8` names a sheet of this workbook. A reference to another one begins with its number.
    fn is_own(&self, reference: &str) -> bool {
        let reference = reference.trim().trim_start_matches('(');
        let Some((sheet, _)) = reference.rsplit_once('!') else { return false };
        let sheet = sheet.strip_prefix('\'').and_then(|sheet| sheet.strip_suffix('\'')).unwrap_or(sheet).replace("''", "'");
        self.sheet_names.iter().any(|name| name.eq_ignore_ascii_case(&sheet))
    }

    fn diagram(&mut self, reference: Element<'_>) -> Result<(), DocumentFailure> {
        let relationships = Rc::clone(&self.relationships);
        let points = diagram::find(reference, self.package, &relationships, self.warnings)?;
        let lines: Vec<String> = points.iter().map(|point| format!("{}{}", "  ".repeat(point.level), point.text)).collect();
        if !lines.is_empty() {
            self.push(Floating::Text(lines.join("\n")));
        }
        Ok(())
    }
}
