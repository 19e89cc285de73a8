//! Layouts and masters: what their placeholders lend to the shapes of a slide.

use quarry_document::xml::{Element, Ns, Tree};

use super::geometry::{Frame, Rect};
use super::text::ListStyle;

/// What a placeholder is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Title,
    /// The number of the slide.
    Number,
    /// Header, footer, date.
    Footer,
    /// The picture of the slide on a notes page.
    SlideImage,
    /// Text and content of any kind.
    Body,
}

impl Purpose {
    fn of(kind: &str) -> Self {
        match kind {
            "title" | "ctrTitle" => Self::Title,
            "sldNum" => Self::Number,
            "ftr" | "hdr" | "dt" => Self::Footer,
            "sldImg" => Self::SlideImage,
            _ => Self::Body,
        }
    }
}

/// What `p:ph` of a shape says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mention {
    kind: Option<String>,
    index: u32,
}

impl Mention {
    /// Of a shape, a picture or a frame; `None` when it is no placeholder.
    pub(crate) fn of(shape: Element<'_>) -> Option<Self> {
        let named = shape.elements().find(|child| child.ns() == Ns::P && child.name().starts_with("nv"))?;
        let mention = named.child(Ns::P, "nvPr")?.child(Ns::P, "ph")?;
        let index = mention.attribute(Ns::None, "idx").and_then(|index| index.parse().ok()).unwrap_or_default();
        Some(Self { kind: mention.attribute(Ns::None, "type").map(str::to_owned), index })
    }

    fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or("obj")
    }

    /// What it is for, by itself alone.
    pub(crate) fn purpose(&self) -> Purpose {
        Purpose::of(self.kind())
    }
}

/// A placeholder of a layout or a master.
#[derive(Debug)]
struct Placeholder {
    mention: Mention,
    place: Option<Rect>,
    list: ListStyle,
}

/// A layout or a master.
#[derive(Debug, Default)]
pub(crate) struct Template {
    placeholders: Vec<Placeholder>,
    /// Text styles of a master: titles, bodies, everything else.
    title: ListStyle,
    body: ListStyle,
    other: ListStyle,
}

impl Template {
    pub(crate) fn read(tree: &Tree) -> Self {
        let mut out = Self::default();
        let shapes = tree.root().child(Ns::P, "cSld").and_then(|slide| slide.child(Ns::P, "spTree"));
        for shape in shapes.into_iter().flat_map(Element::descendants).filter(|shape| shape.is(Ns::P, "sp")) {
            let Some(mention) = Mention::of(shape) else { continue };
            let transform = shape.child(Ns::P, "spPr").and_then(|properties| properties.child(Ns::A, "xfrm"));
            let list = shape.child(Ns::P, "txBody").and_then(|body| body.child(Ns::A, "lstStyle"));
            out.placeholders.push(Placeholder {
                mention,
                place: transform.and_then(|transform| Frame::default().rect(transform)),
                list: list.map(ListStyle::read).unwrap_or_default(),
            });
        }
        if let Some(styles) = tree.root().child(Ns::P, "txStyles") {
            let style = |name| styles.child(Ns::P, name).map(ListStyle::read).unwrap_or_default();
            (out.title, out.body, out.other) = (style("titleStyle"), style("bodyStyle"), style("otherStyle"));
        }
        out
    }

    /// The placeholder that a mention means: of its index and kind, else of its index when it names no kind, else of its
    /// index and a kind that inherits alike, else of its kind.
    fn find(&self, mention: &Mention) -> Option<&Placeholder> {
        let by = |test: &dyn Fn(&Mention) -> bool| self.placeholders.iter().find(|held| test(&held.mention));
        let base = base_kind(mention.kind());
        by(&|held| held.index == mention.index && held.kind() == mention.kind())
            .or_else(|| mention.kind.is_none().then(|| by(&|held| held.index == mention.index))?)
            .or_else(|| by(&|held| held.index == mention.index && base_kind(held.kind()) == base))
            .or_else(|| by(&|held| held.kind() == mention.kind()))
            .or_else(|| by(&|held| base_kind(held.kind()) == base))
    }
}

/// The kind of a master's placeholder that a layout's inherits from.
fn base_kind(kind: &str) -> &str {
    match kind {
        "title" | "ctrTitle" => "title",
        "dt" | "ftr" | "sldNum" | "hdr" | "sldImg" => kind,
        _ => "body",
    }
}

/// The layout of a slide over its master; either may be missing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inherited<'t> {
    pub layout: &'t Template,
    pub master: &'t Template,
}

/// What a shape is and inherits.
pub(crate) struct Heritage<'t> {
    /// `None` for a shape that is no placeholder.
    pub purpose: Option<Purpose>,
    pub place: Option<Rect>,
    /// Styles of its lists, the nearest first.
    pub lists: Vec<&'t ListStyle>,
}

impl<'t> Inherited<'t> {
    /// What the shape with this mention is.
    pub(crate) fn of(self, mention: Option<&Mention>) -> Heritage<'t> {
        let Some(mention) = mention else {
            return Heritage { purpose: None, place: None, lists: vec![&self.master.other] };
        };
        let layout = self.layout.find(mention);
        // The layout knows what a mention of an index alone is.
        let kind = match (&mention.kind, layout) {
            (None, Some(held)) => &held.mention,
            _ => mention,
        };
        let master = self.master.find(kind);
        let purpose = kind.purpose();
        let base = match purpose {
            Purpose::Title => &self.master.title,
            Purpose::Body => &self.master.body,
            Purpose::Number | Purpose::Footer | Purpose::SlideImage => &self.master.other,
        };
        let held = [layout, master];
        let lists = held.iter().flatten().map(|held| &held.list).chain([base]).collect();
        Heritage { purpose: Some(purpose), place: held.iter().flatten().find_map(|held| held.place), lists }
    }
}
