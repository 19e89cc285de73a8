//! Paths as they are built by a content stream, in page coordinates: enough of them to know lines and rectangles.

use hayro_font::kurbo::Point;

use crate::geometry::Rect;

/// Most shapes of one path, and most points of one shape; drawings beyond that are neither lines nor rectangles.
const MAX_POINTS: usize = 100_000;

/// The smallest upright rectangle over some points.
pub(crate) fn bounding(points: &[Point]) -> Rect {
    let mut rect = Rect { x0: f32::MAX, y0: f32::MAX, x1: f32::MIN, y1: f32::MIN };
    for point in points {
        rect.x0 = rect.x0.min(point.x as f32);
        rect.y0 = rect.y0.min(point.y as f32);
        rect.x1 = rect.x1.max(point.x as f32);
        rect.y1 = rect.y1.max(point.y as f32);
    }
    rect
}

/// One closed or open run of points.
#[derive(Clone, Default)]
pub(crate) struct Shape {
    pub(crate) points: Vec<Point>,
    pub(crate) curved: bool,
}

impl Shape {
    /// The rectangle this shape is, when it is one with upright sides.
    pub(crate) fn rectangle(&self) -> Option<Rect> {
        if self.curved || !(2..=5).contains(&self.points.len()) {
            return None;
        }
        let rect = bounding(&self.points);
        let near = |a: f64, b: f32| (a as f32 - b).abs() < 0.7;
        let on_corner = |p: &Point| (near(p.x, rect.x0) || near(p.x, rect.x1)) && (near(p.y, rect.y0) || near(p.y, rect.y1));
        (self.points.len() >= 4 && self.points.iter().all(on_corner)).then_some(rect)
    }
}

/// A path under construction.
#[derive(Clone, Default)]
pub(crate) struct Path {
    shapes: Vec<Shape>,
}

impl Path {
    pub(crate) fn move_to(&mut self, point: Point) {
        if self.shapes.len() < MAX_POINTS {
            self.shapes.push(Shape { points: vec![point], curved: false });
        }
    }

    pub(crate) fn line_to(&mut self, point: Point) {
        if let Some(shape) = self.shapes.last_mut()
            && shape.points.len() < MAX_POINTS
        {
            shape.points.push(point);
        }
    }

    pub(crate) fn curve_to(&mut self, point: Point) {
        if let Some(shape) = self.shapes.last_mut() {
            shape.curved = true;
        }
        self.line_to(point);
    }

    pub(crate) fn close(&mut self) {
        if let Some(shape) = self.shapes.last_mut()
            && let Some(first) = shape.points.first().copied()
        {
            shape.points.push(first);
        }
    }

    pub(crate) fn rectangle(&mut self, corners: [Point; 4]) {
        let [a, b, c, d] = corners;
        self.shapes.push(Shape { points: vec![a, b, c, d, a], curved: false });
    }

    pub(crate) fn take(&mut self) -> Vec<Shape> {
        std::mem::take(&mut self.shapes)
    }
}
