//! Drawings: pictures with their alternative text, text boxes, charts, diagrams; `DrawingML` and VML.

use quarry_document::flow::{Block, Label, Paragraph, ParagraphBuilder, Suffix, TableBlock};
use quarry_document::xml::{Element, Ns};
use quarry_model::DocumentFailure;

use crate::chart::{self, Chart};
use crate::media::{self, Found};
use crate::word::properties::w;
use crate::word::walk::{Place, Walk};
use crate::{diagram, drawing};

impl<'t> Walk<'_, '_, 't> {
    /// Reads a drawing. One that shows nothing readable but is described gives its description.
    pub(crate) fn graphic(&mut self, drawing: Element<'t>, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        let before = out.extent();
        let alt = alternative(drawing).unwrap_or_default();
        let said = Said { text: &alt, binding: !alt.is_empty() && pictures(drawing) == 1 };
        self.shapes(drawing, said, out)?;
        if out.extent() == before && !alt.is_empty() {
            out.push(&alt);
        }
        Ok(())
    }

    fn shapes(&mut self, element: Element<'t>, alt: Said<'_>, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        for child in element.elements() {
            match (child.ns(), child.name()) {
                (Ns::Pic, "pic") => {
                    let own = child
                        .child(Ns::Pic, "nvPicPr")
                        .and_then(|properties| properties.child(Ns::Pic, "cNvPr"))
                        .and_then(drawing::described);
                    self.shapes(child, alt.or(own.as_deref()), out)?;
                }
                (Ns::A, "blip") => {
                    let id = child.attribute(Ns::R, "embed").or_else(|| child.attribute(Ns::R, "link"));
                    self.picture(id, alt.text, out)?;
                }
                (Ns::V, "imagedata") => {
                    let id = child.attribute(Ns::R, "id").or_else(|| child.attribute(Ns::R, "pict"));
                    self.picture(id, alt.text, out)?;
                }
                (Ns::V, "textpath") => {
                    if let Some(text) = child.attribute(Ns::None, "string").map(str::trim).filter(|text| !text.is_empty()) {
                        out.after.push(Block::Paragraph(Box::new(Paragraph::plain(text))));
                    }
                }
                (Ns::V, _) => {
                    let own = drawing::described(child);
                    self.shapes(child, alt.or(own.as_deref()), out)?;
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
                (Ns::C | Ns::Cx, "chart") => self.chart(child, alt.text, out)?,
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
        // Headers and footers repeat on every page: what they picture is decoration, what it says is kept.
        if self.place == Place::Header {
            out.push(alt);
            return Ok(());
        }
        match self.media.find(id, self.package, &self.relationships, self.warnings)? {
            Found::Asset(asset) => out.picture_at(asset, alt),
            Found::Outside(address) => out.picture_at(None, &media::said_of_outside(alt, &address)),
        }
        Ok(())
    }

    fn chart(&mut self, chart: Element<'t>, alt: &str, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        match chart::find(chart, alt, self.package, &self.relationships, self.limits, self.warnings)? {
            Chart::Table(table) => out.after.push(Block::Table(TableBlock { table, after: Vec::new() })),
            Chart::Title(title) => out.after.push(Block::Paragraph(Box::new(Paragraph::plain(title)))),
            Chart::Empty => {}
        }
        Ok(())
    }

    fn diagram(&mut self, diagram: Element<'t>, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        for point in diagram::find(diagram, self.package, &self.relationships, self.warnings)? {
            let label = Label { text: "•".to_owned(), suffix: Suffix::Space, bullet: true, level: point.level };
            out.after.push(Block::Paragraph(Box::new(Paragraph { label: Some(label), ..Paragraph::plain(point.text) })));
        }
        Ok(())
    }
}

/// What is said of what is being read.
#[derive(Clone, Copy)]
struct Said<'s> {
    text: &'s str,
    /// Whether it is said of this very picture, so that nothing deeper says it better. In the picture itself programs leave
    /// the name of its file.
    binding: bool,
}

impl<'s> Said<'s> {
    /// What an inner element says of itself, if anything.
    fn or(self, own: Option<&'s str>) -> Self {
        match own {
            Some(text) if !self.binding => Self { text, ..self },
            _ => self,
        }
    }
}

/// How many `DrawingML` pictures are in an element; recursion is bounded by the depth of the part.
fn pictures(element: Element<'_>) -> usize {
    element.elements().map(|child| usize::from(child.is(Ns::Pic, "pic")).saturating_add(pictures(child))).fold(0, usize::saturating_add)
}

/// The description of a drawing: of `wp:docPr`, or of the VML shape itself.
fn alternative(drawing: Element<'_>) -> Option<String> {
    let anchor = drawing.elements().find(|child| child.is(Ns::Wp, "inline") || child.is(Ns::Wp, "anchor"));
    match anchor {
        Some(anchor) => anchor.child(Ns::Wp, "docPr").and_then(drawing::described),
        None => drawing.elements().find_map(drawing::described).or_else(|| w(drawing, "drawing").and_then(alternative)),
    }
}
