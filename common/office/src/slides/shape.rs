//! The shapes of a slide: text, tables, pictures, charts, diagrams, groups.

use std::rc::Rc;

use quarry_document::Warnings;
use quarry_document::xml::{Element, Ns};
use quarry_model::{DocumentCode, DocumentFailure, Limits, Table};

use super::geometry::{Frame, Rect};
use super::table;
use super::template::{Inherited, Mention, Purpose};
use super::text::{self, Paragraph};
use crate::chart::{self, Chart};
use crate::media::{self, Found, Media};
use crate::package::{Package, Relationships};
use crate::{diagram, drawing};

/// A shape that shows something.
#[derive(Debug)]
pub(crate) struct Shape {
    pub place: Option<Rect>,
    /// Whether it is switched off.
    pub hidden: bool,
    pub content: Content,
}

/// What a shape shows.
#[derive(Debug)]
pub(crate) enum Content {
    /// Paragraphs, of a placeholder for this purpose.
    Text(Option<Purpose>, Vec<Paragraph>),
    Table(Table),
    /// Index into the assets (`None` for a picture without bytes), and what is said of it.
    Picture(Option<usize>, String),
    Group(Vec<Shape>),
}

/// Reads the shapes of one part.
pub(crate) struct Shapes<'s, 'p> {
    pub package: &'s mut Package<'p>,
    pub limits: &'s Limits,
    pub warnings: &'s mut Warnings,
    pub media: &'s mut Media,
    pub relationships: Rc<Relationships>,
    pub inherited: Inherited<'s>,
}

/// Where a walk is.
#[derive(Debug, Clone, Copy, Default)]
struct At {
    frame: Frame,
    hidden: bool,
}

impl Shapes<'_, '_> {
    /// The shapes of a tree in the order in which they are drawn. Recursion is bounded by the depth of the part.
    pub(crate) fn read(&mut self, tree: Element<'_>) -> Result<Vec<Shape>, DocumentFailure> {
        let mut out = Vec::new();
        self.tree(tree, At::default(), &mut out)?;
        Ok(out)
    }

    fn tree(&mut self, tree: Element<'_>, at: At, out: &mut Vec<Shape>) -> Result<(), DocumentFailure> {
        for child in tree.elements() {
            match (child.ns(), child.name()) {
                (Ns::P, "sp" | "cxnSp") => self.shape(child, at, out)?,
                (Ns::P, "pic") => self.picture(child, at, out)?,
                (Ns::P, "graphicFrame") => self.frame(child, at, out)?,
                (Ns::P, "grpSp") => self.group(child, at, out)?,
                (Ns::Mc, "AlternateContent") => {
                    let before = out.len();
                    for branch in child.elements() {
                        self.tree(branch, at, out)?;
                        if out.len() > before {
                            break;
                        }
                    }
                }
                (Ns::P, "nvGrpSpPr" | "grpSpPr" | "extLst") => {}
                (Ns::P, "contentPart") => self.warnings.partial(DocumentCode::Unsupported, "ink on a slide is not read"),
                _ => self.tree(child, at, out)?,
            }
        }
        Ok(())
    }

    fn group(&mut self, group: Element<'_>, at: At, out: &mut Vec<Shape>) -> Result<(), DocumentFailure> {
        let named = Named::of(group);
        let transform = group.child(Ns::P, "grpSpPr").and_then(|properties| properties.child(Ns::A, "xfrm"));
        let place = transform.and_then(|transform| at.frame.rect(transform));
        let frame = transform.map_or(at.frame, |transform| at.frame.inside(transform));
        let mut inner = Vec::new();
        self.tree(group, At { frame, hidden: at.hidden || named.hidden }, &mut inner)?;
        // What is said of a group is said of the one picture in it.
        if let [Shape { content: Content::Picture(_, said), .. }] = inner.as_mut_slice()
            && said.is_empty()
        {
            said.clone_from(&named.said);
        }
        if !inner.is_empty() {
            out.push(Shape { place, hidden: false, content: Content::Group(inner) });
        } else if !named.said.is_empty() {
            out.push(described(named.said, place, at.hidden || named.hidden));
        }
        Ok(())
    }

    fn shape(&mut self, shape: Element<'_>, at: At, out: &mut Vec<Shape>) -> Result<(), DocumentFailure> {
        let named = Named::of(shape);
        let hidden = at.hidden || named.hidden;
        let heritage = self.inherited.of(Mention::of(shape).as_ref());
        let properties = shape.child(Ns::P, "spPr");
        let transform = properties.and_then(|properties| properties.child(Ns::A, "xfrm"));
        let place = transform.and_then(|transform| at.frame.rect(transform)).or(heritage.place);
        let before = out.len();
        if let Some(fill) = properties.and_then(|properties| properties.child(Ns::A, "blipFill")) {
            self.blip(fill, &named.said, place, hidden, out)?;
        }
        let paragraphs = shape.child(Ns::P, "txBody").map(|body| text::paragraphs(body, &heritage.lists)).unwrap_or_default();
        if !paragraphs.is_empty() {
            out.push(Shape { place, hidden, content: Content::Text(heritage.purpose, paragraphs) });
        } else if out.len() == before && !named.said.is_empty() {
            out.push(described(named.said, place, hidden));
        }
        Ok(())
    }

    fn picture(&mut self, picture: Element<'_>, at: At, out: &mut Vec<Shape>) -> Result<(), DocumentFailure> {
        let named = Named::of(picture);
        let transform = picture.child(Ns::P, "spPr").and_then(|properties| properties.child(Ns::A, "xfrm"));
        let heritage = self.inherited.of(Mention::of(picture).as_ref());
        let place = transform.and_then(|transform| at.frame.rect(transform)).or(heritage.place);
        let sounds =
            picture.descendants().any(|child| child.ns() == Ns::A && matches!(child.name(), "videoFile" | "audioFile" | "wavAudioFile"));
        if sounds {
            self.warnings.note(DocumentCode::Unsupported, "a video or a sound is not read; its picture is");
        }
        let before = out.len();
        if let Some(fill) = picture.child(Ns::P, "blipFill") {
            self.blip(fill, &named.said, place, at.hidden || named.hidden, out)?;
        }
        if out.len() == before && !named.said.is_empty() {
            out.push(described(named.said, place, at.hidden || named.hidden));
        }
        Ok(())
    }

    /// The picture of a fill.
    pub(crate) fn blip(
        &mut self,
        fill: Element<'_>,
        said: &str,
        place: Option<Rect>,
        hidden: bool,
        out: &mut Vec<Shape>,
    ) -> Result<(), DocumentFailure> {
        let Some(blip) = fill.child(Ns::A, "blip") else { return Ok(()) };
        // A picture may be both embedded and linked; a vector picture may have its raster form left empty.
        let vector = || blip.descendants().find(|child| child.name() == "svgBlip").and_then(|svg| svg.attribute(Ns::R, "embed"));
        let own = |name| blip.attribute(Ns::R, name).filter(|id| !id.is_empty());
        let Some(id) = own("embed").or_else(vector).or_else(|| own("link")) else { return Ok(()) };
        let content = match self.media.find(id, self.package, &self.relationships, self.warnings)? {
            Found::Asset(asset) => Content::Picture(asset, said.to_owned()),
            Found::Outside(address) => Content::Picture(None, media::said_of_outside(said, &address)),
        };
        out.push(Shape { place, hidden, content });
        Ok(())
    }

    fn frame(&mut self, frame: Element<'_>, at: At, out: &mut Vec<Shape>) -> Result<(), DocumentFailure> {
        let named = Named::of(frame);
        let heritage = self.inherited.of(Mention::of(frame).as_ref());
        let place = frame.child(Ns::P, "xfrm").and_then(|transform| at.frame.rect(transform)).or(heritage.place);
        let mut inner = Vec::new();
        self.graphic(frame, &named.said, At { hidden: at.hidden || named.hidden, ..at }, &mut inner)?;
        for mut shape in inner {
            shape.place = place.or(shape.place);
            out.push(shape);
        }
        Ok(())
    }

    fn graphic(&mut self, element: Element<'_>, said: &str, at: At, out: &mut Vec<Shape>) -> Result<(), DocumentFailure> {
        for child in element.elements() {
            let mut show = |content| out.push(Shape { place: None, hidden: at.hidden, content });
            match (child.ns(), child.name()) {
                (Ns::A, "tbl") => {
                    let read = table::read(child, said, self.limits);
                    if read.dropped > 0 {
                        self.warnings.partial(DocumentCode::TooLarge, format!("{} cells of a table are left out", read.dropped));
                    }
                    match read.content {
                        table::Content::Table(table) => show(Content::Table(table)),
                        table::Content::Frame(paragraphs) => show(Content::Text(None, paragraphs)),
                        table::Content::Empty => {}
                    }
                }
                (Ns::C | Ns::Cx, "chart") => match chart::find(child, said, self.package, &self.relationships, self.limits, self.warnings)?
                {
                    Chart::Table(table) => show(Content::Table(table)),
                    Chart::Title(text) => show(Content::Text(None, vec![Paragraph { text, ..Paragraph::default() }])),
                    Chart::Empty => {}
                },
                (Ns::Dgm, "relIds") => {
                    let points = diagram::find(child, self.package, &self.relationships, self.warnings)?.into_iter();
                    let items =
                        points.map(|point| Paragraph { text: point.text, label: Some("-".to_owned()), level: point.level, size: None });
                    let items: Vec<Paragraph> = items.collect();
                    if !items.is_empty() {
                        show(Content::Text(None, items));
                    }
                }
                (Ns::P, "oleObj") => self.object(child, said, at, out)?,
                (Ns::Mc, "AlternateContent") => {
                    let before = out.len();
                    for branch in child.elements() {
                        self.graphic(branch, said, at, out)?;
                        if out.len() > before {
                            break;
                        }
                    }
                }
                (Ns::P, name) if name.starts_with("nv") => {}
                _ => self.graphic(child, said, at, out)?,
            }
        }
        Ok(())
    }

    /// An embedded object: the picture that stands for it.
    fn object(&mut self, object: Element<'_>, said: &str, at: At, out: &mut Vec<Shape>) -> Result<(), DocumentFailure> {
        let before = out.len();
        self.tree(object, at, out)?;
        for shape in out.iter_mut().skip(before) {
            if let Content::Picture(_, own) = &mut shape.content
                && own.is_empty()
            {
                *own = said.to_owned();
            }
        }
        let kind: String = object.attribute(Ns::None, "progId").unwrap_or("unknown kind").chars().take(80).collect();
        if out.len() > before {
            self.warnings.note(DocumentCode::Unsupported, format!("an embedded object ({kind}) is not read; its picture is"));
        } else if !object.elements().any(|child| child.is(Ns::P, "pic")) {
            self.warnings.partial(DocumentCode::Unsupported, format!("an embedded object ({kind}) is not read"));
        }
        Ok(())
    }
}

/// A shape that shows no words but is described.
fn described(text: String, place: Option<Rect>, hidden: bool) -> Shape {
    Shape { place, hidden, content: Content::Text(None, vec![Paragraph { text, ..Paragraph::default() }]) }
}

/// What the properties of a shape say of it.
struct Named {
    said: String,
    hidden: bool,
}

impl Named {
    fn of(shape: Element<'_>) -> Self {
        let properties = shape.elements().find(|child| child.ns() == Ns::P && child.name().starts_with("nv"));
        let properties = properties.and_then(|properties| properties.child(Ns::P, "cNvPr"));
        Self {
            said: properties.and_then(drawing::described).unwrap_or_default(),
            hidden: properties.is_some_and(|properties| matches!(properties.attribute(Ns::None, "hidden"), Some("1" | "true"))),
        }
    }
}
