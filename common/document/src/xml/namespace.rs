//! Namespaces by meaning.

/// A namespace that some reader asks for; every other one is [`Ns::Other`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ns {
    /// No namespace.
    None,
    /// One that no reader asks for, or an undeclared prefix.
    Other,
    /// `xml:`.
    Xml,
    /// `WordprocessingML`.
    W,
    /// Word 2010 extensions of `WordprocessingML`.
    W14,
    /// `SpreadsheetML`.
    S,
    /// `PresentationML`.
    P,
    /// References to relationships inside parts.
    R,
    /// `DrawingML`.
    A,
    /// Where a drawing stands in a text document.
    Wp,
    /// Where a drawing stands in a sheet.
    Xdr,
    /// Pictures of `DrawingML`.
    Pic,
    /// Charts.
    C,
    /// Extended charts of Office 2014 and later.
    Cx,
    /// `SmartArt`.
    Dgm,
    /// The drawn form of a `SmartArt`.
    Dsp,
    /// Shapes of `WordprocessingML`.
    Wps,
    /// Groups of shapes.
    Wpg,
    /// Canvases.
    Wpc,
    /// VML.
    V,
    /// Office extensions of VML.
    O,
    /// Office math.
    M,
    /// Markup compatibility.
    Mc,
    /// Relationships parts.
    Relationships,
    /// `[Content_Types].xml`.
    ContentTypes,
    /// `docProps/core.xml`.
    CoreProperties,
    /// Dublin Core elements.
    Dc,
    /// `OpenDocument`: the frame of documents.
    OdfOffice,
    /// `OpenDocument`: text.
    OdfText,
    /// `OpenDocument`: tables.
    OdfTable,
    /// `OpenDocument`: drawings.
    OdfDraw,
    /// `OpenDocument`: styles.
    OdfStyle,
    /// `OpenDocument`: properties taken from XSL.
    OdfFo,
    /// `OpenDocument`: properties taken from SVG.
    OdfSvg,
    /// Links.
    Xlink,
    /// `MathML`.
    MathMl,
}

impl Ns {
    /// What a namespace name means. Strict and Transitional names of one vocabulary mean the same.
    pub fn of(name: &str) -> Self {
        match name {
            "" => Self::None,
            "http://www.w3.org/XML/1998/namespace" => Self::Xml,
            "http://schemas.openxmlformats.org/wordprocessingml/2006/main" | "http://purl.oclc.org/ooxml/wordprocessingml/main" => Self::W,
            "http://schemas.microsoft.com/office/word/2010/wordml" => Self::W14,
            "http://schemas.openxmlformats.org/spreadsheetml/2006/main" | "http://purl.oclc.org/ooxml/spreadsheetml/main" => Self::S,
            "http://schemas.openxmlformats.org/presentationml/2006/main" | "http://purl.oclc.org/ooxml/presentationml/main" => Self::P,
            "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
            | "http://purl.oclc.org/ooxml/officeDocument/relationships" => Self::R,
            "http://schemas.openxmlformats.org/drawingml/2006/main" | "http://purl.oclc.org/ooxml/drawingml/main" => Self::A,
            "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
            | "http://purl.oclc.org/ooxml/drawingml/wordprocessingDrawing" => Self::Wp,
            "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"
            | "http://purl.oclc.org/ooxml/drawingml/spreadsheetDrawing" => Self::Xdr,
            "http://schemas.openxmlformats.org/drawingml/2006/picture" | "http://purl.oclc.org/ooxml/drawingml/picture" => Self::Pic,
            "http://schemas.openxmlformats.org/drawingml/2006/chart" | "http://purl.oclc.org/ooxml/drawingml/chart" => Self::C,
            "http://schemas.microsoft.com/office/drawing/2014/chartex" => Self::Cx,
            "http://schemas.openxmlformats.org/drawingml/2006/diagram" | "http://purl.oclc.org/ooxml/drawingml/diagram" => Self::Dgm,
            "http://schemas.microsoft.com/office/drawing/2008/diagram" => Self::Dsp,
            "http://schemas.microsoft.com/office/word/2010/wordprocessingShape" => Self::Wps,
            "http://schemas.microsoft.com/office/word/2010/wordprocessingGroup" => Self::Wpg,
            "http://schemas.microsoft.com/office/word/2010/wordprocessingCanvas" => Self::Wpc,
            "urn:schemas-microsoft-com:vml" => Self::V,
            "urn:schemas-microsoft-com:office:office" => Self::O,
            "http://schemas.openxmlformats.org/officeDocument/2006/math" | "http://purl.oclc.org/ooxml/officeDocument/math" => Self::M,
            "http://schemas.openxmlformats.org/markup-compatibility/2006" => Self::Mc,
            "http://schemas.openxmlformats.org/package/2006/relationships" => Self::Relationships,
            "http://schemas.openxmlformats.org/package/2006/content-types" => Self::ContentTypes,
            "http://schemas.openxmlformats.org/package/2006/metadata/core-properties" => Self::CoreProperties,
            "http://purl.org/dc/elements/1.1/" => Self::Dc,
            "urn:oasis:names:tc:opendocument:xmlns:office:1.0" => Self::OdfOffice,
            "urn:oasis:names:tc:opendocument:xmlns:text:1.0" => Self::OdfText,
            "urn:oasis:names:tc:opendocument:xmlns:table:1.0" => Self::OdfTable,
            "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" => Self::OdfDraw,
            "urn:oasis:names:tc:opendocument:xmlns:style:1.0" => Self::OdfStyle,
            "urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" => Self::OdfFo,
            "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" => Self::OdfSvg,
            "http://www.w3.org/1999/xlink" => Self::Xlink,
            "http://www.w3.org/1998/Math/MathML" => Self::MathMl,
            _ => Self::Other,
        }
    }
}
