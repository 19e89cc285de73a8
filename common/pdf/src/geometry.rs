//! Rectangles and ruling lines.

use serde::{Deserialize, Serialize};

/// A rectangle in points from the top left, `x0 <= x1`, `y0 <= y1`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Rect {
    /// Left.
    pub x0: f32,
    /// Top.
    pub y0: f32,
    /// Right.
    pub x1: f32,
    /// Bottom.
    pub y1: f32,
}

impl Rect {
    /// From any two opposite corners.
    pub fn from_corners(ax: f32, ay: f32, bx: f32, by: f32) -> Self {
        Self { x0: ax.min(bx), y0: ay.min(by), x1: ax.max(bx), y1: ay.max(by) }
    }

    /// Width.
    pub fn width(&self) -> f32 {
        self.x1 - self.x0
    }

    /// Height.
    pub fn height(&self) -> f32 {
        self.y1 - self.y0
    }

    /// Area.
    pub fn area(&self) -> f32 {
        self.width() * self.height()
    }

    /// The smallest rectangle over both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self { x0: self.x0.min(other.x0), y0: self.y0.min(other.y0), x1: self.x1.max(other.x1), y1: self.y1.max(other.y1) }
    }

    /// What both cover; empty (zero width or height) when they do not meet.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let x0 = self.x0.max(other.x0);
        let y0 = self.y0.max(other.y0);
        Self { x0, y0, x1: self.x1.min(other.x1).max(x0), y1: self.y1.min(other.y1).max(y0) }
    }

    /// Whether a point lies inside, edges included.
    pub fn contains(&self, x: f32, y: f32) -> bool {
        x >= self.x0 && x <= self.x1 && y >= self.y0 && y <= self.y1
    }

    /// Length of the overlap of the two vertical extents; negative is the gap between them.
    pub fn vertical_overlap(&self, other: &Self) -> f32 {
        self.y1.min(other.y1) - self.y0.max(other.y0)
    }

    /// Length of the overlap of the two horizontal extents; negative is the gap between them.
    pub fn horizontal_overlap(&self, other: &Self) -> f32 {
        self.x1.min(other.x1) - self.x0.max(other.x0)
    }
}

/// A drawn horizontal or vertical line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// Its extent; one side is its thickness.
    pub rect: Rect,
    /// Whether it runs from left to right.
    pub horizontal: bool,
}
