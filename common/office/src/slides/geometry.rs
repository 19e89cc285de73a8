//! Where shapes stand, in points from the top left of the slide.

use quarry_document::xml::{Element, Ns};
use quarry_model::PageBox;

/// English metric units in a point (ECMA-376 part 1, 20.1.10.16: 914,400 in an inch).
const EMU: f64 = 12_700.0;

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Rect {
    pub x0: f64,
    pub y0: f64,
    pub x1: f64,
    pub y1: f64,
}

impl Rect {
    pub(crate) fn new(x: f64, y: f64, width: f64, height: f64) -> Self {
        Self { x0: x, y0: y, x1: x + width, y1: y + height }
    }

    pub(crate) fn area(&self) -> f64 {
        (self.x1 - self.x0) * (self.y1 - self.y0)
    }

    /// Whether `other` lies in it, but for a border of a tenth of `other`.
    pub(crate) fn holds(&self, other: &Self) -> bool {
        let (x, y) = ((other.x1 - other.x0) / 10.0, (other.y1 - other.y0) / 10.0);
        other.x0 + x >= self.x0 && other.x1 - x <= self.x1 && other.y0 + y >= self.y0 && other.y1 - y <= self.y1
    }

    /// The box of a row.
    pub(crate) fn on_page(&self, page: u32) -> PageBox {
        PageBox { page, x0: self.x0 as f32, y0: self.y0 as f32, x1: self.x1 as f32, y1: self.y1 as f32 }
    }
}

/// How the coordinates inside a group become those of the slide: a scale and an offset on each axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Frame {
    x: (f64, f64),
    y: (f64, f64),
}

impl Default for Frame {
    fn default() -> Self {
        Self { x: (1.0 / EMU, 0.0), y: (1.0 / EMU, 0.0) }
    }
}

impl Frame {
    /// The rectangle of an `a:xfrm` (or `p:xfrm`); `None` when it says no place. A shape turned by a quarter keeps its
    /// centre and changes its sides.
    pub(crate) fn rect(&self, transform: Element<'_>) -> Option<Rect> {
        let (x, y) = pair(transform, "off", "x", "y")?;
        let (width, height) = pair(transform, "ext", "cx", "cy")?;
        let turned = number(transform, "rot").is_some_and(|angle| (45.0..135.0).contains(&((angle / 60_000.0).rem_euclid(180.0))));
        let (x, y, width, height) =
            if turned { (x + (width - height) / 2.0, y + (height - width) / 2.0, height, width) } else { (x, y, width, height) };
        Some(Rect::new(self.x.0 * x + self.x.1, self.y.0 * y + self.y.1, self.x.0 * width, self.y.0 * height))
    }

    /// The frame inside a group with this transform.
    pub(crate) fn inside(&self, transform: Element<'_>) -> Self {
        let axes = |name| {
            pair(
                transform,
                name,
                if name == "ext" || name == "chExt" { "cx" } else { "x" },
                if name == "ext" || name == "chExt" { "cy" } else { "y" },
            )
        };
        let (Some(at), Some(size), Some(from), Some(inner)) = (axes("off"), axes("ext"), axes("chOff"), axes("chExt")) else {
            return *self;
        };
        let axis = |outer: (f64, f64), at: f64, size: f64, from: f64, inner: f64| {
            let scale = if inner > 0.0 && size > 0.0 { size / inner } else { 1.0 };
            (outer.0 * scale, outer.0 * (at - from * scale) + outer.1)
        };
        Self { x: axis(self.x, at.0, size.0, from.0, inner.0), y: axis(self.y, at.1, size.1, from.1, inner.1) }
    }
}

/// Two numbers of a child. Coordinates are 64-bit at most; what is no number says no place.
fn pair(transform: Element<'_>, child: &str, first: &str, second: &str) -> Option<(f64, f64)> {
    let child = transform.child(Ns::A, child)?;
    Some((number(child, first)?, number(child, second)?))
}

fn number(element: Element<'_>, name: &str) -> Option<f64> {
    element.attribute(Ns::None, name)?.trim().parse::<i64>().ok().map(|value| value as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quarry_document::xml::Tree;
    use quarry_model::Limits;

    fn transform(inner: &str, rotation: &str) -> Tree {
        let text = format!("<a:xfrm xmlns:a=\"http://schemas.openxmlformats.org/drawingml/2006/main\"{rotation}>{inner}</a:xfrm>");
        Tree::parse(&text, &Limits::default()).unwrap()
    }

    #[test]
    fn groups_scale_and_move_what_is_in_them() {
        let group = transform(
            r#"<a:off x="12700" y="25400"/><a:ext cx="127000" cy="127000"/><a:chOff x="0" y="0"/><a:chExt cx="254000" cy="127000"/>"#,
            "",
        );
        let child = transform(r#"<a:off x="127000" y="0"/><a:ext cx="127000" cy="12700"/>"#, "");
        let frame = Frame::default().inside(group.root());
        assert_eq!(frame.rect(child.root()), Some(Rect { x0: 6.0, y0: 2.0, x1: 11.0, y1: 3.0 }));
        // A group inside the group scales again.
        assert_eq!(frame.inside(group.root()).rect(child.root()), Some(Rect { x0: 4.0, y0: 4.0, x1: 6.5, y1: 5.0 }));
    }

    #[test]
    fn a_quarter_turn_changes_the_sides() {
        let shape = transform(r#"<a:off x="0" y="0"/><a:ext cx="127000" cy="254000"/>"#, r#" rot="5400000""#);
        assert_eq!(Frame::default().rect(shape.root()), Some(Rect { x0: -5.0, y0: 5.0, x1: 15.0, y1: 15.0 }));
    }

    #[test]
    fn numbers_that_are_none_say_no_place() {
        let shape = transform(r#"<a:off x="99999999999999999999" y="0"/><a:ext cx="1" cy="1"/>"#, "");
        assert_eq!(Frame::default().rect(shape.root()), None);
    }
}
