//! Drawings: pictures with their alternative text, text boxes, shapes with text, embedded objects.

use quarry_document::flow::ParagraphBuilder;
use quarry_document::xml::{Element, Ns};
use quarry_model::{Asset, DocumentCode, DocumentFailure};

use crate::math;
use crate::package::part_of;
use crate::walk::{Place, Walk};

/// Objects within objects end here.
const OBJECT_DEPTH: usize = 4;

impl Walk<'_, '_> {
    /// Reads a drawing. A frame holds the same thing in several forms: the first that gives anything is taken.
    pub(crate) fn graphic(&mut self, drawing: Element<'_>, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        match drawing.name() {
            "frame" => self.frame(drawing, out),
            "g" | "a" => drawing.elements().filter(|child| child.ns() == Ns::OdfDraw).try_for_each(|child| self.graphic(child, out)),
            "control" | "glue-point" | "enhanced-geometry" | "image-map" => Ok(()),
            _ => {
                let before = out.extent();
                let blocks = self.apart(drawing, self.box_place())?;
                out.after.extend(blocks);
                described(drawing, before, out);
                Ok(())
            }
        }
    }

    fn box_place(&self) -> Place {
        if self.place == Place::Header { Place::Header } else { Place::Body }
    }

    fn frame(&mut self, frame: Element<'_>, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        let before = out.extent();
        for form in frame.elements() {
            match (form.ns(), form.name()) {
                (Ns::OdfDraw, "text-box") => {
                    let blocks = self.apart(form, self.box_place())?;
                    out.after.extend(blocks);
                }
                (Ns::OdfDraw, "object") => self.object(form, out)?,
                (Ns::OdfDraw, "image") => self.image(form, &alternative(frame), out)?,
                (Ns::OdfTable, "table") => {
                    let blocks = self.table(form)?;
                    out.after.extend(blocks);
                }
                _ => {}
            }
            if out.extent() > before {
                return Ok(());
            }
        }
        described(frame, before, out);
        Ok(())
    }

    fn image(&mut self, image: Element<'_>, alt: &str, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        if self.place == Place::Header {
            // Headers and footers repeat on every page: what they picture is decoration, what it says is kept.
            out.push(alt);
            return Ok(());
        }
        let Some(address) = image.attribute(Ns::Xlink, "href").map(str::trim).filter(|address| !address.is_empty()) else { return Ok(()) };
        if address.contains("://") {
            let address: String = address.chars().filter(|c| !c.is_control()).take(200).collect();
            out.picture_at(None, &if alt.is_empty() { address } else { format!("{alt} ({address})") });
            return Ok(());
        }
        let asset = match part_of(address) {
            Some(part) => self.asset(&part)?,
            None => None,
        };
        if asset.is_none() {
            self.warnings.partial(DocumentCode::Corrupt, "a picture is missing from the document");
        }
        out.picture_at(asset, alt);
        Ok(())
    }

    /// The asset for a part, read once.
    fn asset(&mut self, part: &str) -> Result<Option<usize>, DocumentFailure> {
        if let Some(known) = self.asset_of.get(part) {
            return Ok(*known);
        }
        let bytes = self.package.bytes(part, self.warnings)?.filter(|bytes| !bytes.is_empty());
        let asset = bytes.map(|bytes| {
            let original_name = part.rsplit('/').next().unwrap_or_default().to_owned();
            self.assets.push(Asset { bytes, original_name });
            self.assets.len().saturating_sub(1)
        });
        self.asset_of.insert(part.to_owned(), asset);
        Ok(asset)
    }

    /// A formula as LaTeX; of a chart or a sheet its tables; of a text its blocks.
    fn object(&mut self, object: Element<'_>, out: &mut ParagraphBuilder) -> Result<(), DocumentFailure> {
        if let Some(formula) = object.elements().find(|child| child.name() == "math") {
            out.push(&math::inline(formula));
            return Ok(());
        }
        let Some(part) = object.attribute(Ns::Xlink, "href").and_then(part_of) else { return Ok(()) };
        if self.objects >= OBJECT_DEPTH {
            return Ok(());
        }
        let Some(tree) = self.package.tree(&format!("{part}/content.xml"), self.warnings)? else { return Ok(()) };
        if tree.root().name() == "math" {
            out.push(&math::inline(tree.root()));
            return Ok(());
        }
        let Some(body) = tree.root().child(Ns::OdfOffice, "body") else { return Ok(()) };
        self.objects = self.objects.saturating_add(1);
        let blocks = self.apart(body, self.box_place());
        self.objects = self.objects.saturating_sub(1);
        out.after.extend(blocks?);
        Ok(())
    }
}

/// A drawing that shows nothing readable but is described gives its description.
fn described(drawing: Element<'_>, before: usize, out: &mut ParagraphBuilder) {
    let alt = alternative(drawing);
    if out.extent() == before && !alt.is_empty() {
        out.push(&alt);
    }
}

/// Title and description of a drawing.
fn alternative(drawing: Element<'_>) -> String {
    let part = |name| drawing.child(Ns::OdfSvg, name).map(Element::text).unwrap_or_default();
    let fold = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    match (fold(part("title")), fold(part("desc"))) {
        (title, description) if description.is_empty() || title.contains(&description) => title,
        (title, description) if title.is_empty() || description.contains(&title) => description,
        (title, description) => format!("{title}\n{description}"),
    }
}
