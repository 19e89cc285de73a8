//! What stands on a page.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::geometry::{Rect, Rule};

/// One glyph.
#[derive(Debug, Clone, PartialEq)]
pub struct Glyph {
    /// Its characters; U+FFFD when the font does not say.
    pub text: Rc<str>,
    /// Its cell: from its origin to its advance, ascent over descent.
    pub rect: Rect,
    /// Its origin.
    pub origin: (f32, f32),
    /// Where the pen stands after it.
    pub end: (f32, f32),
    /// Size in points as shown.
    pub size: f32,
    /// Index into the document's fonts.
    pub font: usize,
    /// Direction of the baseline in degrees clockwise, 0 for upright text from left to right.
    pub angle: i16,
    /// Fill colour, 8 bits a channel; black when the colour space is not a device one.
    pub color: [u8; 3],
    /// Drawn without ink: the text layer under a scan, or text hidden on purpose.
    pub hidden: bool,
}

/// A filled rectangle that is not a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fill {
    /// Where.
    pub rect: Rect,
    /// Its colour.
    pub color: [u8; 3],
}

/// A placed picture.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    /// Where.
    pub rect: Rect,
    /// The object that holds it; `None` for one written into the page itself.
    pub object: Option<(u32, i32)>,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
}

/// What stands on a page, in the order it is drawn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// Width in points, as shown.
    pub width: f32,
    /// Height in points, as shown.
    pub height: f32,
    /// Glyphs.
    pub glyphs: Vec<Glyph>,
    /// Ruling lines.
    pub rules: Vec<Rule>,
    /// Filled areas.
    pub fills: Vec<Fill>,
    /// Pictures.
    pub pictures: Vec<Picture>,
    /// Drawing operations that are neither text nor lines nor pictures.
    pub drawings: u32,
    /// Glyphs whose characters are not known.
    pub unmapped: u32,
    /// Whether the page was cut at a limit.
    pub cut: bool,
    /// Whether reading it took longer than a page may take: what came after is not read.
    pub late: bool,
}
