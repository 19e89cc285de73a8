//! Drawings: pictures with their alternative text, text boxes, charts, diagrams; `DrawingML` and VML.

use quarry_document::flow::{Block, Label, Paragraph, ParagraphBuilder, Suffix, TableBlock};
use quarry_document::xml::{Element, Ns};
use quarry_model::{Asset, DocumentCode, DocumentFailure};

use crate::chart::{self, Chart};
use crate::package::Target;
use crate::word::properties::w;
use crate::word::walk::{Place, Walk};
use crate::{diagram, drawing};

impl<'t> Walk<'_, '_, 't> {
    /// Reads a drawing. One that shows nothing readable but is described gives its description.
    pub(crate) fn graphic(&mut self, drawing: Element<'t>, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        let before = out.extent();
        let alt = alternative(drawing).unwrap_or_default();
        self.shapes(drawing, &alt, out)?;
        if out.extent() == before && !alt.is_empty() {
            out.push(&alt);
        }
        Ok(())
    }

    fn shapes(&mut self, element: Element<'t>, alt: &str, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        for child in element.elements() {
            match (child.ns(), child.name()) {
                (Ns::Pic, "pic") => {
                    let own = child
                        .child(Ns::Pic, "nvPicPr")
                        .and_then(|properties| properties.child(Ns::Pic, "cNvPr"))
                        .and_then(drawing::described);
                    self.shapes(child, own.as_deref().unwrap_or(alt), out)?;
                }
                (Ns::A, "blip") => {
                    let id = child.attribute(Ns::R, "embed").or_else(|| child.attribute(Ns::R, "link"));
                    self.picture(id, alt, out)?;
                }
                (Ns::V, "imagedata") => {
                    let id = child.attribute(Ns::R, "id").or_else(|| child.attribute(Ns::R, "pict"));
                    self.picture(id, alt, out)?;
                }
                (Ns::V, "textpath") => {
                    if let Some(text) = child.attribute(Ns::None, "string").map(str::trim).filter(|text| !text.is_empty()) {
                        out.after.push(Block::Paragraph(Box::new(Paragraph::plain(text))));
                    }
                }
                (Ns::V, _) => {
                    let own = drawing::described(child);
                    self.shapes(child, own.as_deref().unwrap_or(alt), out)?;
                }
                (Ns::W, "txbxContent") => {
                    let blocks = self.box_blocks(child)?;
                    out.after.extend(blocks);
                }
                (Ns::A, "txBody") => {
                    for paragraph in child.elements().filter(|paragraph| paragraph.is(Ns::A, "p")) {
                        let text = drawing::text(paragraph);
                        if !text.is_empty() {
                            out.after.push(Block::Paragraph(Box::new(Paragraph::plain(text))));
                        }
                    }
                }
                (Ns::C | Ns::Cx, "chart") => self.chart(child, alt, out)?,
                (Ns::Dgm, "relIds") => self.diagram(child, out)?,
                (Ns::Mc, "AlternateContent") => {
                    let before = out.extent();
                    for branch in child.elements() {
                        self.shapes(branch, alt, out)?;
                        if out.extent() > before {
                            break;
                        }
                    }
                }
                (Ns::O, "OLEObject") => {}
                _ => self.shapes(child, alt, out)?,
            }
        }
        Ok(())
    }

    fn picture(&mut self, id: Option<&str>, alt: &str, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        let Some(id) = id.filter(|id| !id.is_empty()) else { return Ok(()) };
        let relationships = std::rc::Rc::clone(&self.relationships);
        match relationships.get(id).map(|relationship| &relationship.target) {
            // Headers and footers repeat on every page: what they picture is decoration, what it says is kept.
            _ if self.place == Place::Header => out.push(alt),
            Some(Target::Part(part)) => {
                let asset = self.asset(part)?;
                out.picture_at(asset, alt);
            }
            // Never fetched; it stays as what is said of it and its address.
            Some(Target::External(address)) => {
                let address = short(address);
                let said = if alt.is_empty() { address } else { format!("{alt} ({address})") };
                out.picture_at(None, &said);
            }
            None => {
                self.warnings.partial(DocumentCode::Corrupt, format!("a picture's relationship {} is missing", short(id)));
                out.picture_at(None, alt);
            }
        }
        Ok(())
    }

    /// The asset for a part, read once.
    fn asset(&mut self, part: &str) -> Result<Option<usize>, DocumentFailure> {
        if let Some(known) = self.asset_of.get(part) {
            return Ok(*known);
        }
        let bytes = self.package.media(part, self.warnings)?.filter(|bytes| !bytes.is_empty());
        let asset = bytes.map(|bytes| {
            let original_name = part.rsplit('/').next().unwrap_or_default().to_owned();
            self.assets.push(Asset { bytes, original_name });
            self.assets.len().saturating_sub(1)
        });
        self.asset_of.insert(part.to_owned(), asset);
        Ok(asset)
    }

    fn chart(&mut self, chart: Element<'t>, alt: &str, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        let relationships = std::rc::Rc::clone(&self.relationships);
        let target = chart.attribute(Ns::R, "id").and_then(|id| relationships.get(id));
        let Some(Target::Part(part)) = target.map(|relationship| &relationship.target) else { return Ok(()) };
        let Some(tree) = self.package.optional_tree(part, self.warnings)? else { return Ok(()) };
        match chart::read(tree.root(), alt, self.limits) {
            Chart::Table(built) => {
                if built.dropped_cells > 0 {
                    let message = format!("{} values of a chart are left out", built.dropped_cells);
                    self.warnings.partial(DocumentCode::TooLarge, message);
                }
                out.after.push(Block::Table(TableBlock { table: built.table, after: Vec::new() }));
            }
            Chart::Title(title) => out.after.push(Block::Paragraph(Box::new(Paragraph::plain(title)))),
            Chart::Empty => {}
        }
        Ok(())
    }

    fn diagram(&mut self, diagram: Element<'t>, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        let relationships = std::rc::Rc::clone(&self.relationships);
        let target = diagram.attribute(Ns::R, "dm").and_then(|id| relationships.get(id));
        let Some(Target::Part(part)) = target.map(|relationship| &relationship.target) else { return Ok(()) };
        let Some(tree) = self.package.optional_tree(part, self.warnings)? else { return Ok(()) };
        for point in diagram::points(tree.root()) {
            let label = Label { text: "•".to_owned(), suffix: Suffix::Space, bullet: true, level: point.level };
            out.after.push(Block::Paragraph(Box::new(Paragraph { label: Some(label), ..Paragraph::plain(point.text) })));
        }
        Ok(())
    }
}

/// The description of a drawing: of `wp:docPr`, or of the VML shape itself.
fn alternative(drawing: Element<'_>) -> Option<String> {
    let anchor = drawing.elements().find(|child| child.is(Ns::Wp, "inline") || child.is(Ns::Wp, "anchor"));
    match anchor {
        Some(anchor) => anchor.child(Ns::Wp, "docPr").and_then(drawing::described),
        None => drawing.elements().find_map(drawing::described).or_else(|| w(drawing, "drawing").and_then(alternative)),
    }
}

fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}
