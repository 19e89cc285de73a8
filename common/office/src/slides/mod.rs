//! Presentations: `PresentationML`, Transitional or Strict.
//!
//! Slides are read in the order in which they are shown, each one section and one page. A slide's layout and its master
//! say which shape is the title, where placeholders stand and which paragraphs are items of lists; their own words are
//! the template's and not read.

pub(crate) mod geometry;
mod notes;
mod order;
pub(crate) mod rows;
pub(crate) mod shape;
mod table;
pub(crate) mod template;
pub(crate) mod text;

use std::collections::BTreeMap;
use std::rc::Rc;

use quarry_document::Warnings;
use quarry_document::xml::{Element, Ns, Tree};
use quarry_model::{DocumentCode, DocumentFailure, Limits, Parsed};

use crate::media::Media;
use crate::package::{Package, Relationships};
use notes::Authors;
use rows::{Rows, Slide};
use shape::Shapes;
use template::{Inherited, Template};

/// Where the main part usually stands.
const USUAL: &str = "ppt/presentation.xml";
/// Height of a slide that says none, in points.
const HEIGHT: f64 = 540.0;

/// Reads a package of `PresentationML`.
///
/// Fails with `CORRUPT` when there is no main part that can be read, `EMPTY` when there is no slide, and when a limit is
/// crossed. A slide that cannot be read is a warning.
pub fn read(bytes: &[u8], limits: &Limits) -> Result<Parsed, DocumentFailure> {
    let mut warnings = Warnings::default();
    let mut package = Package::open(bytes, limits)?;
    let main_part = package.main_part(USUAL, &mut warnings)?;
    let tree = package.required_tree(&main_part)?;
    let relationships = package.relationships(&main_part, &mut warnings)?;
    let slides = slide_parts(&tree, &relationships, &mut warnings);
    if slides.is_empty() {
        return Err(DocumentFailure::new(DocumentCode::Empty, "the presentation has no slides"));
    }
    let authors = Authors::read(&mut package, &relationships, &mut warnings)?;
    let mut deck = Deck { package, limits, warnings, media: Media::default(), templates: BTreeMap::new(), authors };
    let mut rows = Rows::default();
    let height = height(&tree);
    for (index, part) in slides.iter().enumerate() {
        let slide = deck.slide(part)?;
        rows.slide(u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1), height, slide);
    }
    let mut parsed = rows.parsed;
    parsed.page_count = u32::try_from(slides.len()).ok();
    parsed.title = deck.package.title(&mut deck.warnings)?;
    parsed.assets = deck.media.into_assets();
    (parsed.warnings, parsed.partial) = deck.warnings.finish();
    Ok(parsed)
}

/// Parts of the slides in the order in which they are shown; where the list is missing, all that the main part names.
fn slide_parts(tree: &Tree, relationships: &Relationships, warnings: &mut Warnings) -> Vec<String> {
    let list = tree.root().child(Ns::P, "sldIdLst");
    let mut parts = Vec::new();
    for slide in list.into_iter().flat_map(Element::elements).filter(|slide| slide.is(Ns::P, "sldId")) {
        match slide.attribute(Ns::R, "id").and_then(|id| relationships.part(id)) {
            Some(part) => parts.push(part.to_owned()),
            None => warnings.partial(DocumentCode::Corrupt, "the relationship of a slide is missing"),
        }
    }
    if parts.is_empty() {
        parts = relationships.parts_of_kind("slide").map(|(_, part)| part.to_owned()).collect();
        // slide2 before slide10.
        parts.sort_by(|a, b| a.len().cmp(&b.len()).then(a.cmp(b)));
        if !parts.is_empty() {
            warnings.note(DocumentCode::Corrupt, "the list of slides is missing; they are read in the order of their names");
        }
    }
    parts
}

fn height(tree: &Tree) -> f64 {
    let size = tree.root().child(Ns::P, "sldSz").and_then(|size| size.attribute(Ns::None, "cy")?.parse::<u32>().ok());
    size.map_or(HEIGHT, |size| f64::from(size) / 12_700.0)
}

/// An open presentation.
struct Deck<'d> {
    package: Package<'d>,
    limits: &'d Limits,
    warnings: Warnings,
    media: Media,
    /// Layouts and masters by part.
    templates: BTreeMap<String, Rc<Template>>,
    authors: Authors,
}

impl Deck<'_> {
    fn slide(&mut self, part: &str) -> Result<Slide, DocumentFailure> {
        let Some(tree) = self.package.linked_tree(part, &mut self.warnings)? else { return Ok(Slide::default()) };
        let relationships = self.package.relationships(part, &mut self.warnings)?;
        let (layout, layout_part) = self.template(&relationships, "slideLayout")?;
        let beside_layout = match &layout_part {
            Some(part) => self.package.relationships(part, &mut self.warnings)?,
            None => Rc::default(),
        };
        let (master, _) = self.template(&beside_layout, "slideMaster")?;
        let mut shapes = Shapes {
            package: &mut self.package,
            limits: self.limits,
            warnings: &mut self.warnings,
            media: &mut self.media,
            relationships: Rc::clone(&relationships),
            inherited: Inherited { layout: &layout, master: &master },
        };
        let content = tree.root().child(Ns::P, "cSld");
        let mut read = Vec::new();
        // A slide may be nothing but its background.
        let fill = content.and_then(|content| content.child(Ns::P, "bg")?.child(Ns::P, "bgPr")?.child(Ns::A, "blipFill"));
        if let Some(fill) = fill {
            shapes.blip(fill, "", None, false, &mut read)?;
        }
        if let Some(tree) = content.and_then(|content| content.child(Ns::P, "spTree")) {
            read.extend(shapes.read(tree)?);
        }
        let mut slide = Slide { shapes: read, hidden: is_off(tree.root()), ..Slide::default() };
        if let Some(part) = relationships.part_of_kind("notesSlide")
            && let Some(tree) = self.package.linked_tree(part, &mut self.warnings)?
        {
            slide.notes = notes::notes(&tree);
        }
        for (_, part) in relationships.parts_of_kind("comments") {
            if let Some(tree) = self.package.linked_tree(part, &mut self.warnings)? {
                slide.comments.extend(notes::comments(&tree, &self.authors));
            }
        }
        Ok(slide)
    }

    /// The layout or master that a part names, read once.
    fn template(&mut self, relationships: &Relationships, kind: &str) -> Result<(Rc<Template>, Option<String>), DocumentFailure> {
        let Some(part) = relationships.part_of_kind(kind) else { return Ok((Rc::default(), None)) };
        if let Some(known) = self.templates.get(part) {
            return Ok((Rc::clone(known), Some(part.to_owned())));
        }
        let tree = self.package.linked_tree(part, &mut self.warnings)?;
        let template = Rc::new(tree.map(|tree| Template::read(&tree)).unwrap_or_default());
        self.templates.insert(part.to_owned(), Rc::clone(&template));
        Ok((template, Some(part.to_owned())))
    }
}

/// Whether a slide is switched off.
fn is_off(slide: Element<'_>) -> bool {
    matches!(slide.attribute(Ns::None, "show"), Some("0" | "false" | "off"))
}
