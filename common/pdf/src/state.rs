//! The graphics state, as far as it says where text and lines stand and how they look.
#![allow(clippy::arithmetic_side_effects, reason = "transforms are products of floating-point matrices: nothing here can overflow")]

use std::rc::Rc;

use hayro_font::kurbo::Affine;

use crate::font::LoadedFont;

/// The text state (ISO 32000-1, 9.3), and the matrices of the text object that is open.
#[derive(Clone)]
pub(crate) struct Text<'a> {
    pub(crate) font: Option<Rc<LoadedFont<'a>>>,
    pub(crate) size: f64,
    pub(crate) character_space: f64,
    pub(crate) word_space: f64,
    pub(crate) scale: f64,
    pub(crate) leading: f64,
    pub(crate) rise: f64,
    pub(crate) hidden: bool,
    pub(crate) matrix: Affine,
    pub(crate) line: Affine,
}

impl Default for Text<'_> {
    fn default() -> Self {
        Self {
            font: None,
            size: 0.0,
            character_space: 0.0,
            word_space: 0.0,
            scale: 1.0,
            leading: 0.0,
            rise: 0.0,
            hidden: false,
            matrix: Affine::IDENTITY,
            line: Affine::IDENTITY,
        }
    }
}

/// The part of the graphics state that is followed.
#[derive(Clone)]
pub(crate) struct State<'a> {
    pub(crate) ctm: Affine,
    pub(crate) text: Text<'a>,
    pub(crate) color: [u8; 3],
    pub(crate) line_width: f64,
}

impl Text<'_> {
    /// Moves to the start of another line, by an offset from the start of this one.
    pub(crate) fn next_line(&mut self, x: f64, y: f64) {
        self.line *= Affine::translate((x, y));
        self.matrix = self.line;
    }

    /// Moves back along the line, by thousandths of the size.
    pub(crate) fn adjust(&mut self, back: f64) {
        let by = -back / 1000.0 * self.size;
        let horizontal = self.font.as_ref().is_none_or(|font| font.font.is_horizontal());
        let step = if horizontal { (by * self.scale, 0.0) } else { (0.0, by) };
        self.matrix *= Affine::translate(step);
    }
}

/// A colour channel of 0 to 1 in 8 bits.
pub(crate) fn channel(value: f32) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0).round() as u8
}

/// Colours of a space we do not follow: one component is grey, three are RGB, four CMYK.
pub(crate) fn set_components(color: &mut [u8; 3], components: impl Iterator<Item = f32>) {
    let parts: Vec<f32> = components.collect();
    *color = match *parts.as_slice() {
        [grey] => [channel(grey); 3],
        [red, green, blue] => [channel(red), channel(green), channel(blue)],
        [c, m, y, k] => [c, m, y].map(|v| channel((1.0 - v) * (1.0 - k))),
        _ => [0; 3],
    };
}
