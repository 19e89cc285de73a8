//! Builds PPTX files in code, and reads them.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part of it")]
#![allow(clippy::needless_raw_string_hashes, reason = "parts are written as they look in a file")]

pub mod rich;

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use quarry_model::{DocumentFailure, Limits, Parsed};
use quarry_office::slides;
use zip::write::SimpleFileOptions;
use zip::{DateTime, ZipWriter};

/// Declarations that every part of the tests carries.
pub const NAMESPACES: &str = concat!(
    r#"xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" "#,
    r#"xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" "#,
    r#"xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" "#,
    r#"xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main" "#,
    r#"xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" "#,
    r#"xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram" "#,
    r#"xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" "#,
    r#"xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006""#
);
const RELATIONSHIPS: &str = "http://schemas.openxmlformats.org/package/2006/relationships";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
/// Points to English metric units.
const EMU: i64 = 12_700;

/// A picture of one pixel.
pub const PIXEL: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1f,
    0x15, 0xc4, 0x89, 0, 0, 0, 0x0d, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0xf0, 0x1f, 0, 5, 0, 1, 0xff, 0x89, 0x99,
    0x3d, 0x1d, 0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
];

/// A slide under construction.
#[derive(Clone, Default)]
pub struct Slide {
    shapes: String,
    attributes: String,
    background: String,
    relationships: String,
    parts: Vec<(String, Vec<u8>)>,
}

impl Slide {
    /// A slide with these shapes.
    pub fn new(shapes: impl Into<String>) -> Self {
        Self { shapes: shapes.into(), ..Self::default() }
    }

    /// One that is not shown.
    pub fn hidden(mut self) -> Self {
        self.attributes = r#" show="0""#.to_owned();
        self
    }

    /// With a background.
    pub fn background(mut self, fill: &str) -> Self {
        self.background = format!("<p:bg><p:bgPr>{fill}</p:bgPr></p:bg>");
        self
    }

    /// Adds a part that the slide is related to, under an id.
    pub fn related(mut self, id: &str, kind: &str, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.parts.push((format!("ppt/{name}"), content.as_ref().to_vec()));
        self.relationship(id, kind, &format!("../{name}"), "Internal")
    }

    /// Adds a relationship, also to something outside or to nothing.
    pub fn relationship(mut self, id: &str, kind: &str, target: &str, mode: &str) -> Self {
        let _ = write!(self.relationships, r#"<Relationship Id="{id}" Type="{OFFICE}/{kind}" Target="{target}" TargetMode="{mode}"/>"#);
        self
    }

    /// With notes: the paragraphs of the notes body.
    pub fn notes(self, name: &str, paragraphs: &str) -> Self {
        let body = format!(
            "{}{}",
            placeholder(r#"type="sldImg""#, None, ""),
            placeholder(r#"type="body" idx="1""#, None, paragraphs) + &placeholder(r#"type="sldNum" idx="5""#, None, &p("77"))
        );
        let tree = format!("<p:notes {NAMESPACES}><p:cSld><p:spTree>{body}</p:spTree></p:cSld></p:notes>");
        self.related("rIdNotes", "notesSlide", &format!("notesSlides/{name}.xml"), tree)
    }

    fn xml(&self) -> String {
        format!(
            r#"<?xml version="1.0"?><p:sld {NAMESPACES}{}><p:cSld>{}<p:spTree><p:nvGrpSpPr/><p:grpSpPr/>{}</p:spTree></p:cSld></p:sld>"#,
            self.attributes, self.background, self.shapes
        )
    }
}

/// A presentation under construction: one layout (title, two bodies, footer, number) over one master.
#[derive(Clone, Default)]
pub struct Pptx {
    slides: Vec<Slide>,
    parts: Vec<(String, Vec<u8>)>,
    relationships: String,
    order: Option<String>,
    damaged: Option<(usize, Vec<u8>)>,
}

impl Pptx {
    /// A presentation of these slides.
    pub fn new(slides: impl IntoIterator<Item = Slide>) -> Self {
        Self { slides: slides.into_iter().collect(), ..Self::default() }
    }

    /// Adds a part of the presentation.
    pub fn related(mut self, id: &str, kind: &str, name: &str, content: impl AsRef<[u8]>) -> Self {
        let _ = write!(self.relationships, r#"<Relationship Id="{id}" Type="{OFFICE}/{kind}" Target="{name}"/>"#);
        self.parts.push((format!("ppt/{name}"), content.as_ref().to_vec()));
        self
    }

    /// Other words for the list of slides.
    pub fn with_list(mut self, list: &str) -> Self {
        self.order = Some(list.to_owned());
        self
    }

    /// The same presentation with other bytes as one of its slides.
    pub fn with_slide(mut self, index: usize, bytes: Vec<u8>) -> Self {
        self.damaged = Some((index, bytes));
        self
    }

    /// The text of a slide's part.
    pub fn slide(&self, index: usize) -> String {
        self.slides[index].xml()
    }

    /// Names and bytes of all parts.
    pub fn all_parts(&self) -> Vec<(String, Vec<u8>)> {
        let root = format!(
            r#"<Relationships xmlns="{RELATIONSHIPS}"><Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="ppt/presentation.xml"/></Relationships>"#
        );
        let mut list = String::new();
        let mut own = self.relationships.clone();
        let mut parts = Vec::new();
        for (index, slide) in self.slides.iter().enumerate() {
            let number = index + 1;
            let _ = write!(list, r#"<p:sldId id="{}" r:id="rIdSlide{number}"/>"#, 256 + index);
            let _ = write!(own, r#"<Relationship Id="rIdSlide{number}" Type="{OFFICE}/slide" Target="slides/slide{number}.xml"/>"#);
            let bytes = match &self.damaged {
                Some((damaged, bytes)) if *damaged == index => bytes.clone(),
                _ => slide.xml().into_bytes(),
            };
            parts.push((format!("ppt/slides/slide{number}.xml"), bytes));
            let layout = format!(r#"<Relationship Id="rIdL" Type="{OFFICE}/slideLayout" Target="../slideLayouts/slideLayout1.xml"/>"#);
            parts.push((
                format!("ppt/slides/_rels/slide{number}.xml.rels"),
                format!(r#"<Relationships xmlns="{RELATIONSHIPS}">{layout}{}</Relationships>"#, slide.relationships).into_bytes(),
            ));
            for part in &slide.parts {
                if !parts.iter().any(|(name, _)| *name == part.0) {
                    parts.push(part.clone());
                }
            }
        }
        let list = self.order.clone().unwrap_or_else(|| format!("<p:sldIdLst>{list}</p:sldIdLst>"));
        let presentation = format!(r#"<p:presentation {NAMESPACES}>{list}<p:sldSz cx="9144000" cy="6858000"/></p:presentation>"#);
        let mut all = vec![
            ("[Content_Types].xml".to_owned(), content_types()),
            ("_rels/.rels".to_owned(), root.into_bytes()),
            ("ppt/presentation.xml".to_owned(), presentation.into_bytes()),
            (
                "ppt/_rels/presentation.xml.rels".to_owned(),
                format!(r#"<Relationships xmlns="{RELATIONSHIPS}">{own}</Relationships>"#).into_bytes(),
            ),
        ];
        all.extend(parts);
        all.extend(template());
        all.extend(self.parts.clone());
        all
    }

    /// The file; the same every time.
    pub fn bytes(&self) -> Vec<u8> {
        zip_of(&self.all_parts())
    }

    /// What the parser reads.
    pub fn read(&self) -> Parsed {
        parse(&self.bytes()).expect("a readable presentation")
    }
}

fn content_types() -> Vec<u8> {
    let main = "application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml";
    format!(
        r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/ppt/presentation.xml" ContentType="{main}"/></Types>"#
    )
    .into_bytes()
}

/// The layout and the master.
fn template() -> Vec<(String, Vec<u8>)> {
    let master = format!(
        r#"<p:sldMaster {NAMESPACES}><p:cSld><p:spTree>{}{}{}{}</p:spTree></p:cSld><p:txStyles><p:titleStyle><a:lvl1pPr><a:buNone/></a:lvl1pPr></p:titleStyle>
        <p:bodyStyle><a:lvl1pPr><a:buChar char="•"/></a:lvl1pPr><a:lvl2pPr><a:buChar char="–"/></a:lvl2pPr></p:bodyStyle></p:txStyles></p:sldMaster>"#,
        placeholder(r#"type="title""#, Some((20, 20, 680, 60)), &p("Click to edit the master title")),
        placeholder(r#"type="body" idx="1""#, Some((20, 100, 680, 380)), &p("Click to edit master text")),
        placeholder(r#"type="ftr" idx="3""#, Some((20, 500, 300, 30)), ""),
        placeholder(r#"type="sldNum" idx="4""#, Some((600, 500, 100, 30)), &p("‹#›"))
    );
    let layout = format!(
        r#"<p:sldLayout {NAMESPACES}><p:cSld><p:spTree>{}{}{}{}{}{}</p:spTree></p:cSld></p:sldLayout>"#,
        placeholder(r#"type="title""#, None, ""),
        placeholder(r#"idx="1""#, Some((20, 100, 330, 380)), ""),
        placeholder(r#"idx="2""#, Some((370, 100, 330, 380)), ""),
        placeholder(r#"type="subTitle" idx="7""#, Some((20, 80, 680, 20)), "<a:lstStyle><a:lvl1pPr><a:buNone/></a:lvl1pPr></a:lstStyle>"),
        placeholder(r#"type="ftr" idx="10""#, None, ""),
        placeholder(r#"type="sldNum" idx="11""#, None, "")
    );
    let relation = |kind: &str, target: &str| {
        format!(
            r#"<Relationships xmlns="{RELATIONSHIPS}"><Relationship Id="rId1" Type="{OFFICE}/{kind}" Target="{target}"/></Relationships>"#
        )
    };
    vec![
        ("ppt/slideMasters/slideMaster1.xml".to_owned(), master.into_bytes()),
        ("ppt/slideLayouts/slideLayout1.xml".to_owned(), layout.into_bytes()),
        (
            "ppt/slideLayouts/_rels/slideLayout1.xml.rels".to_owned(),
            relation("slideMaster", "../slideMasters/slideMaster1.xml").into_bytes(),
        ),
    ]
}

/// A ZIP archive with fixed times.
pub fn zip_of(parts: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().last_modified_time(DateTime::default());
    for (name, bytes) in parts {
        writer.start_file(name.as_str(), options).expect("a part");
        writer.write_all(bytes).expect("its bytes");
    }
    writer.finish().expect("an archive").into_inner()
}

/// Reads bytes with the default limits.
pub fn parse(bytes: &[u8]) -> Result<Parsed, DocumentFailure> {
    slides::read(bytes, &Limits::default())
}

/// Left, top, width, height in points.
pub type Place = (i64, i64, i64, i64);

/// `a:xfrm` of a place.
pub fn transform(place: Option<Place>) -> String {
    place.map_or_else(String::new, |(x, y, width, height)| {
        format!(r#"<a:xfrm><a:off x="{}" y="{}"/><a:ext cx="{}" cy="{}"/></a:xfrm>"#, x * EMU, y * EMU, width * EMU, height * EMU)
    })
}

/// A paragraph.
pub fn p(text: &str) -> String {
    format!("<a:p><a:r><a:t>{text}</a:t></a:r></a:p>")
}

/// A paragraph with properties.
pub fn pp(properties: &str, text: &str) -> String {
    format!("<a:p>{properties}<a:r><a:t>{text}</a:t></a:r></a:p>")
}

/// A placeholder.
pub fn placeholder(mention: &str, place: Option<Place>, paragraphs: &str) -> String {
    shape(&format!("<p:nvPr><p:ph {mention}/></p:nvPr>"), "", place, paragraphs)
}

/// The title of a slide.
pub fn title(text: &str) -> String {
    placeholder(r#"type="title""#, None, &p(text))
}

/// A text box.
pub fn text_box(place: Place, paragraphs: &str) -> String {
    shape("<p:nvPr/>", "", Some(place), paragraphs)
}

/// A shape: what `p:nvPr` and `p:cNvPr` say, its place, its text.
pub fn shape(nv: &str, named: &str, place: Option<Place>, paragraphs: &str) -> String {
    format!(
        r#"<p:sp><p:nvSpPr><p:cNvPr id="2" name="Shape"{named}/><p:cNvSpPr/>{nv}</p:nvSpPr><p:spPr>{}</p:spPr><p:txBody><a:bodyPr/>{paragraphs}</p:txBody></p:sp>"#,
        transform(place)
    )
}

/// A picture.
pub fn picture(id: &str, said: &str, place: Place) -> String {
    format!(
        r#"<p:pic><p:nvPicPr><p:cNvPr id="4" name="Picture" descr="{said}"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr><p:blipFill><a:blip r:embed="{id}"/></p:blipFill><p:spPr>{}</p:spPr></p:pic>"#,
        transform(Some(place))
    )
}

/// A frame around a graphic.
pub fn frame(place: Place, graphic: &str) -> String {
    format!(
        r#"<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="5" name="Frame"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr>{}<a:graphic><a:graphicData>{graphic}</a:graphicData></a:graphic></p:graphicFrame>"#,
        transform(Some(place)).replace("a:xfrm", "p:xfrm")
    )
}

/// A table; each cell is its attributes and its text.
pub fn table(properties: &str, rows: &[&[(&str, &str)]]) -> String {
    let mut out = format!("<a:tbl><a:tblPr {properties}/><a:tblGrid/>");
    for row in rows {
        out.push_str("<a:tr h=\"1\">");
        for (attributes, text) in *row {
            let text = if text.is_empty() { "<a:p/>".to_owned() } else { p(text) };
            let _ = write!(out, "<a:tc {attributes}><a:txBody><a:bodyPr/>{text}</a:txBody><a:tcPr/></a:tc>");
        }
        out.push_str("</a:tr>");
    }
    out + "</a:tbl>"
}

/// A group of shapes whose inner coordinates are those of the slide.
pub fn group(place: Place, shapes: &str) -> String {
    let (x, y, width, height) = place;
    let inner = format!(r#"<a:chOff x="{}" y="{}"/><a:chExt cx="{}" cy="{}"/></a:xfrm>"#, x * EMU, y * EMU, width * EMU, height * EMU);
    let transform = transform(Some(place)).replace("</a:xfrm>", &inner);
    format!(r#"<p:grpSp><p:nvGrpSpPr><p:cNvPr id="9" name="Group"/></p:nvGrpSpPr><p:grpSpPr>{transform}</p:grpSpPr>{shapes}</p:grpSp>"#)
}
