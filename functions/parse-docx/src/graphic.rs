//! Drawings: pictures with their alternative text, text boxes, charts, diagrams; `DrawingML` and VML.

use quarry_document::xml::{Element, Ns};
use quarry_model::{Asset, DocumentCode, DocumentFailure};

use crate::block::{Block, Paragraph};
use crate::inline::Inline;
use crate::package::Target;
use crate::properties::w;
use crate::walk::{Place, Walk};
use crate::{chart, diagram};

impl<'t> Walk<'_, '_, 't> {
    /// Reads a drawing. One that shows nothing readable but is described gives its description.
    pub(crate) fn graphic(&mut self, drawing: Element<'t>, out: &mut Inline) -> Result<(), DocumentFailure> {
        let before = out.extent();
        let alt = alternative(drawing).unwrap_or_default();
        self.shapes(drawing, &alt, out)?;
        if out.extent() == before && !alt.is_empty() {
            out.push(&alt);
        }
        Ok(())
    }

    fn shapes(&mut self, element: Element<'t>, alt: &str, out: &mut Inline) -> Result<(), DocumentFailure> {
        for child in element.elements() {
            match (child.ns(), child.name()) {
                (Ns::Pic, "pic") => {
                    let own = child.child(Ns::Pic, "nvPicPr").and_then(|properties| properties.child(Ns::Pic, "cNvPr")).and_then(described);
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
                    let own = described(child);
                    self.shapes(child, own.as_deref().unwrap_or(alt), out)?;
                }
                (Ns::W, "txbxContent") => {
                    let blocks = self.box_blocks(child)?;
                    out.after.extend(blocks);
                }
                (Ns::A, "txBody") => {
                    for paragraph in child.elements().filter(|paragraph| paragraph.is(Ns::A, "p")) {
                        let text = drawing_text(paragraph);
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

    fn picture(&mut self, id: Option<&str>, alt: &str, out: &mut Inline) -> Result<(), DocumentFailure> {
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

    fn chart(&mut self, chart: Element<'t>, alt: &str, out: &mut Inline) -> Result<(), DocumentFailure> {
        let relationships = std::rc::Rc::clone(&self.relationships);
        let target = chart.attribute(Ns::R, "id").and_then(|id| relationships.get(id));
        let Some(Target::Part(part)) = target.map(|relationship| &relationship.target) else { return Ok(()) };
        let Some(tree) = self.package.optional_tree(part, self.warnings)? else { return Ok(()) };
        let (blocks, dropped) = chart::blocks(tree.root(), alt, self.limits);
        if dropped > 0 {
            self.warnings.partial(DocumentCode::TooLarge, format!("{dropped} values of a chart are left out"));
        }
        out.after.extend(blocks);
        Ok(())
    }

    fn diagram(&mut self, diagram: Element<'t>, out: &mut Inline) -> Result<(), DocumentFailure> {
        let relationships = std::rc::Rc::clone(&self.relationships);
        let target = diagram.attribute(Ns::R, "dm").and_then(|id| relationships.get(id));
        let Some(Target::Part(part)) = target.map(|relationship| &relationship.target) else { return Ok(()) };
        let Some(tree) = self.package.optional_tree(part, self.warnings)? else { return Ok(()) };
        out.after.extend(diagram::blocks(tree.root()));
        Ok(())
    }
}

/// The text of a `DrawingML` paragraph.
pub(crate) fn drawing_text(paragraph: Element<'_>) -> String {
    let mut out = String::new();
    for part in paragraph.descendants() {
        match (part.ns(), part.name()) {
            (Ns::A, "t") => out.push_str(&part.text()),
            (Ns::A, "br") => out.push('\n'),
            (Ns::A, "tab") => out.push('\t'),
            _ => {}
        }
    }
    out.trim().to_owned()
}

/// The description of a drawing: of `wp:docPr`, or of the VML shape itself.
fn alternative(drawing: Element<'_>) -> Option<String> {
    let anchor = drawing.elements().find(|child| child.is(Ns::Wp, "inline") || child.is(Ns::Wp, "anchor"));
    match anchor {
        Some(anchor) => anchor.child(Ns::Wp, "docPr").and_then(described),
        None => drawing.elements().find_map(described).or_else(|| w(drawing, "drawing").and_then(alternative)),
    }
}

/// `descr`, `title` or `alt`: the first that says anything.
fn described(element: Element<'_>) -> Option<String> {
    ["descr", "alt", "title"].into_iter().find_map(|name| {
        let text = element.attribute(Ns::None, name)?.split_whitespace().collect::<Vec<_>>().join(" ");
        // What Word adds to descriptions of its own making says nothing of the picture.
        let text = text.split(" Description automatically generated").next().unwrap_or_default().trim_end_matches([',', ' ']);
        (!text.is_empty()).then(|| text.to_owned())
    })
}

fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}
