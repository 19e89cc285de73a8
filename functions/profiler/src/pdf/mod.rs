//! Measures a PDF once: what is on its pages, what kind of document it is, and how it is to be read.

mod category;
mod features;
mod measure;
mod route;

pub use measure::{InProcess, MeasurePdf, Measured, measure};
